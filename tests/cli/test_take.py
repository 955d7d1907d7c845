"""snap take, on recorded roots and on this machine."""

from __future__ import annotations

import os
import re
import tomllib
from pathlib import Path

import pytest

from snapshot.document import Snapshot
from snapshot.sections import NAMES

from .command import Snap

SMALL = str(Path(__file__).parents[2] / "fixtures/hosts/pve-small")


def test_a_take_goes_into_the_store_under_host_time_and_label(snap: Snap, store: Path) -> None:
    ended = snap("take", "first", "--root", SMALL)
    assert ended.code == 0
    (path,) = store.rglob("*.toml")
    assert re.fullmatch(r"small/\d{8}T\d{6}Z-first\.snap\.toml", str(path.relative_to(store)))
    assert path.stat().st_mode & 0o777 == 0o600
    assert str(path) in ended.out


def test_a_take_to_standard_output_is_the_file_and_nothing_else(snap: Snap, store: Path) -> None:
    ended = snap("take", "-o", "-", "--root", SMALL)
    assert ended.code == 0
    assert tomllib.loads(ended.out)["meta"]["host"] == "small"
    assert not store.exists()


def test_the_summary(snap: Snap, tmp_path: Path, golden: object) -> None:
    ended = snap("take", "pre", "-o", str(tmp_path / "x.toml"), "--root", SMALL)
    told = ended.golden().replace(str(tmp_path), "TMP")
    assert re.sub(r" +\d+\.\d s$", "  SECONDS s", told, flags=re.MULTILINE) == golden


def test_only_and_skip_leave_sections_out_as_skipped(snap: Snap, tmp_path: Path) -> None:
    path = tmp_path / "x.toml"
    assert snap("take", "-o", str(path), "--root", SMALL, "--only", "os,pci", "--skip", "pci").code == 0
    outcomes = Snapshot.load(str(path)).outcomes
    assert {n for n, o in outcomes.items() if o.state != "skipped"} == {"os"}
    assert outcomes.keys() == set(NAMES)


def test_an_unknown_section_is_a_usage_error_that_lists_them(snap: Snap) -> None:
    ended = snap("take", "--only", "pcie", "--root", SMALL)
    assert ended.code == 2
    assert f"no section 'pcie'; sections are {', '.join(NAMES)}" in ended.err


@pytest.mark.parametrize("argv", [("--only", ","), ("--only", "os", "--skip", "os"), ("--deadline", "nan"), ("-o", "")])
def test_words_that_mean_nothing_are_usage_errors(snap: Snap, store: Path, argv: tuple[str, ...]) -> None:
    assert snap("take", "--root", SMALL, *argv).code == 2
    assert not store.exists()


def test_a_root_that_no_take_recorded_has_no_time_and_no_user(snap: Snap, tmp_path: Path) -> None:
    (tmp_path / "root/etc").mkdir(parents=True)
    (tmp_path / "root/etc/hostname").write_text("copied\n")
    assert snap("take", "--root", str(tmp_path / "root")).code == 0
    found = Snapshot.load(str(next((tmp_path / "store").rglob("*.toml"))))
    assert (found.meta.taken, found.meta.uid, found.meta.system_state) == (None, None, None)


@pytest.mark.parametrize("label", ["a/b", "@1", "", "2026", "x.toml"])
def test_a_label_that_would_read_as_something_else_is_refused(snap: Snap, store: Path, label: str) -> None:
    ended = snap("take", label, "--root", SMALL)
    assert ended.code == 2
    assert ended.err.startswith("snap: ")
    assert not store.exists()


def test_a_root_that_is_none_is_one_line(snap: Snap, tmp_path: Path) -> None:
    ended = snap("take", "--root", str(tmp_path / "nothing"))
    assert (ended.code, ended.err.count("\n")) == (2, 1)


def test_an_output_that_cannot_be_written_is_one_line(snap: Snap) -> None:
    ended = snap("take", "--root", SMALL, "-o", "/proc/no/such")
    assert (ended.code, ended.err.count("\n")) == (2, 1)


@pytest.mark.parametrize("suffix", ["", ".tar", ".tar.gz", ".tar.xz", ".tar.zst"])
def test_a_recording_takes_the_same_again(snap: Snap, tmp_path: Path, suffix: str) -> None:
    first, second, kept = tmp_path / "1.toml", tmp_path / "2.toml", tmp_path / f"kept{suffix}"
    assert snap("take", "-o", str(first), "--root", SMALL, "--record", str(kept)).code == 0
    assert snap("take", "-o", str(second), "--root", str(kept)).code == 0
    expected = first.read_text()
    assert second.read_text().replace('source = "archive"', 'source = "directory"') == expected


def test_two_takes_of_this_machine_differ_in_time_only(snap: Snap, tmp_path: Path) -> None:
    texts = []
    for name in ("1.toml", "2.toml"):
        assert snap("take", "-o", str(tmp_path / name)).code == 0
        lines = (tmp_path / name).read_text().splitlines()
        texts.append([line for line in lines if not line.startswith(("taken = ", "uptime_s = "))])
    assert texts[0] == texts[1]


def machine() -> dict[str, object]:
    """What a take must not change: modules, nodes, mounts."""
    def read(path: str) -> str:
        with open(path) as file:
            return file.read()

    loaded = read("/proc/modules") if os.path.exists("/proc/modules") else ""  # no such file without loadable modules
    modules = sorted(line.split()[0] for line in loaded.splitlines())
    nodes = sorted((p, os.lstat(p).st_rdev, os.lstat(p).st_mode) for d, _, names in os.walk("/dev")
                   for n in names if not (p := os.path.join(d, n)).startswith(("/dev/pts/", "/dev/shm/", "/dev/fd")))
    return {"modules": modules, "nodes": nodes, "mounts": read("/proc/self/mounts"), "majors": read("/proc/devices")}


def test_a_take_changes_neither_modules_nor_nodes_nor_mounts(snap: Snap, tmp_path: Path) -> None:
    before = machine()
    assert snap("take", "-o", str(tmp_path / "x.toml")).code == 0
    assert machine() == before
