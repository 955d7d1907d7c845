"""nvidia-smi and nvidia-persistenced: persistence, power limit, clocks, compute mode, ECC and MIG of GPUs.

nvidia-smi --help, nvidia-persistenced(1). An option that nvidia-smi takes can be written -pl 450 or --power-limit=450;
-i takes a list of indexes, UUIDs or PCI addresses, without it all GPUs are meant. The daemon switches persistence mode
on unless --no-persistence-mode is given, as Ubuntu's unit does.
"""

from __future__ import annotations

from .action import Effect
from .actions_words import Word

_SETS = {
    "-pm": "persistence", "--persistence-mode": "persistence", "-pl": "power-limit", "--power-limit": "power-limit",
    "-lgc": "lock-gpu-clocks", "--lock-gpu-clocks": "lock-gpu-clocks", "-lmc": "lock-memory-clocks",
    "--lock-memory-clocks": "lock-memory-clocks", "-ac": "applications-clocks",
    "--applications-clocks": "applications-clocks", "-c": "compute-mode", "--compute-mode": "compute-mode",
    "-e": "ecc", "--ecc-config": "ecc", "-mig": "mig", "--multi-instance-gpu": "mig",
}
_RESETS = {
    "-rgc": "lock-gpu-clocks", "--reset-gpu-clocks": "lock-gpu-clocks", "-rmc": "lock-memory-clocks",
    "--reset-memory-clocks": "lock-memory-clocks", "-rac": "applications-clocks",
    "--reset-applications-clocks": "applications-clocks",
}
_OTHERS = ("-r", "--gpu-reset", "-gtt", "--gpu-target-temp", "-gom", "--gom", "-vm", "--virt-mode")
_VALUED = ("-d", "--display", "-l", "--loop", "-lms", "--loop-ms", "-f", "--filename", "--format", "-m", "--mode")
_READS = ("topo", "dmon", "pmon", "stats", "replay")
"""Words of options that the driver forgets when its last client ends, unless persistence mode is on."""


def nvidia_smi(words: list[Word]) -> list[Effect] | None:
    """What the arguments WORDS of nvidia-smi set; None when they are not understood."""
    gpus, found = literal_all(), list[tuple[str, str | None]]()
    rest = iter(words)
    for word in rest:
        if word.text in _VALUED or word.text.startswith("--query"):
            _ = next(rest, None)
        elif word.text in ("-i", "--id"):
            gpus = next(rest, word)
        elif word.text in _SETS:
            value = next(rest, None)
            if value is None:
                return None
            found.append((_SETS[word.text], value.value))
        elif word.text in _RESETS:
            found.append((_RESETS[word.text], "reset"))
        elif word.text in _OTHERS or not word.text.startswith("-"):
            return [] if words[0].text in _READS else None
    names = [gpus.text] if not gpus.known or gpus.devices else gpus.text.split(",")
    doubt = "" if gpus.known else f"the GPU {gpus.text}"
    return [Effect("nvidia-smi", (name, option), value, doubt) for name in names for option, value in found]


def literal_all() -> Word:
    """All GPUs."""
    return Word("all", "all")


def persistenced(words: list[Word]) -> list[Effect]:
    """What nvidia-persistenced with the arguments WORDS does."""
    off = any(word.text == "--no-persistence-mode" for word in words)
    return [Effect("nvidia-smi", ("all", "persistence"), "0" if off else "1")]
