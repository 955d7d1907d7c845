"""The running machine: what is read, what is never opened, and which errors come through."""

from __future__ import annotations

import errno
import os
import re
import socket
import time
from pathlib import Path

import pytest

from snapshot.host.live import MAY_BLOCK, Live

from .questions import answer, walked


@pytest.fixture
def host() -> Live:
    return Live(may_block=())


def test_the_session_is_this_process(host: Live) -> None:
    assert abs(host.session.taken_ns - time.time_ns()) < 60 * 10**9
    assert host.session.uid == os.geteuid()
    assert host.session.hostname == os.uname().nodename
    assert re.fullmatch("[0-9a-f]{16}", host.session.capabilities)


def test_a_large_file_comes_whole(host: Live, tmp_path: Path) -> None:
    data = os.urandom(3 << 20)
    (tmp_path / "large").write_bytes(data)
    assert host.read(f"{tmp_path}/large") == data
    assert host.read(f"{tmp_path}/large", len(data)) == data
    assert answer(host.read, f"{tmp_path}/large", len(data) - 1) == errno.EFBIG
    assert walked(host, str(tmp_path)) == {f"{tmp_path}/large": data}


def test_only_regular_files_are_opened(host: Live, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")  # opening it would block, or be seen by its other end
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(f"{tmp_path}/socket")
        for path in ("/dev/null", f"{tmp_path}/fifo", f"{tmp_path}/socket"):
            assert answer(host.read, path) == errno.ENXIO
        assert walked(host, str(tmp_path)) == {}
    for folder in (str(tmp_path), "/proc/sys/kernel", "/sys/devices"):
        assert answer(host.read, folder) == errno.EISDIR


def test_error_numbers_come_through(host: Live, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    (tmp_path / "loop").symlink_to("loop")
    for call in (host.read, host.list, host.stat, host.readlink):
        assert answer(call, f"{tmp_path}/nothing") == errno.ENOENT
        assert answer(call, f"{tmp_path}/file/x") == errno.ENOTDIR
        assert answer(call, f"{tmp_path}/../x") == errno.EINVAL
        assert answer(call, "/a\0b") == errno.ENOENT
    assert answer(host.read, f"{tmp_path}/loop") == errno.ELOOP
    assert answer(host.list, f"{tmp_path}/file") == errno.ENOTDIR
    assert answer(host.readlink, f"{tmp_path}/file") == errno.EINVAL


def test_a_sysctl_that_refuses_to_be_read_keeps_its_number(host: Live) -> None:
    """Some keys are write-only, and stable_secret is EIO until it is set."""
    numbers = {path: value for path, value in walked(host, "/proc/sys").items() if isinstance(value, int)}
    assert all(numbers.values())
    for path, number in numbers.items():
        assert answer(host.read, path) == number, path
    flush = "/proc/sys/net/ipv4/route/flush"
    if os.path.exists(flush) and os.geteuid():
        assert numbers[flush] == errno.EACCES


def test_stat_tells_device_numbers(host: Live) -> None:
    found = host.stat("/dev/null")
    assert (found.type, found.major, found.minor) == ("char", 1, 3)


def test_stat_follows_or_not(host: Live, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("four")
    (tmp_path / "link").symlink_to("file")
    os.chmod(tmp_path / "file", 0o4750)
    assert host.stat(f"{tmp_path}/link").size == 4
    assert host.stat(f"{tmp_path}/link").mode == 0o4750
    assert host.stat(f"{tmp_path}/link", follow=False).type == "link"
    assert host.readlink(f"{tmp_path}/link") == "file"


def test_glob(host: Live, tmp_path: Path) -> None:
    for name in ("a1/x", "a2/x", "a2/y", ".a3/x", "b/x"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    (tmp_path / "a4").touch()
    (tmp_path / "a5").symlink_to("nowhere")
    top = str(tmp_path)
    assert host.glob(f"{top}/a*/x") == [f"{top}/a1/x", f"{top}/a2/x"]
    assert host.glob(f"{top}/a?") == [f"{top}/a{n}" for n in (1, 2, 4, 5)]
    assert host.glob(f"{top}/.a*/*") == [f"{top}/.a3/x"]
    assert host.glob(f"{top}/a2/y") == [f"{top}/a2/y"]
    assert host.glob(f"{top}/a5") == [f"{top}/a5"]
    assert host.glob(f"{top}/nothing/*") == []


def test_a_walk_skips_prunes_and_follows_no_link(host: Live, tmp_path: Path) -> None:
    for name in ("a", "keep/b", "keep/skipped", "pruned/c"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(name)
    (tmp_path / "link").symlink_to("keep")
    (tmp_path / "filelink").symlink_to("a")
    top = str(tmp_path)
    found = walked(host, top, frozenset({f"{top}/keep/skipped"}), f"{top}/pruned")
    assert found == {f"{top}/a": b"a", f"{top}/keep/b": b"keep/b"}
    assert walked(host, f"{top}/nothing") == {f"{top}/nothing": errno.ENOENT}
    assert walked(host, f"{top}/a") == {f"{top}/a": errno.ENOTDIR}
    assert walked(host, f"{top}/link/") == {
        f"{top}/link/b": b"keep/b", f"{top}/link/skipped": b"keep/skipped",
    }  # fmt: skip


def test_names_that_are_not_text(host: Live, tmp_path: Path) -> None:
    name = os.fsencode(tmp_path) + b"/\xff\n\x01"
    Path(os.fsdecode(name)).write_text("odd")
    path = f"{tmp_path}/\udcff\n\x01"
    assert host.list(str(tmp_path)) == ["\udcff\n\x01"]
    assert host.read(path) == b"odd"
    assert walked(host, str(tmp_path)) == {path: b"odd"}


def test_the_walk_by_the_child_gives_the_same(tmp_path: Path) -> None:
    for name in ("a", "d/b", "d/e/c", "d/skipped", "pruned/f"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(name)
    (tmp_path / "link").symlink_to("d")
    os.mkfifo(tmp_path / "fifo")
    top = str(tmp_path)
    careful = Live(may_block=(f"{top}/d/**",))
    plain = walked(Live(may_block=()), top, frozenset({f"{top}/d/skipped"}), f"{top}/pruned")
    assert walked(careful, top, frozenset({f"{top}/d/skipped"}), f"{top}/pruned") == plain
    assert len(plain) == 3
    careful.close()


@pytest.mark.parametrize(
    ("path", "pattern"),
    [
        ("/etc/pve", "/etc/pve/**"),
        ("/etc/pve/lxc/101.conf", "/etc/pve/**"),
        ("/etc/pvex", ""),
        ("/sys/bus/pci/devices/0000:01:00.0/config", "/sys/bus/pci/devices/*/config"),
        ("/sys/bus/pci/devices/0000:01:00.0/x/config", ""),
        ("/sys/bus/pci/devices/0000:01:00.0/vendor", ""),
        ("/proc/driver/nvidia/gpus/0000:01:00.0/information", "/proc/driver/nvidia/**"),
    ],
)
def test_what_may_block(path: str, pattern: str) -> None:
    host = Live()
    assert host._named(path) == pattern
    assert pattern in (*MAY_BLOCK, "")


def test_as_another_user_denied_is_eacces(tmp_path: Path) -> None:
    if os.geteuid():
        pytest.skip("needs root, to become somebody else")
    secret = tmp_path / "folder" / "secret"
    secret.parent.mkdir()
    secret.write_text("x")
    os.chmod(secret, 0o600)
    for folder in (tmp_path, *tmp_path.parents[:-2]):
        os.chmod(folder, 0o755)
    pid = os.fork()
    if not pid:
        try:
            os.setgroups([])
            os.setgid(65534)
            os.setuid(65534)
            host = Live(may_block=())
            denied = answer(host.read, str(secret)) == errno.EACCES
            seen = walked(host, str(tmp_path)) == {str(secret): errno.EACCES}
            os._exit(0 if denied and seen and host.session.uid == 65534 else 1)
        finally:
            os._exit(2)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0


def test_the_heads_of_files_are_read_no_further() -> None:
    host = Live(may_block=("/sys/kernel/notes",))
    try:
        paths = ["/sys/kernel/notes", "/sys/kernel/fscaps", "/proc/version"]  # by the child, and here
        for size in (2, 1 << 16):
            assert host.heads(paths, size) == {path: host.read(path)[:size] for path in paths}
        found = host.heads(["/sys/nothing", "/dev/null", "relative", "/sys//kernel/fscaps", "/sys/kernel//notes"], 2)
        numbers = [one.errno for one in found.values() if isinstance(one, OSError)]
        assert numbers == [errno.ENOENT, errno.ENXIO, errno.ENOENT]
        assert [*found.values()][3:] == [*host.heads(paths[1::-1], 2).values()]
    finally:
        host.close()


def test_what_is_seen_to_be_too_large_is_not_opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "program").write_bytes(bytes(11))
    host = Live(may_block=())
    assert host.read(f"{tmp_path}/program", 11) == bytes(11)
    monkeypatch.setattr(os, "open", lambda *_: pytest.fail("opened"))
    assert answer(host.read, f"{tmp_path}/program", 10) == errno.EFBIG
