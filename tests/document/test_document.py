"""The snapshot file: canonical bytes, sections on demand, unknown facts, and every fault as one line."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from snapshot import __version__, document, sections
from snapshot.document import FileFact, Meta, Outcome, Snapshot, UnreadFact, count_facts, migrations
from snapshot.errors import FormatError, SnapError
from snapshot.sections.base import Model
from snapshot.sections.cmdline import Cmdline
from snapshot.sections.devices import Devices, Node
from snapshot.sections.os import Os
from snapshot.sections.sysctl import Sysctl
from tests import pairs

META = Meta(
    format=1, tool="0.1.0", host="pve1", taken="2026-11-30T01:44:34Z", uid=0, capabilities="0" * 16,
    source="live",
)
NODES = {f"/dev/nvidia{i}": Node(type="c", major=195, minor=i, mode="0666", uid=0, gid=0) for i in range(3)}
MODELS: dict[str, Model] = {
    "sysctl": Sysctl(values={"vm.swappiness": 10, "kernel.core_pattern": "\udcff\x1b[0m \uefff"}),
    "os": Os(id="debian", version_id="13"),
    "devices": Devices(character={"nvidia": [195], "mem": [1]}, block={}, nodes=NODES),
    "cmdline": Cmdline(tokens=["quiet", "a=1"], parameters={"quiet": [True], "a": ["1", True]}),
}
FILES = {"/etc/sysctl.d/90-gpu.conf": FileFact(size_bytes=3, mtime="2026-11-01T00:00:00Z", sha256="0" * 64)}
DENIED = UnreadFact(path=["values", "kernel.x"], source="/proc/sys/kernel/x", why="EACCES")


def outcomes() -> dict[str, Outcome]:
    found = {name: Outcome(state="ok", facts=0) for name in MODELS}
    found["sysctl"] = Outcome(state="partial", facts=0, unread=[DENIED, DENIED])
    found["lxc"] = Outcome(state="absent", facts=0, why="no /etc/pve and no lxc package")
    found["pci"] = Outcome(state="denied", facts=0)
    return found


def built(**changes: Any) -> Snapshot:
    return Snapshot.build(META.copy(**changes), outcomes(), FILES, MODELS)


TEXT = built().dumps()


def loaded(old: str = "", new: str = "") -> Snapshot:
    """The text with one edit, every part of it read."""
    assert old in TEXT
    snap = Snapshot.loads(TEXT.replace(old, new, 1).encode() if old else TEXT.encode(), "f")
    read_all(snap)
    return snap


def read_all(snap: Snapshot) -> None:
    for name in sections.NAMES:
        snap.table(name)
        snap.text(name)
        snap.unread(name, ("a", "b"))
    assert snap.files is not None


def test_a_snapshot_comes_back_as_it_was() -> None:
    snap, back = built(), loaded()
    assert back.meta == snap.meta == META.copy(files=1)
    assert back.outcomes == snap.outcomes
    assert back.files == FILES
    for name in sections.NAMES:
        assert back.section(name) == snap.section(name) == MODELS.get(name)
        assert back.table(name) == snap.table(name)
        assert back.text(name) == snap.text(name)
    assert back.dumps() == TEXT


def test_the_parts_stand_in_order_after_the_line_for_editors() -> None:
    assert TEXT.startswith("#:schema ./hostsnap-1.schema.json\n\n[meta]\n")
    heads = [line.strip("[]").split(".")[0] for line in TEXT.splitlines() if line.startswith("[")]
    assert [*dict.fromkeys(heads)] == ["meta", "outcomes", "os", "cmdline", "sysctl", "devices", "files"]
    assert TEXT.endswith("\n")
    assert not TEXT.endswith("\n\n")


def test_equal_facts_are_equal_bytes_in_whatever_order_they_came() -> None:
    backwards = Snapshot.build(
        META, dict(reversed(outcomes().items())), dict(reversed(FILES.items())),
        {name: MODELS[name] for name in reversed(MODELS)},
    )
    assert backwards.dumps() == TEXT


def test_facts_are_counted_and_unread_facts_stand_once() -> None:
    found = built().outcomes
    assert {n: found[n].facts for n in ("os", "sysctl", "devices", "cmdline")} == {
        "os": 2, "sysctl": 2, "devices": 20, "cmdline": 3,
    }
    assert found["sysctl"].unread == [DENIED]


@pytest.mark.parametrize(("value", "facts"), [
    ({}, 0), (1, 1), ([], 1), ([1, 2], 1), ([{}, 1], 1), ({"a": {}}, 0), ({"a": {"b": 1, "c": [1]}}, 2),
    ({"a": [{"b": 1}, {"b": 2, "c": 3}]}, 3),
])
def test_leaves_are_counted(value: Any, facts: int) -> None:
    assert count_facts(value) == facts


def test_a_text_in_another_form_gives_the_same_facts_and_the_same_text() -> None:
    snap = Snapshot.loads(TEXT.replace("[os]", "[ os ] # by hand").replace("\n", "\r\n").encode(), "f")
    assert snap.dumps() == TEXT
    assert snap.text("sysctl") == built().text("sysctl")


def test_a_section_is_not_parsed_before_it_is_asked_for() -> None:
    snap = Snapshot.loads(TEXT.replace("[sysctl.values]\n", "[sysctl.values]\nx = 1x\n").encode(), "f")
    assert snap.section("os") == MODELS["os"]
    with pytest.raises(FormatError, match=rf"^f:{_line('[sysctl.values]') + 1}: not valid TOML: "):
        snap.table("sysctl")


def _line(text: str) -> int:
    return TEXT[: TEXT.index(text)].count("\n") + 1


@pytest.mark.parametrize(("section", "path", "why"), [
    ("sysctl", ["values", "kernel.x"], "EACCES"), ("sysctl", ["values", "kernel.x", "below"], "EACCES"),
    ("sysctl", ["values", "kernel"], None), ("sysctl", ["values"], None), ("sysctl", [], None),
    ("os", ["lxc"], None), ("lxc", ["containers"], None), ("pci", ["functions"], "denied"),
    ("pci", [], "denied"), ("kernel", ["release"], "the snapshot has no such section"),
])
def test_one_test_tells_unknown_from_not_there(section: str, path: list[str], why: str | None) -> None:
    for snap in (built(), loaded()):
        found = snap.unread(section, path)
        assert (found.why if found else None) == why


def test_of_two_unread_facts_the_one_above_counts() -> None:
    upper = UnreadFact(path=["values"], source="/proc/sys", why="EIO")
    outcome = Outcome(state="partial", facts=0, unread=[DENIED, upper])
    snap = Snapshot.build(META, {"sysctl": outcome}, {}, {"sysctl": Sysctl(values={})})
    assert snap.unread("sysctl", ("values", "kernel.x")) == upper


@pytest.mark.parametrize(("state", "facts", "unread", "whole"), [
    ("ok", True, False, False), ("partial", True, True, False), ("partial", False, True, False),
    ("timeout", True, True, False), ("timeout", False, True, True), ("timeout", True, False, True),
    ("failed", False, False, True), ("denied", False, False, True), ("skipped", False, False, True),
    ("partial", True, False, True),
])
def test_a_section_that_does_not_say_what_it_lacks_is_unknown(
    state: document.State, facts: bool, unread: bool, whole: bool
) -> None:
    outcome = Outcome(state=state, facts=0, why="reason", unread=[DENIED] if unread else None)
    held: dict[str, Model] = {"sysctl": Sysctl(values={"a": 1} if facts else {})}
    snap = Snapshot.build(META, {"sysctl": outcome}, {}, held)
    found = snap.unread("sysctl", ("settings", "a"))
    assert found == (UnreadFact(path=[], source="sysctl", why="reason") if whole else None)


BY_HAND = " (was the file edited by hand?)"
SHORT = " (cut short, or edited by hand?)"
NODE = 'devices.nodes."/dev/nvidia0"'
NEWER = f"hostsnap {__version__} has no such section (hostsnap 0.1.0 wrote the file): upgrade it"


@pytest.mark.parametrize(("old", "new", "line", "what"), [
    ('"vm.swappiness" = 10', '"vm.swappiness" = 1.5', '"vm.swappiness"',
     f'sysctl.values."vm.swappiness": expected an integer or a string, found 1.5{BY_HAND}'),
    ("major = 195", 'major = "ten"', "major = 195",
     f'{NODE}.major: expected an integer, found "ten"{BY_HAND}'),
    ('type = "c"', "type = true", 'type = "c"',
     f"{NODE}.type: expected 'c', 'b', 'file', 'directory' or 'other', found true{BY_HAND}"),
    ('mode = "0666"\n', "", f"[{NODE}]", f"{NODE}.mode: is missing"),
    ('id = "debian"', 'idd = "debian"', 'id = "debian"', "os.idd: is not known to this version of hostsnap"),
    ("[os]", "[[os]]", "[os]", f"os: expected a table, found an array{BY_HAND}"),
    ("uid = 0", "uid = false", "uid = 0", f"meta.uid: expected an integer, found false{BY_HAND}"),
    ("facts = 20", "facts = [1]", "facts = 20",
     f"outcomes.devices.facts: expected an integer, found an array{BY_HAND}"),
    ("facts = 20", "facts = 21", "facts = 20", f"outcomes.devices.facts: 21, but the file holds 20{SHORT}"),
    ("files = 1", "files = 2", "files = 1", f"meta.files: 2, but the file holds 1{SHORT}"),
    ("size_bytes = 3", "size_bytes = inf", "size_bytes = 3",
     f'files."/etc/sysctl.d/90-gpu.conf".size_bytes: expected an integer, found inf{BY_HAND}'),
    ("[outcomes.os]", "[outcomes.kernel]", "[outcomes.os]",
     "outcomes.kernel: the file has no such section (cut short?)"),
    ("[outcomes.lxc]", "[outcomes.nosuch]", "[outcomes.lxc]", f"outcomes.nosuch: {NEWER}"),
    ("[os]", "[nosuch]", "[os]", f"nosuch: {NEWER}"),
    ('[outcomes.os]\nfacts = 2\nstate = "ok"\n', "", "", "os: there is no outcomes.os"),
])
def test_a_hand_edited_file_is_one_line_with_its_place(old: str, new: str, line: str, what: str) -> None:
    with pytest.raises(FormatError) as error:
        loaded(old, new)
    place = _line(line) if line else _line("[os]") - 3
    assert str(error.value) == f"f:{place}: {what}"


@pytest.mark.parametrize(("data", "what"), [
    (b"", "not a snapshot"), (b"[project]\nname = 'x'\n", "not a snapshot"),
    (b"meta = 1\n", "not a snapshot"),
    (b"[meta]\nformat = true\n", "not a snapshot"), (b"[meta]\nformat = 0\n", "not a snapshot"),
    (b"[meta]\nformat = 1\n", "^f:1: meta.tool: is missing"), (b"\x7fELF\x02\x01\0\0\xff", "^f:1: not UTF-8"),
    (b"\x1f\x8b", "not UTF-8"), (b"[outcomes.os]\n[meta]\nformat = 1\n", "meta.tool"),
    (b"\0", "not valid TOML"),
])
def test_what_is_no_snapshot_is_said_in_one_line(data: bytes, what: str) -> None:
    with pytest.raises(FormatError, match=what) as error:
        Snapshot.loads(data, "f")
    assert "\n" not in str(error.value)


def test_a_file_beyond_the_limit_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(document, "LIMIT_BYTES", 1 << 20)
    (tmp_path / "big.toml").write_bytes(TEXT.encode() + b"#" * (1 << 20))
    with pytest.raises(FormatError, match="larger than 1 MiB"):
        Snapshot.load(str(tmp_path / "big.toml"))


def test_a_file_cut_short_never_reads_as_a_host_that_lacks_things() -> None:
    whole = loaded()
    for end in range(len(TEXT.rstrip("\n"))):
        with pytest.raises(SnapError):
            read_all(Snapshot.loads(TEXT[:end].encode(), "f"))
    assert Snapshot.loads(TEXT.rstrip("\n").encode(), "f").files == whole.files


def test_a_newer_file_names_both_versions_and_the_way_out() -> None:
    with pytest.raises(FormatError) as error:
        loaded("format = 1", "format = 2")
    assert str(error.value) == (
        f"f: format 2, written by hostsnap 0.1.0; hostsnap {__version__} reads formats up to 1"
        " (upgrade it to read this file)"
    )


def _to_two(tables: dict[str, Any]) -> dict[str, Any]:
    return tables | {"os": {"id": tables["os"]["distribution"]}}


def test_an_older_file_is_migrated_step_by_step(monkeypatch: pytest.MonkeyPatch) -> None:
    old = "[meta]\nformat = 1\n" + TEXT.partition("[meta]\n")[2].replace("format = 1\n", "")
    old = old.replace('id = "debian"\n', 'distribution = "debian"\n').replace('version_id = "13"\n', "")
    old = old.replace("[outcomes.os]\nfacts = 2\n", "[outcomes.os]\nfacts = 1\n")
    for module in (migrations, document):
        monkeypatch.setattr(module, "FORMAT", 3)
    monkeypatch.setattr(migrations, "STEPS", {1: _to_two})
    with pytest.raises(FormatError, match=f"hostsnap {__version__} no longer reads format"):
        Snapshot.loads(old.encode(), "f")
    monkeypatch.setitem(migrations.STEPS, 2, lambda tables: tables)
    snap = Snapshot.loads(old.encode(), "f")
    assert snap.meta.format == 3
    assert snap.table("os") == {"id": "debian"}
    assert snap.table("sysctl") == built().table("sysctl")


def test_an_integer_beyond_64_bits_cannot_be_saved(tmp_path: Path) -> None:
    models: dict[str, Model] = {"sysctl": Sysctl(values={"a": 2**64})}
    snap = Snapshot.build(META, {"sysctl": Outcome(state="ok", facts=0)}, {}, models)
    with pytest.raises(FormatError, match=r"sysctl.values.a: TOML cannot hold an integer beyond 64 bits"):
        snap.save(str(tmp_path / "f.toml"))
    assert not list(tmp_path.iterdir())


def test_sections_and_outcomes_have_to_go_together() -> None:
    with pytest.raises(FormatError, match=r"there is no outcomes\.os"):
        Snapshot.build(META, {}, {}, {"os": Os()})
    with pytest.raises(FormatError, match=r"outcomes.os: the file has no such section"):
        Snapshot.build(META, {"os": Outcome(state="ok", facts=3)}, {}, {})
    with pytest.raises(KeyError):
        built().section("nosuch")


def test_saved_with_mode_0600_and_read_back(tmp_path: Path) -> None:
    path = tmp_path / "new" / "f.snap.toml"
    built().save(str(path))
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert path.read_text(encoding="utf-8") == TEXT
    assert Snapshot.load(str(path)).dumps() == TEXT


def test_standard_input_is_read(tmp_path: Path) -> None:
    (tmp_path / "f").write_text(TEXT, encoding="utf-8")
    kept = os.dup(0)
    handle = os.open(tmp_path / "f", os.O_RDONLY)
    try:
        os.dup2(handle, 0)
        assert Snapshot.load("-").dumps() == TEXT
    finally:
        os.dup2(kept, 0)
        os.close(kept)
        os.close(handle)


@pytest.mark.parametrize("name", ["missing.toml", "."])
def test_a_file_that_cannot_be_read_is_one_line(tmp_path: Path, name: str) -> None:
    with pytest.raises(SnapError, match="cannot be read: "):
        Snapshot.load(str(tmp_path / name))


NEW = st.binary(max_size=3) | st.sampled_from(
    [b"\n[os]\n", b"[[os]]\n", b"= {}\n", b"= [[1]]\n", b'"""', b"\n[a]\n", b"1"]
)
EDITS = st.lists(st.tuples(st.integers(0, len(TEXT)), st.integers(0, 40), NEW), min_size=1, max_size=3)


@settings(max_examples=300)
@given(EDITS)
def test_any_edit_of_a_file_is_read_or_refused_in_one_line(edits: list[tuple[int, int, bytes]]) -> None:
    data = TEXT.encode()
    for at, drop, new in edits:
        data = data[:at] + new + data[at + drop:]
    try:
        read_all(Snapshot.loads(data, "f"))
    except SnapError as error:
        assert len(str(error).split("\n")) == 1
        assert str(error).startswith("f:")


KEYS = st.sampled_from(
    ["meta", "outcomes", "files", *sections.NAMES, "values", "nodes", "unread", "containers", "x"]
)
WRONG = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=3),
    lambda v: st.lists(v, max_size=3) | st.dictionaries(KEYS, v, max_size=3), max_leaves=8,
)


@settings(max_examples=300)
@given(st.dictionaries(KEYS, WRONG, max_size=4))
def test_wrong_types_anywhere_are_read_or_refused_in_one_line(tables: dict[str, Any]) -> None:
    outcomes = {name: {"state": "ok", "facts": 0} for name in sections.NAMES}
    whole = {"meta": META.table(), "outcomes": outcomes} | tables
    try:
        read_all(Snapshot("f", "", whole, {}))
    except FormatError as error:
        assert len(str(error).split("\n")) == 1
    else:
        assert type(whole["outcomes"]) is dict


def test_what_two_files_share_is_parsed_once_whichever_way_they_are_compared() -> None:
    data = pairs.snapshot({"sysctl": {"values": {"a": 1}}}).dumps().encode()
    one, two, three = (Snapshot.loads(data, name) for name in "abc")
    two.share(one, "sysctl")
    one.share(two, "sysctl")
    three.share(two, "sysctl")
    one.share(three, "sysctl")
    assert one.section("sysctl") is two.section("sysctl") is three.section("sysctl")
    assert two.table("sysctl") == {"values": {"a": 1}}


@pytest.mark.parametrize(("old", "new", "said"), [
    ('powersave = "7"', 'powersave = "6-7"', "cpufreq.governor: cpu 6 has two values: 'performance' and 'powersave'"),
    ('powersave = "7"', 'powersave = "x"', "cpufreq.governor: not a CPU range: 'x'"),
    ('powersave = "7"', 'powersave = "0-99999999999"', "cpufreq.governor: not a CPU range: '0-99999999999'"),
])
def test_what_is_no_list_of_cpus_is_told_when_the_section_is_read(old: str, new: str, said: str) -> None:
    text = pairs.snapshot({"cpufreq": {"governor": {"performance": "0-6", "powersave": "7"}}}).dumps()
    assert Snapshot.loads(text.encode(), "f").table("cpufreq")
    with pytest.raises(FormatError, match=said.replace("(", r"\(")):
        Snapshot.loads(text.replace(old, new).encode(), "f").table("cpufreq")


def test_absent_needs_its_evidence_and_is_nothing_that_every_host_has() -> None:
    text = pairs.snapshot({}, states={"nvidia": "absent"}).dumps()
    Snapshot.loads(text.encode(), "f")
    with pytest.raises(FormatError, match=r"outcomes\.nvidia: absent without the evidence of it"):
        Snapshot.loads(text.replace('why = "because"\n', "").encode(), "f")
    with pytest.raises(FormatError, match=r"outcomes\.kernel: every host has one"):
        Snapshot.loads(text.replace("nvidia", "kernel").encode(), "f")
