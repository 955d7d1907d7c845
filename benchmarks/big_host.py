"""A synthetic root of a large GPU host, to be put on a tmpfs: python -m benchmarks.big_host FOLDER

256 CPUs, 8 NUMA nodes, 220 PCI functions with 4096 bytes of configuration space, 300 modules, 2,600 sysctl keys:
the cost of their number, without the kernel's formatting and the bus cycles of real configuration space. Contents
have the kernel's form; files that a take does not read are there as well, as they are on a host.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

CPUS, NODES, FUNCTIONS, MODULES, KEYS = 256, 8, 220, 300, 2600
Files = Iterator[tuple[str, str | bytes]]
_CPU = "sys/devices/system/cpu"
_FREQUENCY = {
    "scaling_driver": "amd-pstate-epp", "scaling_governor": "performance", "scaling_cur_freq": "3700000",
    "scaling_min_freq": "400000", "scaling_max_freq": "3700000", "cpuinfo_min_freq": "400000",
    "cpuinfo_max_freq": "3700000", "cpuinfo_transition_latency": "0", "energy_performance_preference": "performance",
    "energy_performance_available_preferences": "default performance power", "boost": "1",
    "scaling_available_governors": "performance powersave", "amd_pstate_max_freq": "3700000",
}
_STATES = (("POLL", 0), ("C1", 1), ("C2", 100), ("C3", 350))
_COUNTERS = ("above", "below", "rejected", "residency", "time", "usage", "power", "default_status")
_CACHES = (
    (1, "Data", "32K", 2), (1, "Instruction", "32K", 2), (2, "Unified", "1024K", 2), (3, "Unified", "32768K", 16),
)
_PCI = {
    "subsystem_vendor": "0x10de", "subsystem_device": "0x204b", "revision": "0xa1", "irq": "255", "enable": "1",
    "current_link_speed": "32.0 GT/s PCIe", "current_link_width": "16", "max_link_speed": "32.0 GT/s PCIe",
    "max_link_width": "16", "d3cold_allowed": "0", "msi_bus": "1", "dma_mask_bits": "47", "ari_enabled": "0",
    "consistent_dma_mask_bits": "47", "broken_parity_status": "0", "modalias": "pci:v000010DEd00002BB5",
    "power_state": "D0", "reset_method": "flr bus", "power/control": "on", "power/runtime_status": "active",
    "numa_node": "0", "local_cpulist": "0-31",
}


def files() -> Files:
    """Path below the root, and content."""
    yield "etc/hostname", "big\n"
    yield from proc()
    for cpu in range(CPUS):
        yield from one_cpu(cpu)
    yield f"{_CPU}/online", f"0-{CPUS - 1}\n"
    for node in range(NODES):
        yield from one_node(node)
    for number in range(FUNCTIONS):
        yield from one_function(number)
    for number in range(MODULES):
        yield from one_module(number)


def proc() -> Files:
    """The large tables of /proc, and sysctl keys."""
    yield "proc/version", "Linux version 6.8.12-4-pve (builder@example) (gcc 12.2.0) #1 SMP PREEMPT_DYNAMIC\n"
    yield "proc/sys/kernel/osrelease", "6.8.12-4-pve\n"
    yield "proc/cmdline", "BOOT_IMAGE=/boot/vmlinuz-6.8.12-4-pve root=/dev/sda1 iommu=pt quiet\n"
    yield "proc/devices", "Character devices:\n  1 mem\n195 nvidia\n\nBlock devices:\n  8 sd\n"
    yield "proc/meminfo", "MemTotal: 1056543212 kB\nHugePages_Total: 0\nHugepagesize: 2048 kB\n"
    yield "proc/modules", "".join(f"big_{n} 16384 0 - Live 0x0000000000000000\n" for n in range(MODULES))
    yield "proc/cpuinfo", "\n".join(
        f"processor\t: {cpu}\nvendor_id\t: AuthenticAMD\nmodel name\t: Example\nmicrocode\t: 0xa101148\n"
        f"flags\t\t: {' '.join(f'flag{n}' for n in range(150))}\n" for cpu in range(CPUS))
    head = "".join(f"CPU{cpu} " for cpu in range(CPUS))
    counts = "".join(f"{cpu % 7:>11}" for cpu in range(CPUS))
    yield "proc/interrupts", f"     {head}\n" + "".join(
        f"{irq:>4}:{counts}  IR-PCI-MSIX-0000:01:00.0 {irq}-edge nvme0q{irq}\n" for irq in range(200))
    for number in range(KEYS):
        yield f"proc/sys/group{number % 8}/table{number % 120}/key_{number}", f"{number * 37 % 65536}\n"


def one_cpu(cpu: int) -> Files:
    """Topology, frequency, idle states and caches of a CPU."""
    top, core, die = f"{_CPU}/cpu{cpu}", cpu // 2 * 2, cpu // 16 * 16
    siblings = f"{core}-{core + 1}\n"
    yield f"{top}/topology/physical_package_id", f"{cpu * 2 // CPUS}\n"
    for name in ("core_id", "die_id", "cluster_id"):
        yield f"{top}/topology/{name}", f"{core}\n"
    for name in ("thread_siblings_list", "core_cpus_list", "core_siblings_list", "die_cpus_list", "package_cpus_list"):
        yield f"{top}/topology/{name}", siblings if name[0] in "tc" else f"{die}-{die + 15}\n"
    for name, text in _FREQUENCY.items():
        yield f"{top}/cpufreq/{name}", f"{text}\n"
    for name in ("affected_cpus", "related_cpus"):
        yield f"{top}/cpufreq/{name}", f"{cpu}\n"
    for number, (state, latency) in enumerate(_STATES):
        named = {"name": state, "desc": f"ACPI {state}", "latency": latency, "disable": 0}
        for name, value in {**named, **dict.fromkeys(_COUNTERS, cpu)}.items():
            yield f"{top}/cpuidle/state{number}/{name}", f"{value}\n"
    for number, (level, kind, size, shared) in enumerate(_CACHES):
        first = cpu // shared * shared
        told = {"level": level, "type": kind, "size": size, "shared_cpu_list": f"{first}-{first + shared - 1}", "id": 0}
        for name, value in {**told, "coherency_line_size": 64, "ways_of_associativity": 8}.items():
            yield f"{top}/cache/index{number}/{name}", f"{value}\n"
    yield f"{top}/online", "1\n"


def one_node(node: int) -> Files:
    """Memory of a NUMA node."""
    top, width = f"sys/devices/system/node/node{node}", CPUS // NODES
    yield f"{top}/cpulist", f"{node * width}-{node * width + width - 1}\n"
    yield f"{top}/distance", " ".join("10" if other == node else "32" for other in range(NODES)) + "\n"
    yield f"{top}/meminfo", f"Node {node} MemTotal: 132067901 kB\n"
    for size in (2048, 1048576):
        for name in ("nr_hugepages", "free_hugepages", "surplus_hugepages"):
            yield f"{top}/hugepages/hugepages-{size}kB/{name}", "0\n"


def one_function(number: int) -> Files:
    """A PCI function; its configuration space says PCI Express, with an empty list of extended capabilities."""
    top = f"sys/devices/{place(number)}"
    gpu = number % 28 == 0
    ids = {"vendor": "0x10de", "device": "0x2bb5", "class": "0x030200"} if gpu else {
        "vendor": "0x1022", "device": "0x14a4", "class": "0x060000"}
    for name, text in {**_PCI, **ids}.items():
        yield f"{top}/{name}", f"{text}\n"
    yield f"{top}/resource", "0x0000000000000000 0x0000000000000000 0x0000000000000000\n" * 13
    space = bytearray(4096)
    space[:12] = bytes.fromhex("de10b52b06001000a1000203" if gpu else "2210a41406001000a1000006")
    space[0x34], space[0x40:0x44] = 0x40, bytes.fromhex("10000200")
    space[0x4C:0x50], space[0x52:0x54], space[0x6C:0x70] = b"\5\1\0\0", b"\5\1", b"\x3e\0\0\0"  # 32 GT/s, 16 lanes
    yield f"{top}/config", bytes(space)


def place(number: int) -> str:
    """Root bus and address of a PCI function."""
    return f"pci0000:{number >> 3:02x}/0000:{number >> 3:02x}:{number & 7:02x}.0"


def one_module(number: int) -> Files:
    """A loaded module and its parameters."""
    top = f"sys/module/big_{number}"
    for name, text in (("version", "1.0"), ("srcversion", "A" * 23), ("initstate", "live"), ("taint", "")):
        yield f"{top}/{name}", f"{text}\n"
    yield f"{top}/refcnt", "0\n"
    for parameter in range(6):
        yield f"{top}/parameters/option_{parameter}", "Y\n"


def write(folder: Path) -> int:
    """Writes the root and returns how many files it has."""
    made: set[str] = set()
    written = 0
    for name, content in files():
        path = str(folder / name)
        if (parent := os.path.dirname(path)) not in made:
            os.makedirs(parent, exist_ok=True)
            made.add(parent)
        with open(path, "wb") as file:
            file.write(content.encode() if isinstance(content, str) else content)
        written += 1
    links = folder / "sys/bus/pci/devices"
    links.mkdir(parents=True)
    for number in range(FUNCTIONS):
        (links / place(number).rpartition("/")[2]).symlink_to(f"../../../devices/{place(number)}")
    return written


if __name__ == "__main__":
    print(write(Path(sys.argv[1])), "files")
