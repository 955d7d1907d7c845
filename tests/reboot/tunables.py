"""What the rig sets by hand in the guest: how, to what, and its keys in the product's table ``tunables``.

Documentation/admin-guide/sysctl and pm/cpuidle.rst, Documentation/ABI/{stable/sysfs-block,testing/sysfs-class-net,
testing/sysfs-kernel-mm*}, setpci(8), ethtool(8). Only settings that the guest's two kernels both have.
"""

from __future__ import annotations

import json
import random
from typing import NamedTuple

PROC, MM, BLOCK, NET = "/proc/sys", "/sys/kernel/mm", "/sys/block", "/sys/class/net/eth0"
CPUS, GPU = "/sys/devices/system/cpu", "0010:01:00.0"
MRRS = {"512": "2000", "1024": "3000", "2048": "4000", "4096": "5000"}


class Tunable(NamedTuple):
    """One setting. KEYS are patterns (fnmatch) of its rows; ALSO of rows of the same thing under another name."""

    name: str
    values: tuple[str, ...]
    keys: tuple[str, ...]
    also: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    read: str = ""
    write: str = ""
    kept_by: str = ""  # file that sets it at each boot: it comes back to what stands there


def _sysctl(name: str, *values: str, also: tuple[str, ...] = (), kept_by: str = "") -> Tunable:
    path = f"{PROC}/{name.replace('.', '/')}"
    return Tunable(name, values, (f"sysctl {name}",), also, (path,), kept_by=kept_by)


def _file(kind: str, folder: str, name: str, *values: str, key: str = "") -> Tunable:
    return Tunable(f"{kind} {name}", values, (key or f"{kind} {name}",), files=(f"{folder}/{name}",))


def _block(disk: str, name: str, *values: str) -> Tunable:
    return Tunable(f"{disk} {name}", values, (f"block {disk} {name}",), files=(f"{BLOCK}/{disk}/queue/{name}",))


def _parameter(module: str, name: str, *values: str, kept_by: str = "") -> Tunable:
    return Tunable(f"{module}.{name}", values, (f"module {module}.{name}",), kept_by=kept_by,
                   files=(f"/sys/module/{module}/parameters/{name}",))


def _mrrs(address: str) -> Tunable:
    register = f"setpci -s {address} CAP_EXP+8.w"
    sizes = " ".join(f"{size}) w={write};;" for size, write in MRRS.items())
    return Tunable(f"{address} MaxReadReq", ("4096", "2048", "1024"), (f"pci {address} MaxReadReq",),
                   read=f"v=$({register}); echo $((128 << ((0x$v >> 12) & 7)))",
                   write=f"case $VALUE in {sizes} esac; {register}=$w:7000")


def _offload(option: str, feature: str) -> Tunable:
    return Tunable(f"eth0 {feature}", ("off", "on"), (f"net eth0 offload/{feature}",),
                   read=f"ethtool -k eth0 | sed -n 's/^{feature}: //p'", write=f"ethtool -K eth0 {option} $VALUE")


INPUT = "/proc/irq/$(sed -n 's/^ *\\([0-9]*\\):.*virtio[0-9]*-input.0$/\\1/p' /proc/interrupts)/smp_affinity_list"

TUNABLES: tuple[Tunable, ...] = (
    _sysctl("vm.swappiness", "10", "1"),
    _sysctl("vm.dirty_ratio", "40", "30", kept_by="/etc/sysctl.d/90-rig.conf"),
    _sysctl("vm.dirty_background_ratio", "3", "5"),
    _sysctl("vm.dirty_expire_centisecs", "1000", "500"),
    _sysctl("vm.dirty_writeback_centisecs", "100", "200"),
    _sysctl("vm.vfs_cache_pressure", "50", "200"),
    _sysctl("vm.max_map_count", "1048576", "262144"),
    _sysctl("vm.zone_reclaim_mode", "1", "3"),
    _sysctl("vm.stat_interval", "10", "30"),
    _sysctl("vm.watermark_scale_factor", "50", "100"),
    _sysctl("vm.compaction_proactiveness", "0", "60"),
    _sysctl("vm.page-cluster", "0", "1"),
    _sysctl("vm.overcommit_memory", "1", "0"),
    _sysctl("vm.nr_hugepages", "64", "48", also=("hugepages 2048kB*", "sysctl vm.nr_hugepages_mempolicy")),
    _sysctl("vm.nr_overcommit_hugepages", "8", "16", also=("hugepages 2048kB*",)),
    _sysctl("kernel.numa_balancing", "0", "1"),
    _sysctl("kernel.sched_autogroup_enabled", "0", "1"),
    _sysctl("kernel.sched_rt_runtime_us", "-1", "900000"),
    _sysctl("kernel.perf_event_paranoid", "1", "-1"),
    _sysctl("kernel.randomize_va_space", "0", "1"),
    _sysctl("kernel.hung_task_timeout_secs", "600", "0"),
    _sysctl("kernel.panic", "10", "30"),
    _sysctl("kernel.watchdog_thresh", "30", "20"),
    _sysctl("kernel.pid_max", "131072", "262144", kept_by="/usr/lib/sysctl.d/50-pid-max.conf"),
    _sysctl("fs.aio-max-nr", "1048576", "524288"),
    _sysctl("fs.inotify.max_user_watches", "1048576", "524288", also=("sysctl user.max_inotify_watches",)),
    _sysctl("fs.nr_open", "2097152", "4194304"),
    _sysctl("net.core.rmem_max", "16777216", "33554432"),
    _sysctl("net.core.wmem_max", "16777216", "33554432"),
    _sysctl("net.core.rmem_default", "1048576", "524288"),
    _sysctl("net.core.somaxconn", "16384", "8192"),
    _sysctl("net.core.netdev_max_backlog", "250000", "30000"),
    _sysctl("net.core.netdev_budget", "600", "900"),
    _sysctl("net.core.busy_poll", "50", "100"),
    _sysctl("net.core.busy_read", "50", "100"),
    _sysctl("net.ipv4.tcp_rmem", "4096 87380 33554432", "4096 131072 16777216"),
    _sysctl("net.ipv4.tcp_congestion_control", "reno", "cubic"),
    _sysctl("net.ipv4.tcp_slow_start_after_idle", "0", "1"),
    _sysctl("net.ipv4.tcp_mtu_probing", "1", "2"),
    _sysctl("net.ipv4.ip_local_port_range", "1024 65535", "10000 65000"),
    _sysctl("net.ipv4.conf.all.rp_filter", "2", "1"),
    _file("thp", MM, "transparent_hugepage/enabled", "never", "madvise"),
    _file("thp", MM, "transparent_hugepage/defrag", "defer", "never"),
    _file("thp", MM, "transparent_hugepage/shmem_enabled", "advise", "within_size"),
    _file("thp", MM, "transparent_hugepage/khugepaged/defrag", "0", "1"),
    _file("thp", MM, "transparent_hugepage/khugepaged/scan_sleep_millisecs", "60000", "1000"),
    _file("thp", MM, "transparent_hugepage/khugepaged/max_ptes_none", "0", "64"),
    _file("ksm", MM, "ksm/run", "1", "0"),
    _file("ksm", MM, "ksm/sleep_millisecs", "200", "100"),
    _file("memory", MM, "lru_gen/min_ttl_ms", "1000", "500"),
    _file("memory", MM, "numa/demotion_enabled", "true", "false"),
    Tunable("C6 disable", ("1", "0"), ("cpuidle C6/disable *",), files=(f"{CPUS}/cpu[0-9]*/cpuidle/state2/disable",)),
    Tunable("C1 disable on CPU 1", ("1", "0"), ("cpuidle C1/disable *",),
            files=(f"{CPUS}/cpu1/cpuidle/state1/disable",)),
    Tunable("CPU 1 resume latency", ("20", "50"), ("power pm_qos_resume_latency_us *",),
            files=(f"{CPUS}/cpu1/power/pm_qos_resume_latency_us",)),
    _parameter("fake_nvidia", "NVreg_FakeOption", "7", "9", kept_by="/etc/modprobe.d/rig.conf"),
    _parameter("nvme_core", "default_ps_max_latency_us", "0", "5500"),
    _parameter("nvme_core", "io_timeout", "255", "60"),
    _block("nvme0n1", "scheduler", "mq-deadline", "none"),
    _block("nvme0n1", "read_ahead_kb", "4096", "1024"),
    _block("nvme0n1", "nr_requests", "512", "256"),
    _block("nvme0n1", "nomerges", "2", "1"),
    _block("nvme0n1", "rq_affinity", "2", "0"),
    _block("nvme0n1", "max_sectors_kb", "256", "128"),
    _block("nvme0n1", "wbt_lat_usec", "0", "5000"),
    _block("vda", "scheduler", "mq-deadline", "none"),
    _block("vda", "read_ahead_kb", "1024", "2048"),
    Tunable("eth0 mtu", ("9000", "4000"), ("net eth0 mtu",), ("sysctl net.ipv6.conf.eth0.mtu",), (f"{NET}/mtu",)),
    Tunable("eth0 txqueuelen", ("10000", "5000"), ("net eth0 txqueuelen",), files=(f"{NET}/tx_queue_len",)),
    Tunable("eth0 napi_defer_hard_irqs", ("2", "3"), ("net eth0 napi_defer_hard_irqs",),
            files=(f"{NET}/napi_defer_hard_irqs",)),
    Tunable("eth0 gro_flush_timeout", ("20000", "50000"), ("net eth0 gro_flush_timeout",),
            files=(f"{NET}/gro_flush_timeout",)),
    Tunable("eth0 rps_cpus", ("3", "1"), ("net eth0 rps_cpus",), files=(f"{NET}/queues/rx-0/rps_cpus",)),
    Tunable("eth0 ring rx", ("128", "64"), ("net eth0 ring/rx",),
            read="ethtool -g eth0 | sed -n '/Current/,$s/^RX:[^0-9]*//p'", write="ethtool -G eth0 rx $VALUE"),
    _offload("gro", "generic-receive-offload"),
    Tunable("default IRQ affinity", ("1", "2"), ("irq default_smp_affinity",),
            files=("/proc/irq/default_smp_affinity",)),
    Tunable("eth0 IRQ affinity", ("0", "1"), ("irq * virtio*input* smp_affinity",),
            read=f"cat {INPUT}", write=f"echo $VALUE > {INPUT}"),
    _mrrs(GPU),
    Tunable(f"{GPU} power/control", ("auto", "on"), (f"power {GPU} *",),
            files=(f"/sys/bus/pci/devices/{GPU}/power/control",)),
    Tunable("clock source", ("hpet", "acpi_pm"), ("kernel clocksource",),
            files=("/sys/devices/system/clocksource/clocksource0/current_clocksource",)),
)
MOVES = {"nvme0n1 nr_requests": "nvme0n1 scheduler"}  # what the kernel sets anew with another
NAMES = tuple(tunable.name for tunable in TUNABLES)


def chosen(seed: int) -> tuple[str, ...]:
    """A random half of the tunables."""
    return tuple(sorted(random.Random(seed).sample(NAMES, len(NAMES) // 2)))


def as_json() -> str:
    """The tunables, as the guest's tune.py reads them."""
    return json.dumps({t.name: {"values": t.values, "files": t.files, "read": [t.read], "write": [t.write]}
                       for t in TUNABLES})
