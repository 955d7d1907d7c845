"""The files that are to configure the kernel command line: whether their words get there.

From section boot and ``cmdline_next``. systemd-boot knows nothing of /etc/default/grub, GRUB nothing of
/etc/kernel/cmdline. Of that proxmox-boot-tool takes the first line alone, and it stops where that has no root=
(zz-proxmox-boot, get_cmdline). Whether the loader's entry has a file's words shows only where the entry can be seen. A
host that shows nothing of a loader has no row.

Row keys, by path; a key without a value is missing:
    path
    used             entries of this host's loader are made from it
    loader           the loader that started this kernel
    kernel           release that boots next
    applied          of a used one: the entry has its words and no others; missing where that does not show
    not_applied      words that the entry has not; left_over: words that only the entry has
    lost             of one not used: words that stand, so, only there; right_file: where they would count
    unused_lines     lines with words below the first, which are not read
    no_root          "root=", when the file is used and lacks that
    lines            its lines
    now              commands that bring its words to where they count
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ..facts import Derived
from .boot_loader import KERNEL_CMDLINE, add, managed, refresh, seen
from .cmdline_next import cmdline_next

if TYPE_CHECKING:
    from ...document import Snapshot

Row = dict[str, Any]
PATHS = {"default-grub": "/etc/default/grub", "kernel-cmdline": KERNEL_CMDLINE}
RIGHT = {"grub": PATHS["default-grub"], "systemd-boot": PATHS["kernel-cmdline"]}


def cmdline_files(after: Snapshot, before: Snapshot | None) -> Derived:
    """A row for each file of which it is known whether it is used; BEFORE adds nothing."""
    del before
    if not seen(after):
        return Derived()
    files = {key: file for key, file in after.table("boot").get("configured", {}).items() if "used" in file}
    following = cmdline_next(after, None)
    if following.unknown:
        return Derived({}, following.unknown)
    return Derived({PATHS[key]: _row(after, key, file, following.rows) for key, file in files.items()})


def _row(snapshot: Snapshot, key: str, file: Mapping[str, Any], names: Mapping[str, Row]) -> Row:
    boot = snapshot.table("boot")
    row: Row = {"path": PATHS[key], "used": file["used"], "loader": boot.get("loader"), "lines": file["origins"],
                "kernel": boot.get("next", {}).get("kernel")}
    if file["used"]:
        row |= _applied(snapshot, names)
        row |= _first_line(file) if key == "kernel-cmdline" and managed(snapshot) else {}
    elif lost := " ".join(told["elsewhere"]["words"] for told in names.values() if told["wrong_file"]):
        row |= {"lost": lost, "right_file": RIGHT.get(row["loader"] or ""), "now": add(snapshot, lost) or None}
    return {name: value for name, value in row.items() if value is not None}


def _applied(snapshot: Snapshot, names: Mapping[str, Row]) -> Row:
    """Whether the loader's entry has the words of the file, as far as that shows."""
    known = [told["applied"] for told in names.values() if "applied" in told]
    differ = [told for told in names.values() if told.get("applied") is False]
    words = [[word for told in differ for word in told.get(side, "").split() if word not in told.get(other, "").split()]
             for side, other in (("configured", "next"), ("next", "configured"))]
    row: Row = {"applied": not differ} if known else {}
    if differ:
        row |= {"not_applied": " ".join(words[0]) or None, "left_over": " ".join(words[1]) or None}
        row["now"] = refresh(snapshot) or None
    return row


def _first_line(file: Mapping[str, Any]) -> Row:
    rooted = any(word.startswith("root=") for word in file["words"])
    return {"unused_lines": file.get("unused_lines"), "no_root": None if rooted else "root="}
