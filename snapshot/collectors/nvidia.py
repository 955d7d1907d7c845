"""The NVIDIA driver, its GPUs and their errors, from /proc/driver/nvidia, nvidia-smi and the kernel log.

nvidia_driver, nvidia_smi, nvidia_fields, nvidia_topology, nvidia_userspace and nvidia_events say how each is written.

nvidia-smi makes device nodes that are missing and loads the module, through the setuid nvidia-modprobe, and it wakes a
GPU that sleeps. On a live host it runs only where there is nothing to load, make or wake, after the files of all
sections. Each question is a command of its own, so that one that hangs costs only its answer. Of what topo -p2p can be
asked, reading stands for all: that is what CUDA's peer access needs, and every question can cost seconds.
A recording may hold the text report or the list in place of the XML.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from typing import TypeVar

from ..errors import AbsentError, ParseError
from ..host.base import Command, Result
from ..records import record
from ..sections.base import Matrix
from ..sections.nvidia import Affinity, Events, Gpu, Nvidia, UserSpace
from . import nvidia_module, nvidia_userspace
from .base import Reading, Reads, decode
from .identity import move_unread
from .nvidia_events import COMMAND as EVENTS
from .nvidia_events import from_boot, parse_events
from .nvidia_report import LIST, TEXT, XML, Report, combine, places, read_report
from .nvidia_smi import failure, parse_lost, parse_versions, said
from .nvidia_topology import Grid, parse_grid, parse_nvlink
from .nvidia_userspace import FABRIC_MANAGER, FABRIC_VERSION, parse_fabric_version
from .pci_address import sysfs_address

DEVICES, INFINIBAND = "/sys/bus/pci/devices", "/sys/class/infiniband"
TOPO, P2P = ("nvidia-smi", "topo", "-m"), ("nvidia-smi", "topo", "-p2p", "r")
NVLINK, VERSIONS = ("nvidia-smi", "nvlink", "-s"), ("nvidia-smi", "--version")
SMI = (XML, TOPO, P2P, NVLINK, VERSIONS)
READS = Reads(
    paths=(
        *nvidia_module.PATHS, *nvidia_userspace.PATHS, "/dev/nvidia*", DEVICES, f"{DEVICES}/*/vendor",
        f"{DEVICES}/*/power/runtime_status", f"{INFINIBAND}/*/device",
    ),
    commands=(*SMI, TEXT, LIST, EVENTS, FABRIC_VERSION),
    root="GPU and PCIe errors from the kernel log, unless the user is in the group systemd-journal or adm",
)
T = TypeVar("T")
Steps = Generator[tuple[Command, ...], Mapping[Command, Result], Nvidia]
_UNNAMED = "the report does not tell which GPU is which"
_SMI_S, _OTHER_S = 30.0, 10.0  # a GPU without persistence takes a second or more to initialise, eight take turns


@record()
class _Asked:
    """The commands' answers. REASON is why nvidia-smi was not to be run; SILENT, that there is nothing to ask about."""

    reading: Reading
    answers: Mapping[tuple[str, ...], Result]
    reason: str
    silent: bool

    def parse(self, argv: tuple[str, ...], parse: Callable[[str], T], *facts: str) -> T | None:
        """What PARSE makes of an answer of nvidia-smi; None, noted under each of FACTS, when there is none."""
        why = self.why(argv)
        try:
            return parse(decode(self.answer(argv).stdout)) if not why else None
        except ParseError as error:
            why = failure(self.answer(argv)) or str(error)
            return None
        finally:
            for fact in facts if why and not self.silent else ():
                self.reading.unread((fact,), " ".join(argv), why)

    def answer(self, argv: tuple[str, ...]) -> Result:
        """What a command said."""
        return self.answers.get(argv, Result(None, why="not-recorded"))

    def why(self, argv: tuple[str, ...]) -> str:
        """Why an answer is not to be had, or does not cover all GPUs; empty when it may be whole."""
        result = self.answer(argv)
        if result.why == "not-recorded" and self.reason:
            return self.reason
        return result.why or next((f"of one GPU: {text}" for text in parse_lost(said(result)).values()), "")


def collect(reading: Reading) -> Steps:
    """The section. AbsentError when there is no driver, none of its libraries, and no NVIDIA function on the bus."""
    loaded = nvidia_module.is_loaded(reading)
    driver = nvidia_module.read_driver(reading) if loaded else None
    bound = nvidia_module.read_gpus(reading) if loaded else {}
    libraries = nvidia_userspace.read_libraries(reading)
    if loaded is None:
        reading.unread(("driver",), nvidia_module.MODULES, "it is not known whether the module is loaded")
    if loaded is False and not libraries and not _on_bus(reading):
        raise AbsentError(f"no module nvidia in {nvidia_module.MODULES}, no function of vendor 10de in {DEVICES}")
    user = UserSpace(libraries=libraries or None, persistenced=nvidia_userspace.is_persistenced(reading),
                     fabric_settings=nvidia_userspace.read_fabric_settings(reading) or None)
    known = "the module nvidia is not loaded" if loaded is False else "it is not known whether its module is loaded"
    reason = _forbidden(reading, bound) if loaded else f"nvidia-smi is not run: {known}"
    results = yield _commands(reading, reason)
    asked = _Asked(reading, {c.argv: result for c, result in results.items()}, reason, loaded is False)
    report = read_report(asked.answers, reason)
    gpus = _gpus(reading, bound, report, asked)
    user_space = _user_space(asked, user, report)
    topology, affinity, peers = _grids(asked, report, gpus)
    return Nvidia(
        loaded=loaded, driver=driver, user_space=user_space, attached=report.attached, gpus=gpus or None,
        topology=topology, affinity=affinity or None, p2p_read=peers,
        nvlink=asked.parse(NVLINK, parse_nvlink, "nvlink") or None, events=_events(asked) or None,
    )


def _on_bus(reading: Reading) -> bool:
    """Whether an NVIDIA function is there, or cannot be ruled out."""
    known = len(reading.unreads)
    addresses = reading.list(DEVICES, "gpus")
    vendors = [reading.text(f"{DEVICES}/{address}/vendor", "gpus") for address in addresses]
    return "0x10de" in vendors or None in vendors or not addresses or len(reading.unreads) > known


def _forbidden(reading: Reading, bound: Mapping[str, Gpu]) -> str:
    """Why nvidia-smi must not be run; empty when it changes nothing."""
    minors = [str(gpu.minor) for gpu in bound.values() if gpu.minor is not None]
    for path in ("/dev/nvidiactl", *(f"/dev/nvidia{minor}" for minor in minors)):
        if reading.stat(path, "attached") is None:
            return f"nvidia-smi is not run: {path} is not there, and it would make it"
    for address in bound:
        status = reading.attempt(f"{DEVICES}/{address}/power/runtime_status")
        if not isinstance(status, OSError) and decode(status).strip() in ("suspended", "suspending"):
            return f"nvidia-smi is not run: {address} sleeps, and it would wake it"
    return ""


def _commands(reading: Reading, reason: str) -> tuple[Command, ...]:
    live = reading.host.source == "live"
    smi = (() if reason else SMI) if live else (*SMI, TEXT, LIST)
    fabric = (FABRIC_VERSION,) if reading.stat(FABRIC_MANAGER, "user_space", "fabric_manager") else ()
    return (*(Command(argv, _SMI_S) for argv in smi), *(Command(argv, _OTHER_S) for argv in (EVENTS, *fabric)))


def _gpus(reading: Reading, bound: Mapping[str, Gpu], report: Report, asked: _Asked) -> dict[str, Gpu]:
    gpus, notes = combine(bound, report)
    for key, unknown in notes.items():
        for path, why in unknown:
            reading.unread(("gpus", key, *path), report.source, why)
    move_unread(reading, "gpus", {gpu.address: key for key, gpu in gpus.items() if gpu.address})
    if not asked.silent and report.log is None:
        reading.unread(("attached",), report.source, report.why)
        if not gpus and reading.stat(f"{nvidia_module.PROC}/gpus", "gpus") is None:
            reading.unread(("gpus",), report.source, report.why)
    return gpus


def _user_space(asked: _Asked, user: UserSpace, report: Report) -> UserSpace:
    reading = asked.reading
    told = asked.parse(VERSIONS, parse_versions) or {}
    cuda = report.cuda or told.get("cuda")
    for fact, value in (("smi", told.get("smi")), ("nvml", told.get("nvml")), ("cuda", cuda)):
        if value is None and not asked.silent:
            why = asked.why(VERSIONS) or failure(asked.answer(VERSIONS)) or "not told"
            reading.unread(("user_space", fact), " ".join(VERSIONS), why)
    fabric = asked.answers.get(FABRIC_VERSION)
    version = parse_fabric_version(said(fabric)) if fabric else None
    if fabric and not version:
        reading.unread(("user_space", "fabric_manager"), " ".join(FABRIC_VERSION), failure(fabric) or "no version")
    return user.copy(smi=told.get("smi"), nvml=told.get("nvml"), cuda=cuda, fabric_manager=version)


def _grids(
    asked: _Asked, report: Report, gpus: Mapping[str, Gpu]
) -> tuple[Matrix | None, dict[str, Affinity], Matrix | None]:
    """Topology, affinity and peer reading, by PCI address."""
    grid = asked.parse(TOPO, parse_grid, "topology", "affinity")
    peers = asked.parse(P2P, parse_grid, "p2p_read")
    names = places(report, gpus, (grid or peers or Grid([], [])).names)
    p2p = _matrix(asked, peers, names, P2P, "p2p_read")
    if grid is None:
        return None, {}, p2p
    if not names:
        asked.reading.unread(("affinity",), " ".join(TOPO), _UNNAMED)
    nics = {name: _nic(asked.reading, grid.nics.get(name, name)) for name in grid.names if name[:3] != "GPU"}
    affinity = {names[name]: a for name, a in grid.affinity.items() if name in names}
    return _matrix(asked, grid, {**nics, **names}, TOPO, "topology"), affinity, p2p


def _matrix(
    asked: _Asked, grid: Grid | None, names: Mapping[str, str], argv: tuple[str, ...], fact: str
) -> Matrix | None:
    if grid is None:
        return None
    if any(name.startswith("GPU") and name not in names for name in grid.names):
        asked.reading.unread((fact,), " ".join(argv), _UNNAMED)
        return None
    try:
        return grid.matrix(names)
    except ParseError as error:
        asked.reading.unread((fact,), " ".join(argv), str(error))
        return None


def _nic(reading: Reading, name: str) -> str:
    """The PCI address of an RDMA device; its name when it has no such link."""
    target = reading.readlink(f"{INFINIBAND}/{name}/device", "topology") if "/" not in name else None
    return (sysfs_address(target.rpartition("/")[2]) if target else None) or name


def _events(asked: _Asked) -> dict[str, Events]:
    result = asked.answer(EVENTS)
    text = decode(result.stdout)
    if not from_boot(text) or result.why:
        why = result.why or ("the kernel log does not reach back to the boot" if text.strip() else failure(result))
        asked.reading.unread(("events",), "journalctl -k -b", why)
    return parse_events(text)
