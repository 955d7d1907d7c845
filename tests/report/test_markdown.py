"""The comment on a pull request. Its goldens were looked at as GitHub shows them."""

from __future__ import annotations

import re
from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion

from snapshot.document import Snapshot
from snapshot.engine.finding import Evidence
from snapshot.engine.settings import Waiver
from snapshot.report.markdown import LIMIT, render_markdown
from tests.pairs import lxc, pci, snapshot, story
from tests.report.made import review

from .made import KERNEL, finding, judged, unknown

EVIL = "x` ``` ```` </details> <img src=x onerror=y> @root #1 | a |\n\n# heading\n```\n$z$ [a](http://b)"
FENCE = re.compile(r"^(`{3,})[a-z]*\n.*?^\1$", re.MULTILINE | re.DOTALL)


def report(before: Snapshot | None, after: Snapshot, **more: Any) -> str:
    return render_markdown(review(before, after, "pre", "now", **more))


def prose(text: str) -> str:
    """The comment without code blocks and spans: what Markdown acts on."""
    return re.sub(r"(?<!`)(`+)(?!`).+?(?<!`)\1(?!`)", "", FENCE.sub("", text))


def test_the_story(golden: SnapshotAssertion) -> None:
    rules = [KERNEL, *review(*story()).rules]
    assert report(*story(), rules=rules) == golden


def test_every_part(golden: SnapshotAssertion) -> None:
    base = review(*story(), "pre", "now", rules=[KERNEL], waivers=[Waiver(path="pci", reason="so be it", by="ops")])
    found = [finding(f"a.{class_}", class_=class_) for class_ in ("expected", "better", "resolved", "existing")]
    found += [finding("a.b", waived_by="it is known (until 2030-01-01)"), finding("a.c", "info")]
    assert render_markdown(judged(found, [unknown("b.a"), unknown("b.b")], base)) == golden


def test_one_snapshot_alone(golden: SnapshotAssertion) -> None:
    assert report(None, story()[1]) == golden


def test_nothing_of_a_snapshot_breaks_out(golden: SnapshotAssertion) -> None:
    before, after = lxc(508), lxc(508)
    after["containers"]["101"]["hostname"] = EVIL
    base = review(snapshot({"lxc": before}, meta={"label": EVIL}), snapshot({"lxc": after}, meta={"host": EVIL}),
                  EVIL, EVIL, rules=[])
    line = Evidence(path=["x"], file=EVIL, line=1, text=EVIL)
    every: dict[str, Any] = {"message": EVIL, "evidence": [line], "explained_by": EVIL}
    every |= {name: [EVIL] for name in ("why", "now", "durable", "verify", "warnings")}
    found = [finding("a.b", subject=EVIL, **every), finding("a.c", class_="expected", **every),
             finding("a.d", waived_by=EVIL, **every)]
    text = render_markdown(judged(found, [unknown("a.e", subject=EVIL, why=EVIL)], base))
    assert text == golden
    left = prose(text)
    for word in ("@", "#1", "<img", "|", "[a]", "$z$", "```", "`"):
        assert word not in left
    assert left.count("<details>") == left.count("</details>") == text.count("<details><summary>")
    assert not re.search("^# ", left, re.MULTILINE)


def test_ten_thousand_changes_are_counted() -> None:
    before, after = (snapshot({"sysctl": {"values": {f"net.key{n}": n + more for n in range(10_000)}}})
                     for more in (0, 1))
    text = report(before, after, rules=[KERNEL])
    assert 40_000 < len(text.encode()) < LIMIT
    listed = text.count("\n~ sysctl")
    assert f"... and {10_000 - listed:,} more changes\n" in text and listed > 1000
    assert "10,000 changed" in text and "<summary>10,000 changes</summary>" in text


@pytest.mark.parametrize("size", [1, 400, 4_000, 100_000])
def test_whatever_there_is_it_is_short_enough_and_the_rest_is_counted(size: int) -> None:
    long = "`é@ " * (size // 4) + "x"
    before, after = (snapshot({"pci": pci(bytes_, name=long)}, meta={"host": long}) for bytes_ in (4096, 512))
    base = review(before, after, long, long, rules=[KERNEL], waivers=[Waiver(path="pci", reason=long)])
    kinds = [("critical", "new", None), ("low", "new", None), ("info", "new", None), ("low", "existing", None),
             ("high", "expected", None), ("high", "new", long)]
    found = [finding(f"a.{kind}-{at}", *kinds[kind][:2], f"{at} {long}", why=[long], now=[long],
                     waived_by=kinds[kind][2]) for at in range(300) for kind in range(len(kinds))]
    unknowns = [unknown(f"b.r{at}", subject=long, why=f"{at} {long}") for at in range(300)]
    text = render_markdown(judged(found, unknowns, base))
    assert len(text.encode()) < LIMIT
    assert "REGRESSED: 300 critical, 300 low.\n" in text and "300 notes" in text and "Exit 1" in text
    # 1,800 findings, and with those that are accepted stands that the changes are
    more = [int(number.replace(",", "")) for number in re.findall(r"(?:And|and) ([\d,]+) more finding", text)]
    assert len(re.findall("^(?:### |- )(?:[A-Z]+) .*`a.[0-5]-", text, re.MULTILINE)) + sum(more) == 1801
    assert prose(text).count("`") == 0


def test_commands_are_whole_or_not_there() -> None:
    command = "echo " + "x" * 50_000
    text = render_markdown(judged([finding("a.b", now=[command]), finding("a.c")]))
    assert "echo" not in text and "- HIGH a.b `a.b`\n\n### HIGH a.c `a.c`" in text
    assert "1 finding of these in a line, for want of room." in text


def test_what_was_so_before_says_so_where_it_counts() -> None:
    stale = snapshot({"pci": pci(512)})
    found = judged([finding("a.b", class_="existing")], base=review(stale, stale, rules=[]), fail_on_existing=True)
    assert "It was so before." in render_markdown(found)
