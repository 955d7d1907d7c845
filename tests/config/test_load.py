"""Which file is read, what is added to it, where its paths lead, and whether its commands may be run."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from snapshot import config
from snapshot.config import Config, load
from snapshot.config.tables import Tables
from snapshot.errors import FormatError


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty working directory, a stand-in for /etc/hostsnap, and no variable."""
    (tmp_path / "etc").mkdir()
    (tmp_path / "work").mkdir()
    monkeypatch.setattr(config, "PLACES", ("snap.toml", str(tmp_path / "etc" / "snap.toml")))
    monkeypatch.delenv("SNAP_CONFIG", raising=False)
    monkeypatch.chdir(tmp_path / "work")
    return tmp_path


def keep(path: Path, number: int) -> str:
    path.write_text(f"[store]\nkeep = {number}\n")
    return str(path)


def test_without_a_file_all_is_as_shipped() -> None:
    assert load() == Config()
    assert (load().file, load().trusted, load().waiver, load().rules.disable) == (None, True, [], [])
    assert load().origin("store", "keep") is None


def test_the_first_place_counts_alone(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    keep(here / "etc" / "snap.toml", 1)
    assert load().store.keep == 1
    keep(here / "work" / "snap.toml", 2)
    assert (load().store.keep, load().file) == (2, "snap.toml")
    monkeypatch.setenv("SNAP_CONFIG", keep(here / "mine.toml", 3))
    assert load().store.keep == 3
    assert load(keep(here / "given.toml", 4)).store.keep == 4
    monkeypatch.setenv("SNAP_CONFIG", "")
    assert load().store.keep == 2
    monkeypatch.setenv("SNAP_CONFIG", os.devnull)
    assert load() == Config(file=os.devnull, distrust=load().distrust)


@pytest.mark.parametrize("name", ["gone.toml", "gone/snap.toml", ""])
def test_a_named_file_has_to_be_there(name: str, here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    keep(here / "work" / "snap.toml", 2)
    with pytest.raises(FormatError, match=r"no such file$"):
        load(name)
    if name:
        monkeypatch.setenv("SNAP_CONFIG", name)
        with pytest.raises(FormatError, match=r"no such file \(\$SNAP_CONFIG\)$"):
            load()


def test_what_cannot_be_read_is_an_error_and_not_passed_over(here: Path) -> None:
    (here / "work" / "snap.toml").mkdir()
    keep(here / "etc" / "snap.toml", 1)
    with pytest.raises(FormatError, match=r"^snap\.toml: cannot be read: Is a directory"):
        load()
    with pytest.raises(FormatError, match="cannot be read: embedded null"):
        load("a\0b")


def test_a_broken_link_is_no_file(here: Path) -> None:
    (here / "work" / "snap.toml").symlink_to("gone")
    keep(here / "etc" / "snap.toml", 1)
    assert load().store.keep == 1


@pytest.mark.parametrize(("data", "said"), [
    (b"[store\n", r"snap.toml:1: not valid TOML"), (b"a = 1\n\xff\n", "snap.toml:2: not UTF-8"),
    (b"\0", "not valid TOML"), (b"a = 1\na = 2\n", "not valid TOML"), (b"a = " + b"[" * 5000, "nested too deep"),
    (b"#" * (4 << 20) + b"#\n", "larger than 4 MiB"), (b"keep = 99999999999999999999\n", "beyond 64 bits"),
])
def test_no_toml(data: bytes, said: str, here: Path) -> None:
    (here / "work" / "snap.toml").write_bytes(data)
    with pytest.raises(FormatError, match=said):
        load()


def test_an_empty_volatile_toml_adds_nothing(here: Path) -> None:
    (here / "work" / "snap.toml").write_text('[volatile]\nadd = ["irq"]\n')
    (here / "work" / "volatile.toml").write_text("")
    assert load().volatile.add == ["irq"]


@pytest.mark.parametrize("data", [b"", b"\xef\xbb\xbf[store]\r\n", b"# nothing\n"])
def test_an_empty_file_sets_nothing(data: bytes, here: Path) -> None:
    (here / "work" / "snap.toml").write_bytes(data)
    found = load()
    assert all(getattr(found, name) == getattr(Config(), name) for name in Tables.fields)


def test_paths_are_relative_to_the_file(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/root")
    path = here / "etc" / "snap.toml"
    path.write_text('[store]\ndirectory = "snaps"\n[rules]\npacks = ["packs", "/abs", "~/mine", "../up"]\n')
    for found in (load(), load("../etc/snap.toml")):
        assert found.store.directory == f"{here}/etc/snaps"
        assert found.rules.packs == [f"{here}/etc/packs", "/abs", "/root/mine", f"{here}/etc/../up"]


def test_what_was_learned_is_added(here: Path) -> None:
    (here / "work" / "snap.toml").write_text('[volatile]\nadd = ["irq", "net"]\nkeep = ["pci"]\n')
    (here / "etc" / "volatile.toml").write_text('[volatile]\nadd = ["other"]\n')
    assert load().volatile.add == ["irq", "net"]
    (here / "work" / "volatile.toml").write_text('# learned\n[volatile]\nadd = ["net", "memory"]\nkeep = ["cpu"]\n')
    assert (load().volatile.add, load().volatile.keep) == (["irq", "net", "memory"], ["pci", "cpu"])


def test_the_files_that_are_named_and_no_other(here: Path) -> None:
    (here / "work" / "volatile.toml").write_text('[volatile]\nadd = ["beside"]\n')
    (here / "etc" / "one.toml").write_text('[volatile]\nadd = ["one"]\n')
    settings = here / "work" / "snap.toml"
    settings.write_text('[volatile]\nfile = ["../etc/one.toml"]\nadd = ["own"]\n')
    assert load().volatile.add == ["own", "one"]
    settings.write_text("[volatile]\nfile = []\n")
    assert load().volatile.add == []
    settings.write_text('[volatile]\nfile = ["gone.toml"]\n')
    with pytest.raises(FormatError, match=r"work/gone.toml: no such file \(\[volatile\] file names it\)"):
        load()


def test_without_a_snap_toml_no_volatile_toml_is_read(here: Path) -> None:
    (here / "work" / "volatile.toml").write_text('[volatile]\nadd = ["irq"]\n')
    assert load().volatile.add == []


@pytest.mark.parametrize(("text", "said"), [
    ('[volatile]\nad = ["x"]\n', "volatile.toml:2: volatile.ad: there is no such key: did you mean add?"),
    ('[volatile]\nfile = ["x"]\n', "volatile.toml:2: volatile.file: there is no such key: keys here are add, keep"),
    ("[store]\nkeep = 1\n", "volatile.toml:1: store: there is no such key: keys here are volatile, noise"),
    ('volatile = ["x"]\n', "volatile.toml:1: volatile: expected a table, found an array"),
    ("[volatile]\nadd = [1]\n", "volatile.toml:2: volatile.add[0]: expected a string, found 1"),
])
def test_a_faulty_volatile_toml(text: str, said: str, here: Path) -> None:
    (here / "work" / "snap.toml").write_text("")
    (here / "work" / "volatile.toml").write_text(text)
    with pytest.raises(FormatError) as error:
        load()
    assert str(error.value) == f"{here}/work/{said}"


@pytest.mark.parametrize(("mode", "trusted"), [
    (0o600, True), (0o644, True), (0o444, True), (0o664, False), (0o646, False), (0o620, False), (0o777, False),
])
def test_commands_of_a_file_that_others_can_write_are_not_to_be_run(mode: int, trusted: bool, here: Path) -> None:
    path = Path(keep(here / "work" / "snap.toml", 1))
    path.chmod(mode)
    assert load(str(path)).trusted is trusted
    if not trusted:
        assert load().distrust == f"mode {mode:04o} lets others write it: chmod go-w it"


def test_commands_of_another_user_s_file_are_not_to_be_run(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = keep(here / "work" / "snap.toml", 1)
    owner = os.stat(path).st_uid
    monkeypatch.setattr(os, "geteuid", lambda: owner + 7)
    assert load().trusted is (owner == 0)
    real = os.fstat

    def foreign(handle: int) -> os.stat_result:
        found = [*real(handle)]
        found[4] = 4711
        return os.stat_result(found)

    monkeypatch.setattr(os, "fstat", foreign)
    assert load().distrust == "it belongs to user 4711, neither to you nor to root"


def test_the_file_that_was_read_is_trusted_and_not_its_name(here: Path) -> None:
    open_to_all = Path(keep(here / "open.toml", 1))
    open_to_all.chmod(0o666)
    (here / "work" / "snap.toml").symlink_to(open_to_all)
    assert not load().trusted
    assert load(os.devnull).distrust == "it is no regular file"


def test_where_a_setting_stands(here: Path) -> None:
    (here / "work" / "snap.toml").write_text(
        '[diff]\nfail_on = "low"\n\n[[waiver]]\nrule = "a.b"\nreason = "r"\n\n'
        '[rules."sysctl.swappiness"]\n  limits = { most = 3 }\n')
    found = load()
    places = [found.origin("waiver", 0, "rule"), found.origin("waiver", 0), found.origin("diff", "only", 0),
              found.origin("rules", "sysctl.swappiness", "limits", "most")]
    assert [(place.line, place.text) for place in places if place] == [
        (5, 'rule = "a.b"'), (4, "[[waiver]]"), (1, "[diff]"), (9, "limits = { most = 3 }")]
    assert found.origin("nothing") is None


def test_where_a_pattern_stands_that_was_learned(here: Path) -> None:
    (here / "work" / "snap.toml").write_text('[volatile]\nadd = ["irq"]\n')
    (here / "work" / "volatile.toml").write_text('# learned\n[volatile]\nadd = [\n    "irq",\n    "net",\n]\n')
    found = load()
    assert found.volatile.add == ["irq", "net"]
    places = [found.origin("volatile", "add", at) for at in (0, 1)]
    assert [(place.file, place.line) for place in places if place] == [
        ("snap.toml", 2), (f"{here}/work/volatile.toml", 3)]


def test_a_sound_file_needs_neither_pydantic_nor_the_judge_arm(here: Path) -> None:
    (here / "work" / "snap.toml").write_text('[[waiver]]\nrule = "a.b"\nreason = "r"\nexpires = 2030-01-31\n'
                                             '[expect]\ngpus = 8\nmemory_gib = 512\n[noise]\n"*" = 5\n')
    code = ("import sys; from snapshot.config import load; assert load().expect.gpus == 8;"
            "print([m for m in ('pydantic', 'difflib', 'snapshot.diff', 'snapshot.engine.judge') if m in sys.modules])")
    env = {**os.environ, "PYTHONPATH": str(Path(config.__file__).parents[2])}
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=env)
    assert said.stdout == "[]\n"
