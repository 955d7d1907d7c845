"""Names in free text: found by form, or because a field has them; versions, PCI addresses and the like stay."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from snapshot.collectors import collector
from snapshot.redact.forms import WELL_KNOWN, Text
from snapshot.redact.known import Known
from snapshot.redact.pseudonyms import Pseudonyms
from snapshot.sections import NAMES as SECTIONS

NAMES = Pseudonyms(b"a key of these tests only")
KNOWN = Known(
    whole={"falcon": NAMES.host("falcon"), "nvidia": NAMES.host("nvidia")},
    serials={"S5GXNX0T104242": NAMES.serial("S5GXNX0T104242")},
    hosts={"falcon": NAMES.host("falcon"), "gpu-box7": NAMES.host("gpu-box7"),
           "gpu--box7": NAMES.host("gpu-box7").replace("-", "--"), "g7.lab.acme.org": NAMES.fqdn("g7.lab.acme.org")},
    domains={"lab.acme.org": NAMES.domain("lab.acme.org"), "acme.org": NAMES.domain("acme.org")},
    users={"alice": NAMES.user("alice")},
)
TEXT = Text(NAMES, KNOWN)
UUID, MAC = "3c1d5e6f-1a2b-4c3d-8e4f-5a6b7c8d9e0f", "b8:3f:d2:aa:bb:cc"


@pytest.mark.parametrize(("text", "gone"), [
    (f"GPU-{UUID} MIG-{UUID}", [UUID]), (f"NVreg_ExcludedGpus=GPU-{UUID}", [UUID]), (f"UUID={UUID.upper()}", ["3C1D"]),
    (f"hwaddr={MAC},ip=dhcp", [MAC]), (f'ATTR{{address}}=="{MAC}"', [MAC]), (MAC.replace(":", "-"), ["b8-3f"]),
    ("enxb83fd2aabbcc: mtu", ["b83fd2aabbcc"]), ("node b83f:d203:00aa:bbcc", ["b83f"]),
    ("00:00:10:29:fe:80:00:00:00:00:00:00:b8:3f:d2:03:00:aa:bb:cc", ["b8:3f"]),
    ("rd.md.uuid=1a2b3c4d:5e6f7a8b:9c0d1e2f:3a4b5c6d", ["1a2b3c4d"]),
    ("lvm-pv-uuid-a1B2c3-d4E5-f6G7-h8I9-j0K1-l2M3-n4O5p6", ["a1B2c3"]),
    ("dm-uuid-LVM-" + "aB3" * 20 + "cDeF", ["aB3aB3"]),
    ("loader/entries/0123456789abcdef0123456789abcdef-6.8.conf", ["0123456789abcdef"]),
    ("UUID=1A2B-3C4D /boot/efi", ["1A2B"]), ("/dev/disk/by-uuid/1A2B-3C4D", ["1A2B"]),
    ("PARTUUID=1a2b3c4d-01", ["1a2b3c4d"]), ("wwn-0x5000c500a1b2c3d4 naa.5000c500a1b2c3d4", ["5000c500a1b2c3d4"]),
    ("/dev/disk/by-id/ata-Some_Disk_SN12345678-part2", ["SN12345678"]),
    ("scsi-35000c500a1b2c3d4", ["5000c5"]), ("/dev/disk/by-id/ata-QEMU_DISK_SN1", ["SN1"]),
    ("/dev/disk/by-id/nvme-Some_Disk_S5GXNX0T104242_1 x", ["S5GXNX0T104242"]), ("serial S5GXNX0T104242.", ["S5GXN"]),
    ("ip=192.0.2.17::192.0.2.1:255.255.255.0:falcon:eno1:off", ["192.0.2", "falcon"]),
    ("https://192.0.2.17:8006/x 192.0.2.17/24 192.0.2.1-192.0.2.9", ["192.0.2"]), ("//192.0.2.17/share", ["192.0.2"]),
    ("addr 2a01:4f8:1::17/64 fe80::1%eno1 [fd00:1::2]:80", ["2a01", "fe80", "fd00"]),
    ("/home/alice/clients/acme/tune.sh -v", ["alice", "clients", "acme", "tune"]), ("/var/home/alice", ["alice"]),
    ("exec=/home/alice", ["alice"]), ("bob.smith@corp.example", ["bob", "corp"]), ("sudo -u bob /x", ["bob"]),
    ("User=bob", ["bob"]), ('OWNER="bob"', ["bob"]), ("http://mirror.corp.example/x", ["mirror", "corp"]),
    ("http://<redacted>@mirror/x", ["mirror"]), ("node=falcon,x", ["falcon"]),
    ("falcon.corp.example:1", ["falcon", "corp"]),
    ("dev-disk-by\\x2duuid-3c1d5e6f\\x2d1a2b\\x2d4c3d\\x2d8e4f\\x2d5a6b7c8d9e0f.swap", ["3c1d5e6f", "5a6b7c8d9e0f"]),
    ("After=dev-disk-by\\x2did-ata\\x2dSome_Disk_SN12345678.device home-alice.mount", ["SN12345678", "alice"]),
    ("/dev/disk/by-id/nvme-eui.0025385b01234567-part1", ["0025385b01234567"]),
    ("/dev/disk/by-id/nvme-nvme.144d-533647584e583054-53616d73756e67-00000001", ["533647584e583054"]),
    (f"/dev/disk/by-id/nvme-uuid.{UUID}", [UUID]), ("/dev/disk/by-id/md-name-falcon:0", ["falcon"]),
    ("/dev/disk/by-id/virtio-SERX4711", ["SERX4711"]), ("PARTUUID='1a2b3c4d-02'", ["1a2b3c4d"]),
    ("root=/dev/mapper/gpu--box7--vg-root GPU-BOX7", ["box7"]), ("g7.lab.acme.org G7.Lab.Acme.org", ["g7", "lab"]),
    ('origin "apt.lab.acme.org" search lab.acme.org acme.org /x/lab.acme.org.conf', ["apt", "lab", "acme"]),
    ("ip-192.0.2.17:3260-iscsi-x", ["192.0.2.17"]), ("MACAddress=b83f.d2aa.bbcc", ["d2aa"]),
    ("MACAddress=b83fd2aabbcc", ["d2aa"]),
    ("hostname: nvidia", ["nvidia"]), ("lxc.uts.name = nvidia", ["nvidia"]), ("/var/lib/lxc/nvidia/config", ["nvidia"]),
])
def test_what_goes(text: str, gone: list[str]) -> None:
    made = TEXT(text)
    for name in gone:
        assert name not in made and name.lower() not in made.lower()
    assert TEXT(text) == made and TEXT.finds(text)


@pytest.mark.parametrize("text", [
    "0000:c1:00.0", "00000000:C1:00.0", "pci0000:40/0000:40:03.1/0000:42:00.0", "10de:2bb5", "c 195:* rwm", "0::/",
    "6.8.12-9-pve", "570.86.15", "98.02.5d.00.01", "95.02.18.80.01", "version 1.2.3.4", "(>= 1.2.3.4)", "(<< 1.2.3.4)",
    "/usr/src/foo-1.2.3.4/x", "/var/lib/dkms/foo/1.2.3.4/source", "foo_1.2.3.4-1_amd64", "2.3.4-falcon", "127.0.0.1",
    "falcons", "nvidia", "/dev/nvidia0", "getty@tty1.service", "user@1000.service", "https://www.kernel.org/doc",
    "http://localhost:8080", "nvidia.com/gpu=all", "/home", "GPU-????????-????", "13:08:55", "2026-11-30T01:44:34Z",
    "dev-disk-by\\x2dlabel-x\\x20y.swap", "falcon7 GPU0 FALCONS", "/dev/disk/by-id/md-name-data", "x.acme.orgs",
    "00F8C4D2E1B3A5968778695", "User=root", "999.1.1.1", "1:2:3:4", "dead::beef:x",
    *(f"SecureBoot-{guid}" for guid in sorted(WELL_KNOWN)),
])
def test_what_stays(text: str) -> None:
    assert TEXT(text) == text


def test_a_bare_dotted_quad_is_a_version_where_no_address_can_stand() -> None:
    assert TEXT("1.2.3.4\n", addresses=False) == "1.2.3.4\n" != TEXT("1.2.3.4\n")
    assert TEXT("name/1.2.3.4, 6.8: installed", addresses=None) == "name/1.2.3.4, 6.8: installed"
    assert TEXT("to 192.0.2.17", addresses=False) != "to 192.0.2.17"


def test_a_suffix_of_a_file_is_no_domain() -> None:
    host = NAMES.host("falcon")
    assert TEXT("falcon.conf falcon.service falcon.lan") == f"{host}.conf {host}.service {NAMES.fqdn('falcon.lan')}"


def test_a_known_name_in_a_program() -> None:
    code = bytes(1 << 17)
    assert TEXT.knows_in(code + b"\0falcon Secure Boot\0") and TEXT.knows_in(b"xx S5GXNX0T104242" + bytes(100))
    assert TEXT.knows_in(b"/home/alice/src" + code) and not TEXT.knows_in(b"falcon" + code + b"192.0.2.1")
    assert not Text(NAMES, Known()).knows_in(b"falcon /home/alice")


@pytest.mark.parametrize("name", SECTIONS)
def test_no_path_or_command_that_a_section_reads_is_taken_for_a_name(name: str) -> None:
    reads = collector(name).reads
    for text in (*reads.paths, *(word for argv in reads.commands for word in argv)):
        assert TEXT(text) == text


@given(st.text() | st.text("0123456789abcdef:-./@ \"=homeUIDfalcn_\n"))
def test_any_text(text: str) -> None:
    made = TEXT(text)
    assert made == TEXT(text) and made.count("\n") == text.count("\n")


@pytest.mark.parametrize("unit", [
    "a", "0", "0:", "00:", "ab-", "1.", "a.", "/home/", "a@", "falcon.", "by-id/ata-", "x ",
])
def test_a_long_text_takes_time_in_proportion(unit: str) -> None:
    spent = []
    for size in (20_000, 80_000):
        text = unit * (size // len(unit))
        began = time.process_time()
        TEXT(text)
        spent.append(time.process_time() - began)
    assert spent[1] < max(0.4, 10 * spent[0])
