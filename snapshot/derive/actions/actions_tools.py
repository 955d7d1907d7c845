"""What a command with a tuning tool sets, by the tool: a table of functions of the tool's arguments.

sysctl(8), setpci(8), swapoff(8), modprobe(8), blockdev(8); the others have rooms of their own. A function returns the
effects, none when the command only reads, and None when it is not understood: then it may set anything.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Iterator
from importlib import import_module

from ...records import replace
from ...regexes import regex
from .action import Effect
from .actions_paths import sysctl_key
from .actions_words import Word

FILES = "sysctl-file"
"""Target of an effect that stands for all lines of a sysctl file, or of all files (WHERE is --system)."""

_SLOT = regex(r"(?:([0-9a-f]{1,4}):)?([0-9a-f]{1,2}):([0-9a-f]{1,2})\.([0-7])", re.IGNORECASE)
_READING_SYSCTL = ("-a", "-A", "-X", "--all", "-h", "-V", "--help", "--version")
_WITH_VALUE = ("-C", "--config", "-d", "--dirname", "-S", "--set-version", "-A")  # of modprobe and setpci -A

Tool = Callable[[list[Word]], list[Effect] | None]


def sysctl(words: list[Word]) -> list[Effect] | None:
    """Keys, or a file whose keys are set; where several files are named, each."""
    texts = [word.text for word in words]
    if any(text in _READING_SYSCTL for text in texts):
        return []
    if "--system" in texts:
        return [Effect(FILES, ("--system",), "")]
    named = [text.partition("=")[2] for text in texts if re.match(r"(?:-p|--load=?).", text)]
    load = named or any(text in ("-p", "--load") for text in texts)
    plain = [word for word in words if not word.text.startswith("-")]
    if load:
        files = [name for name in (*(t[2:] for t in texts if re.match(r"-p[/\w]", t)), *named) if name]
        files += [word.text for word in plain]
        return [Effect(FILES, (name,), "") for name in files or ["/etc/sysctl.conf"]]
    return [_assignment(word) for word in plain if "=" in word.text]


def _assignment(word: Word) -> Effect:
    key, _, value = word.text.partition("=")
    known = word.known or "$" not in key
    effect = Effect("sysctl", (sysctl_key(key.strip()),), value.strip() if word.known else None)
    return effect if known else replace(effect, doubt=f"the key {key}")


def setpci(words: list[Word]) -> list[Effect] | None:
    """Registers that are written, with the devices selected: an address, VENDOR:DEVICE, or a variable as written."""
    selector, found, opened = "", list[Effect](), True
    doubt = ""
    rest: Iterator[Word] = iter(words)
    for word in rest:
        text = word.text
        if text == "-D":
            return []  # a demonstration writes nothing
        if text[:2] in ("-s", "-d"):
            chosen = replace(word, text=text[2:]) if text[2:] else next(rest, word)
            selector = _device(chosen) if opened or not selector else f"{selector} {_device(chosen)}"
            doubt, opened = "" if chosen.known else f"the devices {chosen.text}", False
        elif text.startswith("-"):
            _ = next(rest, None) if text in _WITH_VALUE else None
        elif "=" in text:
            register, _, value = text.partition("=")
            effect = Effect("setpci", (selector, register, value if word.known else ""), value if word.known else None)
            found.append(replace(effect, doubt=doubt, why_not="" if selector else "setpci is told no device"))
            opened = True
        else:
            opened = True
    return found


def _device(word: Word) -> str:
    slot = _SLOT.fullmatch(word.text)
    if not slot:
        return word.text.lower() if word.known else word.text
    return f"{int(slot[1] or '0', 16):04x}:{int(slot[2], 16):02x}:{int(slot[3], 16):02x}.{slot[4]}"


def _swap(value: str) -> Tool:
    def swap(words: list[Word]) -> list[Effect]:
        plain = [word.text for word in words if not word.text.startswith("-")]
        every = any(word.text in ("-a", "--all") for word in words)
        return [Effect("swap", (name,), value) for name in (["all"] if every else plain)]

    return swap


def modprobe(words: list[Word]) -> list[Effect] | None:
    """Parameters that a load gives, by module and parameter; a module that is loaded already keeps its own."""
    texts = [word.text for word in words]
    if any(text in ("-r", "--remove") for text in texts):
        return None
    plain = [word for word in words if not word.text.startswith("-")]
    module = posixpath.basename(plain[0].text).partition(".")[0].replace("-", "_") if plain else ""
    found = [(word, *word.text.partition("=")[::2]) for word in plain[1:] if "=" in word.text]
    doubt = f"only where {module} is not loaded before"
    return [Effect("module", (module, name.replace("-", "_")), value if word.known else None, doubt)
            for word, name, value in found]


def blockdev(words: list[Word]) -> list[Effect] | None:
    """Read-ahead of block devices; --setra counts sectors of 512 bytes."""
    texts = [word.text for word in words]
    if "--setra" not in texts:
        return None if any(text.startswith("--set") for text in texts) else []
    at = texts.index("--setra")
    sectors = texts[at + 1] if at + 1 < len(texts) else ""
    value = str(int(sectors) // 2) if sectors.isdecimal() else None
    devices = [word for word in words[at + 2 :] if word.glob.startswith("/dev/")]
    return [Effect("file", (f"/sys/block/{word.glob.removeprefix('/dev/')}/queue/read_ahead_kb",), value,
                   "" if word.known else f"the device {word.text}") for word in devices]


def _irq(words: list[Word]) -> list[Effect]:
    return [Effect("irq", tuple(word.text for word in words) or ("all",), None, "which CPUs is not known")]


def _reads(_: list[Word]) -> list[Effect]:
    return []


def _of(room: str, name: str) -> Tool:
    """A tool of another room, which is imported where a line has the tool."""
    def function(words: list[Word]) -> list[Effect] | None:
        tool: Tool = getattr(import_module(f"{__package__}.{room}"), name)
        return tool(words)

    return function


TOOLS: dict[str, Tool] = {
    "sysctl": sysctl, "setpci": setpci, "nvidia-smi": _of("actions_gpu", "nvidia_smi"),
    "nvidia-persistenced": _of("actions_gpu", "persistenced"), "cpupower": _of("actions_cpu", "cpupower"),
    "cpufreq-set": _of("actions_cpu", "cpufreq_set"), "x86_energy_perf_policy": _of("actions_cpu", "energy_policy"),
    "ethtool": _of("actions_nic", "ethtool"), "ip": _of("actions_nic", "ip"), "swapoff": _swap("off"),
    "swapon": _swap("on"), "modprobe": modprobe, "insmod": modprobe, "blockdev": blockdev, "irqbalance": _irq,
    "nvidia-modprobe": _reads, "nvidia-ctk": _reads, "mknod": _reads,
    "systemd-sysctl": _reads, "nv-fabricmanager": _reads, "tuned": _reads,
}
"""Tools by name. tuned has facts of its own; sysctl.d, which systemd-sysctl applies, is another section's; nodes and
CDI files are no tunables."""

OPTION = regex(r"(--?[A-Za-z][\w-]*)=(.*)", re.DOTALL)


def effects(tool: str, words: list[Word]) -> list[Effect] | None:
    """What TOOL with the arguments WORDS sets; None when that is not understood."""
    if tool.startswith("set_irq_affinity"):
        return _irq(words)
    function = TOOLS.get(tool)
    return function([part for word in words for part in _split(word)]) if function else None


def _split(word: Word) -> list[Word]:
    """--option=value as two words."""
    match = OPTION.fullmatch(word.text)
    if not match or match[1] == "--load":
        return [word]
    return [Word(match[1], match[1]), replace(word, text=match[2])]
