"""Configuration of container engines, from daemon.json (Docker) and config.toml (containerd, NVIDIA).

dockerd(8); containerd-config.toml(5); the toolkit's README. Only options that decide about devices, cgroups and
runtimes are taken: the rest holds proxies, mirrors and their passwords. containerd names its CRI plugin
io.containerd.grpc.v1.cri up to format 2 and io.containerd.cri.v1.runtime from format 3 on; files that it
imports are not merged here, each stands by itself.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from .. import tomlio
from ..errors import FormatError, ParseError
from ..regexes import regex
from ..sections.base import Origin
from ..sections.runtimes import Containerd, Setting
from .secrets import REDACTED, is_secret, redacted, redacted_words

Value = str | int | bool | list[str]
_DOCKER = regex(
    r"default-runtime|exec-opts|features\..*|runtimes\..+\.(path|runtimeType|runtimeArgs)|cdi-spec-dirs|cgroup-parent"
    r"|default-cgroupns-mode|default-shm-size|default-ulimits\..*|live-restore|storage-driver|userns-remap|no-new-privileges"
)
_CONTAINERD = regex(
    r".*\b(default_runtime_name|enable_cdi|cdi_spec_dirs|runtime_type|SystemdCgroup|BinaryName|privileged_without_host_devices"
    r"|restrict_oom_score_adj|disable_cgroup|disabled_plugins|snapshotter)"
)
_NVIDIA = regex(r"(?!.*\benvironment\b).*", re.DOTALL)
_LARGEST = 256 << 10  # characters of a file
_HEADER = regex(r"\s*\[\[?([^\]]*)\]")
_KEY = regex(r"""\s*+((?>(?:"[^"]*+"|'[^']*+'|[A-Za-z0-9_. \t-])+))=""")
_PART = regex(r""""([^"]*)"|'([^']*)'|([A-Za-z0-9_-]+)""")
_LONGEST = 500  # characters of an option's value


def docker(text: str, file: str) -> dict[str, Setting]:
    """The options of daemon.json by dotted key. ParseError when it is no JSON object."""
    _small(text, file)
    try:
        table = json.loads(text) if text.strip() else {}
    except (ValueError, RecursionError) as error:
        raise ParseError(f"{file}: no JSON: {str(error)[:200]}") from None
    if not isinstance(table, dict):
        raise ParseError(f"{file}: no JSON object")
    lines = text.split("\n")
    found = {".".join(path): (path, value) for path, value in _leaves(table, ())}
    return {
        name: Setting(value=value, origin=_origin(lines, file, _line_of_key(lines, path[-1])))
        for name, (path, value) in sorted(found.items()) if _DOCKER.fullmatch(name)
    }


def containerd(text: str, file: str) -> Containerd:
    """The model of one file. ParseError when it is no TOML."""
    table = _toml(text, file)
    version, imports = table.get("version"), table.get("imports")
    settings = _settings(table, text, file, _CONTAINERD)
    return Containerd(
        version=version if type(version) is int else None,
        imports=[i for i in imports if isinstance(i, str)] if isinstance(imports, list) else None,
        settings={name.removeprefix("plugins."): setting for name, setting in settings.items()} or None,
    )


def nvidia(text: str, file: str) -> dict[str, Setting]:
    """The options of the NVIDIA container runtime by dotted key. ParseError when it is no TOML."""
    return _settings(_toml(text, file), text, file, _NVIDIA)


def _small(text: str, file: str) -> None:
    if len(text) > _LARGEST:
        raise ParseError(f"{file}: more than {_LARGEST >> 10} KiB")


def _toml(text: str, file: str) -> dict[str, Any]:
    _small(text, file)
    try:
        return tomlio.loads(text.encode("utf-8", "surrogateescape"), file)
    except FormatError as error:
        raise ParseError(str(error)) from None


def _settings(table: Mapping[str, Any], text: str, file: str, wanted: re.Pattern[str]) -> dict[str, Setting]:
    lines = text.split("\n")
    numbers = _lines_of_keys(lines)
    found = {".".join(path): (path, value) for path, value in _leaves(table, ())}
    return {
        name: Setting(value=value, origin=_origin(lines, file, numbers.get(path) or numbers.get(path[:-1]) or 1))
        for name, (path, value) in sorted(found.items()) if wanted.fullmatch(name)
    }


def _lines_of_keys(lines: list[str]) -> dict[tuple[str, ...], int]:
    """The line of each table and key, as TOML is mostly laid out; tomlio's own search costs a parse for each."""
    numbers: dict[tuple[str, ...], int] = {}
    table: tuple[str, ...] = ()
    for number, line in enumerate(lines, 1):
        if header := _HEADER.match(line):
            table = _parts(header[1])
            numbers.setdefault(table, number)
        elif key := _KEY.match(line):
            numbers.setdefault((*table, *_parts(key[1])), number)
    return numbers


def _parts(dotted: str) -> tuple[str, ...]:
    return tuple("".join(found) for found in _PART.findall(dotted))


def _line_of_key(lines: list[str], key: str) -> int:
    """The first line with the key, as JSON is mostly laid out."""
    quoted = json.dumps(key, ensure_ascii=False)
    return next((number for number, line in enumerate(lines, 1) if quoted in line), 1)


def _leaves(table: Mapping[str, Any], above: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], Value]]:
    """The values that a model can hold, with their paths."""
    for key, value in table.items():
        path = (*above, _whole(key))
        if isinstance(value, dict) and len(path) < 20:
            yield from _leaves(value, path)
        elif is_secret(key):
            yield path, REDACTED
        elif isinstance(value, list) and all(isinstance(item, str) for item in value):
            yield path, redacted_words(value, _kept)
        elif isinstance(value, str):
            yield path, _kept(value)
        elif isinstance(value, int):
            yield path, value if -(1 << 63) <= value < 1 << 63 else str(value)[:_LONGEST]


def _kept(text: str) -> str:
    return redacted(_whole(text[:_LONGEST]))


def _whole(text: str) -> str:
    """Half characters, which an escape in JSON can make, become ?."""
    return text.encode("utf-8", "replace").decode()


def _origin(lines: list[str], file: str, number: int) -> Origin:
    return Origin(file=file, line=number, text=redacted(lines[number - 1].strip()[:_LONGEST]))
