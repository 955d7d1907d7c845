"""The NVIDIA kernel module and the GPUs that it has bound, read from /proc/driver/nvidia and /sys/module.

nvidia_driver says how the files are written. Parameters of the other modules are those that rules ask for; section
modules has them all. power is a report on runtime power management, read without waking the GPU.
"""

from __future__ import annotations

import errno
from collections.abc import Callable
from operator import itemgetter
from typing import TypeVar

from ..errors import ParseError
from ..sections.nvidia import Capability, Driver, Gpu
from .base import Reading, decode, why
from .nvidia_driver import (
    fields,
    parse_capability,
    parse_information,
    parse_params,
    parse_release,
    parse_switch,
    parse_version,
)

PROC, MODULES = "/proc/driver/nvidia", "/sys/module"
CAPABILITIES = f"{PROC}/capabilities"
PATHS = (
    MODULES, f"{MODULES}/nvidia/version", f"{MODULES}/nvidia_uvm/parameters/uvm_disable_hmm",
    f"{MODULES}/nvidia_drm/parameters/modeset", PROC, f"{PROC}/version", f"{PROC}/params", f"{PROC}/gpus",
    f"{PROC}/gpus/*/information", f"{PROC}/gpus/*/power", f"{CAPABILITIES}/**",
)
T = TypeVar("T")


def is_loaded(reading: Reading) -> bool | None:
    """Whether the module is loaded; None, noted, when that cannot be told."""
    modules = reading.list(MODULES, "loaded")
    if "nvidia" in modules or reading.stat(PROC, "loaded"):
        reading.settle(True, MODULES, "", "loaded")
        return True
    reading.settle(bool(modules), MODULES, "not there", "loaded")
    return False if modules else None


def read_driver(reading: Reading) -> Driver:
    """The kernel side of a driver that is loaded."""
    path = f"{PROC}/version"
    found = parsed(reading, parse_version, path, "driver", "flavour") or Driver()
    if not found.flavour:
        reading.settle(False, path, "not there", "driver", "flavour")
    version = found.version or parsed(reading, parse_release, f"{MODULES}/nvidia/version", "driver", "version")
    reading.settle(bool(version), path, "not there", "driver", "version")
    modules = reading.list(MODULES, "driver", "modules")
    return found.copy(
        version=version, modules=[name for name in modules if name == "nvidia" or name.startswith("nvidia_")] or None,
        parameters=parsed(reading, parse_params, f"{PROC}/params", "driver", "parameters"),
        uvm_disable_hmm=_switch(reading, "nvidia_uvm/parameters/uvm_disable_hmm", "uvm_disable_hmm"),
        drm_modeset=_switch(reading, "nvidia_drm/parameters/modeset", "drm_modeset"),
        capabilities=_capabilities(reading) or None,
    )


def _switch(reading: Reading, file: str, fact: str) -> bool | None:
    return parsed(reading, parse_switch, f"{MODULES}/{file}", "driver", fact)


def _capabilities(reading: Reading) -> dict[str, Capability]:
    found: dict[str, Capability] = {}
    for path, content in sorted(reading.walk(CAPABILITIES), key=itemgetter(0)):
        if path == CAPABILITIES and isinstance(content, OSError):
            if content.errno != errno.ENOENT:  # drivers before 450 have none
                reading.unread(("driver", "capabilities"), path, why(content))
            return {}
        name = path[len(CAPABILITIES) + 1:]
        try:
            if isinstance(content, OSError):
                raise ParseError(why(content))
            found[name] = parse_capability(decode(content))
        except ParseError as error:
            stat = reading.stat(path, "driver", "capabilities")
            one = [name] if stat and stat.type == "file" else []  # a directory's name is no capability's
            reading.unread(("driver", "capabilities", *one), path, str(error))
    return found


def read_gpus(reading: Reading) -> dict[str, Gpu]:
    """The GPUs that the module has bound, by PCI address."""
    found = {}
    for address in reading.list(f"{PROC}/gpus", "gpus"):
        path = f"{PROC}/gpus/{address}"
        gpu = parsed(reading, parse_information, f"{path}/information", "gpus", address) or Gpu()
        d3 = fields(reading.text(f"{path}/power", "gpus", address, "runtime_d3") or "").get("Runtime D3 status", "")
        found[address] = gpu.copy(address=address, runtime_d3=d3 if d3 not in ("", "?") else None)
    return found


def parsed(reading: Reading, parse: Callable[[str], T], path: str, *fact: str) -> T | None:
    """What PARSE makes of the file; None when it is not there, or, noted, cannot be read or makes no sense."""
    text = reading.text(path, *fact)
    try:
        return None if text is None else parse(text)
    except ParseError as error:
        reading.unread(fact, path, str(error))
        return None
