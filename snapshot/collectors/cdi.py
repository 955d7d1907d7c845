"""Files of the Container Device Interface, from /etc/cdi and /var/run/cdi.

SPEC.md of container-device-interface (0.3 to 1.1); nvidia-ctk writes YAML, others JSON. A device node has
major and minor only when the writer put them there; else the engine looks them up at each start. YAML is read
by its base schema, in which every scalar is text: what 0666 or on means there depends on the version of YAML,
not on the file.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, Literal

from ..errors import ParseError
from ..sections.runtimes import Cdi, CdiEdits, CdiNode

LIMIT = 4 << 20  # bytes of one file; real ones have some tens of kilobytes
_MOST = 20_000  # nodes and mounts in one file: YAML aliases can stand for any number of them
_KINDS: dict[str, Literal["b", "c", "u", "p"]] = {"b": "b", "c": "c", "u": "u", "p": "p"}


def parse(text: str, file: str) -> Cdi:
    """The model of a FILE whose name ends in .json or .yaml. ParseError when it is no CDI."""
    if len(text) > LIMIT:
        raise ParseError(f"{file}: more than {LIMIT >> 20} MiB")
    table = _loaded(text, file)
    if not isinstance(table, dict) or not isinstance(table.get("devices"), list):
        raise ParseError(f"{file}: no CDI: there is no list of devices")
    budget = iter(range(_MOST))
    try:
        devices = {_text(d.get("name")) or "": _edits(d, budget) for d in table["devices"] if isinstance(d, dict)}
        common = _edits(table, budget)
    except _TooManyError:
        raise ParseError(f"{file}: more than {_MOST} device nodes, mounts and hooks") from None
    return Cdi(
        version=_text(table.get("cdiVersion")), kind=_text(table.get("kind")),
        devices=dict(sorted(devices.items())), common=common,
    )


class _TooManyError(Exception):
    pass


def _loaded(text: str, file: str) -> Any:
    try:
        return json.loads(text) if file.endswith(".json") else _yaml(text, file)
    except RecursionError:
        raise ParseError(f"{file}: nested too deep") from None
    except ValueError as error:
        raise ParseError(f"{file}: no JSON: {str(error)[:200]}") from None


def _yaml(text: str, file: str) -> Any:
    import yaml  # only where there is such a file

    loader = getattr(yaml, "CBaseLoader", yaml.BaseLoader)
    try:
        return yaml.load(text.encode("utf-8", "replace"), Loader=loader)  # noqa: S506 - BaseLoader makes text only
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = f":{mark.line + 1}" if mark else ""
        what = getattr(error, "problem", None) or getattr(error, "reason", None) or "not to be read"
        raise ParseError(f"{file}{line}: no YAML: {what}") from None


def _edits(owner: dict[str, Any], budget: Iterator[int]) -> CdiEdits:
    edits = owner.get("containerEdits")
    edits = edits if isinstance(edits, dict) else {}
    nodes = {_text(n.get("path")) or "": _node(n) for n in _tables(edits.get("deviceNodes"), budget)}
    pairs = ((m.get("containerPath"), m.get("hostPath")) for m in _tables(edits.get("mounts"), budget))
    mounts = {_text(inner) or "": _text(outer) or "" for inner, outer in pairs}
    hooks = {path for hook in _tables(edits.get("hooks"), budget) if (path := _text(hook.get("path")))}
    return CdiEdits(
        nodes=dict(sorted(nodes.items())) or None, mounts=dict(sorted(mounts.items())) or None,
        hooks=sorted(hooks) or None,
    )


def _tables(value: Any, budget: Iterator[int]) -> Iterator[dict[str, Any]]:
    for item in value if isinstance(value, list) else ():
        if next(budget, None) is None:
            raise _TooManyError
        if isinstance(item, dict):
            yield item


def _node(node: dict[str, Any]) -> CdiNode:
    mode = _number(node.get("fileMode"), octal=True)
    return CdiNode(
        host_path=_text(node.get("hostPath")), type=_KINDS.get(_text(node.get("type")) or ""),
        major=_number(node.get("major")), minor=_number(node.get("minor")),
        mode=None if mode is None else f"{mode:04o}", permissions=_text(node.get("permissions")),
    )


def _text(value: Any) -> str | None:
    """VALUE if it is text; half characters, which an escape can make, become ?."""
    return value.encode("utf-8", "replace").decode() if isinstance(value, str) and value else None


def _number(value: Any, octal: bool = False) -> int | None:
    """A JSON number, or the decimal text of a YAML one, in which a leading 0 or 0o makes it octal where OCTAL."""
    if isinstance(value, str) and re.fullmatch("[0-9]{1,10}", value):
        return int(value, 8) if octal and value[0] == "0" and not set(value) & {"8", "9"} else int(value)
    if octal and isinstance(value, str) and re.fullmatch("0o[0-7]{1,10}", value):
        return int(value, 8)
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 1 << 32 else None
