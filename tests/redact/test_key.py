"""The key: made once, whole, for its owner only; a weak or open one is refused."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from snapshot.errors import SnapError
from snapshot.redact import key


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("SNAP_STORE", str(tmp_path / "store"))
    monkeypatch.delenv(key.VARIABLE, raising=False)
    return tmp_path / "store"


def test_it_is_made_at_first_use_and_stays(store: Path) -> None:
    first = key.load()
    file = store / "redact.key"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600 and stat.S_IMODE(store.stat().st_mode) == 0o700
    assert len(first) == 64 and key.load() == first and [p.name for p in store.iterdir()] == ["redact.key"]


def test_the_first_of_two_counts(store: Path) -> None:
    first = key.load()
    key._make(str(store / "redact.key"))
    assert key.load() == first


def test_the_environment_goes_first(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(key.VARIABLE, "sixteen signs or more")
    assert key.load() == b"sixteen signs or more" and not store.exists()


@pytest.mark.parametrize("text", ["", "short"])
def test_a_short_key_is_refused(text: str, store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(key.VARIABLE, text)
    with pytest.raises(SnapError, match="SNAP_REDACT_KEY: a key needs at least 16"):
        key.load()


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o620])
def test_a_key_that_others_can_read_is_refused(mode: int, store: Path) -> None:
    key.load()
    (store / "redact.key").chmod(mode)
    with pytest.raises(SnapError, match=f"mode {mode:04o}"):
        key.load()


def test_a_store_that_cannot_be_used(store: Path) -> None:
    store.write_text("")
    with pytest.raises(SnapError, match=r"redact\.key: "):
        key.load()
