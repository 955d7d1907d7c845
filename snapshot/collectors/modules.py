"""Kernel modules, from /proc/modules, /sys/module, modprobe.d, modules-load.d and /lib/modules.

proc(5), Documentation/ABI/stable/sysfs-module, modules-load.d(5). A line of /proc/modules is name, size, users, who
they are, state, address and, in brackets, the letters of its taints; only name and letters are settings. /sys/module
has loaded modules and those parts of the kernel that have parameters or a version. A parameter that can only be
written is no fact; one that the kernel computes (damon's, ACPI's) is left out.

A line of modules-load.d is one name, options and all; systemd reads /etc/modules only where a link there leads to it.
"""

from __future__ import annotations

import errno
from collections.abc import Iterable, Iterator
from typing import TypeVar

from ..errors import ParseError
from ..regexes import regex
from ..sections.base import Origin
from ..sections.modules import Entry, Ignored, Module, Modules
from . import dropin, modprobe, module_files
from .base import Reading, Reads, decode, why
from .cmdline import PATH as CMDLINE
from .cmdline import pair, redacted, split
from .secrets import redacted as without_secrets

_LIST, _TOP = "/proc/modules", "/sys/module"
_MODPROBE, _LOAD = dropin.directories("modprobe.d"), dropin.directories("modules-load.d")
_ETC_MODULES = "/etc/modules"
_INITRAMFS = ("/etc/initramfs-tools", "/etc/initramfs-tools/conf.d", "/etc/initramfs-tools/hooks", "/etc/dracut.conf.d")
READS = Reads(
    paths=(
        _LIST, "/proc/version", CMDLINE, _TOP, f"{_TOP}/**", "/lib", _ETC_MODULES,
        *_MODPROBE, *(f"{place}/*" for place in _MODPROBE), *_LOAD, *(f"{place}/*" for place in _LOAD),
        *_INITRAMFS, *(f"{place}/*" for place in _INITRAMFS), "/etc/dracut.conf",
        module_files.TOP, *(f"{module_files.TOP}/*/{name}" for name in module_files.LISTS),
        *(f"{module_files.TOP}/**/*.ko{suffix}" for suffix in ("", ".xz", ".zst", ".gz")),
        "/boot/initrd*", "/boot/initramfs-*",
    ),
    root="parameters that only root may read, and files of modprobe.d and /lib/modules that are closed to others",
)

_LINE = regex(r"(\S+) [0-9]+ \S+ \S+ \S+ \S+(?: \(([A-Z+-]+)\))?")
_STATISTICS = ("coresize", "initsize", "initstate", "refcnt", "uevent", "taint")
_COMPUTED = regex(
    r"damon[^/]*/parameters/(?:kdamond_pid|nr_.*|bytes_.*)|acpi/parameters/(?:acpica_version|debug_level|debug_layer)"
    r"|page_reporting/parameters/.*|rng_core/parameters/default_quality"
)
_FOLDERS = ("holders", "notes", "sections", "drivers")
T = TypeVar("T")
_OPTION_FACTS = ("options", "blacklist", "install", "remove", "softdeps", "aliases", "masked", "ignored")


def collect(reading: Reading) -> Modules:
    """All of it. Needs no root for most."""
    taints = _loaded(reading)
    names = reading.list(_TOP, "loaded")
    running = _running(reading, taints or {}, names)
    reading.depends(("loaded",), ("builtin",))  # of those that /sys/module shows, what is not loaded is built in
    reading.depends(("builtin",), ("options",))  # of the command line's words a.b=c those count where a is a module
    cmdline = reading.text(CMDLINE, "options") or ""
    files = dropin.read(reading, _MODPROBE, *_OPTION_FACTS)
    lists = dropin.read(reading, _LOAD, "load", "masked", "ignored")
    config = modprobe.parse(dropin.texts(files, _MODPROBE), cmdline, {*running, *names})
    load, ignored = _to_load(reading, dropin.texts(lists, _LOAD), cmdline)
    masked = dropin.order(files, _MODPROBE)[1] | dropin.order(lists, _LOAD)[1]
    kernels = module_files.collect(reading, taints or {}, load, _in_initramfs(reading, [*files, *lists]))
    return Modules(
        loaded=None if taints is None else {name: running[name] for name in taints},
        builtin=_builtin(reading, running, taints or {}) or None,
        options=config.options or None, blacklist=_sorted(config.blacklist), install=_sorted(config.install),
        remove=_sorted(config.remove), softdeps=_sorted(config.softdeps), aliases=_sorted(config.aliases),
        load=_sorted(load), masked=masked or None, ignored=[*config.ignored, *ignored] or None, kernels=kernels,
    )


def _builtin(reading: Reading, running: dict[str, Module], taints: dict[str, str | None]) -> dict[str, Module]:
    """What runs and was not loaded; nothing while it is not known what was."""
    unknown = any(u.path == ("builtin",) for u in reading.unreads)
    return {} if unknown else {name: found for name, found in running.items() if name not in taints}


def parse_modules(text: str) -> dict[str, str | None]:
    """Name -> letters of its taints, None without, of /proc/modules. ParseError at a line that is none of it."""
    found = {}
    for line in filter(None, text.split("\n")):
        match = _LINE.fullmatch(line.rstrip())
        if not match:
            raise ParseError(f"not a line of {_LIST}: {line[:80]!r}")
        found[match[1]] = (match[2] or "").strip("+-") or None
    return dict(sorted(found.items()))


def parse_load(path: str, text: str) -> Iterator[tuple[str, Origin]]:
    """The names that a file of modules-load.d gives, each with its place."""
    for number, line in enumerate(text.split("\n"), 1):
        name = line.strip(" \t\r")
        if name and name[0] not in "#;":
            yield without_secrets(name), Origin(file=path, line=number, text=without_secrets(line))


def _loaded(reading: Reading) -> dict[str, str | None] | None:
    """Name -> taints; None when the kernel has no modules, or (noted) they cannot be told."""
    text = reading.text(_LIST, "loaded")
    if text is None:
        if not reading.stat("/proc/version", "loaded"):
            reading.settle(False, _LIST, "ENOENT", "loaded")
        return None
    try:
        return parse_modules(text)
    except ParseError as error:
        reading.unread(("loaded",), _LIST, str(error))
        return None


def _running(reading: Reading, taints: dict[str, str | None], names: list[str]) -> dict[str, Module]:
    """Loaded modules and parts of the kernel, with what /sys/module says."""
    facts: dict[str, dict[str, str]] = {}
    parameters: dict[str, dict[str, str]] = {}
    skip = frozenset(f"{_TOP}/{name}/{file}" for name in names for file in _STATISTICS)
    for path, data in reading.walk(_TOP, skip, lambda path: path.rpartition("/")[2] in _FOLDERS):
        name, _, rest = path[len(_TOP) + 1 :].partition("/")
        parameter = rest.removeprefix("parameters/")
        if isinstance(data, OSError):
            _unread(reading, path, name, rest, data, "loaded" if name in taints else "builtin")
        elif parameter == rest:
            facts.setdefault(name, {})[rest] = decode(data).strip()
        elif not _COMPUTED.fullmatch(f"{name}/{rest}"):
            parameters.setdefault(name, {})[parameter] = _value(parameter, decode(data).replace("\0", "").strip())
    return {
        name: Module(
            version=facts.get(name, {}).get("version"), srcversion=facts.get(name, {}).get("srcversion"),
            taints=taints.get(name), parameters=_sorted(parameters.get(name, {})),
        )
        for name in sorted({*taints, *parameters, *(n for n, told in facts.items() if "version" in told)})
    }


def _unread(reading: Reading, path: str, name: str, rest: str, error: OSError, section: str) -> None:
    """What vanished is gone; what is only for writing has no value."""
    if error.errno == errno.ENOENT and name:
        return
    stat = reading.stat(path, section)
    if stat is not None and stat.type == "file" and not stat.mode & 0o444:
        return
    reading.unread(tuple(filter(None, (section, name, *rest.split("/")))), path, why(error))


def _value(name: str, text: str) -> str:
    """A number or a letter is no secret; most values are one, and checking the others costs."""
    if len(text) < 2 or text.isdecimal():
        return text
    return pair(redacted(f'{name}="{text}"'))[1] or ""


def _to_load(
    reading: Reading, files: Iterable[tuple[str, str]], cmdline: str
) -> tuple[dict[str, Entry], list[Ignored]]:
    load: dict[str, Entry] = {}
    ignored: list[Ignored] = []
    paths = []
    for path, text in files:
        paths.append(path)
        for name, origin in parse_load(path, text):
            load.setdefault(name, Entry(origin=origin))
    for token in split(cmdline)[0]:
        key, value = pair(token)
        if key in ("modules_load", "modules-load"):
            for name in filter(None, (value or "").split(",")):
                load.setdefault(name, Entry(origin=Origin(file=CMDLINE, line=1, text=token)))
    own = reading.config(_ETC_MODULES, "load") or ""
    if not any((reading.readlink(path, "load") or "").endswith("/modules") for path in paths):
        reason = "systemd: no file of modules-load.d leads to /etc/modules"
        ignored = [Ignored(why=reason, origin=origin) for _, origin in parse_load(_ETC_MODULES, own)]
    return load, ignored


def _in_initramfs(reading: Reading, configured: Iterable[str]) -> list[tuple[str, int]]:
    """Files that update-initramfs(8) or dracut(8) copies or obeys, with their modification times."""
    lists = ((place, reading.list(place, "kernels")) for place in _INITRAMFS)
    more = [f"{place}/{name}" for place, names in lists for name in names if name[0] != "." and name[-1:] != "~"]
    found = []
    for path in (*configured, _ETC_MODULES, "/etc/dracut.conf", *more):
        stat = reading.stat(path, "kernels")
        if stat and stat.type == "file":
            found.append((path, stat.mtime_ns))
    return found


def _sorted(table: dict[str, T]) -> dict[str, T] | None:
    return dict(sorted(table.items())) or None
