"""What judging costs: python -m benchmarks.rules BEFORE AFTER

The shipped rules, and the same under other ids until there are RULES, on the two snapshots: loaded anew for each run,
compared, every section parsed and checked, so that the median that it prints, in milliseconds of processor time, is
derived tables and rules alone.
"""

from __future__ import annotations

import gc
import statistics
import sys
import time

from snapshot.diff import compare
from snapshot.document import Snapshot
from snapshot.engine.judge import SCOPES, judge
from snapshot.engine.packs import shipped
from snapshot.engine.rule import Rule

RULES = 300
RUNS = 15


def rules() -> list[Rule]:
    """Rules of a comparison, RULES of them."""
    own = [rule for rule in shipped() if rule.scope in SCOPES]
    return [own[at % len(own)].copy(id=f"{own[at % len(own)].id}-{at // len(own)}") for at in range(RULES)]


def judged(before: str, after: str, applied: list[Rule]) -> float:
    """Milliseconds of processor time that the rules take."""
    old, new = Snapshot.load(before), Snapshot.load(after)
    diff = compare(old, new)
    for side in (old, new):
        for name in side.outcomes:
            side.section(name)
    began = time.process_time()
    judge(old, new, diff, applied)
    return (time.process_time() - began) * 1000


def main() -> None:
    """Prints the median, once the modules are imported."""
    gc.disable()  # as the command does
    applied, sides = rules(), sys.argv[1:3]
    judged(sides[0], sides[1], applied)
    print(f"{statistics.median(judged(sides[0], sides[1], applied) for _ in range(RUNS)):.1f}")


if __name__ == "__main__":
    main()
