"""Container engines, from /etc/cdi, /etc/docker, /etc/containerd, /etc/nvidia-container-runtime, /dev/char.

``cdi``, ``engine_conf`` and ``subids`` know the formats. udev makes a link in /dev/char for each character
device that has a node of its own making; the NVIDIA driver's nodes are made by nvidia-modprobe, which makes
none, and runc under systemd cannot allow a device without one. Only links with a major number of the NVIDIA
driver or of the dynamic ranges (Documentation/admin-guide/devices.txt) are looked at.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any, TypeVar

from ..errors import ParseError
from ..regexes import regex
from ..sections.runtimes import Containerd, Runtimes
from . import subids
from .base import Reading, Reads

T = TypeVar("T")
CDI = ("/etc/cdi", "/var/run/cdi")
DOCKER, NVIDIA, CHAR = "/etc/docker/daemon.json", "/etc/nvidia-container-runtime/config.toml", "/dev/char"
CONTAINERD = (
    "/etc/containerd/config.toml", "/var/lib/rancher/k3s/agent/etc/containerd/config.toml",
    "/var/lib/rancher/rke2/agent/etc/containerd/config.toml",
)
DROP_INS = ("/etc/containerd/conf.d", "/etc/containerd/config.d")
READS = Reads(
    paths=(
        *CDI, *(f"{folder}/*" for folder in CDI), DOCKER, *CONTAINERD, *DROP_INS,
        *(f"{folder}/*.toml" for folder in DROP_INS), NVIDIA, CHAR, f"{CHAR}/*", "/etc/subuid", "/etc/subgid",
    ),
    root="configuration files that only root may read, such as those of k3s",
)
_NUMBERS = regex("([0-9]{1,4}):[0-9]{1,7}")
_TARGET = regex(r"(?:\.\./|/dev/)(?:nvidia|kfd\b)")


def collect(reading: Reading) -> Runtimes:
    """The section. A file that makes no sense is unread, and the others are recorded."""
    files = [f"{d}/{n}" for d in CDI for n in reading.list(d, "cdi") if n.endswith((".yaml", ".json"))]
    specs = {file: spec for file in files if (spec := _parsed(reading, file, _of("cdi", "parse"), "cdi", file))}
    return Runtimes(
        cdi=specs or None,
        docker=_parsed(reading, DOCKER, _of("engine_conf", "docker"), "docker"),
        containerd=_containerd(reading) or None,
        nvidia=_parsed(reading, NVIDIA, _of("engine_conf", "nvidia"), "nvidia"),
        char_links=_char_links(reading),
        subuid=_parsed(reading, "/etc/subuid", lambda text, _: subids.parse(text), "subuid"),
        subgid=_parsed(reading, "/etc/subgid", lambda text, _: subids.parse(text), "subgid"),
    )


def _of(room: str, name: str) -> Callable[[str, str], Any]:
    """What parses a file, of a room that is imported where there is such a file."""
    def parse(text: str, file: str) -> Any:
        return getattr(import_module(f"{__package__}.{room}"), name)(text, file)

    return parse


def _parsed(reading: Reading, file: str, parse: Callable[[str, str], T], *fact: str) -> T | None:
    text = reading.config(file, *fact)
    try:
        return None if text is None else parse(text, file)
    except ParseError as error:
        reading.unread(fact, file, str(error))
        return None


def _containerd(reading: Reading) -> dict[str, Containerd]:
    drop_ins = [f"{d}/{n}" for d in DROP_INS for n in reading.list(d, "containerd") if n.endswith(".toml")]
    parse = _of("engine_conf", "containerd")
    return {f: found for f in (*CONTAINERD, *drop_ins) if (found := _parsed(reading, f, parse, "containerd", f))}


def _char_links(reading: Reading) -> dict[str, str] | None:
    """None when /dev/char is not there or cannot be listed."""
    if reading.stat(CHAR, "char_links") is None:
        return None
    before = len(reading.unreads)
    names = [name for name in reading.list(CHAR, "char_links") if _may_be(name)]
    links = {name: reading.readlink(f"{CHAR}/{name}", "char_links", name) for name in names}
    if len(reading.unreads) > before and not names:
        return None
    return {name: target for name, target in links.items() if target and _TARGET.match(target)}


def _may_be(name: str) -> bool:
    match = _NUMBERS.fullmatch(name)
    major = int(match[1]) if match else 0
    return major in (195, *range(234, 255)) or major >= 384
