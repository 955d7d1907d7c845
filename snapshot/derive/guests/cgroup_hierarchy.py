"""Which cgroup hierarchy systemd makes of the command line, now and at the next boot, and whom that shuts out.

systemd(1), KERNEL COMMAND LINE; cg_is_unified_wanted() in src/shared/cgroup-setup.c: systemd.unified_cgroup_hierarchy=
decides, a word without value is a yes. NEWS: 256 and 257 refuse to boot with cgroup v1 without
SYSTEMD_CGROUP_ENABLE_LEGACY_FORCE=1, 258 has none. Neither legacy nor hybrid has the controller devices on cgroup2:
LXC takes the lines lxc.cgroup.devices there, and those of lxc.cgroup2 do nothing. Proxmox VE writes devN as the latter
(PVE::LXC::update_lxc_config). A privileged container then opens none of the devices that it is given by such lines:
LXC's common.conf stops all under either name, and userns.conf lifts that of the others. From sections cmdline, boot, os
and lxc.

One row, with key "", where a command line asks for cgroup v1; a key without a value is missing:
    systemd          its version
    asked, asked_next   the word that asks for cgroup v1, on this command line and on the next
    outcome, outcome_next   what systemd makes of it: v1, refused (it does not boot) or ignored
    file, line, text    where the next one has it
    containers       those that open none of their devices with cgroup v1, by id, sorted
    unknown          {key: {source, why}} of keys above that could not be told
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from ...document import UnreadFact
from ...sections.debversion import order
from ...sections.lxc import Container, Lxc
from ..access.given_devices import PACKAGED, by_devices
from ..access.start_rules import written_lines
from ..boot.boot_loader import seen
from ..boot.cmdline_next import cmdline_next
from ..facts import Derived
from ..tunables.tunable_words import Words, next_words, running_words

if TYPE_CHECKING:
    from ...document import Snapshot

Row = dict[str, Any]
WORD, FORCE = "systemd.unified_cgroup_hierarchy", "SYSTEMD_CGROUP_ENABLE_LEGACY_FORCE"
NO, YES = ("0", "no", "n", "false", "f", "off"), ("", "1", "yes", "y", "true", "t", "on")  # parse_boolean()
WARNS, DROPS = "256", "258"  # versions of systemd
V1, V2 = "lxc.cgroup.devices", "lxc.cgroup2.devices"


def cgroup_hierarchy(after: Snapshot, before: Snapshot | None) -> Derived:
    """The row of AFTER; BEFORE adds nothing. Unknown where the command line of this boot was not read."""
    del before
    if fact := after.unread("cmdline", ("tokens",)):
        what = "which cgroup hierarchy the command line asks for"
        return Derived({}, [{"subject": "", "what": what, "source": fact.source, "why": fact.why}])
    now, following = running_words(after), next_words(after)
    gaps: dict[str, UnreadFact] = {}
    row = _asked(after, now, "", gaps)
    if hidden := _hidden(after):
        gaps |= dict.fromkeys(("asked_next", "outcome_next"), hidden)
    else:
        row |= _asked(after, following, "_next", gaps)
    if not row:
        return Derived()
    row |= {"systemd": after.table("os").get("systemd"), "containers": [*_shut_out(after, gaps)] or None}
    row["unknown"] = {key: {"source": gap.source, "why": gap.why} for key, gap in gaps.items()} or None
    return Derived({"": {key: value for key, value in row.items() if value is not None}})


def _hidden(snapshot: Snapshot) -> UnreadFact | None:
    """Why the next command line is not known. A host that shows no loader is given the same again."""
    gap = next(iter(cmdline_next(snapshot, None).unknown), None)
    known = gap is None or not (seen(snapshot) or snapshot.unread("boot", ("menus",)))
    return None if known or gap is None else UnreadFact(path=[], source=gap["source"], why=gap["why"])


def _asked(snapshot: Snapshot, words: Words, when: str, gaps: dict[str, UnreadFact]) -> Row:
    """The word and what comes of it; nothing where it does not ask for v1."""
    value = words.last(WORD)
    if value is None or value.lower() not in NO:
        return {}
    word = words.get(WORD)[-1]
    row = {f"asked{when}": word.origin["text"], **({} if not when else word.origin)}
    systemd = snapshot.table("os").get("systemd")
    if systemd is None:
        gaps[f"outcome{when}"] = snapshot.unread("os", ("systemd",)) or UnreadFact(
            path=[], source="os.systemd", why="the version of systemd is not known")
        return row
    force = words.last(FORCE)
    return row | {f"outcome{when}": _outcome(systemd, forced=force is not None and force.lower() in YES)}


def _outcome(systemd: str, *, forced: bool) -> str:
    if order(systemd) >= order(DROPS):
        return "ignored"
    return "v1" if forced or order(systemd) < order(WARNS) else "refused"


def _shut_out(snapshot: Snapshot, gaps: dict[str, UnreadFact]) -> Iterator[str]:
    """Containers whose own device lines are of cgroup2 alone, where the lines of cgroup v1 stop everything."""
    section = snapshot.section("lxc")
    if fact := snapshot.unread("lxc", ("containers",)):
        gaps["containers"] = fact
    if not isinstance(section, Lxc):
        return
    for key, container in sorted(section.containers.items()):
        if stopped := _stopped(container, section, snapshot):
            yield key
        elif stopped is None:
            why = "the files that its start includes are not known"
            gaps.setdefault("containers", UnreadFact(path=[], source=container.config_file, why=why))


def _stopped(container: Container, section: Lxc, snapshot: Snapshot) -> bool | None:
    if container.privileged is False:
        return False  # userns.conf empties the lists of both
    lines = written_lines(container, section, snapshot)
    own = {rule.key for rule in container.live.device_rules or [] if not rule.origin.file.startswith(PACKAGED)}
    asks = f"{V2}.allow" in own or (container.manager == "pve" and bool(by_devices(container)))
    if not asks or f"{V1}.allow" in own:
        return False
    if lines is None or container.privileged is None:
        return None
    return any(key == f"{V1}.deny" and value.split()[:1] == ["a"] for key, value, _ in lines)
