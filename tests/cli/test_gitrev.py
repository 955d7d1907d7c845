"""A side that git has: REV:PATH."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from ..pairs import story
from .command import Snap

GIT = shutil.which("git")
pytestmark = pytest.mark.skipif(GIT is None, reason="there is no git")


def git(folder: Path, *argv: str) -> None:
    who = ["-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "commit.gpgsign=false"]
    subprocess.run([str(GIT), *who, *argv], cwd=folder, check=True, capture_output=True, timeout=60)


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository in which hosts/pve1.toml is the story before, and after in the work tree; the current directory."""
    folder = tmp_path / "repository"
    (folder / "hosts").mkdir(parents=True)
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", "/dev/null")
    monkeypatch.setenv("GIT_CONFIG_SYSTEM", "/dev/null")
    for name in ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE"):
        monkeypatch.delenv(name, raising=False)
    before, after = story()
    git(folder, "init", "-q")
    before.save(str(folder / "hosts/pve1.toml"))
    git(folder, "add", ".")
    git(folder, "commit", "-q", "-m", "before")
    after.save(str(folder / "hosts/pve1.toml"))
    monkeypatch.chdir(folder)
    return folder


def test_a_revision_is_compared_with_a_file(snap: Snap, repository: Path) -> None:
    ended = snap("diff", "HEAD:hosts/pve1.toml", "hosts/pve1.toml")
    assert ended.code == 1
    assert ended.out.startswith("pve1  HEAD:hosts/pve1.toml (6.8.12-9-pve, ")
    assert "REGRESSED" in ended.out


def test_both_sides_can_be_revisions_and_the_index_is_one(snap: Snap, repository: Path) -> None:
    git(repository, "add", ".")
    assert snap("diff", "HEAD:hosts/pve1.toml", ":hosts/pve1.toml").code == 1
    assert snap("diff", "HEAD:hosts/pve1.toml", "HEAD~0:hosts/pve1.toml").code != 1


def test_a_path_is_counted_from_the_top_or_with_a_dot_from_here(
    snap: Snap, repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(repository / "hosts")
    for reference in ("HEAD:hosts/pve1.toml", "HEAD:./pve1.toml"):
        assert snap("show", reference, "meta.kernel").out == "meta.kernel = 6.8.12-9-pve\n"


def test_a_file_of_that_very_name_goes_before(snap: Snap, repository: Path) -> None:
    story()[1].save(str(repository / "HEAD:hosts" / "pve1.toml"))
    assert snap("show", "HEAD:hosts/pve1.toml", "meta.kernel").out == "meta.kernel = 6.14.11-1-pve\n"


@pytest.mark.parametrize(("reference", "said"), [
    ("HEAD:nosuch.toml", "path 'nosuch.toml' does not exist in 'HEAD'"), ("nosuch:hosts/pve1.toml", "nosuch"),
    ("HEAD:hosts", "bad file"), ("HEAD:", "bad file"), ("HEAD:hosts/pve1.toml\n; id", "git"),
    ("HEAD:$(touch x)", "does not exist"), ("./missing:pve1.toml", "no such file"),
])
def test_what_git_does_not_have_is_one_line(snap: Snap, repository: Path, reference: str, said: str) -> None:
    ended = snap("diff", reference, "hosts/pve1.toml")
    assert (ended.code, ended.out) == (2, "")
    assert said in ended.err and "Traceback" not in ended.err
    assert not (repository / "x").exists()


def test_a_revision_is_no_option_of_git(snap: Snap, repository: Path) -> None:
    ended = snap("diff", "--", "--filters:hosts/pve1.toml", "hosts/pve1.toml")
    assert (ended.code, ended.err.count("\n")) == (2, 1)
    assert "does not begin with -" in ended.err


def test_what_is_no_snapshot_is_told_by_its_name(snap: Snap, repository: Path) -> None:
    (repository / "readme.toml").write_text("a = 1\n")
    git(repository, "add", ".")
    ended = snap("diff", ":readme.toml", "hosts/pve1.toml")
    assert (ended.code, ended.err.count("\n")) == (2, 1)
    assert ended.err.startswith("snap: :readme.toml: not a snapshot")


def test_outside_a_repository_and_without_git(
    snap: Snap, repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    monkeypatch.chdir(tmp_path)
    ended = snap("show", "HEAD:hosts/pve1.toml")
    assert (ended.code, ended.err.count("\n")) == (2, 1)
    assert "not a git repository" in ended.err
    monkeypatch.setenv("PATH", "/nonexistent")
    ended = snap("show", "HEAD:hosts/pve1.toml")
    assert (ended.code, ended.err.count("\n")) == (2, 1)
    assert "git cannot be run" in ended.err
