"""Public reports: the cause comes first, with its remedy; what is no fault gives no alarm; what is unknown says why."""

from __future__ import annotations

from pathlib import Path

import pytest

from fixtures.reports import NAMES, Report, first, load
from fixtures.reports.__main__ import row
from snapshot.collectors import pve_conf
from snapshot.engine.packs import shipped
from snapshot.report.text import render_text

REPORTS = {name: load(name) for name in NAMES}
NAMED = [name for name, report in REPORTS.items() if report.expect and not report.missed]
MISSED = [name for name, report in REPORTS.items() if report.missed]
HEALTHY = [name for name, report in REPORTS.items() if report.healthy]
UNKNOWN = [name for name, report in REPORTS.items() if report.unknown]


@pytest.mark.parametrize("name", NAMED)
def test_the_cause_is_named_first_with_a_remedy_that_matches(name: str) -> None:
    report = REPORTS[name]
    found = first(report.reviewed())
    assert found
    assert found.rule == report.expect
    assert str(report.remedy) in "\n".join([*found.now, *found.durable])


def test_what_is_missed_is_missed() -> None:
    for report in (REPORTS[name] for name in MISSED):
        assert not report.met(first(report.reviewed())), f"{report.missed}: no more"


@pytest.mark.parametrize("name", HEALTHY)
def test_what_is_no_fault_gives_no_finding_above_info(name: str) -> None:
    assert [f.message for f in REPORTS[name].reviewed().judgement.findings if f.severity != "info"] == []


@pytest.mark.parametrize("name", UNKNOWN)
def test_a_report_whose_evidence_does_not_suffice_is_not_judged(name: str) -> None:
    with pytest.raises(ValueError, match="nothing to judge"):
        REPORTS[name].reviewed()


@pytest.mark.parametrize("name", NAMED)
def test_the_first_finding_is_number_1_of_the_text(name: str) -> None:
    assert f"{REPORTS[name].expect} [1]" in render_text(REPORTS[name].reviewed())


def test_all_26_are_there_and_one_tells_of_two_faults() -> None:
    assert len({report.source for report in REPORTS.values()}) == len(REPORTS) == 27


def test_every_expected_rule_is_shipped() -> None:
    assert {report.expect for report in REPORTS.values() if report.expect} <= {rule.id for rule in shipped()}


def test_the_lines_of_a_report_are_those_of_the_file_that_it_posted(corpus: Path) -> None:
    text = (corpus / "lxc-conf/ct201-four-gpu-lines-kfd511.excerpt.conf").read_text()
    posted = pve_conf.parse(text, "/etc/pve/lxc/201.conf").live.part().table()
    after = REPORTS["edit-hits-snapshot"].after
    assert after
    live = after.sections["lxc"]["containers"]["201"]["live"]
    for kind, keys in (("device_rules", ("key", "value")), ("mount_entries", ("source", "target", "options"))):
        told, read = ([[line[key] for key in keys] for line in part[kind]] for part in (live, posted))
        assert told == read


def test_the_table_has_a_row_of_four_cells_for_each() -> None:
    for name, report in REPORTS.items():
        cells = row(name, report).strip("| ").split(" | ")
        assert cells[0] == name
        assert len(cells) == 4


@pytest.mark.parametrize(
    "fields", [
        {},
        {"healthy": "it works", "unknown": "nothing is told"},
        {"expect": "pcie.aer", "after": {}},
        {"healthy": "it works", "missed": "no rule", "after": {}},
        {"healthy": "it works"},
        {"unknown": "nothing is told", "after": {}},
        {"unknown": "nothing is told", "before": {}},
        {"healthy": "it works", "after": {"derived": {"links": {"a": {"b": 1}}}}},
    ],
)
def test_a_report_says_one_thing(fields: dict[str, object]) -> None:
    with pytest.raises(ValueError, match="validation error"):
        Report.model_validate({"title": "x", "source": "y"} | fields)
