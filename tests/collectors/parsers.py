"""Every pure parser of the collectors with a good sample: what ``test_parsers`` damages.

A sample is text as ``decode`` makes it of bytes. The way a parser is called stands beside it: TEXT alone, TEXT and the
NAMED file that it is from, the RAW bytes, or a function of the text for those that need more.
"""

from __future__ import annotations

import lzma
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

from fixtures import epyc, whole
from snapshot.collectors import (
    apt_conf,
    lspci_capabilities,
    net_netplan,
    net_networkd,
    packages,
    pci_express,
    qemu_conf,
    smbios,
)
from snapshot.collectors.base import decode
from snapshot.collectors.nvidia_report import XML
from snapshot.collectors.pci_space import Space

from .fake import MemoryHost

Function = Callable[..., Any]


def text(function: Function, sample: str) -> object:
    """FUNCTION of the text alone."""
    return function(sample)


def named(function: Function, sample: str) -> object:
    """FUNCTION of the text and its file."""
    return function(sample, "/etc/some.conf")


def raw(function: Function, sample: str) -> object:
    """FUNCTION of the bytes alone."""
    return function(encode(sample))


def raw_named(function: Function, sample: str) -> object:
    """FUNCTION of the bytes and their file."""
    return function(encode(sample), "/some/file")


@dataclass(frozen=True, slots=True)
class Parser:
    """How to call one, and a sample that it understands."""

    call: Callable[[Function, str], object]
    sample: str


def encode(sample: str) -> bytes:
    """The bytes that decode makes SAMPLE of."""
    return sample.encode("utf-8", "surrogateescape")


@cache
def _host() -> MemoryHost:
    return whole.host(epyc.AFTER)


def file(path: str) -> str:
    """A file of the synthetic host."""
    return decode(_host().read(path))


def said(*argv: str) -> str:
    """What a command says there."""
    answer = _host().results[" ".join(argv)]
    return answer if isinstance(answer, str) else decode(answer.stdout)


def _apt(_: Function, sample: str) -> object:
    options: dict[str, Any] = {}
    apt_conf.parse(sample, "/etc/apt/apt.conf", options)
    return options


def _networkd(_: Function, sample: str) -> object:
    options: dict[str, Any] = {}
    net_networkd.take(options, sample, "/f.network")
    return options


def _netplan(_: Function, sample: str) -> object:
    stanzas: dict[str, Any] = {}
    net_netplan.take(stanzas, sample, "/f.yaml")
    return stanzas


def _tables(_: Function, sample: str) -> object:
    found = smbios.structures(encode(sample))
    return smbios.dimms(found), smbios.ipmi_interface(found)


def _space(function: Function, sample: str) -> object:
    space = Space(encode(sample))
    return function(space, "config", False) if function is pci_express.parse_express else function(space, "config")


def _block(function: Function, sample: str) -> object:
    """FUNCTION of each capability in the lines of lspci -vv about one function."""
    lines = [(len(line) - len(line.lstrip("\t")), line.strip()) for line in sample.split("\n")]
    blocks = lspci_capabilities.parse_blocks(lines)
    return [function(block) for block in blocks] if function is not lspci_capabilities.parse_blocks else blocks


GPU = "0000:01:00.0"
CONFIG = f"/sys/devices/pci0000:00/0000:00:01.1/{GPU}/config"
LSPCI = f"""\
{GPU} 3D controller [0302]: NVIDIA Corporation Device [10de:2bb5] (rev a1)
\tRegion 1: Memory at 38000000000 (64-bit, prefetchable) [size=128G]
\tCapabilities: [60] Express (v2) Endpoint, MSI 00
\t\tDevCap:\tMaxPayload 256 bytes, PhantFunc 0, Latency L0s unlimited, L1 <64us
\t\tDevCtl:\tCorrErr+ NonFatalErr+ FatalErr+ UnsupReq+
\t\t\tRlxdOrd+ ExtTag+ PhantFunc- AuxPwr- NoSnoop+ FLReset-
\t\t\tMaxPayload 256 bytes, MaxReadReq 4096 bytes
\t\tLnkCap:\tPort #0, Speed 32GT/s, Width x16, ASPM L1, Exit Latency L1 <64us
\t\tLnkSta:\tSpeed 32GT/s, Width x16
\tCapabilities: [100 v1] Access Control Services
\t\tACSCap:\tSrcValid+ TransBlk+ ReqRedir+ CmpltRedir+ UpstreamFwd+ EgressCtrl- DirectTrans+
\t\tACSCtl:\tSrcValid+ TransBlk- ReqRedir- CmpltRedir- UpstreamFwd+ EgressCtrl- DirectTrans-
\tCapabilities: [134 v1] Physical Resizable BAR
\t\tBAR 1: current size: 128GB, supported: 64MB 128MB 256MB 128GB
\tCapabilities: [148 v1] Device Serial Number 00-11-22-33-44-55-66-77
\tKernel driver in use: nvidia
"""
GRUB = """\
if [ "${next_entry}" ]; then
   set default="${next_entry}"
else
   set default="0"
fi
menuentry 'Debian' --class debian $menuentry_id_option 'gnulinux-simple-x' {
\tlinux\t/vmlinuz-6.8.12-9-pve root=/dev/sda1 ro quiet
\tinitrd\t/initrd.img-6.8.12-9-pve
}
submenu 'Advanced' $menuentry_id_option 'gnulinux-advanced-x' {
\tmenuentry 'Debian, with Linux 6.14.11-1-pve' $menuentry_id_option 'gnulinux-6.14-x' {
\t\tlinux\t/vmlinuz-6.14.11-1-pve root=/dev/sda1 ro
\t}
}
"""
CDI_JSON = """\
{"cdiVersion": "0.6.0", "kind": "nvidia.com/gpu", "devices": [{"name": "0", "containerEdits": {"deviceNodes": [
{"path": "/dev/nvidia0", "major": 195}]}}], "containerEdits": {"mounts": [{"hostPath": "/usr/lib/libcuda.so.580"}]}}
"""
CDI_YAML = """\
cdiVersion: 0.6.0
kind: nvidia.com/gpu
devices:
- name: "0"
  containerEdits:
    deviceNodes: [{path: /dev/nvidia0, major: 195}]
containerEdits:
  env: [NVIDIA_VISIBLE_DEVICES=void]
"""
CONTAINERD = """\
version = 2
[plugins."io.containerd.grpc.v1.cri".containerd]
default_runtime_name = "nvidia"
[plugins."io.containerd.grpc.v1.cri".containerd.runtimes.nvidia.options]
BinaryName = "/usr/bin/nvidia-container-runtime"
SystemdCgroup = true
"""
NETPLAN = "network:\n  version: 2\n  ethernets:\n    eno1:\n      mtu: 9000\n      addresses: [192.0.2.1/24]\n"
MDSTAT = """\
Personalities : [raid1]
md0 : active raid1 sda1[0] sdb1[1]
      1000 blocks [2/2] [UU]

unused devices: <none>
"""
ZFS = f"/lib/modules/{epyc.AFTER}/zfs/zfs.ko"
SMI = f"""\
==NVSMI LOG==

Driver Version : 580.95.05
Attached GPUs : 1
GPU {GPU}
    Product Name : NVIDIA H200
    FB Memory Usage
        Total : 143771 MiB
"""
TRACKING = "C0000201,192.0.2.1,3,1.1,0.1,0.1,0.1,-3.1,0.0,0.02,0.01,0.001,64.2,Normal\n"
CRONTAB = "SHELL=/bin/sh\n@reboot root /usr/local/sbin/tune\n*/5 * * * * root nvidia-smi -pm 1\n"
SYSLOG = ("Linux version 6.8.12\nNVRM: Xid (PCI:0000:01:00): 79, pid='<unknown>', GPU has fallen off the bus.\n"
          "pcieport 0000:00:01.1: AER: Corrected error received: 0000:01:00.0\n")

PARSERS: dict[str, Parser] = {
    "amdgpu.parse_profile": Parser(text, "NUM        MODE_NAME\n  0 BOOTUP_DEFAULT :\n  5        COMPUTE*:\n"),
    "amdgpu.parse_properties": Parser(text, "cpu_cores_count 0\nsimd_count 304\ngfx_target_version 90402\n"),
    "apt_history.parse": Parser(
        text, "Start-Date: 2026-11-02  06:31:05\nCommandline: /usr/bin/unattended-upgrade\n"
        "Upgrade: linux-generic:amd64 (6.8.0-60.63, 6.8.0-61.64)\n"
    ),
    "apt_conf.parse": Parser(_apt, 'APT { Periodic { Unattended-Upgrade "1"; }; };\nAPT::Periodic::Enable "0";\n'),
    "apt_pins.parse": Parser(named, file("/etc/apt/preferences.d/nvidia")),
    "boot.parse_variable": Parser(raw, decode(b"\6\0\0\0" + "GRUB 2.12\0".encode("utf-16-le"))),
    "boot_bls.parse_entry": Parser(
        lambda f, s: f(s, "/loader/entries/a.conf", {"kernelopts": "a=1"}),
        "title Debian\nversion 6.8\nlinux /vmlinuz-6.8\ninitrd /initrd-6.8\noptions root=/dev/sda1 $kernelopts\n"),
    "boot_entries.parse_env": Parser(raw_named, "# GRUB Environment Block\nsaved_entry=a\n" + "#" * 900),
    "boot_entries.parse_grub": Parser(named, GRUB),
    "boot_menus.mounts": Parser(text, file("/proc/self/mountinfo")),
    "cdi.parse": Parser(lambda f, s: f(s, "/etc/cdi/nvidia.json"), CDI_JSON),
    "cdi.parse of YAML": Parser(lambda f, s: f(s, "/etc/cdi/nvidia.yaml"), CDI_YAML),
    "cmdline.parse": Parser(text, file("/proc/cmdline")),
    "cpu.parse_distances": Parser(text, "10 32"),
    "cpu_topology.parse_size": Parser(text, "1024K"),
    "cpu_topology.parse_type": Parser(text, "Data"),
    "cpuinfo.parse": Parser(text, file("/proc/cpuinfo")[:1200]),
    "devices.parse_devices": Parser(text, file("/proc/devices")),
    "dkms_conf.parse": Parser(text, file("/usr/src/nvidia-580.95.05/dkms.conf")),
    "dkms_status.parse": Parser(text, "nvidia/580.95.05, 6.8.12-9-pve, x86_64: installed (WARNING! Diff)\n"),
    "dpkg.packages": Parser(lambda f, s: f(encode(s), "lxc-pve|systemd"), file("/var/lib/dpkg/status")),
    "dpkg.versions": Parser(lambda f, s: f(encode(s), ["lxc-pve"]), file("/var/lib/dpkg/status")),
    "engine_conf.containerd": Parser(named, CONTAINERD),
    "engine_conf.docker": Parser(named, '{"exec-opts": ["native.cgroupdriver=systemd"], "default-runtime": "nvidia"}'),
    "engine_conf.nvidia": Parser(named, file("/etc/nvidia-container-runtime/config.toml")),
    "grub_default.parse": Parser(lambda f, s: f([("/etc/default/grub", s)]), file("/etc/default/grub")),
    "iommu.parse_options": Parser(raw, "CONFIG_IOMMU_DEFAULT_PASSTHROUGH=y\nCONFIG_AMD_IOMMU=y\n"),
    "irq_balance.parse": Parser(named, 'IRQBALANCE_BANNED_CPULIST="0-3"\nIRQBALANCE_ONESHOT=yes\n'),
    "irq_names.parse_mask": Parser(text, "ffffffff,00000001"),
    "kernel.parse_banner": Parser(text, "Linux version 6.8.12-9-pve (build@x) (gcc 12) #1 SMP PREEMPT_DYNAMIC PMX\n"),
    "kernel_values.parse_cpus": Parser(text, "0-3,8"),
    "kernel_values.parse_list": Parser(text, "0-3,8"),
    "kernel_values.parse_switch": Parser(text, "Y"),
    "kernel_values.parse_word": Parser(text, "always [madvise] never"),
    "kernel_values.parse_words": Parser(text, "a b"),
    "lspci.parse_lspci": Parser(named, LSPCI),
    "lspci_capabilities.parse_acs": Parser(_block, LSPCI),
    "lspci_capabilities.parse_blocks": Parser(_block, LSPCI),
    "lspci_capabilities.parse_express": Parser(_block, LSPCI),
    "lspci_capabilities.parse_resizable": Parser(_block, LSPCI),
    "lspci_capabilities.parse_serial": Parser(_block, LSPCI),
    "lspci_capabilities.parse_size": Parser(text, "64MB"),
    "lxc_config.parse": Parser(named, file("/var/lib/lxc/101/config")),
    "lxc_system.parse": Parser(text, "lxc.lxcpath = /srv/lxc\n"),
    "memory.parse_hex": Parser(text, "80000000"),
    "memory.parse_meminfo": Parser(text, file("/proc/meminfo")),
    "memory_swap.parse_swaps": Parser(
        text, "Filename\tType\t\tSize\tUsed\tPriority\n/dev/dm-1 partition\t8388604\t0\t-2\n"),
    "modinfo.parse": Parser(lambda f, s: f(encode(s), "zfs.ko"), file(ZFS)),
    "modinfo.parse, packed": Parser(
        lambda f, s: f(encode(s), "zfs.ko.xz"), decode(lzma.compress(encode(file(ZFS))))),
    "modprobe.parse": Parser(
        lambda f, s: f([("/etc/modprobe.d/a.conf", s)], s, ("nvidia",)), file("/etc/modprobe.d/nvidia.conf")),
    "module_files.names": Parser(raw, file(f"/lib/modules/{epyc.AFTER}/modules.dep")),
    "modules.parse_load": Parser(lambda f, s: f("/etc/modules-load.d/a.conf", s), "nvidia\nnvidia_uvm\n"),
    "modules.parse_modules": Parser(text, file("/proc/modules")),
    "net.parse_vlans": Parser(text, "VLAN Dev name\t | VLAN ID\nName-Type: X\neno1.5 | 5 | eno1\n"),
    "net_ethtool.parse_coalescing": Parser(text, said("ethtool", "-c", "eno1np0")),
    "net_ethtool.parse_features": Parser(text, said("ethtool", "-k", "eno1np0")),
    "net_ethtool.parse_limits": Parser(text, said("ethtool", "-g", "eno1np0")),
    "net_interface.find_mac": Parser(text, "02:00:00:00:00:01"),
    "net_interface.parse_mask": Parser(text, "ffffffff,00000000"),
    "net_interface.parse_up": Parser(text, "0x1003"),
    "net_ip.parse_links": Parser(
        text, '[{"ifname": "eth0.5", "linkinfo": {"info_kind": "vlan", "info_data": {"id": 5}}}]'),
    "net_netplan.take": Parser(_netplan, NETPLAN),
    "net_networkd.take": Parser(_networkd, "[Match]\nName=eno1\n[Link]\nMTUBytes=9000\n"),
    "net_udev.parse_names": Parser(named, 'SUBSYSTEM=="net", ATTR{address}=="02:00:00:00:00:01", NAME="lan0"\n'),
    "net_yaml.parse_yaml": Parser(named, NETPLAN),
    "nvidia_driver.parse_capability": Parser(text, file("/proc/driver/nvidia/capabilities/mig/config")),
    "nvidia_driver.parse_information": Parser(text, file(f"/proc/driver/nvidia/gpus/{GPU}/information")),
    "nvidia_driver.parse_params": Parser(text, file("/proc/driver/nvidia/params")),
    "nvidia_driver.parse_release": Parser(text, "580.95.05"),
    "nvidia_driver.parse_switch": Parser(text, "Y"),
    "nvidia_driver.parse_version": Parser(text, file("/proc/driver/nvidia/version")),
    "nvidia_events.parse_events": Parser(text, SYSLOG),
    "nvidia_smi.parse_corrupted": Parser(text, f"WARNING: infoROM is corrupted at gpu {GPU}\n"),
    "nvidia_smi.parse_list": Parser(text, "GPU 0: NVIDIA H200 (UUID: GPU-00000000-aaaa-4bbb-8ccc-000000000000)\n"),
    "nvidia_smi.parse_lost": Parser(text, f"Unable to determine the device handle for GPU5: {GPU}: Unknown Error\n"),
    "nvidia_smi.parse_text": Parser(text, SMI),
    "nvidia_smi.parse_versions": Parser(text, "NVIDIA-SMI version  : 580.95.05\nNVML version : 580.95\n"),
    "nvidia_smi.parse_xml": Parser(text, "</gpu>".join((said(*XML).split("</gpu>")[0], "</nvidia_smi_log>"))),
    "nvidia_topology.parse_grid": Parser(text, said("nvidia-smi", "topo", "-m")),
    "nvidia_topology.parse_nvlink": Parser(
        text, "GPU 0: NVIDIA H200 (UUID: GPU-00000000-aaaa-4bbb-8ccc-000000000000)\n\t Link 0: 26.562 GB/s\n"),
    "nvidia_userspace.parse_fabric_config": Parser(text, "FABRIC_MODE=0\nFABRIC_MODE_RESTART=0\n"),
    "nvidia_userspace.parse_fabric_version": Parser(text, "Fabric Manager version is : 580.95.05\n"),
    "os.parse_os_release": Parser(text, file("/etc/os-release")),
    "pci_config.parse_config": Parser(raw_named, file(CONFIG)),
    "pci_express.parse_express": Parser(_space, file(CONFIG)),
    "pci_express.parse_resizable": Parser(_space, file(CONFIG)),
    "pci_ids.find_name": Parser(lambda f, s: f(encode(s), "10de", "2bb5"), file("/usr/share/misc/pci.ids")),
    "pci_sysfs.parse_number": Parser(text, "53"),
    "pci_sysfs.parse_place": Parser(text, f"../../../devices/pci0000:00/0000:00:01.1/{GPU}"),
    "pci_sysfs.parse_resource": Parser(text, file(CONFIG.replace("config", "resource"))),
    "pci_sysfs.parse_slots": Parser(lambda f, s: f({"1": s}), "0000:01:00\n"),
    "pci_sysfs.parse_total": Parser(text, "RxErr 0\nTOTAL_ERR_COR 16\n"),
    "kernel_config.parse": Parser(raw, file(f"/boot/config-{epyc.AFTER}")),
    "preempt.options": Parser(raw, file(f"/boot/config-{epyc.AFTER}")),
    "preempt.running_mode": Parser(text, "none (voluntary) full"),
    "pve_conf.parse": Parser(lambda f, s: f(s, "/f").live.part(), file("/etc/pve/nodes/pve1/lxc/103.conf")),
    "pve_mapping.parse": Parser(lambda f, s: f(s, "pve1"), file("/etc/pve/mapping/pci.cfg")),
    "qemu_conf.parse": Parser(
        lambda f, s: qemu_conf.part(f(s, "/f").live), file("/etc/pve/nodes/pve1/qemu-server/110.conf")),
    "rdma.parse_guid": Parser(text, "0200:0300:0000:0100"),
    "rdma.parse_naming": Parser(named, file("/usr/lib/udev/rules.d/60-rdma-persistent-naming.rules")),
    "rdma.parse_nccl": Parser(named, "NCCL_DEBUG=WARN\nNCCL_IB_HCA==mlx5_0:1\n"),
    "rdma.parse_rate": Parser(text, "200 Gb/sec (4X HDR)"),
    "rdma.parse_state": Parser(text, "4: ACTIVE"),
    "rpm.locks": Parser(text, "# Added lock\nkernel-0:5.14.0-1.el9.*\n"),
    "rpm.parse": Parser(lambda f, s: f(s, packages.PATTERN), "kernel\t5.14.0-1.el9\n"),
    "smbios.structures": Parser(_tables, file("/sys/firmware/dmi/tables/DMI")),
    "storage.parse_page80": Parser(raw, decode(b"\0\x80\0\4S123")),
    "storage_fstab.parse_fstab": Parser(named, file("/etc/fstab")),
    "storage_fstab.parse_unit": Parser(lambda f, s: f(s, "/f.mount", True), "[Mount]\nWhat=/dev/sdb\nWhere=/srv\n"),
    "storage_mounts.parse_mounts": Parser(text, file("/proc/self/mountinfo")),
    "storage_pools.parse_raids": Parser(text, MDSTAT),
    "subids.parse": Parser(text, "root:100000:65536\n"),
    "sysctl.value_of": Parser(raw, "4096\t131072\t6291456\n"),
    "sysctl_files.parse": Parser(
        lambda f, s: f({"/etc/sysctl.d/a.conf": s, "/etc/sysctl.conf": s}, s, ("vm.swappiness",)), "vm.*ness = 10\n"),
    "units.parse_settings": Parser(named, "[Journal]\nStorage=persistent\n"),
    "units_clock.parse_tracking": Parser(text, TRACKING),
    "units_conf.parse": Parser(named, file("/etc/systemd/system/gpu-power.service")),
    "units_cron.parse": Parser(lambda f, s: f(s, True), CRONTAB),
    "units_exec.commands": Parser(text, "/bin/sh -c 'nvidia-smi -pm 1; echo 1 > /sys/x'"),
    "units_exec.shell_programs": Parser(text, "nvidia-smi -pm 1 && cpupower frequency-set -g performance"),
    "units_files.preset_rules": Parser(text, "disable ksm*.service\n"),
    "units_hooks.parse": Parser(text, "lxc.hook.pre-start = /usr/local/bin/hook\nhookscript: local:snippets/a.sh\n"),
    "units_limits.parse_init": Parser(text, file("/proc/1/limits")),
    "units_limits.parse_pam": Parser(named, file("/etc/security/limits.conf")),
    "units_lines.tuning_lines": Parser(named, file("/usr/local/sbin/gpu-power")),
    "units_states.parse": Parser(text, "a.service loaded active running A unit\n"),
    "units_tmpfiles.parse": Parser(named, "w /sys/kernel/mm/ksm/run - - - - 0\n"),
    "units_tuned.parse": Parser(named, "[sysctl]\nvm.swappiness=10\n[cpu]\ngovernor=performance\n"),
    "units_tuned.parse_adm": Parser(text, "Current active profile: virtual-guest\n"),
    "units_udev.parse": Parser(named, file("/usr/lib/udev/rules.d/60-nvidia.rules")),
}
