"""Which parser reads which kind of public raw file, and why some kinds and files give nothing."""

from __future__ import annotations

from collections.abc import Callable, Collection
from pathlib import Path

from snapshot.capture import take
from snapshot.collectors import (
    cmdline,
    cpuinfo,
    devices,
    dkms_status,
    grub_default,
    irq_names,
    kernel,
    lspci,
    lxc_config,
    modules,
    nvidia_driver,
    nvidia_events,
    nvidia_smi,
    nvidia_topology,
    pve_conf,
    sysctl,
    sysctl_files,
    units_tuned,
)
from snapshot.collectors.base import decode
from snapshot.host.base import Host
from snapshot.sections.base import Model

from .collectors import trees

TABLE = "a pasted table of a tool that no section runs: the files that it is made from are read"
BENCH = "a measurement: section bench is filled from the operator's own"

_OF_DRIVER: dict[str, Callable[[str], object]] = {
    "information": nvidia_driver.parse_information, "params": nvidia_driver.parse_params,
    "version": nvidia_driver.parse_version,
}


def _sections(host: Host, names: Collection[str]) -> dict[str, Model]:
    """The sections of a tree; one that failed would be missing evidence that nobody sees."""
    taken = take(host, names)
    failed = {name: outcome.why for name, outcome in taken.outcomes.items() if outcome.state == "failed"}
    assert not failed
    return {name: found for name in names if taken.outcomes[name].facts and (found := taken.section(name))}


def _driver(path: Path) -> object:
    return _OF_DRIVER[path.stem.rpartition(".")[2]](_text(path))


def _log(parse: Callable[[str], nvidia_smi.Log]) -> Callable[[Path], object]:
    def read(path: Path) -> object:
        log = parse(_text(path))
        return log if log.devices else None

    return read


def _lspci(path: Path) -> object:
    return lspci.parse_lspci(_text(path), path.name)


def _pve(path: Path) -> object:
    conf = pve_conf.parse(_text(path), path.name)
    assert not conf.live.part().ignored
    return conf.live.part().table()


def _sysctls(path: Path) -> object:
    pairs = (line.partition("=") for line in _text(path).splitlines())
    return {key.strip(): sysctl.value_of(value.strip().encode("utf-8", "surrogateescape")) for key, _, value in pairs}


def _actions(path: Path) -> object:
    """Action names stand last in /proc/interrupts, after the chip and the number of the interrupt at it."""
    rows = (line.split(None, 1) for line in _text(path).splitlines()[1:])
    actions = {int(row[0][:-1]): row[1].split("  ")[-1].strip() for row in rows if row[0][:-1].isdecimal()}
    return irq_names.families(actions)


def _text(path: Path) -> str:
    return decode(path.read_bytes())


# kind -> what the sections that read it make of a file of that kind
READ: dict[str, Callable[[Path], object]] = {
    "cmdline": lambda path: cmdline.parse(_text(path)).parameters,
    "cpu-sysfs-tree": lambda path: _sections(trees.from_tar(path), ("cpu", "cpufreq", "cpuidle", "memory")),
    "cpuinfo": lambda path: cpuinfo.parse(_text(path)).names,
    "default-grub": lambda path: grub_default.parse([("/etc/default/grub", _text(path))]),
    "dkms-status": lambda path: dkms_status.parse(_text(path)),
    "dmesg": lambda path: nvidia_events.parse_events(_text(path)),
    "lspci-k": _lspci, "lspci-nn": _lspci, "lspci-vmmkn": _lspci, "lspci-vvv": _lspci, "lspci-vvvxxx": _lspci,
    "lspci-vvvxxxx": _lspci,
    "lxc-conf": _pve, "lxc-conf-snapshots-upstream-tests": _pve,
    "lxc-config": lambda path: lxc_config.parse(_text(path), path.name),
    "nvidia-smi-L": _log(nvidia_smi.parse_list),
    "nvidia-smi-nvlink": lambda path: nvidia_topology.parse_nvlink(_text(path)),
    "nvidia-smi-q": _log(nvidia_smi.parse_text),
    "nvidia-smi-topo": lambda path: nvidia_topology.parse_grid(_text(path)),
    "nvidia-smi-version": lambda path: nvidia_smi.parse_versions(_text(path)),
    "nvidia-smi-xml": _log(nvidia_smi.parse_xml),
    "proc-devices": lambda path: devices.parse_devices(_text(path))[0],
    "proc-driver-nvidia": _driver,
    "proc-interrupts": _actions,
    "proc-modules": lambda path: modules.parse_modules(_text(path)),
    "proc-version": lambda path: kernel.parse_banner(_text(path))[0],
    "sysctl-a": _sysctls,
    "sysctl-d": lambda path: sysctl_files.parse({"/etc/sysctl.d/x.conf": _text(path)}, "", ()).settings,
    "sysfs-ttar": lambda path: _sections(trees.from_ttar(path), ("cpu", "cpufreq", "sysctl")),
    "tuned-adm": lambda path: units_tuned.parse_adm(_text(path)),
}

# kind -> why no section reads it
UNREAD = {
    "cgroup-devices-list": "cgroup v1 tells what a container may open in a file; cgroup v2 keeps it in a BPF program, "
                           "and what is recorded are the rules that it is made from",
    "cpupower-frequency-info": TABLE, "ibv_devinfo": TABLE, "ls-dev-kfd": TABLE, "ls-dev-nvidia": TABLE,
    "lsblk": TABLE, "lscpu": TABLE, "lscpu-e": TABLE, "lsmod": TABLE, "numactl-hardware": TABLE,
    "lspci-acsctl-grep": "lines without the function that they belong to",
    "lspci-t": "a drawing without identifiers: the tree is read from sysfs",
    "nvidia-smi-dmon": "measured values, which no snapshot holds",
    "nvidia-smi-query-csv": "the report of -q -x holds it, with names that stay", "nvidia-smi-table": TABLE,
    "pcie-link-sysfs-json": "the link is read from the registers: these files wake a sleeping function",
    "proxmox-boot-tool-kernel-list": "the tool is never run: the files that it reads are",
    "pveversion": "the tool is never run: the dpkg status file holds it",
}

# file -> why its parser has to refuse it
REFUSED = {
    "nvidia-smi-q/p3200-failed.txt": "an error message, no report",
    "nvidia-smi-topo/win-rtx-2080-super__591.86.txt": "an error message, no grid",
    "proc-devices/imex-and-caps.excerpt.txt": "an excerpt",
    "proc-devices/kata-guest-nvkvm.txt": "an excerpt",
    "proc-devices/rtx5060-open-module.grep.txt": "an excerpt",
}

# file -> why there is nothing in it for a section
EMPTY = {
    "dmesg/gpud-kmsg-peermem.log": "no GPU or PCIe error",
    "dmesg/gpud-pstore-erst.txt": "no GPU or PCIe error",
    "dmesg/gsp-firmware-mismatch-595.txt": "a firmware of another version is no event",
    "dmesg/insights-ts.txt": "no GPU or PCIe error",
    "dmesg/rhcos4-vm.full.txt": "no GPU or PCIe error",
    "dmesg/threadripper5955wx-ubuntu2204.full.txt": "no GPU or PCIe error",
    "nvidia-smi-nvlink/h100-mig__590.48.01.txt": "links are not told in MIG mode",
    "nvidia-smi-nvlink/rtx-2080-super__595.71.05.txt": "inactive links",
    "nvidia-smi-nvlink/rtx-4080-super__595.71.05.txt": "inactive links",
    "nvidia-smi-nvlink/win-rtx-2080-super__591.86.txt": "inactive links",
    "sysctl-d/rhcos4/etc/sysctl.conf": "comments only",
    "sysfs-ttar/procfs-thermal.ttar": "temperatures only",
}
