"""Hosts of a few files for the tests of what a boot does: the collectors read them, so that real texts are judged."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from snapshot.collectors import units
from snapshot.derive.actions.boot_actions import Action, boot_actions
from snapshot.document import Snapshot
from tests.collectors.fake import Content, MemoryHost, gather, node

from .made import snapshot

ETC, VENDOR = "/etc/systemd/system", "/usr/lib/systemd/system"
INIT = "Max open files            1024   524288  files\nMax locked memory  8388608  unlimited  bytes\n"
WANTS = f"{ETC}/multi-user.target.wants"


def unit(*lines: str, install: str = "WantedBy=multi-user.target", head: str = "", kind: str = "oneshot") -> str:
    """A service with these lines in [Service]; what remains active after its start."""
    remains = "RemainAfterExit=yes\n" if kind == "oneshot" else ""
    body = "\n".join(lines)
    return f"[Unit]\nDescription=x\n{head}\n[Service]\nType={kind}\n{remains}{body}\n[Install]\n{install}\n"


def host(
    files: Mapping[str, Content], enabled: Iterable[str] = (), scripts: Mapping[str, str] | None = None,
    links: Mapping[str, str] | None = None, results: Mapping[str, str] | None = None, **sections: Mapping[str, Any],
) -> Snapshot:
    """A snapshot of FILES, ENABLED units of /etc, executable SCRIPTS, and more SECTIONS."""
    made = {"/proc/1/limits": INIT, **files, **(scripts or {})}
    wants = {f"{WANTS}/{name}": f"{ETC}/{name}" for name in enabled}
    nodes = {path: node("file", mode=0o755, size=len(text)) for path, text in (scripts or {}).items()}
    nodes["/dev/null"] = node("char", 1, 3)
    model, _ = gather(units, MemoryHost(made, {**wants, **(links or {})}, nodes, dict(results or {})))
    return snapshot(None, "EACCES", units=model.table(), **sections)


def brief(actions: Iterable[Action]) -> list[tuple[Any, ...]]:
    """(target, where, value) of those that are certain."""
    return [(a.target, a.where, a.value) for a in actions if a.certain]


def service(*lines: str, scripts: Mapping[str, str] | None = None, **more: Any) -> tuple[Action, ...]:
    """What the enabled unit tune.service with these lines does."""
    return boot_actions(host({f"{ETC}/tune.service": unit(*lines, **more)}, ["tune.service"], scripts))


def script(text: str, call: str = "/opt/tune") -> tuple[Action, ...]:
    """What an executable script does that an enabled unit calls."""
    return service(f"ExecStart={call}", scripts={"/opt/tune": text})
