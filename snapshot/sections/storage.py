"""Block devices, what is mounted, and what the files say about it."""

from typing import Annotated

from .base import EVIDENCE, IDENTITY, VOLATILE, Model, Origin, Private, field


class Queue(Model):
    """Settings of /sys/block/NAME/queue. What the kernel or the device does not have is missing."""

    scheduler: str | None = field(default=None, description="I/O scheduler: none, mq-deadline, bfq, ...")
    read_ahead_kb: int | None = field(default=None, description="read-ahead in KiB")
    nr_requests: int | None = field(default=None, description="requests that may be queued")
    nomerges: int | None = field(default=None, description="0 merges requests, 1 only simple ones, 2 none")
    rq_affinity: int | None = field(default=None, description="CPU that completes: 0 any, 1 of the group, 2 the one that asked")
    max_sectors_kb: int | None = field(default=None, description="largest request in KiB")
    max_hardware_kb: int | None = field(default=None, description="largest request that the device takes, KiB")
    wbt_latency_us: int | None = field(default=None, description="latency that writeback throttling aims at; 0 is off")
    write_cache: str | None = field(default=None, description="write back or write through, as the kernel takes it")
    rotational: bool | None = field(default=None, description="a device that spins")
    io_poll: bool | None = field(default=None, description="completions may be polled for")
    logical_block_bytes: int | None = field(default=None, description="sector size of the device's format")
    physical_block_bytes: int | None = field(default=None, description="size that the device writes at once")


class Block(Model):
    """One block device. Disks of guests, loop devices, RAM disks and partitions are not recorded."""

    name: str = field(description="kernel's name: nvme0n1, sda, dm-0")
    serial: Annotated[str | None, IDENTITY, Private("serial")] = field(default=None, description="serial number")
    wwid: Annotated[str | None, IDENTITY, Private("wwid")] = field(default=None, description="world wide id, as the kernel writes it")
    mapped: Annotated[str | None, IDENTITY] = field(default=None, description="of a device-mapper device: its name")
    model: str | None = field(default=None, description="model")
    firmware: str | None = field(default=None, description="firmware revision")
    size_bytes: int | None = field(default=None, description="size")
    read_only: bool | None = field(default=None, description="cannot be written")
    driver: str | None = field(default=None, description="driver of the device behind it")
    device: str | None = field(default=None, description="address of the PCI function behind it")
    queue: Queue | None = field(default=None, description="queue settings")


class Controller(Model):
    """One NVMe controller."""

    name: str = field(description="kernel's name: nvme0")
    serial: Annotated[str | None, IDENTITY, Private("serial")] = field(default=None, description="serial number")
    model: str | None = field(default=None, description="model")
    firmware: str | None = field(default=None, description="firmware revision")
    transport: str | None = field(default=None, description="pcie, tcp, rdma, fc, ...")
    state: str | None = field(default=None, description="live, or what is wrong: resetting, connecting, dead, ...")
    queues: int | None = field(default=None, description="queues in use, the one for commands to the controller included")
    device: str | None = field(default=None, description="address of the PCI function")
    numa_node: int | None = field(default=None, description="NUMA node; -1 when the firmware names none")


class Mount(Model):
    """One mounted file system."""

    source: Annotated[str, Private("share")] = field(
        description="what is mounted; of a partition the disk's key and -partN; IP addresses and secrets replaced"
    )
    device: Annotated[str | None, EVIDENCE] = field(default=None, description="of a block device its name under /dev")
    fstype: str = field(description="type of the file system")
    root: str | None = field(default=None, description="which part of it is mounted, when not all")
    options: list[str] = field(description="options of mount and file system, sorted; without size and secrets")
    size_kb: Annotated[int | None, VOLATILE] = field(
        default=None, description="size option of a tmpfs in KiB; from memory size unless a file sets it"
    )
    covered: int | None = field(default=None, description="mounts below this one at the same place")


class Fstab(Model):
    """One line of /etc/fstab, or a .mount unit."""

    source: Annotated[str, Private("share")] = field(
        description="what is to be mounted; IP addresses and secrets replaced"
    )
    fstype: str = field(description="type of the file system; auto when none is given")
    options: list[str] = field(description="in order, secrets dropped")
    check: int | None = field(default=None, description="fstab: sixth field, when the file system is checked; 0 is never")
    enabled: bool | None = field(default=None, description="mount unit: something wants or requires it")
    origin: Annotated[Origin, EVIDENCE] = field(description="where it stands")


class IgnoredLine(Model):
    """A line of /etc/fstab that mounts nothing."""

    why: str = field(description="what is wrong with it")
    origin: Annotated[Origin, EVIDENCE] = field(description="where it stands")


class Pool(Model):
    """One ZFS pool that is imported."""

    state: str | None = field(default=None, description="ONLINE, DEGRADED, FAULTED, SUSPENDED, ...")
    cached: bool | None = field(
        default=None, description="whether /etc/zfs/zpool.cache names it, so that zfs-import-cache imports it at boot"
    )


class Raid(Model):
    """One md array."""

    active: bool = field(description="running")
    read_only: bool | None = field(default=None, description="true when read-only, or read-only until the first write")
    level: str | None = field(default=None, description="raid1, raid5, ...; missing when inactive")
    devices: int | None = field(default=None, description="devices that it should have; missing for levels without redundancy")
    working: int | None = field(default=None, description="devices in sync")
    failed: list[str] | None = field(default=None, description="members marked faulty, sorted")
    members: Annotated[list[str] | None, EVIDENCE] = field(default=None, description="names of its members, sorted")
    action: Annotated[str | None, VOLATILE] = field(default=None, description="recovery, resync, reshape or check that runs")


class Storage(Model):
    """Block devices, NVMe controllers, mounts, /etc/fstab and mount units, ZFS pools, md arrays."""

    blocks: Annotated[dict[str, Block], Private("key")] = field(
        description="by serial, where two share one or have none by WWID, else by device-mapper name or name"
    )
    controllers: Annotated[dict[str, Controller] | None, Private("key")] = field(
        default=None, description="NVMe: by serial, else by name"
    )
    mounts: dict[str, Mount] | None = field(
        default=None, description="by place; the kernel's own file systems and those of guests and containers are left out"
    )
    fstab: dict[str, Fstab] | None = field(default=None, description="by place; swap by what it is")
    fstab_ignored: list[IgnoredLine] | None = field(default=None, description="lines that mount nothing, in order")
    mount_units: dict[str, Fstab] | None = field(default=None, description="of /etc/systemd/system: by place")
    pools: dict[str, Pool] | None = field(default=None, description="ZFS pools by name; missing while zfs is not loaded")
    raids: dict[str, Raid] | None = field(default=None, description="md arrays by name; missing while md is not loaded")
    left_out: Annotated[dict[str, int] | None, VOLATILE] = field(
        default=None, description="what is not recorded one by one: kind -> count"
    )
