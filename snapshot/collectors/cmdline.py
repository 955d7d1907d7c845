"""The kernel command line, from /proc/cmdline.

Documentation/admin-guide/kernel-parameters.rst; the quoting is that of next_arg() in lib/cmdline.c: a "
opens or closes a quote anywhere; only one at the start of the token or of the value goes, with its twin at
the end. ' and \\ are ordinary, and so is a = at the start. A token -- ends the kernel's part; the rest is
PID 1's. The kernel takes - and _ in a name as equal. The line stands as the boot loader gave it: newlines,
repeats and all.
"""

from __future__ import annotations

import re
from typing import Literal

from ..regexes import regex
from ..sections.cmdline import Cmdline
from .base import Reading, Reads
from .secrets import REDACTED, is_secret, redacted_words
from .secrets import redacted as without_secrets

PATH = "/proc/cmdline"
LIMIT = 1 << 16  # bytes: COMMAND_LINE_SIZE of x86 is 2048
READS = Reads(paths=(PATH,))

_TOKEN = regex(r'(?:[^" \t\n\v\f\r]|"[^"]*(?:"|\Z))+')
_PRIVATE = regex(  # addresses of this host, passwords of disks, environments
    r"ip|nfsaddrs|nameserver|rd\.route|(?:rd[._])?luks[._].*|systemd\.setenv", re.IGNORECASE | re.DOTALL
)


def collect(reading: Reading) -> Cmdline:
    """The command line of the running kernel; the whole section is unread when the file is not to be had."""
    known = len(reading.unreads)
    text = reading.text(PATH, limit=LIMIT)
    if text is None and len(reading.unreads) == known:
        reading.unread((), PATH, "ENOENT")
    return parse(text or "")


def parse(text: str) -> Cmdline:
    """The line as tokens and as parameters. Any text is a command line."""
    kernel, init = split(text)
    parameters: dict[str, list[str | Literal[True]]] = {}
    tokens = redacted_words(kernel, redacted)  # the kernel hands on to PID 1 what it does not know
    for name, value in map(pair, tokens):
        parameters.setdefault(name.replace("-", "_"), []).append(True if value is None else value)
    if init is None:
        return Cmdline(tokens=tokens, parameters=parameters)
    arguments = redacted_words(init, redacted)
    return Cmdline(tokens=[*tokens, "--", *arguments], parameters=parameters, init_arguments=arguments)


def split(text: str) -> tuple[list[str], list[str] | None]:
    """The tokens of the kernel's part, and those behind --; None without --."""
    tokens: list[str] = _TOKEN.findall(text)
    end = next((i for i, token in enumerate(tokens) if pair(token) == ("--", None)), None)
    return (tokens, None) if end is None else (tokens[:end], tokens[end + 1 :])


def pair(token: str) -> tuple[str, str | None]:
    """Name and value of a token, as the kernel unquotes them; the value of a flag is None."""
    quoted = token.startswith('"')
    if quoted:
        token = token[1:].removesuffix('"')
    equals = token.find("=", 1)
    if equals < 0:
        return token, None
    name, value = token[:equals], token[equals + 1 :]
    if value.startswith('"'):
        value = value[1:].removesuffix('"')
    return name, value


def redacted(token: str) -> str:
    """The token as it stands; the value of one that may hold a secret or an address is replaced."""
    name, value = pair(token)
    if value and (is_secret(name) or _PRIVATE.fullmatch(name)):
        return f"{name}={REDACTED}"
    return without_secrets(token)
