"""IOMMU groups of several functions, and which of these were apart before: sections iommu, pci, qemu, modules.

Documentation/driver-api/vfio.rst: a group is the smallest set that can be given to a guest; no function of it but
bridges may keep a driver of the host. So bridges count for nothing here. Numbers of groups are no identity.

Row keys, by the group's first function; a key without a value is missing:
    functions        those of the group that are no bridges, sorted
    before           those that were in one group before, by their addresses now: that of the first that was there
    joined           the others: they were in another group, or are new; missing where nothing of it was there. Virtual
                     functions that are new come with sriov_numvfs, and are not among them
    guests           those that a virtual machine is given, or that vfio-pci has
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ..facts import Derived
from ..guests.passthrough import passthrough
from .pci_tree import Functions, functions_of, is_virtual, moved

if TYPE_CHECKING:
    from ...document import Snapshot

Row = dict[str, Any]
BRIDGES = "06"  # pci.ids, device classes


def iommu_groups(after: Snapshot, before: Snapshot | None) -> Derived:
    """A row for each group of AFTER with two functions or more that are no bridges."""
    for section, path in (("iommu", "groups"), ("iommu", "shared"), ("pci", "functions")):
        if fact := after.unread(section, (path,)):
            what = "which functions share an IOMMU group"
            return Derived({}, [{"subject": "", "what": what, "source": fact.source, "why": fact.why}])
    functions, given = functions_of(after), passthrough(after, None).rows
    rows = {}
    for first, members in groups(after).items():
        mine = [m for m in members if not functions.get(m, {}).get("class_code", "").startswith(BRIDGES)]
        if len(mine) > 1:
            vfio = {m for m in mine if functions.get(m, {}).get("driver") == "vfio-pci"}
            guests = [m for m in mine if m in vfio or "guests" in given.get(m, {})]
            rows[first] = Row(functions=mine) | ({"guests": guests} if guests else {})
    if before and (then := groups(before)):
        was = {member: first for first, members in then.items() for member in members}
        _compare(rows, {now: was[old] for now, old in moved(before, after).items() if old in was}, functions)
    return Derived(rows)


def groups(snapshot: Snapshot) -> dict[str, list[str]]:
    """First function of a group -> all of its functions, sorted."""
    iommu = snapshot.table("iommu")
    return {first: sorted([first, *iommu.get("shared", {}).get(first, ())]) for first in iommu.get("groups", {})}


def _compare(rows: Mapping[str, Row], then: Mapping[str, str], functions: Functions) -> None:
    """Adds to ROWS what was before: THEN is function, by its address now -> first function of its group then."""
    for row in rows.values():
        if first := next((then[function] for function in row["functions"] if function in then), None):
            others = [function for function in row["functions"] if then.get(function) != first]
            row["before"] = [function for function in row["functions"] if function not in others]
            row["joined"] = [one for one in others if one in then or not is_virtual(functions.get(one, {}))]
