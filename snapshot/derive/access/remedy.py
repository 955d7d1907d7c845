"""What to paste so that a container can open its devices: now, and for good.

sed(1), pct(1). Line numbers are those of the live part, which stands above every snapshot part, and each edit
also names what it expects on its line: pasted twice, or after `pct set` has written the file anew, it hits
nothing else. With devN the number is looked up at each start; the mount entry has to go with it, or the start
fails. A rule whose number is another driver's by now is replaced, or taken away where nothing tells which device it
was for: it opens what nobody meant to give.

The commands are the same for all devices of a container, with one restart at the end, which stops what runs in it.
"""

from __future__ import annotations

import re
import shlex
from typing import Any

from .access_verdict import RESTART_CURES, Case
from .given_devices import Given
from .host_devices import Host
from .start_rules import hooks, v1_lines

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
V1_DEVICES = "lxc.cgroup.devices."
LOAD_FIRST = "# the NVIDIA driver is not loaded: load it first, as for nvidia.module-not-loaded"
HOST_CURES = ("node-missing", "optional-skipped", "driver-not-loaded", "stale-node")
INDEXES = 256  # dev0 to dev255
ORDER = "Keep the order: with a mount entry beside devN container {} does not start (File exists)."
STOPS = "The restart stops everything that runs in container {}."
HOOK = "A hook of container {} may rewrite its rules: {}"
DYNAMIC = "Another kernel, driver or load order may move the number again."
FOREIGN = "{}:{} allows {}, which {} has now: the commands take it away. Keep it if container {} is meant to have that."
REFUSED = "Container {} will not start again before this line is mended: {}:{} {}"


def add_remedies(case: Case, rows: list[Row]) -> None:
    """Adds old numbers, corrected lines, commands and warnings to the denied rows of one container."""
    denied = sorted((r for r in rows if r["access"] == "denied"), key=_line)
    stale = [r for r in denied if "rules" in r]
    for row in stale:
        _old_number(row, stale)
        row |= {"corrected": lines} if (lines := _corrected(row)) else {}
    own = {r["device"]: _own(case, r) for r in denied}
    asked_for = [r for r in denied if not _by_the_way(r)]
    for group, whole in ((asked_for, asked_for), ([r for r in denied if _by_the_way(r)], denied)):
        now = _now(case, [*(own[r["device"]] for r in whole), _without(_foreign(whole))])
        durable = _for_good(case, [r for r in whole if _wants_dev(r)])
        for row in group:
            row |= {"now": now} if now and own[row["device"]] is not None else {}
            row |= {"durable": durable} if durable and _wants_dev(row) else {}
            row |= {"warnings": said} if (said := _warnings(case, row)) else {}


def _line(row: Row) -> tuple[str, int]:
    """Where the line stands that its commands begin with, as far as there is one."""
    first = row["rules"][0] if row.get("rules") else row["given_by"]
    return first["file"], first["line"]


def _by_the_way(row: Row) -> bool:
    """Whether a directory brought the device, and no line was ever meant for it: perhaps nobody wants it."""
    return bool(row["reason"] == "never-allowed" and row["given_by"]["how"] == "directory")


def _wants_dev(row: Row) -> bool:
    return row["reason"] in (*RULE_CURES, "mode")


def _old_number(row: Row, stale: list[Row]) -> None:
    """The number that the driver had: known from before, or the only one that can be meant."""
    first, before = row["rules"][0], "before_owner" in row["rules"][0]
    row |= {"place": f"{first['file']}:{first['line']}", "text": first["text"]}
    drivers = {r["driver"] for r in stale if "before_owner" not in r["rules"][0]}
    one = len(drivers) == 1 and {r["major"] for r in row["rules"]} == {first["major"]}
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


def _now(case: Case, own: list[list[str] | None]) -> list[str]:
    """What OWN of the devices say, each command once, and one restart; none if a line stops the start for good."""
    unlocked = _unlock(case)
    if unlocked is None:
        return []
    edits = dict.fromkeys(command for commands in own for command in commands or ())
    return [*edits, *unlocked, *_restart(case)]


def _foreign(rows: list[Row]) -> list[Row]:
    """Rules among those with an old number, of which nothing tells for which device, that are another driver's now."""
    unclear = [r for r in rows if r["reason"] == "stale-major" and "corrected" not in r]
    return [rule for row in unclear for rule in row["rules"] if rule["owner"] != "nobody"]


def _without(rules: list[Row]) -> list[str]:
    """What deletes these lines: last, because it moves those below."""
    files: dict[str, dict[int, str]] = {}
    for rule in rules:
        files.setdefault(rule["file"], {})[rule["line"]] = f"{rule['major']}:"
    return [_remove(file, lines) for file, lines in files.items()]


def _own(case: Case, row: Row) -> list[str] | None:
    """What mends this row, the restart left out; [] is the restart alone, None that nothing here does."""
    if row["reason"] in RESTART_CURES or row["reason"] == "v1-key-refused":
        return []
    if commands := node_commands(row["device"], row.get("driver"), row["reason"], case.host):
        return commands
    edits = [_replace(r, row["major"]) for r in row["rules"]] if "corrected" in row else []
    if not edits and row["reason"] in RULE_CURES:
        edits = _append(case, case.gifts[row["device"]])
    lines = {(r["file"], r["line"]) for r in row.get("corrected", [])}
    for _, gift in sorted(
        case.gifts.items()
    ):  # what these lines let through by the number that is taken away
        if gift.how != "rule" and (by := case.next(gift).by) and (by.file, by.line) in lines:
            edits += _append(case, gift)
    return edits or None


def node_commands(path: str, driver: str | None, state: str, host: Host) -> list[str] | None:
    """What makes the host's node of nvidia-uvm at PATH anew; None where nothing is to be made, or of another driver."""
    if driver != "nvidia-uvm" or state not in HOST_CURES:
        return None
    remove = [f"rm {shlex.quote(path)}"] if state == "stale-node" else []
    return [*load_first(host), *remove, "nvidia-modprobe -c0 -u"]


def load_first(host: Host) -> list[str]:
    """That no node of the NVIDIA driver can be made, where none of its modules is loaded."""
    known = host.snapshot.unread("devices", ("character",)) is None
    loaded = any(name.startswith("nvidia") for name in host.drivers.get("c", {}))
    return [LOAD_FIRST] if known and not loaded else []


def _unlock(case: Case) -> list[str] | None:
    """What lets the next start succeed: v1 device keys renamed. None when another line stops it."""
    line = case.refused()
    lines = v1_lines(case.container) if line else []
    if line and (line not in lines or any(V1_DEVICES not in one.text for one in lines)):
        return None
    return [f"sed -i '{o.line}s/{V1_DEVICES}/lxc.cgroup2.devices./' {shlex.quote(o.file)}" for o in lines]


def _replace(rule: Row, major: int) -> str:
    found = _number(rule["major"]).search(rule["text"])
    before = found[1].replace("\t", "\\t") if found else ""
    script = f"{rule['line']}s/{before}{rule['major']}:/{before}{major}:/"
    return f"sed -i {shlex.quote(script)} {shlex.quote(rule['file'])}"


def _append(case: Case, gift: Given) -> list[str]:
    """A new rule behind the last raw line of the live part, so that no line that another edit names moves.

    Not if it stands there by now; in the file of Proxmox VE the live part ends at the first header.
    """
    own, live = case.container.config_file, case.container.live
    origins = [one.origin for one in (*(live.device_rules or ()), *(live.mount_entries or ()))]
    last = max((o.line for o in origins if o.file == own), default=0)
    device = case.host.behind(gift.path).device
    if not last or not device:
        return []
    sign = ":" if case.container.manager == "pve" else " ="
    rule, file = f"{ALLOW}{sign} {device[0]} {device[1]}:{device[2]} rwm", shlex.quote(own)
    return [f"sed '/^\\[/q' {file} | grep -qxF '{rule}' || sed -i '{last}a {rule}' {file}"]


def _restart(case: Case) -> list[str]:
    if not case.container.running:
        return []
    name = shlex.quote(case.key)
    if case.container.manager == "pve":
        return [f"pct reboot {name}"]
    return [f"lxc-stop -n {name}", f"lxc-start -n {name}"]


def _for_good(case: Case, denied: list[Row]) -> list[str]:
    """devN for all that the removed lines gave or let through, at once, because `pct set` moves lines."""
    own, name, unlocked = case.container.config_file, shlex.quote(case.key), _unlock(case)
    stale = [r for row in denied if "old_major" in row for r in row["rules"]] + _foreign(denied)
    rules = {r["line"]: f"{r['major']}:" for r in stale if r["file"] == own}
    given_by = {row["given_by"]["line"] for row in denied if row["given_by"]["file"] == own}
    gifts = _replaced(case, own, given_by | rules.keys())
    indexes = _free(case)
    if case.container.manager != "pve" or not gifts or len(gifts) > len(indexes) or unlocked is None:
        return []
    entries = {g.origin.line: g.source for g in gifts if g.how in ("mount", "directory")}
    removed = [_remove(own, rules | entries)] if rules or entries else []
    passed = [f"-dev{i} {_option(case, g)}" for i, g in zip(indexes, gifts, strict=False)]
    return [*unlocked, *removed, f"pct set {name} {' '.join(passed)}", *_restart(case)]


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
    refused = case.refused() if _unlock(case) is None else None
    stopped = [REFUSED.format(key, refused.file, refused.line, refused.text.strip())] if refused else []
    foreign = [r for r in row.get("rules", []) if "before_owner" not in r and r["owner"] != "nobody" and "now" in row]
    lost = [FOREIGN.format(r["file"], r["line"], r["major"], r["owner"], key) for r in foreign]
    may = [HOOK.format(key, hook) for hook in hooks(case.container)]
    return [*(text for text, true in said.items() if true), *lost, *stopped, *may]
