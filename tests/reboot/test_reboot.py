"""Real reboots: what was set by hand and is lost is foreseen and reported, and nothing else; container 101's story.

Run by `pytest -m reboot`; README.md tells what it needs and shows.
"""

from __future__ import annotations

from collections.abc import Callable
from fnmatch import fnmatchcase
from pathlib import Path

import pytest

from snapshot.capture import take
from snapshot.derive.forecasts.forecast_kernel import chosen
from snapshot.derive.forecasts.forecast_score import score
from snapshot.document import Snapshot
from snapshot.engine.finding import Finding, reaches
from snapshot.host.recorded import open_host
from snapshot.report.forecast import came_true
from snapshot.sections import NAMES

from .stages import STAGES, Stage
from .tunables import MOVES
from .verdicts import Hits, Verdicts

pytestmark = pytest.mark.reboot
HOST_NAMES = ("chain",)
UVM, CAPS, OLD, NEW = "/dev/nvidia-uvm", "/dev/nvidia-caps/nvidia-cap1", "508", "511"
STALE = "lxc.device-major-stale"
FORMS: dict[str, Callable[[Verdicts], Hits]] = {
    "forecast, baseline": lambda found: found.forecast(baseline=True),
    "forecast, none": lambda found: found.forecast(baseline=False),
    "diff, changes": Verdicts.listed,
    "diff, findings": Verdicts.regressions,
}


def opened(chain: Path, stage: str, name: str) -> dict[str, str]:
    """What open() said of each node in a container: opens-101 when the boot was done, mended-101 after the remedy."""
    lines = (chain / stage / "result" / name).read_text().splitlines()
    return dict(line.split(" ", 1) for line in lines if line.startswith("/dev/"))


def new(found: Verdicts, rule: str = "*") -> list[Finding]:
    """New findings above info."""
    review = found.review
    return [one for one in review.judgement.findings
            if review.counts(one) and reaches(one.severity, "low") and fnmatchcase(one.rule, rule)]


@pytest.mark.parametrize("stage", STAGES, ids=lambda stage: stage.name)
def test_every_boot_does_what_the_operator_asks(chain: Path, stage: Stage) -> None:
    result = chain / stage.name / "result"
    assert (result / "done").read_text().split()[0] == "0", (result / "stderr").read_text()
    said = (result / "stderr").read_text().splitlines()
    assert [line for line in said if not line.endswith("could not be judged: `snap forecast` says why.")] == []


def test_what_was_to_be_set_was_set(verdict: Verdicts) -> None:
    run = verdict.run
    moved = {name for name, other in MOVES.items() if other in run.asked}
    assert run.touched | moved == run.asked | moved


@pytest.mark.parametrize("form", FORMS)
def test_all_that_is_lost_is_said_and_nothing_else(verdict: Verdicts, form: str) -> None:
    hits = FORMS[form](verdict)
    assert (hits.missed, hits.false) == ([], [])


def test_the_forecast_names_the_kernel_and_comes_true(verdict: Verdicts) -> None:
    run = verdict.run
    assert chosen(run.pre)[0] == run.post.meta.kernel
    found = score(run.pre, run.post)
    assert found is not None and found.true
    assert [one.key for one in (*found.missed, *found.wrong)] == []


def test_what_the_stage_foretells_is_found(verdict: Verdicts) -> None:
    rules = {one.rule for one in new(verdict)}
    assert {*verdict.run.after.says} <= rules
    assert not [rule for rule in rules if any(fnmatchcase(rule, part) for part in verdict.run.after.silent)]


def test_container_with_stale_majors(chain: Path, verdicts: dict[str, Verdicts]) -> None:
    """The rules, the lines, the corrected lines; and that the kernel says so too."""
    assert set(opened(chain, "start", "opens-101").values()) == {"ok"}
    before = opened(chain, "majors-moved", "opens-101")
    assert (before[UVM], before[CAPS], before["/dev/nvidia0"]) == ("EPERM", "EPERM", "ok")
    found = {one.subject: one for one in new(verdicts["majors-moved"], STALE)}
    assert {subject.split()[0] for subject in found} == {"101"}
    for node, old, now in ((UVM, OLD, NEW), (CAPS, "507", "510")):
        finding = found[f"101 {node}"]
        line = next(one for one in finding.evidence if one.file == "/etc/pve/lxc/101.conf")
        assert (finding.severity, line.text) == ("critical", f"lxc.cgroup2.devices.allow: c {old}:* rwm")
        assert any(f"{line.line}s/c {old}:/c {now}:/" in command for command in finding.now)


@pytest.mark.parametrize("container", ["102", "103"])  # by node; unprivileged, for which rules do not count
def test_containers_that_are_never_stale(chain: Path, verdicts: dict[str, Verdicts], container: str) -> None:
    for stage in ("start", "majors-moved", "majors-moved-back", "remedy-holds"):
        assert opened(chain, stage, f"opens-{container}")[UVM] == "ok"
        assert stage == "start" or not [one for one in new(verdicts[stage]) if one.subject.startswith(container)]


@pytest.mark.parametrize("stage", ["majors-moved", "majors-moved-back", "majors-swapped"])
def test_the_script_of_fix_mends_it(chain: Path, stage: str) -> None:
    assert opened(chain, stage, "opens-101")[UVM] == "EPERM"
    assert opened(chain, stage, "mended-101")[UVM] == "ok"


def test_the_durable_remedy_outlasts_the_next_reboot(chain: Path, verdicts: dict[str, Verdicts]) -> None:
    assert opened(chain, "remedy-holds", "opens-101")[UVM] == "ok"
    assert new(verdicts["remedy-holds"], "lxc.*") == []


def test_a_number_that_another_driver_has_now(verdicts: dict[str, Verdicts]) -> None:
    found = next(one for one in new(verdicts["majors-swapped"], STALE) if one.subject == f"101 {UVM}")
    assert "nvidia-caps" in " ".join([found.message, *found.why])


@pytest.mark.parametrize("name", ["persisted", "fixed"])
def test_settings_in_files_are_kept(chain: Path, verdicts: dict[str, Verdicts], name: str) -> None:
    """What the operator wrote down, or the script of fix did, is neither lost nor said to be."""
    run = verdicts[name].run
    kept = run.touched - run.reverted
    assert len(kept) >= len(run.touched) // 3
    assert not kept & {*verdicts[name].forecast(baseline=True).right}
    assert ", failed: 0," in (chain / "persisted/result/fix.txt").read_text()


def test_what_a_take_read_gives_the_same_snapshot_elsewhere(chain: Path) -> None:
    for name in ("start/result/boot", "start/result/pre", "majors-moved/result/boot"):
        host = open_host(str(chain / f"{name}.tar"))
        again, live = take(host), Snapshot.load(str(chain / f"{name}.snap.toml"))
        host.close()
        assert [again.table(section) for section in NAMES] == [live.table(section) for section in NAMES]


def test_the_table(verdicts: dict[str, Verdicts], tell: Callable[[str], None]) -> None:
    """Recall and precision over all runs: 1.0 each."""
    total = {form: Hits() for form in FORMS}
    tell(f"{'run':18}{'set':>5}{'lost':>5}   " + "".join(f"{form:28}" for form in FORMS) + "forecast scored by diff")
    for name, found in verdicts.items():
        cells = []
        for form, hits in ((form, FORMS[form](found)) for form in FORMS):
            total[form].add(hits)
            cells.append(f"{hits!s:28}")
        scored = score(found.run.pre, found.run.post)
        told = came_true(scored) if scored else "not scored"
        tell(f"{name:18}{len(found.run.touched):5}{len(found.run.reverted):5}   {''.join(cells)}{told}")
    tell(f"{'all':31}" + "".join(f"{hits!s:28}" for hits in total.values()))
    assert len(verdicts) >= 10
    assert {(hits.recall, hits.precision) for hits in total.values()} == {(1.0, 1.0)}
