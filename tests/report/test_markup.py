"""Nothing of a snapshot means anything in Markdown. commonmark has no parser here: the escapes are held against the
grammar by what is left outside of code spans."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from snapshot.report.markup import clipped, code, fenced, folded, inline

SPAN = re.compile(r"(?<!`)(`+)(?!`)(.+?)(?<!`)\1(?!`)", re.DOTALL)  # a code span of the GFM specification, 6.3
HARMLESS = re.compile(r"[A-Za-z0-9 /.,;:%+='\"()>-]*")


@pytest.mark.parametrize(("text", "made"), [
    ("container 101 (llm) cannot open /dev/nvidia-uvm, /dev/nvidia-uvm-tools", None),
    ("kernel 6.8.12-9-pve -> 6.14.11-1-pve", None),
    ("GPU 0000:01:00.0: PCIe MaxReadReq 4096 -> 512 bytes", "GPU `0000:01:00.0`: PCIe MaxReadReq 4096 -> 512 bytes"),
    ("amd_pstate=active, (x_y).", "`amd_pstate=active`, (`x_y`)."),
    ("ask @root about #1, GH-2 and !3", "ask `@root` about `#1`, `GH-2` and `!3`"),
    ("see http://x.y/z or www.x.y", "see `http://x.y/z` or `www.x.y`"),
    ("<b>a</b> *b* _c_ [d](e) ~~f~~ $g$ h|i", "`<b>a</b>` `*b*` `_c_` `[d](e`) `~~f~~` `$g$` `h|i`"),
    ("a:tada:b &amp; deadbeef", "`a:tada:b` `&amp`; `deadbeef`"),
    ("back`tick ```", "``back`tick`` ```` ``` ````"),
    ("- not a list", "`-` not a list"), ("1. nor this", "`1.` nor this"), ("=== nor a heading", "`===` nor a heading"),
    ("    no code", "no code"), ("two\nlines", "`two\\nlines`"), ("", ""), ("  ", ""), (":", ":"), ("(,)", "(,)"),
])
def test_what_could_mean_something_is_code(text: str, made: str | None) -> None:
    assert inline(text) == (text if made is None else made)


@given(st.text(alphabet=st.sampled_from("`<>@#*_[]()|!~$&\\:; \n\tab1-+=.")))
def test_outside_of_code_nothing_is_left_that_means_anything(text: str) -> None:
    line = inline(text)
    assert HARMLESS.fullmatch(SPAN.sub("", line)), line
    assert not re.match(r"[-+=]|[0-9]+[.)](?: |$)| ", line)


@given(st.text(min_size=1))
def test_a_code_span_is_one_span(text: str) -> None:
    text = text.replace("\n", "")
    found = SPAN.fullmatch(code(text)) if text else None
    assert not text or (found and found[2].strip(" ") == text.strip(" "))


def test_long_text_is_cut_and_says_how_much() -> None:
    assert clipped("x" * 10, 10) == "x" * 10
    assert clipped("x" * 1010, 10) == "x" * 10 + "... (1,000 more characters)"


def test_a_code_block_ends_at_its_end() -> None:
    assert fenced(["a", "````", "b\nc"], "sh") == "`````sh\na\n````\nb\nc\n`````"
    assert fenced(["\x1b[2J"]) == "```\n\\x1b[2J\n```"
    assert folded("2 changes", "x") == "<details><summary>2 changes</summary>\n\nx\n\n</details>"
