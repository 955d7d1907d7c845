"""Device majors and nodes."""

from __future__ import annotations

import errno
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from snapshot.collectors import devices
from snapshot.collectors.devices import parse_devices
from snapshot.errors import ParseError
from snapshot.sections.devices import Devices, Node

from .fake import Content, MemoryHost, gather, node

LIST = """Character devices:
  1 mem
  4 /dev/vc/0
  4 tty
  4 ttyS
195 nvidia
195 nvidia-modeset
195 nvidiactl
231 infiniband_verbs
240 infiniband_verbs
253 dax
510 nvidia-uvm

Block devices:
  8 sd
 65 sd
253 device-mapper
259 blkext
"""
DENIED = PermissionError(errno.EACCES, "denied")


def found(host: MemoryHost) -> tuple[Devices, dict[str, str]]:
    """The section, and of its unread facts the reasons."""
    model, reading = gather(devices, host)
    assert isinstance(model, Devices)
    return model, {".".join(u.path): u.why for u in reading.unreads}


def test_a_name_has_all_its_majors_and_a_major_all_its_names() -> None:
    character, block = parse_devices(LIST)
    assert character["infiniband_verbs"] == [231, 240]
    assert [n for n in character if character[n] == [195]] == ["nvidia", "nvidia-modeset", "nvidiactl"]
    assert character["/dev/vc/0"] == [4]
    assert (character["dax"], block["device-mapper"]) == ([253], [253])
    assert block["sd"] == [8, 65]


def test_nvidia_is_not_nvidia_uvm() -> None:
    character, _ = parse_devices(LIST)
    assert (character["nvidia"], character["nvidia-uvm"]) == ([195], [510])


@pytest.mark.parametrize("text", [
    "", "195 nvidia\n510 nvidia-uvm\n", "Block devices:\n  8 sd\n", "\0\xff", LIST[:30] + "\n19",
    "Character devices:\n\nBlock devices:\n  8 sd\n", "Character devices:\n  1 mem\n...\n234 nvidia-caps\n",
    "Character devices:\n  1  mem\n", "Character devices:\n  1 mem\n0x1f sd\n",
    "Character devices:\n  1 mem\n-5 sd\n",
    "Character devices:\n" + "9" * 5000 + " mem\n",
])
def test_what_is_no_whole_list_is_refused(text: str) -> None:
    with pytest.raises(ParseError):
        parse_devices(text)


def test_the_error_quotes_a_little_of_the_text() -> None:
    with pytest.raises(ParseError, match="or in no section: '195 nvidia'"):
        parse_devices("195 nvidia\n")
    with pytest.raises(ParseError) as caught:
        parse_devices("x" * 100_000)
    assert len(str(caught.value)) < 200


@given(st.text(alphabet="Character devices:\n 19\0x", max_size=80))
def test_only_parse_errors_are_raised(text: str) -> None:
    try:
        parse_devices("Character devices:\n" + text)
    except ParseError:
        return


def test_nodes_are_looked_at_and_links_left_out() -> None:
    host = MemoryHost(
        {
            "/proc/devices": LIST, "/dev/nvidia-uvm": b"", "/dev/nvidia1/": b"", "/dev/dri/by-path/x": b"",
            "/dev/sda": b"",
        },
        links={"/dev/nvidia-link": "nvidia0", "/dev/dri/renderD129": "renderD128"},
        nodes={
            "/dev/nvidia0": node("char", 195, 0), "/dev/nvidia-caps/nvidia-cap1": node("char", 235, 1, 0o400),
            "/dev/dri/renderD128": node("char", 226, 128, 0o660, gid=104), "/dev/fuse": node("char", 10, 229),
            "/dev/net/tun": node("char", 10, 200), "/dev/null": node("char", 1, 3), "/dev/kfd": node("fifo"),
            "/dev/vfio/17": node("block", 8, 1, 0o1600, uid=7),
        },
    )
    model, unread = found(host)
    assert not unread
    assert model.nodes == {
        "/dev/dri/renderD128": Node(type="c", major=226, minor=128, mode="0660", uid=0, gid=104),
        "/dev/fuse": Node(type="c", major=10, minor=229, mode="0666", uid=0, gid=0),
        "/dev/kfd": Node(type="other", mode="0666", uid=0, gid=0),
        "/dev/net/tun": Node(type="c", major=10, minor=200, mode="0666", uid=0, gid=0),
        "/dev/nvidia-caps/nvidia-cap1": Node(type="c", major=235, minor=1, mode="0400", uid=0, gid=0),
        "/dev/nvidia-uvm": Node(type="file", mode="0644", uid=0, gid=0),
        "/dev/nvidia0": Node(type="c", major=195, minor=0, mode="0666", uid=0, gid=0),
        "/dev/nvidia1": Node(type="directory", mode="0755", uid=0, gid=0),
        "/dev/vfio/17": Node(type="b", major=8, minor=1, mode="1600", uid=7, gid=0),
    }


def test_no_node_is_opened() -> None:
    class Sealed(MemoryHost):
        def read(self, path: str, limit: int = 64 << 20) -> bytes:
            assert path == "/proc/devices"
            return super().read(path, limit)

    model, _ = found(Sealed({"/proc/devices": LIST, "/dev/nvidia0": b"content"}))
    assert list(model.nodes or {}) == ["/dev/nvidia0"]


def test_a_node_that_cannot_be_told_is_unknown() -> None:
    broken = OSError(errno.EIO, "broken")
    host = MemoryHost({"/proc/devices": LIST}, nodes={"/dev/nvidia0": broken, "/dev/fuse": node("char")})
    model, unread = found(host)
    assert list(model.nodes or {}) == ["/dev/fuse"]
    assert unread == {"nodes./dev/nvidia0": "EIO"}


def test_a_closed_folder_makes_missing_nodes_unknown() -> None:
    _, unread = found(MemoryHost({"/proc/devices": LIST, "/dev/nvidia-caps/": DENIED}))
    assert unread == {"nodes": "EACCES"}


@pytest.mark.parametrize(("files", "why"), [
    ({}, "not there"), ({"/proc/devices": DENIED}, "EACCES"), ({"/proc/devices": b""}, "no character device"),
    ({"/proc/devices": b"\xff\n"}, "not a line"),
])
def test_without_a_list_majors_are_unknown_and_nodes_recorded(files: dict[str, Content], why: str) -> None:
    model, unread = found(MemoryHost(files, nodes={"/dev/fuse": node("char", 10, 229)}))
    assert (model.character, model.block, list(model.nodes or {})) == ({}, {}, ["/dev/fuse"])
    assert set(unread) == {"character", "block"}
    assert all(reason.startswith(why) for reason in unread.values())


WHOLE = {
    "gpfs-node-nvidia-frontend-uvm510.txt": {
        "nvidia-frontend": [195], "nvidia-uvm": [510], "nvidia-caps": [235], "nvidia-nvswitch": [511],
        "infiniband_mad": [231, 239],
    },
    "gpfs-node-no-gdrdrv-uvm509.txt": {"nvidia-uvm": [509], "nvidia-nvswitch": [510]},
    "jc-ubuntu-vm.txt": {"vfio": [243], "drm": [226], "tpm": [253], "/dev/tty": [5]},
    "minimal-uvm506-caps236.txt": {"nvidia-uvm": [506], "nvidia-caps": [236], "nvidia-modeset": [195]},
}


def test_lists_of_the_corpus(corpus: Path) -> None:
    files = {path.name: path for path in corpus.glob("proc-devices/*")}
    for name, facts in WHOLE.items():
        character, block = parse_devices(files[name].read_text())
        assert {driver: character[driver] for driver in facts} == facts
        assert block["blkext"] == [259]
    for name in set(files) - set(WHOLE):  # excerpts
        with pytest.raises(ParseError):
            parse_devices(files[name].read_text())
