"""snap show, log, collectors, schema, completion and the help."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import pytest

from snapshot.cli import VERBS

from .command import Snap
from .test_take import SMALL


@pytest.fixture
def taken(snap: Snap, tmp_path: Path) -> str:
    """The path of a snapshot of the small host."""
    path = tmp_path / "small.snap.toml"
    assert snap("take", "pre", "-o", str(path), "--root", SMALL).code == 0
    return str(path)


def test_the_page(snap: Snap, taken: str, golden: object) -> None:
    assert snap("show", taken).golden() == golden


def test_a_path_with_dots_in_its_keys(snap: Snap, taken: str) -> None:
    assert snap("show", taken, "sysctl.values.vm.swappiness").out == "sysctl.values.vm.swappiness = 60\n"
    found = snap("show", taken, "pci.functions.0000:01:00.0.express.max_read_request_bytes")
    assert found.out.endswith(" = 512\n")


def test_a_part_in_each_format(snap: Snap, taken: str) -> None:
    path = "devices.character.nvidia-uvm"
    expected = {"devices": {"character": {"nvidia-uvm": [510]}}}
    assert snap("show", taken, path).out == f"{path} = [510]\n"
    assert json.loads(snap("show", taken, path, "-f", "json").out) == expected
    assert tomllib.loads(snap("show", taken, path, "-f", "toml").out) == expected


@pytest.mark.parametrize("name", ["pci.toml", "kernel.snap.toml"])
def test_a_word_that_ends_in_toml_is_a_file(
    snap: Snap, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.chdir(tmp_path)
    assert snap("take", "-o", name, "--root", SMALL).code == 0
    assert snap("show", name, "meta.host").out == "meta.host = small\n"


def test_control_characters_are_shown_and_never_obeyed(snap: Snap, taken: str) -> None:
    text = Path(taken).read_text()
    text = text.replace('host = "small"', 'host = "sm\\u001b[31m\\rall"')
    text = text.replace('containers.100', 'containers."1\\n00\\u0007"')
    Path(taken).write_text(text.replace('hostname = "media"', 'hostname = "\\u001b]0;x\\u0007"'))
    for argv in (("show", taken), ("show", taken, "lxc"), ("show", taken, "meta")):
        ended = snap(*argv)
        assert ended.code == 0, ended.err
        assert all(line.isprintable() for line in ended.out.splitlines())
    assert "sm\\x1b[31m\\rall" in snap("show", taken).out


@pytest.mark.parametrize("lost", [40, 300, 5000])
def test_a_file_that_is_cut_short_is_one_line(snap: Snap, taken: str, lost: int) -> None:
    Path(taken).write_bytes(Path(taken).read_bytes()[:-lost])
    ended = snap("show", taken)
    assert (ended.code, ended.out, ended.err.count("\n")) == (2, "", 1)


def test_the_whole_as_json_holds_every_part(snap: Snap, taken: str) -> None:
    found = json.loads(snap("show", taken, "-f", "json").out)
    assert found == tomllib.loads(Path(taken).read_text())
    assert found.keys() > {"meta", "outcomes", "files", "os", "lxc"}


def test_a_path_that_is_not_there_says_so(snap: Snap, taken: str) -> None:
    ended = snap("show", taken, "sysctl.values.no.such")
    assert (ended.code, ended.out) == (2, "")
    assert ended.err == "snap: sysctl.values.no.such: not in the snapshot\n"


def test_a_path_that_could_not_be_read_says_why(snap: Snap, tmp_path: Path) -> None:
    path = str(tmp_path / "x.toml")
    snap("take", "-o", path, "--root", SMALL, "--only", "os")
    ended = snap("show", path, "pci.functions")
    assert ended.code == 2
    assert "skipped" in ended.err


def test_the_store_by_label_position_and_id(snap: Snap, store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("snapshot.cli.arguments.this_host", lambda: "small")
    snap("take", "one", "--root", SMALL)
    snap("take", "two", "--root", SMALL)
    assert snap("show", "two", "meta.label").out == 'meta.label = two\n'
    assert snap("show", "@2", "meta.label").out == 'meta.label = one\n'
    assert snap("show", "meta.label").out == 'meta.label = two\n'
    assert snap("show", "small/one", "meta.label").out == 'meta.label = one\n'
    ended = snap("show", "2026", "meta.label")
    assert ended.code == 2
    assert "fits 2 snapshots" in ended.err


def test_the_list_of_the_store(snap: Snap, store: Path) -> None:
    assert snap("log", "--all").out == f"no snapshots in {store}\n"
    assert snap("log", "--host", "nohost").out == f"no snapshots of nohost in {store}\n"
    assert snap("log", "--host", "nohost", "--all").code == 2
    snap("take", "one", "--root", SMALL)
    lines = snap("log", "--all").out.splitlines()
    assert lines[0].split() == ["ID", "TAKEN", "(UTC)", "LABEL", "HOST"]
    assert lines[1].split()[0] == "@1"
    assert lines[1].endswith("one    small")
    (entry,) = json.loads(snap("log", "--host", "small", "-f", "json").out)["snapshots"]
    assert entry["label"] == "one"


def test_an_empty_store_is_said_plainly(snap: Snap) -> None:
    ended = snap("show")
    assert (ended.code, ended.err.count("\n")) == (2, 1)


def test_every_section_says_what_it_reads(snap: Snap, golden: object) -> None:
    assert snap("collectors").golden() == golden


def test_the_schema_is_json(snap: Snap) -> None:
    assert json.loads(snap("schema").out)["$schema"].startswith("https://json-schema.org/")


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_is_for_the_name_called(snap: Snap, shell: str) -> None:
    assert "_SNAP_COMPLETE" in snap("completion", shell).out


@pytest.mark.parametrize("argv", [(), *((verb,) for verb in VERBS)], ids=lambda a: " ".join(a) or "snap")
def test_help(snap: Snap, argv: tuple[str, ...], golden: object) -> None:
    assert snap(*argv, "--help").golden() == golden


def test_the_version(snap: Snap) -> None:
    assert snap("--version").out.startswith("hostsnap ")
