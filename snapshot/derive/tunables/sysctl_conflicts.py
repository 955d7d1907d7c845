"""Lines for a sysctl that the administrator wrote and that another file overrides: from section sysctl.

sysctl.d(5): files of all folders are read in the order of their names, and the last line counts; so a vendor's file
with a later name beats one of /etc. /etc/sysctl.conf is systemd's only through a link 99-sysctl.conf. Files that a
distribution puts into /etc/sysctl.d itself are nobody's choice: those of procps and LXC in Debian and Ubuntu are named
here. Values are compared as the kernel reads them.

Row keys, by sysctl; a key without a value is missing:
    name
    value, file, line, text      the line that counts
    lost_value, lost_file, lost_line, lost_text      the last line of /etc that does not
    differs          they give different values
    vendor           the one that counts is of no file of /etc/sysctl.d
    live             value now
    follows_lost     live is what the lost line says
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ...sections.sysctl import agrees
from ..facts import Derived

if TYPE_CHECKING:
    from ...document import Snapshot

Row = dict[str, Any]
FOLDER, CONF = "/etc/sysctl.d/", ("/etc/sysctl.conf", "/etc/sysctl.d/99-sysctl.conf")
PACKAGED = (  # conffiles of procps (Ubuntu) and lxc
    "10-bufferbloat.conf", "10-console-messages.conf", "10-ipv6-privacy.conf", "10-kernel-hardening.conf",
    "10-magic-sysrq.conf", "10-map-count.conf", "10-network-security.conf", "10-ptrace.conf", "10-zeropage.conf",
    "30-lxc-inotify.conf",
)


def sysctl_conflicts(after: Snapshot, before: Snapshot | None) -> Derived:
    """A row for each sysctl with such a line; BEFORE adds nothing."""
    del before
    if fact := after.unread("sysctl", ("settings",)):
        what = "which lines of sysctl.d count"
        return Derived({}, [{"subject": "", "what": what, "source": fact.source, "why": fact.why}])
    table = after.table("sysctl")
    rows = {key: row for key, setting in table.get("settings", {}).items() if (row := _row(setting))}
    for key, row in rows.items():
        row["name"] = key
        if (live := table["values"].get(key)) is not None:
            row |= {"live": live, "follows_lost": agrees(live, row["lost_value"])}
    return Derived(rows)


def _row(setting: Mapping[str, Any]) -> Row:
    """The row; empty when no line of the administrator's loses to another file."""
    winner = setting.get("systemd")
    if not winner:
        return {}
    file = winner["origin"]["file"]
    lost = [line for line in setting.get("overridden", ()) if _own(line, file)]
    if not lost:
        return {}
    other = [line for line in lost if not _equal(line, winner)]
    lost = other or lost
    row = {"value": winner["value"], **winner["origin"], "differs": bool(other)}
    row["vendor"] = file in CONF or not file.startswith(FOLDER)
    return row | {"lost_value": lost[-1]["value"], **{f"lost_{key}": v for key, v in lost[-1]["origin"].items()}}


def _own(line: Mapping[str, Any], winner: str) -> bool:
    """Whether a line is the administrator's, for this very key, and not of the file whose line counts."""
    file = line["origin"]["file"]
    mine = file.startswith(FOLDER) and file.rpartition("/")[2] not in PACKAGED
    return (mine or file in CONF) and file != winner and not {file, winner} <= {*CONF} and "pattern" not in line


def _equal(line: Mapping[str, Any], winner: Mapping[str, Any]) -> bool:
    """Whether both lines give one value."""
    return agrees(line["value"], winner["value"]) or agrees(winner["value"], line["value"])
