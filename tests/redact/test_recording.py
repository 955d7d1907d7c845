"""A recorded root redacted: no name in any file, path or table, and a take of it is the redacted snapshot."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from fixtures import epyc, whole
from snapshot.capture import take
from snapshot.collectors.pci_space import SERIAL, Space
from snapshot.document import Snapshot
from snapshot.errors import SnapError
from snapshot.host.base import Host
from snapshot.host.recorded import open_host
from snapshot.host.recorder import Recorder
from snapshot.records import replace
from snapshot.redact import Redaction
from snapshot.redact.binary import dmi, pci_config
from snapshot.redact.pseudonyms import Pseudonyms
from snapshot.sections import NAMES as SECTIONS

from ..collectors.fake import MemoryHost, node
from ..collectors.test_secrets import SECRET
from ..recordings import FIXTURES, HOSTS

KEY = b"a key of these tests only"
NAMES = Pseudonyms(KEY)
UUID, MAC, MACHINE = "3c1d5e6f-1a2b-4c3d-8e4f-5a6b7c8d9e0f", "b8:3f:d2:aa:bb:cc", "0123456789abcdef0123456789abcdef"


def record(host: Host, folder: Path) -> tuple[Snapshot, Snapshot]:
    """HOST taken, and its recording in FOLDER redacted; the plain snapshot and the redacted one."""
    recorder = Recorder(host, str(folder), held=True)
    try:
        plain = take(recorder)
        redaction = Redaction(KEY, plain)
        recorder.revise(redaction.recording)
        return plain, redaction.snapshot
    finally:
        recorder.close()


def record_plain(host: Host, folder: Path) -> None:
    recorder = Recorder(host, str(folder))
    take(recorder)
    recorder.close()


def read_all(folder: Path) -> dict[str, bytes]:
    return {f"/{path.relative_to(folder)}": path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def names_in(files: dict[str, bytes]) -> set[bytes]:
    """What has the form of a MAC or UUID of somebody."""
    form = rb"\b(?:[0-9a-f]{2}(?::[0-9a-f]{2}){5}|[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-8[0-9a-f]{3}-[0-9a-f]{12})\b"
    return {name for data in files.values() for name in re.findall(form, data)} - {b"00:00:00:00:00:00"}


def same(again: Snapshot, redacted: Snapshot) -> None:
    """Equal but for where they were read, and checksums and sizes of files."""
    for name in SECTIONS:
        assert again.table(name) == redacted.table(name), name
        assert again.outcomes[name] == redacted.outcomes[name], name
    assert again.meta.copy(source="live") == redacted.meta.copy(source="live")
    assert again.files.keys() == redacted.files.keys()


def test_a_take_of_the_redacted_root_is_the_redacted_snapshot(tmp_path: Path) -> None:
    host = whole.host(epyc.BEFORE)
    plain, redacted = record(host, tmp_path / "rec")
    files = read_all(tmp_path / "rec")
    same(take(open_host(str(tmp_path / "rec"))), redacted)
    known = {name for name in Redaction(KEY, plain).known.whole if len(name) > 6 and not name.isalpha()}
    everything = b"\n".join((*files.values(), *(path.encode() for path in files)))
    assert len(known) > 40 and [name for name in known if name.encode() in everything] == []
    record_plain(host, tmp_path / "raw")
    raw = read_all(tmp_path / "raw")
    assert len(names_in(raw)) > 20 and not names_in(raw) & names_in(files)
    assert SECRET.encode() not in everything and b"--token=secret" not in everything


@pytest.mark.parametrize("name", [host for host in HOSTS if "-after" not in host])
def test_every_recorded_root_can_be_redacted(name: str, tmp_path: Path) -> None:
    _, redacted = record(open_host(str(FIXTURES / "hosts" / name)), tmp_path / "rec")
    again = take(open_host(str(tmp_path / "rec")))
    assert again.meta.redacted is True
    same(again, redacted)


def planted() -> MemoryHost:
    elf, zeros = b"\x7fELF\2\1\1\0" + bytes(60), bytes(8) + b"\1"
    return MemoryHost({
        "/etc/machine-id": f"{MACHINE}\n", "/proc/sys/kernel/hostname": "falcon\n",
        "/proc/sys/kernel/osrelease": "6.8\n", "/proc/sys/kernel/random/boot_id": f"{UUID}\n",
        "/etc/pve/lxc/100.conf": f"#{SECRET} falcon\nhostname: condor\nenv: A={SECRET}\n",
        "/proc/cmdline": f"root=UUID={UUID} password={SECRET} ip=192.0.2.17\n",
        "/etc/sysctl.d/falcon.conf": f"kernel.core_pattern=|/home/alice/x {MAC}\n",
        "/lib/modules/6.8/modules.dep": "updates/nvidia.ko:\nupdates/zfs.ko.gz:\n", "/boot/vmlinuz-6.8": "",
        "/lib/modules/6.8/updates/nvidia.ko": elf + b"falcon Secure Boot\0",
        "/lib/modules/6.8/updates/zfs.ko.gz": b"\x1f\x8bx",
        "/etc/docker/daemon.json": f'{{"log-opts": {{"token": "{SECRET}", "x": "192.0.2.17 --key={SECRET}"}}}}',
        "/etc/netplan/1.yaml": f"network:\n  wifis:\n    w0:\n      password: {SECRET}\n",
        "/sys/firmware/efi/efivars/SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c": b"\6\0\0\0\1",
        "/etc/zfs/zpool.cache": zeros + b"falcon" + zeros, "/sys/module/zfs/version": "1.2.3.4\n",
        "/proc/spl/kstat/zfs/tank/state": "ONLINE\n", "/sys/block/": "", "/dev/": "",
    }, links={"/etc/systemd/system/falcon.service": "/home/alice/falcon.service"},
        nodes={"/home/alice/falcon.service": node("file", size=9)}, session=replace(whole.host(epyc.BEFORE).session,
            hostname="falcon"))


def test_names_in_contents_paths_links_and_tables(tmp_path: Path) -> None:
    _, redacted = record(planted(), tmp_path / "rec")
    files = read_all(tmp_path / "rec")
    everything = b"\n".join((*files.values(), *(path.encode() for path in files)))
    for name in ("falcon", "condor", "alice", MACHINE, UUID, MAC, "192.0.2.17", SECRET):
        assert name.encode() not in everything, name
    assert files["/sys/firmware/efi/efivars/SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c"] == b"\6\0\0\0\1"
    assert files["/sys/module/zfs/version"] == b"1.2.3.4\n"
    assert files["/etc/machine-id"].decode() == f"{NAMES.machine_id(MACHINE)}\n"
    again = take(open_host(str(tmp_path / "rec")))
    assert (again.meta.host, again.meta.machine, again.meta.boot_id) == (
        redacted.meta.host, redacted.meta.machine, redacted.meta.boot_id)
    assert again.table("cmdline") == redacted.table("cmdline") and again.table("sysctl") == redacted.table("sysctl")
    assert again.table("lxc") == redacted.table("lxc")


def test_binary_files_that_show_a_name_or_cannot_be_looked_into_are_left_out(tmp_path: Path) -> None:
    record(planted(), tmp_path / "rec")
    host = open_host(str(tmp_path / "rec"))
    for path in ("/lib/modules/6.8/updates/nvidia.ko", "/lib/modules/6.8/updates/zfs.ko.gz", "/etc/zfs/zpool.cache"):
        with pytest.raises(OSError, match="not recorded"):
            host.read(path)


def test_a_recording_that_cannot_be_redacted_is_not_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("snapshot.redact.forms.Text.__call__", lambda _self, _text, addresses=True: "/x")
    with pytest.raises(SnapError, match="the same pseudonym"):
        record(planted(), tmp_path / "rec")
    assert not (tmp_path / "rec").exists()
    recorder = Recorder(planted(), str(tmp_path / "rec"), held=True)
    take(recorder)
    recorder.close()
    assert not (tmp_path / "rec").exists()


def test_config_space_keeps_all_but_its_serial() -> None:
    space = bytearray(4096)
    space[0:2], space[6], space[0x100:0x104] = b"\xde\x10", 0x10, bytes((SERIAL, 0, 1, 0))
    space[0x104:0x10C] = bytes.fromhex("b83fd2030000bbcc")[::-1]
    made = pci_config(bytes(space), NAMES)
    assert made[:0x104] == space[:0x104] and made[0x10C:] == space[0x10C:]
    assert made[0x104:0x10C][::-1].hex("-") == NAMES.wide("b8-3f-d2-03-00-00-bb-cc")
    assert Space(made).extended == Space(bytes(space)).extended
    for other in (b"", bytes(64), bytes(256), bytes(space[:0x108])):
        assert pci_config(other, NAMES) == other


def structure(kind: int, head: bytes, *texts: bytes) -> bytes:
    return bytes((kind, len(head) + 4, 1, 0)) + head + b"".join(text + b"\0" for text in texts or (b"",)) + b"\0"


def test_smbios_keeps_slots_and_lengths_and_loses_serials() -> None:
    memory = bytearray(0x1B - 4)
    memory[0x17 - 4 : 0x1B - 4] = b"\1\2\3\4"
    table = structure(1, b"\1\2\3\4" + bytes.fromhex(UUID.replace("-", "")), b"Vendor", b"Box", b"1.0", b"SYS-0042")
    table += structure(17, bytes(memory), b"Maker", b"8A2F11C0", b"ASSET-17", b"PART-1") + structure(127, b"")
    made = dmi(table, NAMES)
    assert made is not None and len(made) == len(table)
    for gone in (b"SYS-0042", bytes.fromhex(UUID.replace("-", "")), b"8A2F11C0", b"ASSET-17"):
        assert gone in table and gone not in made
    assert b"Maker" in made and b"PART-1" in made and NAMES.serial("8A2F11C0").encode() in made
    assert dmi(table[:-20], NAMES) is None or len(dmi(table[:-20], NAMES) or b"") <= len(table)
    assert dmi(b"\1\3xx", NAMES) is None
