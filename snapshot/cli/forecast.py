"""snap forecast: what the next boot will change."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

from ..errors import SnapError
from . import arguments
from .outputs import Output, emit
from .terms import Terms, choosing, reporting, ruling

if TYPE_CHECKING:
    from ..document import Snapshot
    from ..engine.rule import Rule
    from ..report.review import Review

MOST = 50  # stored snapshots that are looked at for a baseline


@click.command(short_help="Say what the next boot will change, before it does.")
@click.argument("reference", default=arguments.NOW, metavar="[SNAP]")
@click.option("--for", "kernel", metavar="KERNEL", help="Forecast this installed kernel, whichever would boot.")
@click.option("--baseline", metavar="SNAP",
              help="What the boot left, before any tuning; without it, a stored one is looked for (take --baseline).")
@reporting
@choosing
@ruling
def forecast(
    reference: str, kernel: str | None, baseline: str | None, outputs: tuple[Output, ...], everything: bool,
    verbose: bool, only: tuple[str, ...], ignore: tuple[str, ...], **options: Any,
) -> None:
    """Say what the next boot will change or break, with the reason and the line, from one snapshot or this host now.

    Each setting is KEPT, REVERTS, CHANGES, MAY change, or is UNKNOWN. After the reboot, diff says what came true.

    \b
    Exit codes:
      0  nothing at or above --fail-on
      1  findings at or above --fail-on
      2  error
      3  no such finding, but a rule at or above --fail-on could not be judged
    """
    if baseline == reference == arguments.STDIN:
        raise click.UsageError("standard input can be one snapshot only")
    terms = Terms(**options)
    terms.check(verbose)
    rules = terms.chosen(only, ignore)
    from ..derive.forecasts.forecast_kernel import booting

    taken = arguments.snapshot(reference)
    taken = booting(taken, kernel) if kernel else taken
    found = foreseen(terms, rules, taken, reference, _given(taken, baseline) if baseline else None)
    emit(found, outputs, everything)
    sys.exit(found.exit_code)


def foreseen(
    terms: Terms, rules: tuple[Rule, ...], taken: Snapshot, reference: str, base: Snapshot | None = None,
) -> Review:
    """What those of RULES that are about the next boot say of TAKEN; without BASE, with a stored baseline."""
    from ..derive.forecasts.forecast import outlook

    ahead = [rule for rule in rules if rule.looks_ahead]
    found = outlook(taken, base or _stored(taken))
    return terms.review(None, taken, "", reference, ahead, ("forecast", "state"), outlook=found)


def _given(taken: Snapshot, reference: str) -> Snapshot:
    """The snapshot that is to be the baseline. SnapError when it can be none."""
    from ..derive.forecasts.forecast_evidence import why_no_baseline
    from ..derive.tunables.tunable_words import next_kernel

    found = arguments.snapshot(reference)
    if why := why_no_baseline(taken, found, next_kernel(taken)):
        raise SnapError(f"{reference} is no baseline for this forecast: {why}")
    return found


def _stored(taken: Snapshot) -> Snapshot | None:
    """The newest stored snapshot of the host that is a baseline; one that cannot be read is passed over."""
    from .. import store
    from ..derive.forecasts.forecast_evidence import early, why_no_baseline
    from ..derive.tunables.tunable_words import next_kernel
    from ..document import Snapshot

    kernel = next_kernel(taken)
    for entry in store.entries(taken.meta.host)[:MOST]:
        try:
            found = Snapshot.load(entry.path)
        except SnapError:
            continue
        same = found.meta.taken == taken.meta.taken
        if not same and early(found) and not why_no_baseline(taken, found, kernel):
            return found
    return None
