"""Whether each container may open each device that it is given, from sections lxc and devices.

lxc.container.conf(5), pct.conf(5); the rules themselves: ``lxc_rules``. Asked is open(O_RDWR), or O_RDONLY of a
node that nobody may write to (nvidia-caps) and of a devN with deny-write. A container is given a device by a mount
entry of its node or of a directory that holds it, by devN, or by a rule of its own that names the number its driver
has (or had before). What a running container may do was settled by the configuration that its start generated; what
the file says counts at the next start. A row that cannot be judged is in UNKNOWN, never here; nor is anything on a
host that has not cgroup2 alone, where v1 rules count.

Row keys, by "ID /dev/path"; a key without a value is missing:
    container, hostname, privileged, running, manager (pve or lxc), config_file
    device        path of the node on the host
    given_by      {how: mount, directory, dev or rule; file, line, text}
    type, major, minor   of the host's node
    driver        the one in /proc/devices that the node belongs to
    access        allowed, denied, not-judged (mode and owner decide): now if it runs, else at the next start
    reason        why, a word of REASONS. A running container of which the last start's numbers are no longer
                  right: generated-config-stale when devN made them, not-restarted when its file is right by now
    access_now, reason_now                  only if it runs; unknown is a value here
    access_next_start, reason_next_start    likewise
    basis         generated or file: what ACCESS was judged by
    allowed_by    {file, line, text} of the line that lets it through
    denied_by     {file, line, text} of the rule, mount entry or refused line that stops it
    openers       unprivileged: who may open the node by its mode: everyone, root, "uid N", "gid N", in ids of the
                  container; missing where mode or id map are not known
    mode, uid, gid   of the host's node, with reason mode
    node_type     with reason node-not-a-device: file, directory or other
    leaves_file   with reason optional-skipped: create=file puts an empty ordinary file in the place of the node,
                  which opens and is no device
    rules         [{file, line, text, major, owner, before_owner}] the lines with an old number that deny it, of
                  the file (stale-major), or of the last start where the next one cures it;
                  owner has that number now, "nobody" if none; before_owner had it, if a before tells
    place, text   "FILE:LINE" of the first of RULES, and the line
    old_major     the number in RULES that the driver had, if it can be told; old_owner has it now
    old_major_from   before, or leftover: it is the one number of the container that is nobody's, or of a driver of
                  which it is given nothing
    also          [{reason, file, line, text}] lines that were meant for the device and do nothing
    in_vain       the same in words: which line, and why it does nothing
    leftover      allowed all the same: rows like RULES of lines whose number is nobody's: info at most
    corrected     [{file, line, old, new}]
    now, durable  commands to paste, in order; each is for the whole container, the same in its rows, and restarts
                  it once. Only devices that a whole directory brings and no line was meant for stand apart: their
                  NOW is that of the others and their own
    warnings      sentences: where a remedy can hurt
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...sections.lxc import NO_CGROUP2, Lxc
from ..facts import Derived
from .access_reasons import REASONS
from .access_verdict import Case, Verdict
from .denial import leftover
from .given_devices import Given
from .host_devices import Host
from .remedy import RULE_CURES, add_remedies
from .start_rules import shared

if TYPE_CHECKING:
    from ...document import Snapshot, UnreadFact

Row = dict[str, Any]


def device_access(after: Snapshot, before: Snapshot | None) -> Derived:
    """A row for each container of AFTER and device that it is given."""
    found, section = Derived(), after.section("lxc")
    if unread := after.unread("lxc", ("containers",)):
        found.unknown.append(_unknown("", "which devices containers may open", unread.source, unread.why))
    if isinstance(section, Lxc):
        host, old = Host.of(after), Host.of(before) if before else None
        for key in section.containers:
            _judge(Case.of(key, section, host, old), section, after, found)
    return found


def _judge(case: Case, section: Lxc, after: Snapshot, found: Derived) -> None:
    """Adds the rows of one container."""
    what = f"which devices container {case.key} may open"
    if unread := after.unread("lxc", ("containers", case.key, "live")):
        found.unknown.append(_unknown(f"{case.key} ", what, unread.source, unread.why))
        return
    running = after.unread("lxc", ("containers", case.key, "running"))
    if running and running.why == NO_CGROUP2:
        found.unknown.append(_unknown(f"{case.key} ", what, running.source, running.why))
        return
    rows: dict[str, Row] = {}
    for path, gift in sorted(case.gifts.items()):
        subject, row = f"{case.key} {path}", _row(case, gift)
        if row["access"] != "unknown":
            rows[subject] = row
            continue
        fact = _not_read(case, section, path, row["reason"])
        source = fact.source if fact else case.container.config_file
        why = fact.why if fact else REASONS[row["reason"]]
        found.unknown.append(_unknown(subject, f"whether container {case.key} may open {path}", source, why))
    _told_apart(list(rows.values()))
    add_remedies(case, list(rows.values()))
    found.rows.update(rows)


def _not_read(case: Case, section: Lxc, path: str, reason: str) -> UnreadFact | None:
    """What was not read, so that a verdict is unknown for a REASON."""
    if reason == "not-seen":
        return case.host.snapshot.unread("lxc", ("containers", case.key, "generated"))
    if reason == "includes-unread":
        return next((one.unread for one in shared(case.container, section, case.host.snapshot) if one.unread), None)
    return case.host.unread(path) if reason == "unread" else None


def _unknown(subject: str, what: str, source: str, why: str) -> Row:
    return {"subject": subject, "what": what, "source": source, "why": why}


def _row(case: Case, gift: Given) -> Row:
    container = case.container
    following = case.next(gift)
    now = case.now(gift) if container.running is not False else None
    head = case.headline(now, following)
    row = _subject(case, gift) | {"access": head.access, "reason": head.reason}
    row |= {"access_next_start": following.access, "reason_next_start": following.reason}
    if container.running:
        seen = now or Verdict("unknown", "not-seen")
        row |= {"access_now": seen.access, "reason_now": seen.reason}
    row["basis"] = "generated" if now and container.manager == "pve" else "file"
    return row | _evidence(case, gift, head) | _of_node(case, gift, row)


def _subject(case: Case, gift: Given) -> Row:
    container, found = case.container, case.host.behind(gift.path)
    row: Row = {
        "container": case.key,
        "hostname": container.hostname,
        "privileged": container.privileged,
        "running": container.running,
        "manager": container.manager,
        "config_file": container.config_file,
        "device": gift.path,
        "given_by": {"how": gift.how, **gift.origin.table()},
        "driver": found.driver,
    }
    if found.device:
        row |= dict(zip(("type", "major", "minor"), found.device, strict=True))
    return {key: value for key, value in row.items() if value is not None}


def _evidence(case: Case, gift: Given, head: Verdict) -> Row:
    """The lines that decide, and those that were meant to."""
    row: Row = {}
    if head.by:
        row["denied_by" if head.access == "denied" else "allowed_by"] = head.by.table()
    found = case.host.behind(gift.path)
    if found.device and found.driver and head.access == "allowed":
        lines = leftover(case.container, found.device[0], found.driver, case.host, case.before)
        row |= {"leftover": lines} if lines else {}
    if head.access == "denied" and head.reason in RULE_CURES:
        blame = case.blame(gift)
        row |= {"rules": blame.rules} if head.reason == "stale-major" else {}
        if blame.also:
            row["also"] = [m.row() for m in blame.also]
            row["in_vain"] = "; ".join(f"{m.origin.file}:{m.origin.line}: {REASONS[m.reason]}" for m in blame.also)
    elif head.reason == "generated-config-stale":
        row["rules"] = case.old_node(gift)
    elif head.reason == "not-restarted" and (rules := case.outdated(gift, case.container.generated)):
        row["rules"] = rules
    return row


def _of_node(case: Case, gift: Given, row: Row) -> Row:
    """What there is to say of the host's node, or of what stands in its place."""
    node, reason = case.host.nodes.get(gift.path), row["reason"]
    found: Row = {}
    if openers := case.openers(gift, (case.last if row["basis"] == "generated" else case.coming).ids):
        found["openers"] = openers
    if node and reason == "mode":
        found |= {"mode": node.mode, "uid": node.uid, "gid": node.gid}
    if node and reason == "node-not-a-device":
        found["node_type"] = node.type
    if reason == "optional-skipped" and "create=file" in gift.options:
        found["leaves_file"] = True
    return found


def _told_apart(rows: list[Row]) -> None:
    """Takes from the leftovers of what is allowed the rules that explain why something else is denied."""
    explains = [(r["file"], r["line"]) for row in rows for r in row.get("rules", [])]
    for row in rows:
        row["leftover"] = [r for r in row.pop("leftover", []) if (r["file"], r["line"]) not in explains]
        if not row["leftover"]:
            del row["leftover"]
