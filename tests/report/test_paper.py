"""Where lines break, and where they must not."""

from __future__ import annotations

import pytest

from snapshot.report.paper import GLUE, Paper


def lines(text: str, width: int = 80, **more: str) -> list[str]:
    paper = Paper(width)
    paper.prose(text, **more)
    return paper.text().splitlines()


def test_prose_breaks_between_clauses_and_not_within_a_short_one() -> None:
    text = "its rule allows major 507; nvidia-caps had 507 and now has 510; nobody owns 507"
    assert lines(text, indent="  ") == [
        "  its rule allows major 507; nvidia-caps had 507 and now has 510;", "  nobody owns 507",
    ]


def test_a_long_clause_breaks_where_it_has_to() -> None:
    found = lines("word " * 40)
    assert max(map(len, found)) <= 80 and len(found) == 3


@pytest.mark.parametrize("width", [40, 80])
def test_pieces_stay_whole_unless_they_are_longer_than_a_line(width: int) -> None:
    paper = Paper(width)
    pieces = [*["pci 220 (6 added, 214 removed)"] * 4, "long " * 30]
    paper.pieces(pieces, "   ", "  ")
    found = paper.text().splitlines()
    assert max(map(len, found)) <= width
    assert sum(line.count("pci 220 (6 added, 214 removed)") for line in found) == 4


def test_no_text_brings_its_own_glue() -> None:
    assert GLUE not in lines(f"a{GLUE}b")[0] and "xa0" in lines(f"a{GLUE}b")[0]


def test_the_end_of_a_head_stands_at_the_margin_of_its_last_line_or_below() -> None:
    paper = Paper()
    for text in ("short", "x" * 69, "word " * 16):
        paper.head("HIGH", text, "a.rule")
    found = paper.text().splitlines()
    assert found[0].endswith("short" + "a.rule".rjust(65)) and len(found[0]) == 80
    assert found[2] == "a.rule".rjust(80)
    assert found[4].endswith("a.rule") and "word" in found[4] and len(found[4]) == 80


def test_an_end_that_is_wider_than_the_text_uses_the_whole_line() -> None:
    paper = Paper(40)
    paper.head("HIGH", "x" * 28, "a.rule-with-quite-a-long-name [1]")
    paper.head("HIGH", "no end")
    assert paper.text() == f"HIGH      {'x' * 28}\n{'a.rule-with-quite-a-long-name [1]':>40}\nHIGH      no end\n"
