"""Block devices and NVMe controllers; mounts, fstab and pools have tests of their own."""

from __future__ import annotations

import errno
from typing import Any

import pytest

from fixtures import epyc
from fixtures.parts import storage as part
from snapshot.collectors import storage
from snapshot.collectors.storage import parse_page80

from .epyc_parts import planted
from .fake import Content, MemoryHost, gather

BLOCK, NVME = "/sys/block", "/sys/class/nvme"
DENIED = PermissionError(errno.EACCES, "denied")
MOUNT = "28 1 259:2 / / rw,relatime - ext4 /dev/nvme0n1p2 rw,errors=remount-ro\n"
SYSTEM: dict[str, Content] = {"/proc/self/mountinfo": MOUNT}
DRIVE: dict[str, Content] = {
    **SYSTEM, f"{BLOCK}/nvme0n1/size": "1000215216\n", f"{BLOCK}/nvme0n1/ro": "0\n",
    f"{BLOCK}/nvme0n1/wwid": "eui.0025385\n", f"{BLOCK}/nvme0n1/device/serial": "S1EXAMPLE           \n",
    f"{BLOCK}/nvme0n1/device/model": "Drive 1TB     \n", f"{BLOCK}/nvme0n1/device/firmware_rev": "1B2Q\n",
    f"{BLOCK}/nvme0n1/queue/scheduler": "[none] mq-deadline kyber\n", f"{BLOCK}/nvme0n1/queue/read_ahead_kb": "128\n",
    f"{BLOCK}/nvme0n1/queue/wbt_lat_usec": OSError(errno.EINVAL, "no throttling"),
    f"{BLOCK}/nvme0n1/queue/rotational": "0\n", f"{BLOCK}/nvme0n1/queue/write_cache": "write through\n",
}
LINKS = {"/sys/dev/block/259:2": "../../devices/pci0000:00/0000:00:01.0/nvme/nvme0/nvme0n1/nvme0n1p2"}


def found(files: dict[str, Content], links: dict[str, str] | None = None) -> tuple[dict[str, Any], dict[str, str]]:
    """The section's table, and of its unread facts the reasons."""
    model, reading = gather(storage, MemoryHost(files, links))
    return model.table(), {".".join(u.path): u.why for u in reading.unreads}


def test_a_drive_is_keyed_by_its_serial_and_so_is_what_is_mounted_of_it() -> None:
    table, unread = found(DRIVE, LINKS)
    assert unread == {}
    assert table == {
        "blocks": {"S1EXAMPLE": {
            "name": "nvme0n1", "serial": "S1EXAMPLE", "wwid": "eui.0025385", "model": "Drive 1TB", "firmware": "1B2Q",
            "size_bytes": 512110190592, "read_only": False,
            "queue": {"scheduler": "none", "read_ahead_kb": 128, "rotational": False, "write_cache": "write through"},
        }},
        "mounts": {"/": {
            "source": "S1EXAMPLE-part2", "device": "/dev/nvme0n1p2", "fstype": "ext4",
            "options": ["errors=remount-ro", "relatime", "rw"],
        }},
    }


def test_whole_disks_and_partitions_of_scsi_are_named_after_the_disk() -> None:
    disk: dict[str, Content] = {f"{BLOCK}/sda/serial": "S1", "/proc/self/mountinfo": (
        "1 1 8:0 / /a rw - ext4 /dev/sda rw\n1 1 8:17 / /b rw - ext4 /dev/sdb1 rw\n"
        "1 1 8:3 / /c rw - ext4 /dev/sda3 rw\n"
    )}
    links = {"/sys/dev/block/8:0": "../../devices/x/block/sda", "/sys/dev/block/8:3": "../../devices/x/block/sda/sda3",
             "/sys/dev/block/8:17": "../../devices/x/block/sdb/sdb1"}
    table, _ = found(disk, links)
    assert {place: mount["source"] for place, mount in table["mounts"].items()} == {
        "/a": "S1", "/b": "/dev/sdb1", "/c": "S1-part3"}


def test_a_drive_that_is_called_otherwise_after_a_reboot_is_the_same() -> None:
    def renamed(text: str) -> str:
        return text.replace("nvme0n1", "nvme3n1")

    files = {renamed(path): renamed(c) if isinstance(c, str) else c for path, c in DRIVE.items()}
    before, after = found(DRIVE, LINKS)[0], found(files, {path: renamed(to) for path, to in LINKS.items()})[0]
    assert before["mounts"]["/"].pop("device") != after["mounts"]["/"].pop("device")
    assert before["mounts"] == after["mounts"]
    assert before["blocks"].keys() == after["blocks"].keys()


def test_namespaces_of_one_drive_are_keyed_by_wwid_and_what_has_neither_by_name() -> None:
    second = {path.replace("nvme0n1", "nvme0n2"): content for path, content in DRIVE.items() if BLOCK in path}
    files = {**DRIVE, **second, f"{BLOCK}/nvme0n2/wwid": "eui.2\n", f"{BLOCK}/vda/size": "8\n"}
    assert list(found(files)[0]["blocks"]) == ["eui.0025385", "eui.2", "vda"]
    assert set(found({**files, f"{BLOCK}/sda/serial": "vda\n"})[0]["blocks"]) == {"eui.0025385", "eui.2", "sda", "vda"}


def test_a_scsi_disk_has_its_serial_in_page_80() -> None:
    disk: dict[str, Content] = {
        **SYSTEM, f"{BLOCK}/sda/size": "8\n", f"{BLOCK}/sda/device/vendor": "ATA     \n",
        f"{BLOCK}/sda/device/model": "Disk 2\n", f"{BLOCK}/sda/device/rev": "0001\n",
        f"{BLOCK}/sda/device/wwid": "naa.5000\n", f"{BLOCK}/sda/device/vpd_pg80": b"\0\x80\0\x08  WD-1  ",
    }
    table = found(disk)[0]["blocks"]
    assert table["WD-1"] == {"name": "sda", "serial": "WD-1", "wwid": "naa.5000", "model": "Disk 2", "firmware": "0001",
                             "size_bytes": 4096, "queue": {}}
    assert found({**disk, f"{BLOCK}/sda/device/vendor": "ACME\n"})[0]["blocks"]["WD-1"]["model"] == "ACME Disk 2"
    table, unread = found({**disk, f"{BLOCK}/sda/device/vpd_pg80": DENIED})
    assert (list(table["blocks"]), unread) == (["naa.5000"], {"blocks.naa.5000.serial": "EACCES"})


def test_pages() -> None:
    assert parse_page80(b"\0\x80\0\x04AB  trailing") == "AB"
    assert parse_page80(b"\0\x80\xff\xffAB") == "AB"
    assert parse_page80(b"\0\x80\0\0") == ""
    assert [parse_page80(page) for page in (b"", b"\0\x80", b"\0\x83\0\x02AB")] == [None, None, None]


def test_devices_of_guests_are_counted_and_devices_of_no_disk_left_out() -> None:
    files: dict[str, Content] = {**SYSTEM, **{f"{BLOCK}/{name}/size": "8\n" for name in (
        "loop0", "ram0", "zram0", "sr0", "zd0", "zd16", "rbd0", "nvme0c1n1", "dm-0", "dm-1", "md0",
    )}, f"{BLOCK}/dm-0/dm/name": "pve-root\n", f"{BLOCK}/dm-1/dm/name": "pve-vm--100--disk--0\n"}
    table, _ = found(files)
    assert set(table["blocks"]) == {"pve-root", "md0"}
    assert table["left_out"] == {"guests' logical volumes": 1, "rbd*": 1, "zd*": 2}


def test_controllers_are_keyed_by_serial_and_an_address_of_the_network_is_not_kept() -> None:
    files: dict[str, Content] = {**SYSTEM, **{f"{NVME}/{name}/{file}": f"{text}\n" for name, facts in {
        "nvme0": {"serial": "S1", "state": "live", "transport": "pcie", "address": "0000:41:00.0", "queue_count": "65"},
        "nvme1": {"serial": "S2", "state": "connecting", "transport": "tcp", "address": "traddr=192.0.2.1"},
    }.items() for file, text in facts.items()}}
    table, unread = found(files)
    assert table["controllers"] == {
        "S1": {"name": "nvme0", "serial": "S1", "state": "live", "transport": "pcie", "device": "0000:41:00.0",
               "queues": 65},
        "S2": {"name": "nvme1", "serial": "S2", "state": "connecting", "transport": "tcp"},
    }
    assert unread == {"blocks": "ENOENT", "left_out": "ENOENT"}


@pytest.mark.parametrize("junk", [b"", b"\0", b"\xff\xfe" * 3000, b"9" * 5000, b"a b\r\n"])
def test_junk_is_survived(junk: bytes) -> None:
    table, unread = found(dict.fromkeys(DRIVE, junk))
    (block,) = table["blocks"].values()
    assert block["name"] == "nvme0n1"
    assert "size_bytes" not in block
    assert unread["mounts"] == "line 1 is no mount"


def test_without_root_all_is_read_but_what_is_closed_is_named() -> None:
    files = {**DRIVE, f"{BLOCK}/nvme0n1/device/serial": DENIED, "/etc/fstab": DENIED, "/proc/mdstat": DENIED}
    assert found(files, LINKS)[1] == {"blocks.eui.0025385.serial": "EACCES", "fstab": "EACCES", "raids": "EACCES"}
    assert found({f"{BLOCK}/": DENIED})[1] == {"blocks": "EACCES", "mounts": "ENOENT", "left_out": "ENOENT"}


@pytest.mark.parametrize("kernel", [epyc.BEFORE, epyc.AFTER])
def test_the_story_host(kernel: str) -> None:
    model, reading = gather(storage, planted(part, kernel))
    table = model.table()
    assert reading.unreads == []
    drive, controller = table["blocks"]["S0EXAMPLE00004"], table["controllers"]["S0EXAMPLE00004"]
    assert (drive["name"], drive["queue"]["scheduler"], controller["device"]) == ("nvme4n1", "none", "0000:c2:00.0")
    assert table["mounts"]["/scratch"]["source"] == "S0EXAMPLE00007-part1"
    assert table["pools"] == {name: {"state": "ONLINE", "cached": True} for name in ("rpool", "tank")}
    assert table["left_out"] == {"mounts of guests": 4, "zd*": 1}
    assert set(table["fstab"]) == {"/proc", "/scratch"}
