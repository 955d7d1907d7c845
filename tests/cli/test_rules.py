"""snap rules: list, show, test, lint, new; and snap schema, which describes what they are about."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from snapshot import tomlio
from snapshot.engine.packs import directory, files, shipped

from ..pairs import story
from .command import Snap

RULE = "pcie.maxreadreq-reverted"


@pytest.fixture
def made(snap: Snap, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A new pack in the current directory, in which no settings are."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("SNAP_CONFIG", raising=False)
    path = tmp_path / "made.toml"
    path.write_text(snap("rules", "new", "made.two-words").out)
    return path


def test_the_list_has_every_rule(snap: Snap, made: Path) -> None:
    lines = snap("rules", "list").out.splitlines()
    assert lines[0].split() == ["ID", "SEVERITY", "SCOPE", "TITLE"]
    assert [line.split()[0] for line in lines[1:]] == [rule.id for rule in shipped()]


def test_the_list_as_json_by_pack_and_as_the_settings_want_it(snap: Snap, made: Path) -> None:
    argv = ("rules", "list", "-f", "json", "--pack", "made", "--rules", "made.toml")
    found = json.loads(snap(*argv).out)
    assert found["rules"] == [{"id": "made.two-words", "severity": "medium", "scope": "state", "needs": ["sysctl"],
                               "title": "vm.swappiness is high"}]
    Path("snap.toml").write_text(f'[rules."made.two-words"]\nseverity = "info"\n[rules."{RULE}"]\ndisabled = true\n')
    assert json.loads(snap(*argv).out)["rules"][0]["severity"] == "info"
    assert snap("rules", "list", "--rules", "made.toml").out.endswith(f"\ndisabled: {RULE}\n")
    assert "there is no pack 'mad': " in snap("rules", "list", "--pack", "mad").err


def test_a_rule_is_shown_with_its_examples(snap: Snap, made: Path) -> None:
    ended = snap("rules", "show", RULE)
    assert ended.code == 0
    assert "PCIe MaxReadReq is lower than before" in ended.out and "the section timed out after" in ended.out
    own = snap("rules", "show", "made.two-words", "--rules", ".")
    assert "not readable: unknown, no pass" in own.out
    ended = snap("rules", "show", "pcie.maxread")
    assert (ended.code, ended.out) == (2, "")
    assert f"there is no rule 'pcie.maxread'; did you mean '{RULE}'?" in ended.err


def test_a_new_rule_lints_clean_and_its_examples_come_out(snap: Snap, made: Path) -> None:
    for verb in ("lint", "test"):
        ended = snap("rules", verb, "made.toml")
        assert ended.code == 0
        assert ended.out.startswith("1 pack, 1 rule, 3 examples: no ")


@pytest.mark.parametrize("identifier", ["x", "Made.one", "made.", "made.one.two", "made/one", "made.one\n", "../x.y"])
def test_a_new_rule_needs_an_id(snap: Snap, made: Path, identifier: str) -> None:
    ended = snap("rules", "new", identifier)
    assert (ended.code, ended.out) == (2, "")
    assert "is no rule id" in ended.err


def test_a_new_id_is_free(snap: Snap, made: Path) -> None:
    assert f"there is a rule '{RULE}' already" in snap("rules", "new", RULE).err
    assert "already" in snap("rules", "new", "made.two-words", "--rules", "made.toml").err


@pytest.mark.parametrize("verb", ["lint", "test"])
def test_the_shipped_packs_are_meant_where_none_is_named(snap: Snap, made: Path, verb: str) -> None:
    ended = snap("rules", verb)
    packs = len(files(directory()))
    assert (ended.code, ended.out.split(",")[0]) == (0, f"{packs} packs")


def wrong(made: Path, old: str, new: str) -> int:
    """Puts a fault into the pack; the line on which it stands."""
    text = made.read_text()
    assert old in text
    made.write_text(text.replace(old, new, 1))
    return text[: text.index(old)].count("\n") + 1


@pytest.mark.parametrize(("old", "new", "said"), [
    ('severity = "m', 'serverity = "m', "made.two-words: serverity: there is no such key; severity is meant?"),
    ('severity = "medium"', "severity = 3", "made.two-words: severity: "),
    ('needs = ["sysctl"]', 'needs = ["sysctll"]', "there is no section 'sysctll': sysctl is meant?"),
    ('names.value = ["after", "sysctl"', 'names.value = ["after", "sysctll"', "there is no path ['after', 'sysctll'"),
    ('verdict = "fail"', 'verdict = "fails"', "made.two-words: example: "),
    ('after.sections.sysctl.values = { "vm.swappiness" = 60 }', "after.sections.sysctll = {}", "no section 'sysctll'"),
    ('after.sections.sysctl.values = { "vm.swappiness" = 60 }', "after.sections.sysctl.values = 1", "Sysctl: values: "),
    ('limit"\nverdict = "pass"', 'limit"\nverdict = "fail"', "needs an example that fails"),
    ('after.unread = [{ path = ["sysctl", "values", "vm.swappiness"] }]', "after.unread = [{ path = [] }]", "''"),
    ("after.sections.sysctl.values = {}", "after.derived.nosuch.x.y = 1", "there is no derived table 'nosuch'"),
    ("title =", "title ==", "not valid TOML"),
])
def test_a_fault_is_a_line_with_file_line_and_what_is_meant(
    snap: Snap, made: Path, old: str, new: str, said: str
) -> None:
    wrong(made, old, new)
    ended = snap("rules", "lint", "made.toml")
    assert ended.code == 1
    lines = [line for line in ended.out.splitlines() if said in line]
    assert lines and all(line.startswith("made.toml:") for line in lines), ended.out
    assert snap("rules", "test", "made.toml").code in (1, 2)


@pytest.mark.parametrize(("old", "new"), [
    ('severity = "m', 'serverity = "m'), ('names.value = ["after", "sysctl"', 'names.value = ["after", "sysctll"'),
    ("title =", "title =="),
])
def test_the_line_is_that_of_the_fault(snap: Snap, made: Path, old: str, new: str) -> None:
    line = wrong(made, old, new)
    assert f"made.toml:{line}: " in snap("rules", "lint", "made.toml").out


def test_an_example_that_does_not_come_out(snap: Snap, made: Path) -> None:
    wrong(made, 'message = "vm.swappiness is 60, above 10"', 'message = "something else"')
    for verb in ("test", "lint"):
        ended = snap("rules", verb, "made.toml")
        assert ended.code == 1
        assert ": made.two-words: example 'above the limit': message 'vm.swappiness is 60, above 10', not" in ended.out
    assert ended.out.endswith("1 pack, 1 rule, 3 examples: 1 fault\n")


def test_an_id_that_is_taken(snap: Snap, made: Path) -> None:
    (made.parent / "pcie.toml").write_text(made.read_text().replace("made.two-words", RULE))
    (made.parent / "more").mkdir()
    (made.parent / "more/made.toml").write_text(made.read_text())
    ended = snap("rules", "lint", ".", "more")
    assert ended.code == 1
    assert f": {RULE}: hostsnap has a rule of this id" in ended.out
    assert "more/made.toml:4: made.two-words: ./made.toml has a rule of this id" in ended.out
    ended = snap("rules", "list", "--rules", "made.toml", "--rules", "more")
    assert (ended.code, ended.out) == (2, "")
    assert "more/made.toml:4: made.two-words: made.toml has a rule of this id" in ended.err


def test_a_pack_that_two_places_hold_counts_once(snap: Snap, made: Path) -> None:
    places = ("made.toml", str(made.parent))
    assert snap("rules", "list", "--rules", places[0], "--rules", places[1]).out.count("made.two-words") == 1
    assert snap("rules", "lint", *places).out == "1 pack, 1 rule, 3 examples: no fault\n"


@pytest.mark.parametrize("verb", ["lint", "test"])
def test_what_is_not_there_is_an_error(snap: Snap, made: Path, verb: str) -> None:
    (made.parent / "empty").mkdir()
    for path in ("nosuch", "empty"):
        ended = snap("rules", verb, path)
        assert (ended.code, ended.out, ended.err.count("\n")) == (2, "", 1)


@pytest.mark.parametrize("text", ["", "rule = 1\n", "[[rule]]\n", "rule = [1]\n", "[rule]\nid = 1\n", "x = 1\n",
                                  "[[rule]]\nid = 7\nexample = 3\n", "[[rule]]\nid = \"made.x\"\nexample = [1]\n"])
def test_what_is_no_pack_is_faulty(snap: Snap, made: Path, text: str) -> None:
    made.write_text(text)
    ended = snap("rules", "lint", "made.toml")
    assert ended.code == 1
    assert "made.toml" in ended.out and "Traceback" not in ended.err


SCHEMAS = ("snapshot", "pack", "finding", "config")


@pytest.mark.parametrize("what", SCHEMAS)
def test_each_schema_is_one(snap: Snap, what: str) -> None:
    Draft202012Validator.check_schema(json.loads(snap("schema", what).out))


def test_what_is_published_is_what_is_written(snap: Snap, made: Path) -> None:
    story()[1].save("after.toml")
    report: dict[str, Any] = json.loads(snap("check", "after.toml", "-f", "json").out)
    finding, pack = (Draft202012Validator(json.loads(snap("schema", what).out)) for what in ("finding", "pack"))
    assert report["findings"]
    for one in report["findings"]:
        one.pop("counts", None)  # what the report adds
        assert [error.message for error in finding.iter_errors(one)] == []
    for path in (str(made), *files(directory())):
        assert [error.message for error in pack.iter_errors(tomlio.loads(Path(path).read_text(), path))] == []
    wrong(made, 'op = "le"', 'op = "lesser"')
    assert [*pack.iter_errors(tomlio.loads(made.read_text(), "made"))]
    assert snap("schema").out == snap("schema", "snapshot").out
    assert snap("schema", "rules").code == 2


@pytest.mark.parametrize("verb", ["list", "show", "test", "lint", "new"])
def test_every_command_of_the_group_has_help(snap: Snap, verb: str) -> None:
    ended = snap("rules", verb, "--help")
    assert ended.code == 0
    assert all(len(line) <= 80 for line in ended.out.splitlines())
