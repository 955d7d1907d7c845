"""The generated pages are what the code says now."""

from __future__ import annotations

from docs.generate import PAGE, page
from snapshot.sections import NAMES, model
from snapshot.sections.base import types


def test_the_page_of_the_sections_is_what_the_models_say() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), "run: python -m docs.generate"


def test_every_field_of_every_section_is_on_the_page() -> None:
    chapters = page().split("\n## ")[1:]
    assert [chapter.split("\n")[0] for chapter in chapters] == [*NAMES, "shared tables"]
    for name, chapter in zip(NAMES, chapters, strict=False):
        assert all(f"| `{field}`" in chapter for field in types(model(name))), name
