"""Every kind of public raw file has a parser or a reason; every file of a kind that is read parses."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest

from snapshot.errors import ParseError
from snapshot.sections.base import parse_cpus

from .corpus import BENCH, EMPTY, READ, REFUSED, UNREAD


def files(corpus: Path) -> dict[str, list[Path]]:
    """The raw files by kind."""
    return {kind.name: sorted(p for p in kind.rglob("*") if p.is_file()) for kind in sorted(corpus.iterdir())}


@pytest.mark.parametrize("kind", READ)
def test_every_file_of_a_kind_parses(corpus: Path, kind: str) -> None:
    found = files(corpus)[kind]
    for path in found:
        name = str(path.relative_to(corpus))
        if name in REFUSED:
            with pytest.raises(ParseError):
                READ[kind](path)
        else:
            assert bool(READ[kind](path)) is (name not in EMPTY), name
    assert found


def test_every_kind_has_a_parser_or_a_reason(corpus: Path, record_table: Callable[[list[str]], None]) -> None:
    found = files(corpus)
    measured = {kind for kind in found if kind.startswith("bench-")}
    assert found.keys() - measured == READ.keys() | UNREAD.keys()
    assert not READ.keys() & UNREAD.keys()
    names = {str(path.relative_to(corpus)) for paths in found.values() for path in paths}
    assert REFUSED.keys() | EMPTY.keys() <= names
    why = UNREAD | dict.fromkeys(measured, BENCH)
    record_table([f"{len(paths):4}  {kind:34} {why.get(kind, 'parsed')}" for kind, paths in found.items()])


def _counts(found: dict[str, Any]) -> Told:
    drivers = {decoded.function.driver for decoded in found.values()} - {None}
    return {(str(len(found)),), (", ".join(sorted(drivers)),)}


def _links(found: dict[str, Any]) -> Told:
    for decoded in found.values():
        if decoded.function.express and (link := decoded.function.express.link):
            yield tuple(f"{n:g}" for n in (link.max_speed_gts, link.max_width, link.speed_gts, link.width))


def _log(log: Any) -> Told:
    keys = ("driver_version", "driver version", "attached_gpus", "attached gpus")
    yield from {(log.values[key],) for key in keys if key in log.values}
    yield (str(len(log.devices)),)
    for device in log.devices:
        yield from {(device.values[key],) for key in ("product_name", "product name") if key in device.values}


def _grid(grid: Any) -> Told:
    gpus = [name for name in grid.names if name.startswith("GPU")]
    return {(str(len(gpus)), str(len(grid.names) - len(gpus))), tuple(grid.rows[0][1:3])}


def _builds(modules: dict[str, Any]) -> Told:
    for name, module in modules.items():
        for version, one in module.versions.items():
            for kernel, by_arch in (one.builds or {}).items():
                yield from ((name, version, kernel, arch, build.state) for arch, build in by_arch.items())


def _tree(sections: dict[str, Any]) -> Told:
    driver = sections["cpufreq"].driver if "cpufreq" in sections else None
    return {(sections["cpu"].online, driver)}


DEVICES = r"(\d+) (?:devices|functions|records)\b"
DRIVERS = r"drivers: (\w+(?:, \w+)*)"
Told = Iterable[tuple[str | None, ...]]

# kind -> what the notes of the log say of a file, as a pattern, and the same of what was parsed
FACTS: list[tuple[str, str, Callable[[Any], Told]]] = [
    ("cmdline", r"(\w+)=(\w+)", lambda found: {(name, str(v)) for name, values in found.items() for v in values}),
    ("cpu-sysfs-tree", r"cpu online \['(.*?)'\]; cpufreq driver \[(?:'(.*?)')?\]", _tree),
    ("cpuinfo", r"(\d+) processors; (.+)",
     lambda found: {(str(len(found)), word) for name in found.values() for word in (name, name.split()[-1])}),
    ("default-grub", 'GRUB_CMDLINE_LINUX_DEFAULT="(.*?)"',
     lambda found: {(found["GRUB_CMDLINE_LINUX_DEFAULT"].value,)}),
    ("dkms-status", r"(?:^|; )([\w-]+)(?:/|, )(\S+), (\S+), (\S+): (installed)", _builds),
    ("dmesg", r"Xid (\d+)", lambda found: {(code,) for event in found.values() for code in event.xid or ()}),
    *((kind, pattern, _counts) for kind, pattern in (
        ("lspci-k", DEVICES), ("lspci-k", DRIVERS), ("lspci-vmmkn", DEVICES), ("lspci-vmmkn", DRIVERS),
        ("lspci-vvvxxx", DEVICES), ("lspci-vvvxxxx", DEVICES))),
    ("lspci-vvv", r"Speed (\d+)GT/s, Width x(\d+) \| LnkSta Speed ([\d.]+)GT/s(?: \(downgraded\))?, Width x(\d+)",
     _links),
    ("nvidia-smi-L", r"(\d+) GPU line", _log),
    ("nvidia-smi-L", r"first: GPU 0: (.+)", _log),
    ("nvidia-smi-nvlink", r'(\d+) "Link" lines',
     lambda found: {(str(sum(len(parse_cpus(link.active or "")) for link in found.values())),)}),
    *((kind, pattern, _log) for kind in ("nvidia-smi-q", "nvidia-smi-xml")
      for pattern in (r"driver \['(.+?)'\]", r"product \['(.+?)'\]")),
    ("nvidia-smi-xml", r"gpus \['(\d+)'\]", _log),
    ("nvidia-smi-topo", r"(\d+) GPUs, (\d+) NICs", _grid),
    ("nvidia-smi-topo", r"GPU0-GPU1 (\w+), GPU0-GPU2 (\w+)", _grid),
    ("nvidia-smi-version", r"(NVIDIA-SMI|NVML) version : ([\d.]+)",
     lambda found: {("NVIDIA-SMI", found["smi"]), ("NVML", found["nvml"])}),
    ("proc-devices", r"([\w-]+)=(\d+)", lambda found: {(name, str(n)) for name, ns in found.items() for n in ns}),
    ("proc-driver-nvidia", r"Model: (.+?); Video BIOS: (.+?); Bus Location: (.+?); Device Minor: (\d+)",
     lambda found: {(found.name, found.vbios, found.address, str(found.minor))}),
    ("proc-driver-nvidia", r"Kernel Module  ([\d.]+)", lambda found: {(found.version,)}),
    ("proc-interrupts", r"nvidia rows: (\d+)", lambda found: {(str(len(found.get("nvidia", ()))),)}),
    ("proc-modules", r"(\d+) lines", lambda found: {(str(len(found)),)}),
    ("proc-version", r"Linux version (\S+)", lambda found: {(found,)}),
    ("sysctl-a", r"(\d+) lines; first: (\w+)=(\w+)",
     lambda found: {(str(len(found)), key, str(value)) for key, value in found.items()}),
    ("sysctl-d", r"(\d+) settings: (\S+) = (\w+)",
     lambda found: {(str(len(found)), key, setting.systemd.value) for key, setting in found.items()}),
    ("tuned-adm", r"active profile (\S+)", lambda found: {(profile,) for profile in found}),
]


@pytest.mark.parametrize(("kind", "pattern", "told"), FACTS, ids=[f"{n}-{fact[0]}" for n, fact in enumerate(FACTS)])
def test_what_the_log_says_of_a_file_is_found_in_it(
    corpus: Path, kind: str, pattern: str, told: Callable[[Any], Told]
) -> None:
    compared = 0
    for row in (corpus.parent / "LOG.tsv").read_text().splitlines()[1:]:
        path, of, *_, notes = row.split("\t")
        name = path.removeprefix("files/")
        if of == kind and name not in REFUSED and (facts := {m.groups() for m in re.finditer(pattern, notes)}):
            assert facts <= set(told(READ[kind](corpus / name))), name
            compared += len(facts)
    assert compared
