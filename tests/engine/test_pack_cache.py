"""Rules kept beside the bytecode: used while nothing changed, and never instead of what the files say."""

from __future__ import annotations

import os
import pickle
import sys
from pathlib import Path
from types import ModuleType

import pytest

from snapshot.engine import pack_cache, packs, rule
from snapshot.engine.rule import Rule
from snapshot.sections import base


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "packs.rules"
    monkeypatch.setattr(pack_cache, "_path", lambda: str(path))
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    return path


def rules() -> tuple[Rule, ...]:
    packs.shipped.cache_clear()
    try:
        return packs.shipped()
    finally:
        packs.shipped.cache_clear()


def test_what_is_kept_is_what_the_packs_say(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read = rules()
    assert place.exists()
    monkeypatch.setattr(packs, "_rules", lambda *_: pytest.fail("read again"))
    assert rules() == read


def test_a_changed_pack_is_read_again(place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pack = tmp_path / "x.toml"
    stamps = []
    for text, at in (("[[rule]]", 5), ("[[rule]]\n", 5), ("[[rule]]\n", 6)):
        pack.write_text(text)
        os.utime(pack, (at, at))
        stamps.append(pack_cache.stamp([str(pack)]))
    pack_cache.keep(stamps[0], ())
    assert [pack_cache.kept(stamp) for stamp in stamps] == [(), None, None]


@pytest.mark.parametrize("module", [rule, base])
def test_rules_of_another_model_are_read_again(
    place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, module: ModuleType
) -> None:
    """A key more is a file of another size, whatever its time is: an archive can give all files the same."""
    model = tmp_path / "model.py"
    monkeypatch.setattr(module, "__file__", str(model))
    for text, found in (("x: int", ()), ("x: int\ny: int", None)):
        model.write_text(text)
        os.utime(model, (5, 5))
        if found is not None:
            pack_cache.keep(pack_cache.stamp([]), ())
        assert pack_cache.kept(pack_cache.stamp([])) == found


@pytest.mark.parametrize("data", [b"", b"no pickle", pickle.dumps((1, 2, 3)), pickle.dumps(7), b"\x80\x05cx\ny\n."])
def test_what_is_damaged_is_not_used(place: Path, data: bytes) -> None:
    place.write_bytes(data)
    now = pack_cache.stamp([])
    assert pack_cache.kept(now) is None
    pack_cache.keep(now, ())
    assert pack_cache.kept(now) == ()


def test_nothing_is_kept_where_no_bytecode_is(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    pack_cache.keep(pack_cache.stamp([]), ())
    assert not place.exists()
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    monkeypatch.setattr(pack_cache, "_path", lambda: str(place / "no" / "folder"))
    pack_cache.keep(pack_cache.stamp([]), ())
    assert pack_cache.kept(pack_cache.stamp([])) is None


def test_it_lies_beside_the_bytecode() -> None:
    assert "__pycache__" in pack_cache._path()
