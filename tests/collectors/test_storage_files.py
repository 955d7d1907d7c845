"""Mounts, fstab, mount units, ZFS pools and md arrays."""

from __future__ import annotations

import errno
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from snapshot.collectors import storage
from snapshot.collectors.storage_fstab import parse_fstab, parse_unit
from snapshot.collectors.storage_mounts import decode_place, parse_mounts
from snapshot.collectors.storage_pools import names_pool, parse_raids
from snapshot.errors import ParseError

from .fake import Content, MemoryHost, gather

DENIED = PermissionError(errno.EACCES, "denied")
BASE: dict[str, Content] = {"/sys/block/": "", "/proc/self/mountinfo": "1 1 0:26 / / rw - zfs rpool rw\n"}


def mounts(*lines: str) -> dict[str, dict[str, Any]]:
    """The mounts of lines that begin with their root."""
    text = "".join(f"{40 + n} 28 0:{n} {line}\n" for n, line in enumerate(lines))
    return {place: mounted.mount.table() for place, mounted in parse_mounts(text)[0].items()}


def found(files: dict[str, Content]) -> tuple[dict[str, Any], dict[str, str]]:
    """The section's table, and of its unread facts the reasons."""
    model, reading = gather(storage, MemoryHost({**BASE, **files}))
    return model.table(), {".".join(u.path): u.why for u in reading.unreads}


def test_a_file_system_that_an_error_made_read_only_is_so() -> None:
    (mount,) = mounts("/ /data rw,noatime shared:1 master:2 - ext4 /dev/mapper/x ro,errors=remount-ro").values()
    assert mount["options"] == ["errors=remount-ro", "noatime", "ro"]


def test_the_last_mount_at_a_place_is_the_one_seen() -> None:
    table = mounts("/ /data rw - ext4 a rw", "/sub /data rw - xfs b rw", "/ /data rw - zfs c rw")
    assert table["/data"] == {"source": "c", "fstype": "zfs", "options": ["rw"], "covered": 2}
    assert mounts("/sub /x rw - xfs b rw")["/x"]["root"] == "/sub"


def test_addresses_users_passwords_and_sizes_are_no_options() -> None:
    table = mounts(
        "/ /nfs rw - nfs4 192.0.2.1:/x rw,vers=4.2,addr=192.0.2.1,clientaddr=192.0.2.2",
        "/ /smb rw - cifs //nas/x rw,username=u,password=hunter2,vers=3.0",
        "/ /tmp rw - tmpfs tmpfs rw,size=8g,nr_inodes=1",
        "/ /with\\040blank\\134 rw - ext4 /dev/\\303\\244 rw",
    )
    assert table["/nfs"] == {"source": "<address>:/x", "fstype": "nfs4", "options": ["rw", "vers=4.2"]}
    assert table["/smb"]["options"] == ["rw", "vers=3.0"]
    assert table["/tmp"] == {"source": "tmpfs", "fstype": "tmpfs", "options": ["rw"], "size_kb": 8 << 20}
    assert table["/with blank\\"]["source"] == "/dev/\u00e4"


@pytest.mark.parametrize("text", [
    "", "\n", "x\n", "1 2 3:4 / / rw ext4 x rw\n", "1 2 a / / rw - ext4 x rw\n", "\0\xff",
])
def test_what_is_no_list_of_mounts_is_refused(text: str) -> None:
    with pytest.raises(ParseError):
        parse_mounts(text)
    assert found({"/proc/self/mountinfo": text})[1]["mounts"] == "line 1 is no mount"


FSTAB = """\
# comment
UUID=1 / ext4 errors=remount-ro 0 1
/dev/x\tnone swap sw 0 0
nas:/m /models nfs
//192.0.2.1/x /smb cifs user=u,password=hunter2,_netdev 0 x
UUID=2 / xfs defaults 0 0
UUID=3
"""


def test_fstab_by_place_without_secrets() -> None:
    table, ignored = parse_fstab(FSTAB)
    plain = {place: (e.source, e.fstype, e.options, e.check, e.origin.line) for place, e in table.items()}
    assert plain == {
        "/": ("UUID=1", "ext4", ["errors=remount-ro"], 1, 2), "/dev/x": ("/dev/x", "swap", ["sw"], 0, 3),
        "/models": ("nas:/m", "nfs", ["defaults"], 0, 4), "/smb": ("//<address>/x", "cifs", ["_netdev"], 0, 5),
    }
    assert [(line.why, line.origin.line) for line in ignored] == [("line 2 is for the same place", 6), ("no place", 7)]
    assert "hunter2" not in str((table, ignored))
    assert parse_fstab(FSTAB.replace("\n", "\r\n"))[0]["/"].options == ["errors=remount-ro"]


def test_mount_units_say_whether_something_wants_them() -> None:
    unit = "[Unit]\n[Mount]\nWhat=/dev/x\nWhere=/models\nType=xfs\nOptions=noatime,password=hunter2\n"
    system = "/etc/systemd/system"
    table, _ = found({
        f"{system}/models.mount": unit, f"{system}/multi-user.target.wants/models.mount": "",
        f"{system}/b.mount": unit.replace("/models", "/b").replace("Type=xfs\n", ""), f"{system}/x.mount": "no\n",
    })
    units = table["mount_units"]
    assert set(units) == {"/models", "/b"}
    assert (units["/models"]["enabled"], units["/b"]["enabled"], units["/b"]["fstype"]) == (True, False, "auto")
    assert units["/models"]["origin"] == {"file": f"{system}/models.mount", "line": 3, "text": "What=/dev/x"}
    assert units["/models"]["options"] == ["noatime"]


def test_pools_and_whether_the_cache_file_names_them() -> None:
    kstat = "/proc/spl/kstat/zfs"
    cache = b"\0\0\0\x05rpool\0\0\0\0\0\0\x13\0\0\0\x01" + b"\0\0\0\x03old\0\0\0\0\x09\0\0\0\x01"  # old: a host
    files: dict[str, Content] = {
        f"{kstat}/rpool/state": "ONLINE\n", f"{kstat}/old/state": "DEGRADED\n", f"{kstat}/arcstats": "x",
    }
    assert found({**files, "/etc/zfs/zpool.cache": cache})[0]["pools"] == {
        "rpool": {"state": "ONLINE", "cached": True}, "old": {"state": "DEGRADED", "cached": False}}
    assert found(files)[0]["pools"]["rpool"]["cached"] is False
    table, unread = found({**files, "/etc/zfs/zpool.cache": DENIED, f"{kstat}/old/state": DENIED})
    assert table["pools"] == {"rpool": {"state": "ONLINE"}, "old": {}}
    assert set(unread) == {"pools.rpool.cached", "pools.old.cached", "pools.old.state"}
    assert "pools" not in found({})[0]
    assert found({f"{kstat}/tank/io": "x"})[1] == {"pools.tank.state": "ENOENT"}
    assert not names_pool(cache, "pool")


MDSTAT = """\
Personalities : [raid1] [raid6] [raid5] [raid4] [raid0]
md1 : active raid1 sdb2[1](F) sda2[0]
      1046528 blocks super 1.2 [2/1] [U_]
      [==>..................]  recovery = 12.6% (37043392/292945152) finish=127.5min speed=33440K/sec

md0 : active (auto-read-only) raid0 nvme1n1[1] nvme0n1[0]
      2000 blocks super 1.2 512k chunks

md127 : inactive sdc1[0](S)
      1000 blocks super 1.2

unused devices: <none>
"""


def test_arrays() -> None:
    table = {name: raid.table() for name, raid in parse_raids(MDSTAT).items()}
    assert table == {
        "md0": {"active": True, "read_only": True, "level": "raid0", "members": ["nvme0n1", "nvme1n1"]},
        "md1": {"active": True, "level": "raid1", "devices": 2, "working": 1, "failed": ["sdb2"],
                "members": ["sda2", "sdb2"], "action": "recovery"},
        "md127": {"active": False, "members": ["sdc1"]},
    }
    assert parse_raids("Personalities : \nunused devices: <none>\n") == {}
    assert found({"/proc/mdstat": "x"})[1] == {"raids": "no list of personalities: 'x'"}
    for text in ("", "\0", "Personalities :\nmd0 : broken\n"):
        with pytest.raises(ParseError):
            parse_raids(text)


@given(st.text(), st.text(alphabet="0123:/ -\\,=rwmd[]()_U\n"))
def test_only_parse_errors_are_raised(any_text: str, likely: str) -> None:
    for text in (any_text, likely):
        parse_fstab(text)
        parse_unit(f"What={text}\nWhere={text}\n", "f", True)
        decode_place(text)
        for attempt in (lambda t: parse_mounts(f"1 2 3:4 / {t}"), lambda t: parse_raids(f"Personalities :\n{t}")):
            try:
                attempt(text)
            except ParseError:
                continue
