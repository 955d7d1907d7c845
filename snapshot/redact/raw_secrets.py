"""What no section lets in, taken out of the text of raw files: by the rules of the collectors that read them.

Line by line, so that lines keep their numbers, and so that a collector finds in the redacted file what it kept of the
original. In JSON and TOML a value keeps its quotes.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable
from fnmatch import fnmatchcase

from ..collectors import grub_default, lxc_part, qemu_conf, units_lines
from ..collectors.secrets import REDACTED, is_secret, redacted, redacted_line
from ..regexes import regex

_JOINED = "\x1c"  # a blank to every pattern, in place of a backslash and the end of its line; no text has it
_SIGNS = " \t\r\n\":='"
_STRING = r"\"(?:[^\"\\]|\\.)*\"|'''.*?'''|'[^'\n]*'"
_NAMED = regex(rf"(?P<name>(?:\"[\w.-]+\"|[\w.-]+)\s*[:=]\s*)?(?P<value>{_STRING})", re.DOTALL)
_LIST = regex(rf"(?P<name>(?:\"[\w.-]+\"|[\w.-]+)\s*[:=]\s*)\[(?P<items>(?:\s|,|{_STRING})*)\]", re.DOTALL)
_BEHIND = regex(rf"(?P<option>[\"']--?[\w-]+[\"'])(?P<comma>\s*,\s*)(?P<value>{_STRING})", re.DOTALL)
_NOTE = regex(r"(#|description: |env: |sshkeys: ).*")
_PLAIN = regex(r"(\s*([\w-]+)\s+)\S.*")
_NETPLAN = regex(r"(\b(?:private|shared|pin|identity|anonymous-identity)\s*:\s*)(?![\s{])[^,}\n]+")
_UDEV = regex(r"([\w.]+(?:\{([^}]*)\})?\s*(?:==|!=|\+=|-=|:=|=)\s*)\"((?:[^\"\\]|\\.)*)\"")
_ASSIGNED = regex(rf"^(\s*(?:export\s+)?\w+\+?=){REDACTED}")
_OPTION = regex(r"((?:(?<![\w.-])([\w.-]+)\s+)?)\"((?:[^\"\\]|\\.)*)\"")
_FLOW = regex(r"((--?[\w-]+)[\"']?\s*,\s*)([^\s,\]}]+)")
_CONDITION = regex(r"\s*(?:Condition|Assert)\w+\s*=\s*[|!]*")
_NEXT_ITEM = regex(r"^(\s*-\s+[\"']?(--?[\w-]+)[\"']?\s*\n\s*-\s+)(\S.*)$", re.MULTILINE)
_TMPFILE = regex(r"(\s*\S+\s+(\S+)(?:\s+\S+){4}\s+)\S.*")


def without_secrets(path: str, text: str) -> str:
    """The TEXT of the file PATH without secrets."""
    if path.endswith((".json", ".toml")):
        return without_quoted(text)
    if path.endswith((".yaml", ".yml")):
        text = _NEXT_ITEM.sub(lambda found: f"{found[1]}{REDACTED if is_secret(found[2]) else found[3]}", text)
    how = next((how for patterns, how in _HOW.items() if any(fnmatchcase(path, p) for p in patterns)), redacted)
    lines = text.replace("\\\n", _JOINED).split("\n")
    return "\n".join(map(_whole(how), lines)).replace(_JOINED, "\\\n")


def without_quoted(text: str) -> str:
    """JSON or TOML without secrets, each value within the quotes that it had."""
    text = _LIST.sub(_items, _BEHIND.sub(_behind, text))
    return _NAMED.sub(_value, text)


def _whole(how: Callable[[str], str]) -> Callable[[str], str]:
    """HOW, with the ends of lines that went with a secret put back behind it."""
    def one(line: str) -> str:
        made = how(line)
        return made + _JOINED * (line.count(_JOINED) - made.count(_JOINED))

    return one


def _quoted(text: str, kept: str) -> str:
    """KEPT in the quotes of the string TEXT."""
    sign = "'''" if text.startswith("'''") else text[0]
    return f"{sign}{kept}{sign}"


def _value(found: re.Match[str]) -> str:
    name, text = found["name"] or "", found["value"]
    inner = text[3:-3] if text.startswith("'''") else text[1:-1]
    return name + _quoted(text, REDACTED if is_secret(name.strip(_SIGNS)) else redacted(inner))


def _items(found: re.Match[str]) -> str:
    name = found["name"].strip(_SIGNS)
    if not is_secret(name) and not is_secret(name.removesuffix("s")):
        return found[0]
    return f"{found['name']}[{re.sub(_STRING, lambda one: _quoted(one[0], REDACTED), found['items'])}]"


def _behind(found: re.Match[str]) -> str:
    if not is_secret(found["option"].strip(_SIGNS)):
        return found[0]
    return f"{found['option']}{found['comma']}{_quoted(found['value'], REDACTED)}"


def _guest(line: str) -> str:
    return _NOTE.sub(rf"\1{REDACTED}", lxc_part.redacted_line(line))


def _machine(line: str) -> str:
    return _NOTE.sub(rf"\1{REDACTED}", qemu_conf.redacted_line(line))


def _plain(line: str) -> str:
    """KEY VALUE, as wpa-psk of interfaces(5) and password_pbkdf2 of GRUB."""
    found = _PLAIN.fullmatch(line)
    return f"{found[1]}{REDACTED}" if found and is_secret(found[2]) else grub_default.shown(line)


def _netplan(line: str) -> str:
    return _NETPLAN.sub(rf"\1{REDACTED}", redacted_line(line))


def _udev(line: str) -> str:
    made = _UDEV.sub(lambda found: f'{found[1]}"{REDACTED if is_secret(found[2] or "") else redacted(found[3])}"', line)
    return made if _UDEV.search(line) else redacted(line)


def _tmpfile(line: str) -> str:
    found = _TMPFILE.fullmatch(line)
    return f"{found[1]}{REDACTED}" if found and is_secret(posixpath.basename(found[2])) else redacted(line)


def _assigned(line: str) -> str:
    """NAME=VALUE for a shell, to which a bare <redacted> would be no value."""
    return _ASSIGNED.sub(rf'\1"{REDACTED}"', _plain(line))


def _apt(line: str) -> str:
    def one(found: re.Match[str]) -> str:
        return f'{found[1]}"{REDACTED if is_secret(found[2] or "") else redacted(found[3])}"'

    return _OPTION.sub(one, line)


def _yaml(line: str) -> str:
    return _FLOW.sub(lambda found: f"{found[1]}{REDACTED if is_secret(found[2]) else found[3]}", redacted_line(line))


def _program(line: str) -> str:
    if found := _CONDITION.match(line):
        return f"{found[0]}{redacted_line(line[found.end():])}"
    return units_lines.redacted(line) if len(line) <= units_lines.LONGEST else redacted(line)


_HOW: dict[tuple[str, ...], Callable[[str], str]] = {
    ("/etc/pve/*/qemu-server/*", "/etc/pve/qemu-server/*"): _machine,
    ("/etc/pve/*", "/etc/lxc/*", "/var/lib/lxc/*", "/usr/share/lxc/*"): _guest,
    ("/etc/netplan/*", "/run/netplan/*", "/lib/netplan/*"): _netplan,
    ("*/systemd/network/*", "/etc/tuned/*", "/usr/lib/tuned/*", "*.mount", "*.swap"): redacted_line,
    ("/etc/network/*", "*/grub.cfg", "*/custom.cfg", "/etc/grub.d/*", "/proc/cmdline", "/etc/kernel/cmdline*",
     "*/loader/entries/*", "*/grubenv"): _plain,
    ("/etc/default/grub*",): _assigned,
    ("/etc/apt/*",): _apt,
    ("*.yaml", "*.yml"): _yaml,
    ("*/udev/rules.d/*",): _udev,
    ("*/tmpfiles.d/*",): _tmpfile,
    ("/etc/systemd/system/*", "/usr/lib/systemd/*", "/lib/systemd/*", "/run/systemd/*", "/etc/cron*",
     "/var/spool/cron/*", "/etc/rc.local", "/usr/local/*", "/usr/bin/*", "/usr/sbin/*", "/opt/*", "/root/*",
     "/srv/*"): _program,
}
