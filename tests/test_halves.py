"""Whatever section a snapshot lacks, the judge answers: of half a host as of a whole one."""

from __future__ import annotations

import pytest

from snapshot.diff import compare
from snapshot.document import ALWAYS, Outcome, Snapshot
from snapshot.engine.judge import NOT_JUDGED_BEFORE, judge
from snapshot.engine.packs import shipped
from snapshot.sections import NAMES
from tests.recordings import taken

HOST = "pve-epyc-after.tar.xz"


def without(section: str, state: str) -> Snapshot:
    """The host of which SECTION could not be taken."""
    whole = taken(HOST)
    outcomes = dict(whole.outcomes) | {section: Outcome.model_validate({"state": state, "facts": 0, "why": "a reason"})}
    models = {name: found for name in whole.outcomes if name != section and (found := whole.section(name)) is not None}
    return Snapshot.build(whole.meta, outcomes, whole.files, models)


@pytest.mark.parametrize("section", NAMES)
@pytest.mark.parametrize("state", ["absent", "failed"])
def test_a_section_that_one_side_or_both_lack(section: str, state: str) -> None:
    if state == "absent" and section in ALWAYS:
        return
    whole, half = taken(HOST), without(section, state)
    for before, after in ((whole, half), (half, whole), (half, half)):
        found = judge(before, after, compare(before, after), shipped(), scopes=("state", "change", "forecast"))
        assert found.passed
        if state == "failed":  # what is not known is not worse; what was not judged before says so
            worse = [f for f in found.findings if f.class_ == "new" and f.severity != "info"]
            assert all(before is half and NOT_JUDGED_BEFORE in f.why for f in worse), worse
