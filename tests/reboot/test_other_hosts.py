"""Real reboots of two other hosts: one that comes back with cgroup v1, and one with Debian 13's user space.

systemd(1), KERNEL COMMAND LINE; sysctl.d(5). Debian 13 has systemd 257, LXC 6, kmod 34 and Python 3.13.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from snapshot.derive import derived
from snapshot.derive.forecasts.forecast import outlook
from snapshot.derive.forecasts.forecast_kernel import chosen
from snapshot.derive.forecasts.forecast_prediction import Prediction
from snapshot.derive.forecasts.forecast_score import score
from snapshot.document import Snapshot
from snapshot.report.forecast import came_true
from snapshot.report.review import review
from snapshot.sections.lxc import NO_CGROUP2

from .chain import runs
from .stages import HOSTS
from .test_reboot import FORMS, STALE, UVM, new, opened
from .tunables import MOVES
from .verdicts import Verdicts

pytestmark = pytest.mark.reboot
CONF, IGNORED = "/etc/sysctl.conf", "sysctl.conf-ignored"
OF_CONF = {  # sysctl -> what is foreseen of it; LXC's package sets the first at boot, nothing the second
    "fs.inotify.max_user_instances": ("changes", f"{CONF}:1 does not count at boot: /etc/sysctl.d/30-lxc-inotify.conf"),
    "net.ipv4.tcp_keepalive_time": ("reverts", f"{CONF}:2 is not set at boot"),
}
OF_FOLDER = "net.ipv4.tcp_fin_timeout"
HOST_NAMES = ("cgroup-v1", "debian-13")
STAGES = [(name, stage.name) for name in HOST_NAMES for stages in HOSTS[name][1] for stage in stages]


@pytest.fixture(scope="session")
def judged(folders: dict[str, Path]) -> dict[str, Verdicts]:
    """What the product says of each host's reboot."""
    return {name: Verdicts(runs(folders[name], HOSTS[name][1][0])[0]) for name in HOST_NAMES}


@pytest.fixture(params=HOST_NAMES)
def verdict(request: pytest.FixtureRequest, judged: dict[str, Verdicts]) -> Verdicts:
    """Each host in turn."""
    return judged[request.param]


@pytest.fixture
def old(judged: dict[str, Verdicts]) -> Verdicts:
    """The reboot into cgroup v1."""
    return judged["cgroup-v1"]


@pytest.fixture
def trixie(judged: dict[str, Verdicts]) -> Verdicts:
    """The reboot of Debian 13."""
    return judged["debian-13"]


@pytest.mark.parametrize(("host", "stage"), STAGES)
def test_every_boot_does_what_the_operator_asks(folders: dict[str, Path], host: str, stage: str) -> None:
    result = folders[host] / stage / "result"
    assert ((result / "done").read_text().split()[0], (result / "stderr").read_text()) == ("0", "")


def test_every_section_is_taken(verdict: Verdicts) -> None:
    for taken in (verdict.run.baseline, verdict.run.pre, verdict.run.post):
        states = {name: outcome.state for name, outcome in taken.outcomes.items()}
        assert states and {*states.values()} <= {"ok", "partial", "absent"}, states


def test_what_was_to_be_set_was_set(verdict: Verdicts) -> None:
    run = verdict.run
    moved = {name for name, other in MOVES.items() if other in run.asked}
    assert run.touched | moved == run.asked | moved and len(run.reverted) > 10


@pytest.mark.parametrize("form", FORMS)
def test_all_that_is_lost_is_said_and_nothing_else(verdict: Verdicts, form: str) -> None:
    hits = FORMS[form](verdict)
    assert (hits.missed, hits.false) == ([], [])


def test_the_forecast_comes_true(verdict: Verdicts, tell: Callable[[str], None]) -> None:
    run = verdict.run
    found = score(run.pre, run.post)
    assert chosen(run.pre)[0] == run.post.meta.kernel and found is not None and found.true
    tell(f"{run.name}: {came_true(found)}")
    assert [one.key for one in (*found.missed, *found.wrong)] == []


def unjudged(snapshot: Snapshot) -> set[str]:
    """Why devices of containers are not judged."""
    return {row["why"] for row in derived("device_access", snapshot, None).unknown}


def test_the_words_for_cgroup_v1_are_foreseen(old: Verdicts) -> None:
    foreseen = {one.key: one.status for one in outlook(old.run.pre, old.run.baseline).predictions}
    assert foreseen["cmdline systemd.unified_cgroup_hierarchy"] == "changes"
    assert old.run.post.table("cmdline")["parameters"]["systemd.unified_cgroup_hierarchy"] == ["0"]
    row, came = (derived("cgroup_hierarchy", side, None).rows[""] for side in (old.run.pre, old.run.post))
    assert (row["outcome_next"], row["containers"]) == ("v1", ["101", "102"])
    assert (came["outcome"], came["containers"]) == ("v1", ["101", "102"])


def test_what_containers_may_open_with_cgroup_v1_is_not_judged(folders: dict[str, Path], old: Verdicts) -> None:
    """LXC takes other lines there: those of privileged containers do nothing. Unknown is said, and never a pass."""
    for container, said in {"101": "EPERM", "102": "EPERM", "103": "ok"}.items():
        assert opened(folders["cgroup-v1"], "cgroup-v2", f"opens-{container}")[UVM] == "ok"
        assert opened(folders["cgroup-v1"], "cgroup-v1", f"opens-{container}")[UVM] == said
    assert derived("device_access", old.run.pre, None).rows and unjudged(old.run.pre) == set()
    assert not derived("device_access", old.run.post, None).rows and unjudged(old.run.post) == {NO_CGROUP2}
    assert STALE in {one.rule for one in old.review.judgement.unknown} and new(old, "lxc.*") == []


def lines(snapshot: Snapshot) -> dict[str, str]:
    """Sysctls of which a line of sysctl.conf is judged to count for nothing, and their findings' messages."""
    found = review(None, snapshot).judgement.findings
    return {one.subject: one.message for one in found if one.rule == IGNORED}


def about(found: Verdicts, name: str) -> Prediction | None:
    """The forecast, with baseline, of a sysctl."""
    said = outlook(found.run.pre, found.run.baseline).predictions
    return next((one for one in said if one.key == f"sysctl {name}"), None)


def value(snapshot: Snapshot, name: str) -> int:
    """What a sysctl is."""
    found: int = snapshot.table("sysctl")["values"][name]
    return found


@pytest.mark.parametrize(("name", "status", "words"), [(name, *said) for name, said in OF_CONF.items()])
def test_a_line_of_sysctl_conf_is_lost_and_foreseen(trixie: Verdicts, name: str, status: str, words: str) -> None:
    """systemd-sysctl reads the file through a link alone, and Debian 13 has none."""
    run, said = trixie.run, about(trixie, name)
    assert value(run.baseline, name) == value(run.post, name) != value(run.pre, name)
    assert said is not None and (said.status, said.next) == (status, value(run.post, name))
    assert words in lines(run.pre)[name] and words in lines(run.post)[name]
    assert trixie.review.diff is not None
    assert ("sysctl", "values", name) in {(change.section, *change.path) for change in trixie.review.diff.changes}


def test_a_file_of_sysctl_d_is_kept(trixie: Verdicts) -> None:
    run, said = trixie.run, about(trixie, OF_FOLDER)
    assert value(run.baseline, OF_FOLDER) != value(run.pre, OF_FOLDER) == value(run.post, OF_FOLDER) == 30
    assert said is not None and said.status == "kept" and OF_FOLDER not in lines(run.pre)


def test_it_is_debian_13(trixie: Verdicts) -> None:
    os = trixie.run.post.table("os")
    assert os["systemd"].startswith("257.") and os["lxc"].startswith("1:6.")


def test_stale_majors_with_lxc_6(folders: dict[str, Path], trixie: Verdicts) -> None:
    assert {one.subject.split()[0] for one in new(trixie, STALE)} == {"101"}
    for container, said in {"101": "EPERM", "102": "ok", "103": "ok"}.items():
        assert opened(folders["debian-13"], "debian-13", f"opens-{container}")[UVM] == "ok"
        assert opened(folders["debian-13"], "debian-13-rebooted", f"opens-{container}")[UVM] == said
    assert opened(folders["debian-13"], "debian-13-rebooted", "mended-101")[UVM] == "ok"
