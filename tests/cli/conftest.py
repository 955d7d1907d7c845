"""The command and an empty store."""

from __future__ import annotations

from pathlib import Path

import pytest

from .command import Snap


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty store."""
    monkeypatch.setenv("SNAP_STORE", str(tmp_path / "store"))
    return tmp_path / "store"


@pytest.fixture
def snap(store: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Snap:
    """The command, with the empty store."""
    return Snap(capsys, monkeypatch)
