"""The drawing of the house, held against the code: imports, registry, docstrings, help texts."""

from __future__ import annotations

import ast
import re
from importlib import import_module
from pathlib import Path

import click
import pytest

import snapshot
from snapshot.cli import VERBS, snap
from snapshot.sections import NAMES, model
from snapshot.sections.base import Model

PACKAGE = Path(snapshot.__file__).parent
MODULES = sorted(PACKAGE.rglob("*.py"))

# Which rooms a room may import. The capture arm (host, collectors, capture) and the judge arm (derive, diff, engine,
# report) share only the models and the file, and meet in the cli.
MAY_IMPORT: dict[str, set[str]] = {
    "__init__": set(),
    "__main__": {"cli", "errors", "report"},
    "errors": set(),
    "records": set(),
    "regexes": set(),
    "tomlio": {"errors"},
    "store": {"errors"},
    "gitrev": {"errors"},
    "sections": {"errors"},
    "host": {"errors"},
    "collectors": {"errors", "sections", "host", "tomlio"},  # containerd and the NVIDIA runtime are set up in TOML
    "document": {"__init__", "errors", "sections", "tomlio", "store"},
    "schema": {"sections", "document"},
    "capture": {"__init__", "errors", "sections", "host", "collectors", "document"},
    "redact": {"errors", "sections", "document", "store", "host", "collectors"},
    "pairing": {"sections"},
    "bench": {"errors", "sections", "document", "tomlio"},
    "derive": {"bench", "errors", "sections", "tomlio", "document", "pairing"},  # defaults of tunables are TOML
    "diff": {"errors", "sections", "document", "pairing"},
    "engine": {"__init__", "errors", "sections", "tomlio", "document", "derive", "diff"},
    "report": {"__init__", "bench", "errors", "sections", "tomlio", "store", "document", "derive", "diff", "engine"},
    "fix": {"errors", "sections", "document", "derive", "diff", "engine"},
    "config": {"errors", "sections", "tomlio", "engine"},  # of engine the models of what a user sets
}
MAY_IMPORT["cli"] = {*MAY_IMPORT, "cli"}


def room(path: Path) -> str:
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def imported(path: Path) -> set[str]:
    """The rooms that a module imports, also within functions and under TYPE_CHECKING."""
    package = ("snapshot", *path.relative_to(PACKAGE).parts[:-1])
    rooms = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else ()
            full = (*base, *(node.module or "").split(".")) if node.module else base
            if full[:1] == ("snapshot",):
                rooms |= {full[1]} if len(full) > 1 else {a.name for a in node.names}
        elif isinstance(node, ast.Import):
            rooms |= {a.name.split(".")[1] for a in node.names if a.name.startswith("snapshot.")}
    return {"__init__" if r.startswith("__") and r.endswith("version__") else r for r in rooms}


@pytest.mark.parametrize("path", MODULES, ids=lambda p: str(p.relative_to(PACKAGE)))
def test_imports_only_what_the_drawing_allows(path: Path) -> None:
    own = room(path)
    assert own in MAY_IMPORT, f"{own} has no line in MAY_IMPORT"
    assert imported(path) - {own, "records", "regexes"} <= MAY_IMPORT[own]


def test_only_tomlio_knows_toml_and_nobody_needs_deepdiff() -> None:
    allowed: dict[str, set[str]] = {
        "tomli": {"tomlio"}, "tomllib": {"tomlio"}, "tomli_w": {"tomlio"}, "deepdiff": set(),
    }
    for path in MODULES:
        for node in ast.walk(ast.parse(path.read_text())):
            names = [a.name for a in node.names] if isinstance(node, ast.Import) else (
                [node.module or ""] if isinstance(node, ast.ImportFrom) and not node.level else [])
            for name in names:
                top = name.split(".")[0]
                assert top not in allowed or room(path) in allowed[top], f"{path} imports {name}"


@pytest.mark.parametrize("path", MODULES, ids=lambda p: str(p.relative_to(PACKAGE)))
def test_nothing_is_made_at_import_that_may_never_be_used(path: Path) -> None:
    """Classes of values are records, and expressions at the top of a module are regex(): see there."""
    tree = ast.parse(path.read_text())
    taken = {(n.module, a.name) for n in ast.walk(tree) if isinstance(n, ast.ImportFrom) for a in n.names}
    assert "dataclasses" not in {module for module, _ in taken}
    assert ("typing", "NamedTuple") not in taken
    todo: list[ast.AST] = [tree]
    while todo:
        node = todo.pop()
        assert not (isinstance(node, ast.Attribute) and ast.unparse(node) == "re.compile"), f"line {node.lineno}"
        if not isinstance(node, ast.FunctionDef | ast.Lambda):
            todo += ast.iter_child_nodes(node)


@pytest.mark.parametrize("path", MODULES, ids=lambda p: str(p.relative_to(PACKAGE)))
def test_no_group_of_an_expression_is_repeated_possessively(path: Path) -> None:
    """Before Python 3.11.5, which Debian 12 has not, such a repeat ends too far on: (?>(?:...)*) means the same."""
    assert re.findall(r"\)(?:[+*?]|\{[0-9,]+\})\+", path.read_text()) == []


@pytest.mark.parametrize("path", MODULES, ids=lambda p: str(p.relative_to(PACKAGE)))
def test_every_module_says_what_it_is(path: Path) -> None:
    assert ast.get_docstring(ast.parse(path.read_text())), "no module docstring"


@pytest.mark.parametrize("name", NAMES)
def test_one_word_opens_every_room_of_a_section(name: str) -> None:
    assert issubclass(model(name), Model)
    module = import_module(f"snapshot.collectors.{name}")
    assert module.READS.paths or name == "bench"  # a take measures nothing
    assert callable(module.collect)


def test_every_section_is_registered() -> None:
    models, collectors = ({p.stem for p in (PACKAGE / room).glob("*.py")} for room in ("sections", "collectors"))
    assert (models & collectors) - {"__init__", "base"} == set(NAMES)


def fields(found: type[Model], seen: set[type]) -> None:
    if found in seen:
        return
    seen.add(found)
    for name, field in found.fields.items():
        assert field.description, f"{found.__name__}.{name} has no description"


def test_every_field_is_described() -> None:
    for name in NAMES:
        module = import_module(f"snapshot.sections.{name}")
        for found in vars(module).values():
            if isinstance(found, type) and issubclass(found, Model):
                fields(found, set())


@pytest.mark.parametrize("verb", VERBS)
def test_every_command_has_help(verb: str) -> None:
    command = snap.get_command(click.Context(snap), verb)
    assert command is not None
    assert command.name == verb
    assert command.help
    assert command.short_help
    for parameter in command.params:
        if isinstance(parameter, click.Option):
            assert parameter.help, f"{verb} {parameter.opts} has no help"


def test_every_verb_is_a_file() -> None:
    shared = {"__init__", "arguments", "bench_runs", "outputs", "terms"}
    assert {p.stem for p in (PACKAGE / "cli").glob("*.py")} - shared == set(VERBS)
