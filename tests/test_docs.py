"""The generated pages are what the code says now."""

from __future__ import annotations

from docs import rules
from docs.generate import PAGE, page
from snapshot.engine.packs import shipped
from snapshot.sections import NAMES, model
from snapshot.sections.base import types


def test_the_page_of_the_sections_is_what_the_models_say() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), "run: python -m docs.generate"


def test_every_field_of_every_section_is_on_the_page() -> None:
    chapters = page().split("\n## ")[1:]
    assert [chapter.split("\n")[0] for chapter in chapters] == [*NAMES, "shared tables"]
    for name, chapter in zip(NAMES, chapters, strict=False):
        assert all(f"| `{field}`" in chapter for field in types(model(name))), name


def test_the_page_of_the_rules_is_what_the_packs_say() -> None:
    assert rules.PAGE.read_text(encoding="utf-8") == rules.page(), "run: python -m docs.generate"


def test_a_fault_that_is_not_judged_is_known_by_an_id_and_says_what_it_needs() -> None:
    ids = [one["id"] for one in rules.undetected()]
    assert len(ids) == len(set(ids)) and all(one.keys() == {"id", "title", "needs"} for one in rules.undetected())
    packs = {rule.id.partition(".")[0] for rule in shipped()} | {"bench"}
    assert {name.partition(".")[0] for name in ids} <= packs
