"""What could not be judged: one reason is said once, whatever number of rules it keeps from a verdict."""

from __future__ import annotations

from snapshot.report import unknowns
from snapshot.report.paper import Paper
from snapshot.report.review import Review

from ..pairs import snapshot
from .made import judged, review, unknown


def text(review: Review, everything: bool = False) -> str:
    paper = Paper()
    unknowns.write(paper, review, everything)
    return paper.text()


def test_rules_that_lack_the_same_are_listed_by_severity_under_the_one_reason() -> None:
    found = text(judged(unknowns=[unknown("a.low", "low"), unknown("a.high"), unknown("b.high")]))
    assert found == """\
UNKNOWN   3 rules lack the same evidence
  after: pci: EACCES
  high      a.high  b.high
  low       a.low
"""


def test_one_snapshot_alone_has_no_side() -> None:
    found = judged(unknowns=[unknown("a.a")], base=review(None, snapshot({})))
    assert [lack.reasons for lack in unknowns.lacks(found)] == [("pci: EACCES",)]


def test_another_reason_path_or_side_is_another_story() -> None:
    found = judged(unknowns=[unknown("a.a"), unknown("a.b", why="timeout"), unknown("a.c", path="net")])
    assert [(lack.reasons, len(lack.groups)) for lack in unknowns.lacks(found)] == [
        (("after: pci: EACCES",), 1), (("after: pci: timeout",), 1), (("after: net: EACCES",), 1)]
    assert "UNKNOWN   about a.b                                                   a.b (high)\n" in text(found)


def test_items_are_counted_and_what_is_allowed_is_marked() -> None:
    found = judged(unknowns=[unknown(rule, subject=str(at), path=f"pci.functions.{at}.express")
                             for rule in ("a.a", "a.b") for at in range(3)], allow_unknown=["a.b"])
    assert text(found) == """\
UNKNOWN   2 rules lack the same evidence
  after: pci.functions.*.express: EACCES
  high      a.a (3 of 3)  a.b (3 of 3, allowed)
"""
    assert "  high      a.b (3 of 3, allowed): about a.b\n" in text(found, everything=True)


def test_one_alone_has_its_title_and_the_names_of_what_it_did_not_see() -> None:
    found = text(judged(unknowns=[unknown("a.a", subject=str(at), path=f"x.{at}") for at in range(9)],
                        allow_unknown=["a.a"]))
    assert found == """\
UNKNOWN   about a.a                                                   a.a (high)
  9 of 9: 0 1 2 3 and 5 more
  after: x.*: EACCES
  Allowed by --allow-unknown.
"""
