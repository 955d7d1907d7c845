"""What path patterns cover, against a regular expression that says the same."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from snapshot.host.patterns import Patterns

WORDS = {"**": ".*", "*": "[^/]*"}
COMPONENT = st.sampled_from(["**", "*", "a", "b", "a*", "*a", "*a*b", "a*a", "", "ab", "aba", "\n"])
PATH = st.lists(COMPONENT, min_size=1, max_size=5).map(lambda parts: "/" + "/".join(parts))


@pytest.mark.parametrize(
    ("path", "covered"),
    [
        ("/a/x", True), ("/a/x/y", False), ("/a", False), ("/a/*", True), ("/b", False), ("/b/c/d\n", True),
        ("/m/k/x.ko", True), ("/m/k/l/x.ko", True), ("/m/x.ko", False), ("/m/k/x.ko.xz", False),
    ],
)  # fmt: skip
def test_examples(path: str, covered: bool) -> None:
    assert Patterns(["/a/*", "/b/**", "/m/**/*.ko"]).cover(path) is covered


@given(patterns=st.lists(PATH, max_size=4), path=PATH)
def test_a_regular_expression_covers_the_same(patterns: list[str], path: str) -> None:
    texts = ("".join(WORDS.get(w, re.escape(w)) for w in re.split(r"(\*\*|\*)", p)) for p in patterns)
    expected = re.fullmatch("|".join(texts) or r"(?!)", path, re.DOTALL)
    assert Patterns(patterns).cover(path) is bool(expected)
