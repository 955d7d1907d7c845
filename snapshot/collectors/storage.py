"""Block devices and NVMe controllers, from /sys/block and /sys/class/nvme; what is mounted stands in storage_mounts.

Documentation/ABI/stable/sysfs-block, Documentation/ABI/testing/sysfs-block, sysfs-nvme; Documentation/block/. All that
is read here the kernel remembers: no disk is asked, and none that sleeps wakes. The oddities:

* A namespace of a multipath NVMe device has a hidden device for each path, nvme0c1n1: they are not devices of use.
* Serial numbers: NVMe and MMC have them in the folder behind ``device``, virtio in its own, SCSI in page 0x80 of its
  vital product data (4 octets of head).
* wwid depends on the kernel: a quirk for a drive with a bad EUI turns "eui..." into "nvme.vendor-serial-...".
* scheduler marks the word that is used with brackets; wbt_lat_usec says EINVAL where there is no throttling.
"""

from __future__ import annotations

import errno
import re
from collections import Counter
from collections.abc import Mapping

from ..errors import ParseError
from ..regexes import regex
from ..sections.storage import Block, Controller, Mount, Queue, Storage
from .attributes import Attributes, marked
from .base import Reading, Reads, decode
from .identity import keys_of, move_unread
from .pci_sysfs import ADDRESS, parse_place
from .storage_fstab import FSTAB, parse_fstab, read_units
from .storage_fstab import PATHS as FSTAB_PATHS
from .storage_mounts import Mounted, parse_mounts
from .storage_pools import PATHS as POOL_PATHS
from .storage_pools import read_pools, read_raids

BLOCK, NVME, NUMBERS, MOUNTINFO = "/sys/block", "/sys/class/nvme", "/sys/dev/block", "/proc/self/mountinfo"
_QUEUE = {
    **{name: name for name in ("read_ahead_kb", "nr_requests", "nomerges", "rq_affinity")},
    "max_sectors_kb": "max_sectors_kb", "max_hw_sectors_kb": "max_hardware_kb", "wbt_lat_usec": "wbt_latency_us",
    "logical_block_size": "logical_block_bytes", "physical_block_size": "physical_block_bytes",
}
_FILES = (
    "size", "ro", "serial", "wwid", "dm/name", "device/serial", "device/wwid", "device/vpd_pg80", "device/model",
    "device/vendor", "device/rev", "device/firmware_rev", "device/name", "device/fwrev", "device/driver",
)
_NVME_FILES = ("serial", "model", "firmware_rev", "transport", "state", "queue_count", "address", "numa_node")
READS = Reads(
    paths=(
        BLOCK, f"{BLOCK}/*", *(f"{BLOCK}/*/{name}" for name in _FILES),
        *(f"{BLOCK}/*/queue/{name}" for name in (*_QUEUE, "scheduler", "write_cache", "rotational", "io_poll")),
        NVME, *(f"{NVME}/*/{name}" for name in _NVME_FILES), f"{NUMBERS}/*", MOUNTINFO, *FSTAB_PATHS, *POOL_PATHS,
    ),
)
_LEFT_OUT = regex(r"(loop|ram|zram|zd|rbd|nbd|drbd|fd|sr|md_d)[0-9]+|nvme[0-9]+c[0-9]+n[0-9]+")
_UNCOUNTED = ("ram", "zram", "fd", "sr", "loop", "nbd", "")
_GUEST = regex(r".*(?:vm|base|subvol|snap_vm)--[0-9]+--.*", re.DOTALL)  # LVM doubles the hyphens of a name
_NO_SUCH = (errno.EINVAL, errno.EOPNOTSUPP, errno.ENXIO)
_SECTOR = 512  # of size, whatever the device's own is


def collect(reading: Reading) -> Storage:
    """The section. A host whose /sys/block is empty has an empty table of block devices."""
    names = reading.list(BLOCK, "blocks")
    if not names and not reading.unreads and not reading.stat(BLOCK, "blocks"):
        reading.unread(("blocks",), BLOCK, "ENOENT")
    reading.depends(("blocks",), ("left_out",))
    left_out: Counter[str] = Counter()
    blocks = {name: _block(reading, name) for name in names if not _is_left_out(reading, name, left_out)}
    controllers = {name: _controller(reading, name) for name in reading.list(NVME, "controllers")}
    keys = keys_of({name: (block.serial, block.wwid, block.mapped) for name, block in blocks.items()})
    mounts = _mounts(reading, keys, left_out)
    reading.depends(("mounts",), ("left_out",))
    move_unread(reading, "blocks", keys)
    text = reading.config(FSTAB, "fstab")
    fstab, ignored = parse_fstab(text or "")
    controller_keys = keys_of({name: (found.serial,) for name, found in controllers.items()})
    move_unread(reading, "controllers", controller_keys)
    return Storage(
        blocks={keys[name]: block for name, block in blocks.items()},
        controllers={controller_keys[name]: found for name, found in controllers.items()} or None,
        mounts=mounts, fstab=fstab if text is not None else None, fstab_ignored=ignored or None,
        mount_units=read_units(reading), pools=read_pools(reading), raids=read_raids(reading),
        left_out=dict(sorted(left_out.items())) or None,
    )


def _is_left_out(reading: Reading, name: str, left_out: Counter[str]) -> bool:
    match = _LEFT_OUT.fullmatch(name)
    if match:
        kind = match[1] or ""
        left_out.update([f"{kind}*"] if kind not in _UNCOUNTED else [])
        return True
    mapped = _mapped(reading, name)
    if mapped and _GUEST.fullmatch(mapped):
        left_out["guests' logical volumes"] += 1
        return True
    return False


def _mapped(reading: Reading, name: str) -> str | None:
    files = Attributes(reading, f"{BLOCK}/{name}", ("blocks", name))
    return files.text("dm/name", "mapped") if name.startswith("dm-") else None


def _block(reading: Reading, name: str) -> Block:
    folder, fact = f"{BLOCK}/{name}", ("blocks", name)
    files = Attributes(reading, folder, fact, _NO_SUCH)
    physical = reading.readlink(folder, *fact, "device") or ""
    chain = parse_place(physical)[1]
    size = files.integer("size", "size_bytes")
    return Block(
        name=name, size_bytes=None if size is None else size * _SECTOR, read_only=files.flag("ro", "read_only"),
        serial=_serial(files),
        wwid=files.text("wwid", "wwid") or files.text("device/wwid", "wwid"), mapped=_mapped(reading, name),
        model=_model(files), firmware=_firmware(files),
        driver=None if "/virtual/" in physical else files.link("device/driver", "driver"),
        device=chain[-1] if chain else None, queue=_queue(reading, name),
    )


def _serial(files: Attributes) -> str | None:
    """virtio's, MMC's, else of SCSI page 0x80."""
    found = files.text("serial", "serial") or files.text("device/serial", "serial")
    if found is not None:
        return found
    path = f"{files.folder}/device/vpd_pg80"
    page = files.reading.bytes(path, *files.fact, "serial")
    if page is None:
        return None
    serial = parse_page80(page)
    if serial is None:
        files.reading.unread((*files.fact, "serial"), path, "no page 0x80")
    return serial or None


def parse_page80(page: bytes) -> str | None:
    """The unit serial number of a vital product data page (SPC-4, 7.8.15), "" where it is blank; None if it is none."""
    if len(page) < 4 or page[1] != 0x80:
        return None
    return decode(page[4 : 4 + int.from_bytes(page[2:4], "big")]).strip(" \0")


def _model(files: Attributes) -> str | None:
    model, vendor = files.text("device/model", "model"), files.text("device/vendor", "model")
    if vendor is None or vendor.startswith("0x") or vendor == "ATA":
        return model or files.text("device/name", "model")
    return f"{vendor} {model}" if model else vendor


def _firmware(files: Attributes) -> str | None:
    names = ("device/firmware_rev", "device/rev", "device/fwrev")
    return next(filter(None, (files.text(name, "firmware") for name in names)), None)


def _queue(reading: Reading, name: str) -> Queue:
    files = Attributes(reading, f"{BLOCK}/{name}/queue", ("blocks", name, "queue"), _NO_SUCH)
    numbers = {fact: files.integer(file, fact) for file, fact in _QUEUE.items()}
    return Queue(
        scheduler=files.parsed("scheduler", "scheduler", marked), write_cache=files.text("write_cache", "write_cache"),
        rotational=files.flag("rotational", "rotational"), io_poll=files.flag("io_poll", "io_poll"), **numbers,
    )


def _controller(reading: Reading, name: str) -> Controller:
    files = Attributes(reading, f"{NVME}/{name}", ("controllers", name), _NO_SUCH)
    address = files.text("address", "device") or ""
    return Controller(
        name=name, serial=files.text("serial", "serial"), model=files.text("model", "model"),
        firmware=files.text("firmware_rev", "firmware"), transport=files.text("transport", "transport"),
        state=files.text("state", "state"), queues=files.integer("queue_count", "queues"),
        device=address if ADDRESS.fullmatch(address) else None, numa_node=files.integer("numa_node", "numa_node"),
    )


def _mounts(reading: Reading, keys: Mapping[str, str], left_out: Counter[str]) -> dict[str, Mount] | None:
    text = reading.text(MOUNTINFO, "mounts")
    if text is None:
        reading.settle(False, MOUNTINFO, "ENOENT", "mounts")
        return None
    try:
        found, counted = parse_mounts(text)
    except ParseError as error:
        reading.unread(("mounts",), MOUNTINFO, str(error))
        return None
    left_out.update({f"mounts of {kind}": count for kind, count in counted.items()})
    return {place: _placed(reading, mounted, keys) for place, mounted in found.items()}


def _placed(reading: Reading, mounted: Mounted, keys: Mapping[str, str]) -> Mount:
    """A partition is named after its disk, so that a disk that is called otherwise changes nothing."""
    source = mounted.mount.source
    if not source.startswith("/dev/") or mounted.device.startswith("0:"):
        return mounted.mount
    target = reading.readlink(f"{NUMBERS}/{mounted.device}", "mounts", mounted.place, "source") or ""
    disk, last = ("/" + target).rsplit("/", 2)[-2:]  # ".../nvme0n1/nvme0n1p2", or ".../sda" when all of it is mounted
    number = f"-part{last[len(disk) :].lstrip('p')}" if disk in keys else ""
    disk = disk if disk in keys else last
    name = f"{keys[disk]}{number}" if keys.get(disk, disk) != disk else source
    return mounted.mount.copy(source=name, device=source)
