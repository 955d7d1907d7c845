"""TOML text and plain tables, from and to https://toml.io/en/v1.0.0.

With ``parts``, the only room that knows TOML. Reading stands on tomli (or on tomllib, which it became),
writing on tomli_w. Written text is canonical: sorted keys, one form for each value, a newline at the end.

TOML text is UTF-8 and its integers have 64 bits; what a machine says has neither limit. A byte that is no
UTF-8 (in str a lone surrogate, U+DC80 to U+DCFF) is written as the private-use character U+EF80 to U+EFFF,
and a real character of that range as three such, its UTF-8 bytes; reading takes both back exactly. An integer
beyond 64 bits is refused: the models have text for it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from .errors import FormatError
from .regexes import regex

try:
    from tomli import loads as _parse
except ImportError:
    from tomllib import loads as _parse

Path = tuple[str | int, ...]
MAX_DEPTH = 100  # tables and arrays within each other: far above any model, far below the interpreter's limit
_TRIES = 200  # how often the end of one statement is looked for: each try parses all of it again
_BARE = regex(r"[A-Za-z0-9_-]+")
_HIDDEN = regex("[\ud800-\udfff\uef80-\uefff]")
_PRIVATE = regex("[\uef80-\uefff]")
_CLOSER = regex("[]}]|\"{3}|'{3}")


class _RefusedError(ValueError):
    """A value that cannot be kept: its path, and why."""

    def __init__(self, path: Path, why: str) -> None:
        super().__init__(path, why)
        self.path, self.why = path, why


def loads(text: str | bytes, name: str, line: Callable[[], int] = lambda: 1) -> dict[str, Any]:
    """The table that TEXT holds; LINE tells the number of its first line in the file NAME.

    A byte order mark and CRLF are accepted; dates come as datetime objects, which ``dumps`` never writes.
    FormatError "NAME:LINE: what is wrong" on anything that is not TOML, nests too deep, or exceeds 64 bits.
    """
    text = decode(text, name) if isinstance(text, bytes) else text
    try:
        table: dict[str, Any] = _parse(text)
        _refuse(table, ())
        if not text.isascii() or "\\u" in text or "\\U" in text:
            table = _shown(table, ())
    except _RefusedError as error:
        number = (line_of(text, error.path) or 1) + line() - 1
        where = dotted(error.path)[:200] or "the file"
        raise FormatError(f"{name}:{number}: {where}: {error.why}") from None
    except RecursionError:
        raise FormatError(f"{name}:{line()}: nested too deep") from None
    except ValueError as error:
        number, what = _where(error, text)
        raise FormatError(f"{name}:{number + line() - 1}: not valid TOML: {what}") from None
    return table


def decode(data: bytes, name: str) -> str:
    """DATA as text, without byte order mark. FormatError with the line of the first byte that is no UTF-8."""
    try:
        return data.decode("utf-8").removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise FormatError(f"{name}:{line}: not UTF-8 text: byte 0x{data[error.start]:02x}") from None


def dumps(table: Mapping[str, Any]) -> str:
    """TABLE as canonical text: equal tables, equal bytes. FormatError on what TOML cannot hold, as None."""
    import tomli_w

    try:
        text = tomli_w.dumps(_canonical(table, ()))
        return text if text.isascii() else _HIDDEN.sub(_escaped, text)
    except _RefusedError as error:
        raise FormatError(f"{dotted(error.path) or 'the table'}: TOML cannot hold {error.why}") from None
    except UnicodeEncodeError as error:
        code = ord(error.object[error.start])
        raise FormatError(f"TOML cannot hold U+{code:04X}, half a character that is no byte either") from None


def dotted(path: Sequence[str | int]) -> str:
    """A path as TOML spells it, fit for one line of text: sysctl.values."vm.swappiness", rows[3]."""
    return "".join(f"[{key}]" if isinstance(key, int) else f".{_key(key)}" for key in path).removeprefix(".")


def line_of(text: str, path: Sequence[str | int]) -> int | None:
    """The line of the key PATH in valid TOML, else of the nearest table above it that has one."""
    best, line = 0, None
    for number, found in _statements(text):
        depth = 0
        while depth < min(len(path), len(found)) and path[depth] == found[depth]:
            depth += 1
        if depth > best:
            best, line = depth, number
    return line


def _canonical(value: Any, path: Path) -> Any:
    kind = type(value)
    if kind is str or kind is bool or kind is float or (kind is int and -(2**63) <= value < 2**63):
        return value
    if len(path) > MAX_DEPTH:
        raise _RefusedError(path[:3], f"more than {MAX_DEPTH} levels")
    if kind is dict or isinstance(value, Mapping):
        if odd := [key for key in value if type(key) is not str]:
            raise _RefusedError(path, f"the key {odd[0]!r}")
        keys = sorted(value)
        return {key: item if type(item := value[key]) is str else _canonical(item, (*path, key)) for key in keys}
    if isinstance(value, list | tuple):
        return [item if type(item) is str else _canonical(item, (*path, i)) for i, item in enumerate(value)]
    what = "an integer beyond 64 bits" if kind is int else f"a value of type {kind.__name__}"
    raise _RefusedError(path, what)


def _refuse(value: Any, path: Path) -> None:
    """Raises on what may be TOML but cannot be kept. It copies nothing, as every load walks through it."""
    if len(path) > MAX_DEPTH:
        raise _RefusedError(path[:3], "nested too deep")
    for key, item in value.items() if type(value) is dict else enumerate(value):
        kind = type(item)
        if kind is dict or kind is list:
            _refuse(item, (*path, key))
        elif kind is int and not -(2**63) <= item < 2**63:
            raise _RefusedError((*path, key), "an integer beyond 64 bits")


def _shown(value: Any, path: Path) -> Any:
    """VALUE with every escaped byte as it was."""
    if isinstance(value, str):
        return _unescaped(value)
    if isinstance(value, list):
        return [_shown(item, path) for item in value]
    if not isinstance(value, dict):
        return value
    table = {(text := _unescaped(key)): _shown(item, (*path, text)) for key, item in value.items()}
    if len(table) != len(value):
        raise _RefusedError(path, "a key stands in it twice, once escaped")
    return table


def _escaped(char: re.Match[str]) -> str:
    return "".join(chr(0xEF00 + byte) for byte in char[0].encode("utf-8", "surrogateescape"))


def _unescaped(text: str) -> str:
    if text.isascii() or not _PRIVATE.search(text):
        return text
    raw = _PRIVATE.sub(lambda char: chr(ord(char[0]) - 0xEF00 + 0xDC00), text)
    return raw.encode("utf-8", "surrogateescape").decode("utf-8", "surrogateescape")


def _key(key: str) -> str:
    if _BARE.fullmatch(key):
        return key
    text = dumps({key: 0}).removesuffix(" = 0\n")
    return "".join(c if c.isprintable() else f"\\U{ord(c):08x}" for c in text)


def _where(error: ValueError, text: str) -> tuple[int, str]:
    """Line and text of a parser's error; the stdlib of Python 3.13 and older has them only in its words."""
    what, _, place = " ".join(str(error).split()).rpartition(" (at ")
    if found := re.match(r"line (\d+)", place):
        return int(found[1]), what
    if not what and (digits := re.search("[0-9_]{4000}", text)):  # int() does not say where
        return text.count("\n", 0, digits.start()) + 1, "an integer beyond 64 bits"
    return max(1, text.count("\n") + (not text.endswith("\n"))), f"{what} (at its end)" if what else place


def _statements(text: str) -> Iterator[tuple[int, Path]]:
    """Line and path of each header and each key."""
    table: Path = ()
    counts: dict[Path, int] = {}
    for number, statement, value in _parsed(text):
        keys = _keys(value)
        if statement.lstrip().startswith("["):
            table = _placed(keys, counts)
            if statement.lstrip().startswith("[["):
                counts[table] = counts.get(table, -1) + 1
                table = (*table, counts[table])
            keys = ()
        yield number, table + keys


def _parsed(text: str) -> Iterator[tuple[int, str, dict[str, Any]]]:
    """Each statement, with its line and what it gives: the shortest run of lines that is valid by itself."""
    begin, statement, tries = 1, "", 0
    for number, line in enumerate(text.split("\n"), 1):
        statement += line + "\n"
        if number > begin and not _CLOSER.search(line):
            continue
        try:
            value = _parse(statement)
        except (ValueError, RecursionError):
            tries += 1
            if tries > _TRIES:
                return
            continue
        if value:
            yield begin, statement, value
        begin, statement, tries = number + 1, "", 0


def _keys(value: Any) -> Path:
    """The keys of a statement that was parsed alone: one in each table, down to its value."""
    keys: Path = ()
    while isinstance(value, dict) and len(value) == 1:
        key, value = next(iter(value.items()))
        keys = (*keys, _unescaped(key))
    return keys


def _placed(keys: Path, counts: Mapping[Path, int]) -> Path:
    """A header's keys, with the index of the last element wherever they go through an array of tables."""
    placed: Path = ()
    for key in keys[:-1]:
        placed = (*placed, key)
        if placed in counts:
            placed = (*placed, counts[placed])
    return (*placed, *keys[-1:])
