"""A recorded root redacted: no name in any file, path or table, and a take of it is the redacted snapshot."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from fixtures import epyc, whole
from snapshot.capture import take
from snapshot.collectors.pci_space import SERIAL, Space
from snapshot.document import Snapshot
from snapshot.errors import SnapError
from snapshot.host.base import Host, Stat
from snapshot.host.recorded import open_host
from snapshot.host.recorder import Recorder
from snapshot.host.tables import Tables
from snapshot.host.tree import Memory
from snapshot.records import replace
from snapshot.redact import Redaction
from snapshot.redact.binary import dmi, pci_config
from snapshot.redact.forms import Text
from snapshot.redact.known import Known
from snapshot.redact.pseudonyms import Pseudonyms
from snapshot.redact.recording import redacted
from snapshot.sections import NAMES as SECTIONS

from ..collectors.fake import MemoryHost, node
from ..collectors.test_secrets import SECRET
from ..collectors.test_secrets import planted as with_secrets
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


def test_no_secret_that_a_section_would_drop_is_in_a_raw_file(tmp_path: Path) -> None:
    _, redacted = record(with_secrets(), tmp_path / "rec")
    texts = [data.decode("latin-1") for data in read_all(tmp_path / "rec").values()]
    said = [line.strip() for text in texts for line in text.splitlines()]
    left = {re.sub(r"-\d+$", "", line) for line in said if SECRET in line and line[0] != "#"}
    assert left == {f"echo {SECRET}", f"MAILTO={SECRET}"}  # which no name and no place gives away
    again = take(open_host(str(tmp_path / "rec")))
    for name in SECTIONS:  # what an error quotes is cut at a length that pseudonyms change
        assert again.table(name) == redacted.table(name), name
        gaps, wanted = ([u.path for u in one.outcomes[name].unread or ()] for one in (again, redacted))
        assert gaps == wanted, name


SERIAL_PAGE = b"\0\x80\0\x0a  ABCDEF7G"
RAW = {
    "/etc/network/interfaces": (f"iface w inet dhcp\n  wpa-psk {SECRET}\n",
                                "iface w inet dhcp\n  wpa-psk <redacted>\n"),
    "/etc/systemd/network/w.netdev": (f"[WireGuardPeer]\nPresharedKey = a {SECRET}\n",
                                      "[WireGuardPeer]\nPresharedKey = <redacted>\n"),
    "/etc/netplan/a.yaml": (f"  keys:\n    private: {SECRET}\n  peers:\n  - keys: {{shared: {SECRET}}}\n",
                            "  keys:\n    private: <redacted>\n  peers:\n  - keys: {shared: <redacted>}\n"),
    "/etc/containerd/config.toml": (
        f"password = '{SECRET}'\nx = ['--token', '{SECRET}']\ntokens = [\"{SECRET}\"]\n",
        "password = '<redacted>'\nx = ['--token', '<redacted>']\ntokens = [\"<redacted>\"]\n"),
    "/etc/pve/lxc/101.conf": (f"lxc.environment: A={SECRET}\n  lxc.environment = A={SECRET}\n",
                              "lxc.environment: <redacted>\n  lxc.environment = <redacted>\n"),
    "/etc/pve/qemu-server/100.conf": (f"args: -object secret,id=s,data={SECRET}\nciuser: {SECRET}\n",
                                      "args: -object secret,id=s,data=<redacted>\nciuser: <redacted>\n"),
    "/boot/grub/grub.cfg": (f"password_pbkdf2 root {SECRET}\nlinux /x systemd.setenv=A={SECRET}\n",
                            "password_pbkdf2 <redacted>\nlinux /x systemd.setenv=<redacted>\n"),
    "/etc/default/grub": ("GRUB_PASSWORD=\nGRUB_X=1\n", "GRUB_PASSWORD=\nGRUB_X=1\n"),
    "/etc/cron.d/x": (f"@reboot root a --password \\\n {SECRET} -v\n# end\n",
                      "@reboot root a --password \\\n <redacted> -v\n# end\n"),
    "/etc/tmpfiles.d/a.conf": (f"w /sys/module/foo/parameters/password - - - - {SECRET}\n",
                               "w /sys/module/foo/parameters/password - - - - <redacted>\n"),
    "/etc/udev/rules.d/a.rules": (f'ENV{{API_TOKEN}}=="{SECRET}", MODE="0600"\n',
                                  'ENV{API_TOKEN}=="<redacted>", MODE="0600"\n'),
    "/sys/module/foo/parameters/password": (f"{SECRET}\n", "<redacted>\n"),
    "/sys/module/foo/parameters/key_revalidate": ("Y\n", "Y\n"), "/proc/sys/fs/key_quota": ("-1\n", "-1\n"),
    "/sys/module/bonding/parameters/arp_ip_target": ("192.0.2.17\n", f"{NAMES.ipv4('192.0.2.17')}\n"),
    "/sys/module/zfs/version": ("1.2.3.4\n", "1.2.3.4\n"),
    "/etc/subuid": ("root:100000:65536\nbobby:165536:65536\n",
                    f"root:100000:65536\n{NAMES.user('bobby')}:165536:65536\n"),
    "/etc/security/limits.d/a.conf": ("@bobby - memlock unlimited\n* soft nofile 1\n",
                                      f"@{NAMES.user('bobby')} - memlock unlimited\n* soft nofile 1\n"),
    "/sys/class/kfd/kfd/topology/nodes/1/properties": (
        "simd_count 8\nunique_id 17346545897438203451\n",
        f"simd_count 8\nunique_id {int(NAMES.serial(f'{17346545897438203451:016x}'), 16)}\n"),
    "/sys/block/sda/device/vpd_pg80": (SERIAL_PAGE.decode("latin-1"),
                                       f"\0\x80\0\x0a  {NAMES.serial('ABCDEF7G')}"),
    "/sys/firmware/efi/efivars/LoaderEntryDefault-4a67b082-0a4c-41cf-b6c7-440b29bb8c4f": (
        "\6\0\0\0" + MACHINE.encode("utf-16-le").decode(),
        "\6\0\0\0" + NAMES.machine_id(MACHINE).encode("utf-16-le").decode()),
}


@pytest.mark.parametrize("path", RAW)
def test_what_becomes_of_a_raw_file(path: str) -> None:
    before, after = RAW[path]
    raw = Memory()
    raw.put("/recorded.json", Stat("file", 0, 0, 0o644, 0, 0, 0, 0), Tables().dumps())
    raw.put(path, Stat("file", 0, 0, 0o644, 0, 0, 0, 0), before.encode("latin-1"))
    made = redacted(raw, NAMES, Text(NAMES, Known()))
    [new] = [name for name, stat in made.stats.items() if stat.type == "file" and name != "/recorded.json"]
    assert made.data(new, 1 << 20).decode("latin-1") == after


def said(command: str, text: str) -> str:
    """What is kept of what a command printed."""
    raw, file = Memory(), Stat("file", 0, 0, 0o644, 0, 0, 0, 0)
    raw.put("/recorded.json", file, Tables().dumps())
    raw.put("/commands/x/argv.json", file, json.dumps(command.split()).encode())
    raw.put("/commands/x/stdout", file, text.encode())
    made = redacted(raw, NAMES, Text(NAMES, Known()))
    return next(made.data(path, 1 << 20).decode() for path in made.stats if path.endswith("/stdout"))


def test_serials_in_what_lspci_says() -> None:
    space = bytearray(4096)
    space[0:2], space[6], space[0x100:0x104] = b"\xde\x10", 0x10, bytes((SERIAL, 0, 1, 0))
    space[0x104:0x10C] = bytes(range(1, 9))

    def dump(data: bytes) -> str:
        return "".join(f"{at:02x}: {data[at : at + 16].hex(' ')}\n" for at in range(0, 4096, 16))

    text = "01:00.0 VGA\n\t\t[SN] Serial number: ABC1234\n{}\n02:00.0 x\n"
    changed = text.replace("ABC1234", NAMES.serial("ABC1234"))
    made = pci_config(bytes(space), NAMES)
    assert said("lspci -D -vvv -xxxx", text.format(dump(bytes(space)))) == changed.format(dump(made))


def test_serials_and_processes_in_what_nvidia_smi_says() -> None:
    text = """\
    Serial Number                                      : 1650522003820
        Chassis Serial Number                          : N/A
    Processes
        Process ID                        : 10291
            Type                          : C
            Name                          : /root/tools/memhog
            Used GPU Memory               : 2566 MiB
"""
    assert said("nvidia-smi -q", text) == f"""\
    Serial Number                                      : {NAMES.serial("1650522003820")}
        Chassis Serial Number                          : N/A
    Processes
"""
    xml = "<a><serial_number>{}</serial_number><accounted_processes>{}</accounted_processes></a>"
    assert said("nvidia-smi -q -x", xml.format("X12345", "<x>1</x>")) == xml.format(NAMES.serial("X12345"), "")
    assert said("ip -j -d link", f'[{{"token": "{SECRET}"}}]') == '[{"token": "<redacted>"}]'
    assert said("systemctl list-units", f"a.service token={SECRET} x\n") == "a.service token=<redacted> x\n"


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
