"""snap redact, and snap take --redact with and without --record."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from snapshot.document import Snapshot

from ..recordings import FIXTURES
from .command import Snap

ROOT = str(FIXTURES / "hosts" / "pve-epyc-before.tar.xz")


def test_a_file_redacted_and_a_redacted_take_are_the_same(snap: Snap, tmp_path: Path) -> None:
    plain, one, two = (str(tmp_path / f"{name}.toml") for name in ("plain", "one", "two"))
    snap("take", "--root", ROOT, "-o", plain)
    assert snap("redact", plain, "-o", one).code == 0
    snap("take", "--root", ROOT, "--redact", "-o", two)
    assert Path(one).read_text() == Path(two).read_text() == snap("redact", plain).out
    found = Snapshot.load(one)
    assert found.meta.redacted is True and found.meta.host != Snapshot.load(plain).meta.host


def test_the_recording_is_redacted_too(snap: Snap, tmp_path: Path) -> None:
    record, file, again = str(tmp_path / "rec.tar"), str(tmp_path / "a.toml"), str(tmp_path / "b.toml")
    assert snap("take", "--root", ROOT, "--redact", "--record", record, "-o", file).code == 0
    assert re.findall(rb"(?<![0-9]-)pve1", Path(record).read_bytes()) == []  # 2.3.4-pve1 is a version
    snap("take", "--root", record, "-o", again)
    one, other = Snapshot.load(file), Snapshot.load(again)
    assert (one.meta.redacted, one.meta.host, one.meta.machine) == (True, other.meta.host, other.meta.machine)
    assert one.table("pci") == other.table("pci") and one.table("lxc") == other.table("lxc")
    ended = snap("take", "--root", record, "--redact", "-o", again)
    assert ended.code == 2 and "redacted already" in ended.err


def test_it_goes_into_the_store_under_its_pseudonym(snap: Snap, store: Path) -> None:
    ended = snap("take", "pre", "--root", ROOT, "--redact")
    assert ended.code == 0 and "pve1" not in ended.out
    ((folder,),) = ([p for p in store.iterdir() if p.is_dir()],)
    assert folder.name.startswith("host-")
    assert snap("show", f"{folder.name}/pre").code == 0


def test_what_cannot_be_done(snap: Snap, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = str(tmp_path / "a.toml")
    assert snap("redact", file).code == 2
    snap("take", "--root", ROOT, "--redact", "-o", file)
    assert "redacted already" in snap("redact", file).err
    assert snap("redact", file, "-o", "").code == 2
    monkeypatch.setenv("SNAP_REDACT_KEY", "short")
    ended = snap("take", "--root", ROOT, "--redact", "--record", str(tmp_path / "rec"), "-o", file)
    assert ended.code == 2 and "16 characters" in ended.err and not (tmp_path / "rec").exists()
