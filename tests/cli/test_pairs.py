"""Every pair of fixtures/pairs as a user sees it: the reports and the exit code, and what they have to say or not."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion
from syrupy.extensions.single_file import SingleFileSnapshotExtension, WriteMode

from ..recordings import EVENTS, Event, event
from .command import Snap

STORY = "kernel-upgrade-majors-moved"
SIDES = ("before.snap.toml", "after.snap.toml")


class TextFile(SingleFileSnapshotExtension):
    """A golden that is a report for a terminal, with the exit code below it."""

    _write_mode = WriteMode.TEXT
    file_extension = "txt"


class JsonFile(TextFile):
    """A golden that is what programs get of a report."""

    file_extension = "json"


class MarkdownFile(TextFile):
    """A golden that is a report for a pull request."""

    file_extension = "md"


@dataclass(frozen=True)
class Told:
    """What was said of a pair."""

    event: Event
    code: int
    text: str
    markdown: str
    json: dict[str, Any]

    def rules(self, *classes: str, loud: bool = False) -> list[str]:
        """The rules with findings of CLASSES that nobody accepts; LOUD: that are more than a note."""
        return [finding["rule"] for finding in self.json["findings"]
                if finding["class"] in classes and not finding.get("waived_by")
                and not (loud and finding["severity"] == "info")]


@pytest.fixture(scope="module")
def reports() -> dict[str, Told]:
    """What was said of each pair, once it was asked for: three reports are of one run."""
    return {}


@pytest.fixture
def told(
    request: pytest.FixtureRequest, reports: dict[str, Told], snap: Snap, tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> Told:
    """What is said of the pair that the parameter names."""
    name = request.param
    if name not in reports:
        monkeypatch.chdir(tmp_path)
        found = saved(event(name))
        ended = snap("diff", *SIDES, "-f", "text", "-f", "json=x.json", "-f", "markdown=x.md", *found.options)
        reports[name] = Told(found, ended.code, ended.golden(), Path("x.md").read_text(),
                             json.loads(Path("x.json").read_text()))
    return reports[name]


def saved(found: Event) -> Event:
    """The event, its two sides and its settings written to the current directory."""
    for path, side in zip(SIDES, (found.before, found.after), strict=True):
        side.save(path)
    if found.config:
        Path("snap.toml").write_text(found.config.read_text())
    return found


@pytest.mark.parametrize("told", EVENTS, indirect=True)
def test_text(told: Told, golden: SnapshotAssertion) -> None:
    assert told.text == golden(extension_class=TextFile)


@pytest.mark.parametrize("told", EVENTS, indirect=True)
def test_json(told: Told, golden: SnapshotAssertion) -> None:
    assert told.json["exit_code"] == told.code
    kept = {key: told.json[key] for key in ("findings", "unknown", "counts", "exit_code")}
    assert json.dumps(kept, indent=1, sort_keys=True) + "\n" == golden(extension_class=JsonFile)


@pytest.mark.parametrize("told", EVENTS, indirect=True)
def test_markdown(told: Told, golden: SnapshotAssertion) -> None:
    assert told.markdown == golden(extension_class=MarkdownFile)


@pytest.mark.parametrize("told", EVENTS, indirect=True)
def test_what_happened_is_said_and_nothing_that_did_not(told: Told) -> None:
    says, silent = told.event.says, told.event.silent
    assert [rule for rule in says if rule not in told.rules("new")] == []
    assert [rule for rule in told.rules("new", "existing") if any(fnmatchcase(rule, one) for one in silent)] == []
    if says:
        assert re.search(rf"\b{re.escape(says[0])} \[1\]$", told.text, re.MULTILINE)
    else:
        assert told.rules("new", loud=True) == []
        assert told.code != 1


@pytest.mark.parametrize("told", [STORY], indirect=True)
def test_each_finding_of_the_story_can_be_explained(told: Told, snap: Snap, monkeypatch: pytest.MonkeyPatch) -> None:
    sides = dict(zip(SIDES, (told.event.before, told.event.after), strict=True))
    monkeypatch.setattr("snapshot.cli.arguments.snapshot", sides.__getitem__)
    alike = {(f["rule"], str(f["before"]), str(f["after"])): f for f in told.json["findings"]}  # of 8 equal GPUs one
    assert alike
    for finding in alike.values():
        ended = snap("explain", f"{finding['rule']}:{finding['subject']}", *SIDES)
        said = "".join(ended.out.split())
        assert ended.code == 0
        for proof in finding["evidence"]:
            where = f"{proof['file']}:{proof['line']}" if proof.get("file") else ".".join(map(str, proof["path"]))
            assert "".join(where.split()) in said
