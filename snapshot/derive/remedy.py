"""What to paste so that a container can open its devices: now, and for good.

sed(1), pct(1). Line numbers are those of the live part, which stands above every snapshot part, and each edit
also names what it expects on its line: pasted twice, or after `pct set` has written the file anew, it hits
nothing else. With devN the number is looked up at each start; the mount entry has to go with it, or the start
fails.
"""

from __future__ import annotations

import re
import shlex
from typing import Any

from .access_verdict import RESTART_CURES, Case
from .given_devices import Given
from .start_rules import rewriting_hooks

Row = dict[str, Any]
RULE_CURES = (
    "stale-major",
    "never-allowed",
    "mknod-only",
    "partial-access",
    "rule-dropped-by-lxc",
    "rule-ignored-by-pve",
    "wrong-key",
    "v1-key",
    "rule-in-pending",
    "rule-in-snapshot",
)
ALLOW = "lxc.cgroup2.devices.allow"
HOST_CURES = ("node-missing", "optional-skipped", "driver-not-loaded", "stale-node")
INDEXES = 256  # dev0 to dev255
ORDER = "Keep the order: with a mount entry beside devN container {} does not start (File exists)."
STOPS = "The restart stops everything that runs in container {}."
HOOK = "A hook of container {} may rewrite its rules: {}"
DYNAMIC = "Another kernel, driver or load order may move the number again."


def add_remedies(case: Case, rows: list[Row]) -> None:
    """Adds old numbers, corrected lines, commands and warnings to the denied rows of one container."""
    denied = [r for r in rows if r["access"] == "denied"]
    stale = [r for r in denied if "rules" in r]
    for row in stale:
        _old_number(row, stale)
        row |= {"corrected": lines} if (lines := _corrected(row)) else {}
    durable = _for_good(case, [r for r in denied if r["reason"] in RULE_CURES])
    for row in denied:
        row |= {"now": now} if (now := _now(case, row)) else {}
        row |= {"durable": durable} if durable and row["reason"] in RULE_CURES else {}
        row |= {"warnings": said} if (said := _warnings(case, row)) else {}


def _old_number(row: Row, stale: list[Row]) -> None:
    """The number that the driver had: known from before, or the only one that can be meant."""
    first, before = row["rules"][0], "before_owner" in row["rules"][0]
    row |= {"place": f"{first['file']}:{first['line']}", "text": first["text"]}
    drivers = {r["driver"] for r in stale if "before_owner" not in r["rules"][0]}
    one = len(drivers) == 1 and {(r["major"], r["owner"]) for r in row["rules"]} == {
        (first["major"], "nobody")
    }
    if before or one:
        row |= {"old_major": first["major"], "old_owner": first["owner"]}
        row["old_major_from"] = "before" if before else "leftover"


def _corrected(row: Row) -> list[Row]:
    if "old_major" not in row or row["reason"] in RESTART_CURES:
        return []
    return [
        {
            "file": r["file"],
            "line": r["line"],
            "old": r["text"],
            "new": _number(r["major"]).sub(rf"\g<1>{row['major']}:", r["text"], count=1),
        }
        for r in row["rules"]
    ]


def _number(major: int) -> re.Pattern[str]:
    return re.compile(rf"([abc][ \t]){major}:")


def _now(case: Case, row: Row) -> list[str]:
    if row["reason"] in RESTART_CURES:
        return _restart(case)
    if row.get("driver") == "nvidia-uvm" and row["reason"] in HOST_CURES:
        stale = [f"rm {shlex.quote(row['device'])}"] if row["reason"] == "stale-node" else []
        return [*stale, "nvidia-modprobe -c0 -u", *_restart(case)]
    edits = [_replace(r, row["major"]) for r in row["rules"]] if "corrected" in row else []
    if not edits and row["reason"] in RULE_CURES:
        edits = _append(case, case.gifts[row["device"]])
    lines = {(r["file"], r["line"]) for r in row.get("corrected", [])}
    for _, gift in sorted(
        case.gifts.items()
    ):  # what these lines let through by the number that is taken away
        if (by := case.next(gift).by) and (by.file, by.line) in lines:
            edits += _append(case, gift)
    return [*edits, *_restart(case)] if edits else []


def _replace(rule: Row, major: int) -> str:
    found = _number(rule["major"]).search(rule["text"])
    before = found[1].replace("\t", "\\t") if found else ""
    script = f"{rule['line']}s/{before}{rule['major']}:/{before}{major}:/"
    return f"sed -i {shlex.quote(script)} {shlex.quote(rule['file'])}"


def _append(case: Case, gift: Given) -> list[str]:
    """A new rule behind the last raw line of the live part, so that no line that another edit names moves."""
    own, live = case.container.config_file, case.container.live
    origins = [one.origin for one in (*(live.device_rules or ()), *(live.mount_entries or ()))]
    last = max((o.line for o in origins if o.file == own), default=0)
    device = case.host.behind(gift.path).device
    if not last or not device:
        return []
    sign = ":" if case.container.manager == "pve" else " ="
    script = f"{last}a {ALLOW}{sign} {device[0]} {device[1]}:{device[2]} rwm"
    return [f"sed -i {shlex.quote(script)} {shlex.quote(own)}"]


def _restart(case: Case) -> list[str]:
    if not case.container.running:
        return []
    name = shlex.quote(case.key)
    if case.container.manager == "pve":
        return [f"pct reboot {name}"]
    return [f"lxc-stop -n {name}", f"lxc-start -n {name}"]


def _for_good(case: Case, denied: list[Row]) -> list[str]:
    """devN for all that the removed lines gave or let through, at once, because `pct set` moves lines."""
    own, name = case.container.config_file, shlex.quote(case.key)
    stale = [r for row in denied if "old_major" in row for r in row["rules"]]
    rules = {r["line"]: f"{r['major']}:" for r in stale if r["file"] == own}
    given_by = {row["given_by"]["line"] for row in denied if row["given_by"]["file"] == own}
    gifts = _replaced(case, own, given_by | rules.keys())
    indexes = _free(case)
    if case.container.manager != "pve" or not gifts or len(gifts) > len(indexes):
        return []
    entries = {g.origin.line: g.source for g in gifts if g.how in ("mount", "directory")}
    removed = [_remove(own, rules | entries)] if rules or entries else []
    passed = [f"-dev{i} {_option(case, g)}" for i, g in zip(indexes, gifts, strict=False)]
    return [*removed, f"pct set {name} {' '.join(passed)}", *_restart(case)]


def _replaced(case: Case, own: str, lines: set[int]) -> list[Given]:
    """The devices that go with LINES of the file OWN, and with the lines of their mount entries, by path."""
    found: dict[str, Given] = {}
    for path, gift in sorted(case.gifts.items()):
        by = case.next(gift).by
        lost = gift.origin.line in lines or bool(by and by.file == own and by.line in lines)
        if lost and gift.how != "dev" and gift.origin.file == own and case.host.behind(path).device:
            found[path] = gift
    more = {g.origin.line for g in found.values()} - lines
    return _replaced(case, own, lines | more) if more else list(found.values())


def _free(case: Case) -> list[int]:
    parts = [part for part in (case.container.live, case.container.pending) if part]
    used = {name for part in parts for name in part.devices or {}}
    return [i for i in range(INDEXES) if f"dev{i}" not in used]


def _option(case: Case, gift: Given) -> str:
    """The value of devN that gives the node as it is on the host; a privileged container shares its ids."""
    node = case.host.nodes[gift.path]
    ids = {"gid": node.gid, "uid": node.uid} if case.container.privileged else {}
    owner = [f"{word}={n}" for word, n in ids.items() if n]
    return shlex.quote(",".join([gift.path, f"mode={node.mode}", *owner]))


def _remove(file: str, lines: dict[int, str]) -> str:
    """Deletes each of LINES that still holds its text."""
    edits = "; ".join(f"{line}{{\\|{_pattern(text)}|d}}" for line, text in sorted(lines.items()))
    return f"sed -i {shlex.quote(edits)} {shlex.quote(file)}"


def _pattern(text: str) -> str:
    """TEXT as it stands in the file, for a basic regular expression between bars."""
    return re.sub(r"([\\.*^$\[\]|])", r"\\\1", text.replace(" ", "\\040"))


def _warnings(case: Case, row: Row) -> list[str]:
    """Where the commands can hurt; they name the container, so that equal ones are said once in a report."""
    key, durable = case.key, "durable" in row
    said = {
        ORDER.format(key): durable and row["given_by"]["how"] in ("mount", "directory"),
        DYNAMIC: "now" in row and row["reason"] in RULE_CURES and not durable,
        STOPS.format(key): bool(case.container.running) and ("now" in row or durable),
    }
    hooks = [HOOK.format(key, hook) for hook in rewriting_hooks(case.container)]
    return [*(text for text, true in said.items() if true), *hooks]
