"""Facts that join sections: pure functions of one snapshot, or two, that rules and reports read as tables.

They are never stored, counted or listed as changes. To add one: ``derive/NAME.py`` with a function of (after,
before) that returns ``Derived``, its row keys documented there, and a line in FACTS. With before None a table
says what the one snapshot can tell alone.

``driver_majors``   by "c NAME" or "b NAME": which numbers a driver has, had, and who has the old ones now
``device_access``   by "ID /dev/path": whether a container may open a device it is given, why not, the cure
``device_nodes``    by path: whether a node of an accelerator is there, who needs it, what makes it at boot
``major_users``     by "KIND NAME PLACE": who names a device number literally, and whether it is still right
``read_requests``   by PCI address: MaxReadReq, its value before, whether its like have several, what restores it
``links``           by PCI address of the lower end: width and speed of a link against what its two ends can
``host_map``        by PCI address of GPU, NIC or NVMe drive: ports, switch, peers, NUMA node, CPUs, IOMMU group
``gpu_presence``    "nvidia": whether the NVIDIA driver that is loaded has a GPU at all
``gpu_layers``      by UUID, else PCI address: at which layer a GPU of either side is, or is missing
``inventory``       by noun: how many there are, layer by layer; ``inventory.missing`` compares with expectations
``expectations``    by noun: what the settings say that the host has to have, against what is there
``expected_mounts`` by directory: whether something is mounted where the settings say so
``module_state``    by "KERNEL MODULE": what each installed kernel has of nvidia, zfs, amdgpu and mlx5_core
``driver_versions`` by driver: the loaded version against libraries, fabric manager and the file on the disk
``kernel_return``   "": commands that start the kernel of before again at every boot
``kernel_tokens``   by word of the command line: what it asks for, and whether it is so now
``cmdline_next``    by parameter: the command line of the next boot against this one, and edits not applied
``nic_names``       by interface key: what a NIC is called, was called, and which files use the old name
``nic_links``       by interface key: whether a NIC or bond is up, slower than before, or gone
``nic_mtus``        by interface key: MTU now and before, and which lines ask for it
``nic_settings``    by "INTERFACE GROUP/KEY": rings, channels, coalescing and offloads, likewise
``bridge_ports``    by "BRIDGE PORT": whether a configured port is in its bridge
``rdma_names``      by device key: what an RDMA device is called, was called, and whether NCCL's choice finds it
``rdma_ports``      by "GUID PORT": whether an RDMA port is ACTIVE, slower than before, or gone
``nvme_drives``     by controller key: whether an NVMe drive is there, live, and called as before
``mount_points``    by place: whether what fstab, units or the time before ask for is mounted
``gpu_pcie``        by PCI address of a GPU: the BAR that shows its memory, and its link at full clocks
``gpu_bridges``     by PCI address: the ports and bridges above GPUs
``pci_errors``      by PCI address: errors that AER counted, and their rate
``memory_errors``   by "CONTROLLER MODULE": errors that EDAC counted, and their rate
``cpus_online``     one row: which CPUs are online, and which no longer are
``numa_layout``     one row: the NUMA nodes with CPUs, and what of them is otherwise than before
``runtime_pm``      by PCI address of GPU, NIC or NVMe drive: power/control now and before
``pci_moves``       by PCI address: functions that moved or are gone, and what names an address that is not theirs
``containers``      by ID: CPUs, limits, confinement and devices of a container, from its lists of lines
``container_lines`` by "ID FILE:LINE": whether a raw line of a container does what it says, and what is meant
``container_devices`` by "ID devN": whether the node that devN names is there at the next start
``container_nets``  by "ID netN": MTU of a container's interface against that of its bridge
``container_idmaps`` by "ID u" or "ID g": whether root was given the ids that a container maps
``container_includes`` by "ID PATH": whether a file that a start includes is there
``cgroup_hierarchy`` "": the cgroup v1 that a command line asks for, what comes of it, and which containers it shuts out
``container_hooks`` by "ID KEY": literal device numbers in hooks, KEY as in ``major_users``
``nvidia_modules``  by stage: NVIDIA's module that is loaded, why none is, and the one that the next boot loads
``nouveau_binding`` by PCI address: whether the next boot keeps nouveau from a GPU of NVIDIA's
``gpu_errors``      by "GPU CODE": Xid errors of this boot, and what they ask for
``gpu_init``        by UUID, else PCI address: whether the driver could initialise a GPU, and with which firmware
``cdi_files``       by file: NVIDIA's CDI files whose device numbers or libraries are gone
``engine_cgroups``  by engine and runtime: engines whose cgroups systemd manages, and whether they give GPUs by CDI
``lxc_libraries``   by container: libraries of the driver that mount entries give it, against the host's
``tunables``        by "KIND SUBJECT NAME": a tunable now and before, what sets it at boot, what a boot makes of it
``sysctl_tunables`` ``thp_tunables`` ``ksm_tunables`` ``hugepage_tunables`` ``swap_tunables`` ``block_tunables``
                    by the same keys: those of one kind
``set_sysctls``     by the same keys: sysctls that something sets
``boot_actions_not_run`` by "FILE:LINE": settings of the administrator's that no boot will make, and why
``unit_order``      by unit: tuning units of GPUs that nothing orders behind the driver
``boot_kernels``    by release: the running kernel and the next one, whether they are there and were meant
``initramfs_state`` by release: the initial RAM disk of the next boot against the files that should be in it
``cmdline_files``   by path: files for the command line, and words in them that can have no effect
``cmdline_words``   by parameter: the command line of this boot against the one before, and who asked for it
``wanted_modules``  by module: what modules-load.d asks for or was loaded before, and is not there
``moved_sysctls``   by sysctl: lines for a scheduler's tunable, and whether this kernel has it elsewhere
``failed_units``    by unit that failed now or before: what it is for
``tuning_not_run``  by unit or crontab that sets something: whether a boot runs it, and whether it is in force now
``tuning_order``    by unit that tunes GPUs: whether it comes behind the driver, and whether what it sets is so
``module_options``  by "MODULE PARAMETER": options of modprobe.d against what the loaded module has
``kernel_config``   by option: defaults that the running kernel was built with, and what decides instead
``captures``        by section: what the take could not read, and whether for want of rights, time or tools
``gpu_settings``    by GPU key: what gives an NVIDIA GPU its settings of before again, and its VBIOS against its like
``nvidia_options``  by "MODULE.PARAMETER": options of NVIDIA's modules as configured, against those in effect
``gpu_pairs``       by "ADDRESS ADDRESS": how near a GPU is to another or to a NIC, was, and whether P2P is allowed
``moved_majors``    by driver: nvidia-caps or kfd with another number than before, and what still names the old one
``amdgpu_settings`` by "GPU NAME": settings of AMD GPUs, what they were, and what sets them again
``render_nodes``    by GPU key: AMD GPUs whose DRM nodes have other names than before, and who uses the old ones
``passthrough``     by PCI address: which virtual machines are given a function, and the vfio-pci option with its ids
``iommu_groups``    by first function of a group: which functions share an IOMMU group, and which were apart before
``cpu_governors``   by CPU list: the governor or preference that decides how fast CPUs run, and what it was
``cpu_limits``      by CPU list: the frequency limit of CPUs now and before, under one driver
``idle_depths``     by CPU list: the deepest idle state that CPUs may enter, and the one before
``irq_moves``       by action: interrupts whose chosen CPUs are the default again, and irqbalance
``resource_limits`` by limit: open files and locked memory of sessions, units and PID 1, now and before
``tuned_profile``   "profile": the active profile of tuned, and the one before
``sysctl_conflicts`` by sysctl: lines of the administrator's that another file overrides
``benchmarks``      by measurement id, of tables between devices "ID GROUP": what became of a benchmark, and why
``p2p_effect``      by tool: pairs of devices that gain nothing by peer-to-peer
``forecast``        by the keys of ``tunables``, and "cmdline WORD": what the next boot makes of it, and why
``forecast_majors`` by "ID /dev/path": devices that a container opens by a number that the next boot may move
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING, cast

from .facts import Derived

if TYPE_CHECKING:
    from ..document import Snapshot

__all__ = ["FACTS", "OF", "Derived", "derived", "worked_out"]

FACTS: dict[str, str] = {  # table -> the module with the function of that name: each is imported when it is asked for
    "driver_majors": "access.driver_majors",
    "device_access": "access.device_access",
    "device_nodes": "access.device_nodes",
    "major_users": "access.major_users",
    "read_requests": "pci.read_requests",
    "links": "pci.links",
    "host_map": "pci.host_map",
    "gpu_presence": "gpus.gpu_presence",
    "gpu_layers": "gpus.gpu_layers",
    "inventory": "hardware.inventory",
    "expectations": "hardware.expectations",
    "expected_mounts": "hardware.expectations",
    "module_state": "boot.module_state",
    "driver_versions": "gpus.driver_versions",
    "kernel_return": "boot.kernel_return",
    "kernel_tokens": "boot.kernel_tokens",
    "containers": "guests.containers",
    "container_lines": "guests.container_lines",
    "container_devices": "guests.container_devices",
    "container_nets": "guests.container_nets",
    "container_idmaps": "guests.container_idmaps",
    "container_includes": "guests.container_includes",
    "container_hooks": "guests.container_hooks",
    "cgroup_hierarchy": "guests.cgroup_hierarchy",
    "cmdline_next": "boot.cmdline_next",
    "nic_names": "network.nic_names",
    "nic_links": "network.nic_links",
    "nic_mtus": "network.nic_settings",
    "nic_settings": "network.nic_settings",
    "bridge_ports": "network.bridge_ports",
    "rdma_names": "network.rdma_names",
    "rdma_ports": "network.rdma_ports",
    "nvme_drives": "hardware.nvme_drives",
    "mount_points": "hardware.mount_points",
    "gpu_pcie": "pci.gpu_pcie",
    "gpu_bridges": "pci.gpu_bridges",
    "pci_errors": "pci.error_counts",
    "memory_errors": "pci.error_counts",
    "cpus_online": "hardware.cpu_layout",
    "numa_layout": "hardware.cpu_layout",
    "runtime_pm": "pci.runtime_pm",
    "pci_moves": "pci.pci_moves",
    "nvidia_modules": "gpus.nvidia_modules",
    "nouveau_binding": "gpus.nouveau_binding",
    "gpu_errors": "gpus.gpu_errors",
    "gpu_init": "gpus.gpu_init",
    "cdi_files": "guests.cdi_files",
    "engine_cgroups": "guests.engine_cgroups",
    "lxc_libraries": "guests.lxc_libraries",
    "tunables": "tunables.tunables",
    "sysctl_tunables": "tunables.tunable_kinds",
    "set_sysctls": "tunables.tunable_kinds",
    "thp_tunables": "tunables.tunable_kinds",
    "ksm_tunables": "tunables.tunable_kinds",
    "hugepage_tunables": "tunables.tunable_kinds",
    "swap_tunables": "tunables.tunable_kinds",
    "block_tunables": "tunables.tunable_kinds",
    "boot_actions_not_run": "actions.boot_actions",
    "unit_order": "actions.unit_order",
    "boot_kernels": "boot.boot_kernels",
    "initramfs_state": "boot.initramfs_state",
    "cmdline_files": "boot.cmdline_files",
    "cmdline_words": "boot.cmdline_words",
    "wanted_modules": "boot.wanted_modules",
    "moved_sysctls": "tunables.moved_sysctls",
    "failed_units": "actions.failed_units",
    "captures": "hardware.captures",
    "kernel_config": "boot.kernel_config",
    "tuning_not_run": "actions.tuning_not_run",
    "tuning_order": "actions.tuning_order",
    "module_options": "boot.module_options",
    "gpu_settings": "gpus.gpu_settings",
    "nvidia_options": "gpus.nvidia_options",
    "gpu_pairs": "gpus.gpu_pairs",
    "moved_majors": "access.moved_majors",
    "amdgpu_settings": "gpus.amdgpu_settings",
    "render_nodes": "access.render_nodes",
    "passthrough": "guests.passthrough",
    "iommu_groups": "pci.iommu_groups",
    "cpu_governors": "tunables.cpu_speeds",
    "cpu_limits": "tunables.cpu_speeds",
    "idle_depths": "tunables.idle_depths",
    "irq_moves": "tunables.irq_moves",
    "resource_limits": "tunables.resource_limits",
    "sysctl_conflicts": "tunables.sysctl_conflicts",
    "tuned_profile": "tunables.tuned_profile",
    "benchmarks": "bench.benchmarks",
    "p2p_effect": "bench.benchmarks",
    "forecast": "forecasts.forecast",
    "forecast_majors": "forecasts.forecast_majors",
}

OF: dict[str, tuple[str, str]] = dict.fromkeys(  # table -> section and key of the things that all its rows are of
    ("device_access", "containers", "container_lines", "container_devices", "container_nets", "container_idmaps",
     "container_includes", "container_hooks", "lxc_libraries"), ("lxc", "containers"))


def derived(name: str, after: Snapshot, before: Snapshot | None) -> Derived:
    """The table NAME of AFTER, with what BEFORE adds to it. KeyError when there is no such table."""
    if name in OF and not any(side and _may_have(side, *OF[name]) for side in (after, before)):
        return Derived()
    return worked_out(name, after, before)


def worked_out(name: str, after: Snapshot, before: Snapshot | None) -> Derived:
    """The same, though there be nothing that it has rows of: for who wants to see what it reads."""
    table = getattr(import_module(f".{FACTS[name]}", __name__), name)
    return cast("Callable[[Snapshot, Snapshot | None], Derived]", table)(after, before)


def _may_have(snapshot: Snapshot, section: str, key: str) -> bool:
    """Whether there is something at KEY of SECTION, or that is not known."""
    if snapshot.table(section).get(key) or snapshot.unread(section, (key,)):
        return True
    return any(fact.path[:1] == [key] for fact in snapshot.outcomes[section].unread or ())
