"""A recording appears whole or not at all."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from snapshot.errors import SnapError
from snapshot.host import destination
from snapshot.host.base import Stat
from snapshot.host.recorded import open_host
from snapshot.host.recorder import Recorder
from snapshot.host.tree import Memory

from .test_recorder import Moody, keep

FILE = Stat("file", 0, 0, 0o644, 0, 0, 0, 0)


class Full(Memory):
    """Files of which the last cannot be written."""

    def data(self, path: str, limit: int) -> bytes:
        if path == "/sys/x":
            raise OSError(errno.ENOSPC, "No space left on device")
        return super().data(path, limit)


@pytest.mark.parametrize("name", ["r", "r.tar", "r.tar.gz", "empty"])
def test_a_full_disk_leaves_nothing(tmp_path: Path, name: str) -> None:
    (tmp_path / "empty").mkdir()
    memory = Full()
    for path in ("/etc/x", "/sys/x"):
        memory.put(path, FILE, b"1")
    with pytest.raises(OSError, match="No space left"):
        destination.write(memory, f"{tmp_path}/{name}")
    assert [p.name for p in tmp_path.iterdir()] == ["empty"]
    assert list((tmp_path / "empty").iterdir()) == []


@pytest.mark.parametrize("name", ["x.zip", "x.7z", "x.rar", "x.tar.bz2", "x.tbz2", "X.ZIP", "x.TAR", "x.gz"])
def test_an_archive_that_is_not_written_is_refused_at_once(tmp_path: Path, name: str) -> None:
    with pytest.raises(SnapError, match=r"a recording is a folder, or a file that ends in \.tar,") as raised:
        Recorder(Moody({}), f"{tmp_path}/{name}")
    assert name in str(raised.value)
    assert list(tmp_path.iterdir()) == []


def test_places_that_cannot_be_replaced_are_refused_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in (".", str(tmp_path)):
        with pytest.raises(SnapError, match="busy"):
            Recorder(Moody({}), name)
    (tmp_path / "disk").mkdir()
    monkeypatch.setattr(os.path, "ismount", lambda path: path.endswith("/disk"))
    with pytest.raises(SnapError, match=r"disk: .*busy"):
        Recorder(Moody({}), "disk")


def test_a_link_to_an_empty_folder_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    (tmp_path / "link").symlink_to("there")
    keep(Recorder(Moody({}), f"{tmp_path}/link"))
    assert (tmp_path / "link").is_symlink()
    assert open_host(f"{tmp_path}/there").session.hostname == "moody"


def test_missing_folders_on_the_way_are_made(tmp_path: Path) -> None:
    keep(Recorder(Moody({}), f"{tmp_path}/a/b/r/"))
    assert [p.name for p in (tmp_path / "a" / "b").iterdir()] == ["r"]


def test_a_folder_that_cannot_be_written_fails_before_the_take(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(os, "access", lambda *_: False)
    for name in ("r", "r.tar"):
        with pytest.raises(SnapError, match="Permission denied"):
            Recorder(Moody({}), f"{tmp_path}/{name}")
