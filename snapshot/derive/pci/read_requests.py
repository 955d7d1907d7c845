"""MaxReadReq of each PCI Express function, from section pci: what it is, was, and what restores it.

PCI Express Base, Device Control register bits 14:12 (128 bytes << code; codes 6 and 7 are reserved);
setpci(8). Only the register holds it: reboot and function level reset bring the default back. setpci exits 0
when nothing was written (no such device, lockdown), so whatever sets it has to read it back.

Row keys, by address; a key without a value is missing:
    address, vendor, device, class_code, driver, name
    noun          what it is: GPU, NVMe drive, network function, accelerator or PCI function
    bytes         MaxReadReq now
    write         the setpci operand that sets this very value, "5000:7000"
    group         "VENDOR:DEVICE DRIVER", the same for siblings
    sibling_bytes {bytes: [addresses]} of the whole group
    mixed         the group holds more than one value
    before_bytes  MaxReadReq of the same function before, by the diff's pairing
    lowered       before_bytes is more than bytes
    restore       command that writes before_bytes and nothing else of the register (with lowered)
    durable       commands that install a oneshot unit which sets all that had this value, and reads back
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from ...pairing import pair
from ...sections.pci import Function
from ...sections.shape import of_model
from ..facts import Derived

if TYPE_CHECKING:
    from ...document import Snapshot

Functions = dict[str, dict[str, Any]]
FIELD = ("express", "max_read_request_bytes")
NOUNS = {"0108": "NVMe drive", "02": "network function", "12": "accelerator"}  # pci.ids, device classes
GPU_VENDORS = ("10de", "1002", "8086")  # a BMC's VGA is of another vendor


def read_requests(after: Snapshot, before: Snapshot | None) -> Derived:
    """A row for each function of AFTER that has the register; unknown where it could not be read."""
    functions = _functions(after)
    rows = {address: _row(address, f) for address, f in functions.items() if _bytes(f)}
    then = _functions(before) if before else {}
    for address, old in pair(then, functions, of_model(Function)).before_of.items():
        if address in rows and _bytes(then[old]):
            _compare(rows[address], _bytes(then[old]))
    groups: dict[str, list[dict[str, Any]]] = {}
    for row in rows.values():
        groups.setdefault(row["group"], []).append(row)
    for group in groups.values():
        _siblings(group)
    for row in rows.values():
        if row.get("lowered"):
            row["durable"] = _install(row, rows, functions)
    return Derived(rows, list(_unknown(after, functions)))


def operand(size: int) -> str | None:
    """The setpci operand value:mask for a MaxReadReq of SIZE bytes; None when the field cannot hold it."""
    code = (size // 128).bit_length() - 1
    return f"{code << 12:04x}:7000" if 0 <= code <= 7 and size == 128 << code else None


def _functions(snapshot: Snapshot) -> Functions:
    functions: Functions = snapshot.table("pci").get("functions", {})
    return functions


def _bytes(function: dict[str, Any]) -> int:
    size: int = function.get("express", {}).get("max_read_request_bytes", 0)
    return size


def _row(address: str, function: dict[str, Any]) -> dict[str, Any]:
    kept = ("vendor", "device", "class_code", "driver", "name")
    row = {"address": address, **{k: function[k] for k in kept if k in function}, "bytes": _bytes(function)}
    row["noun"] = _noun(row)
    row["group"] = " ".join([f"{row['vendor']}:{row['device']}", *filter(None, [row.get("driver")])])
    if write := operand(row["bytes"]):
        row["write"] = write
    return row


def _noun(row: dict[str, Any]) -> str:
    code = row.get("class_code", "")
    if code.startswith("03") and row["vendor"] in GPU_VENDORS:
        return "GPU"
    return next((noun for start, noun in NOUNS.items() if code.startswith(start)), "PCI function")


def _compare(row: dict[str, Any], old: int) -> None:
    row["before_bytes"], row["lowered"] = old, old > row["bytes"]
    if row["lowered"] and (write := operand(old)):
        row["restore"] = f"setpci -s {row['address']} CAP_EXP+8.w={write}"


def _siblings(group: list[dict[str, Any]]) -> None:
    by_size: dict[int, list[str]] = {}
    for row in group:
        by_size.setdefault(row["bytes"], []).append(row["address"])
    sizes = {str(size): by_size[size] for size in sorted(by_size)}
    for row in group:
        row |= {"sibling_bytes": sizes, "mixed": len(sizes) > 1}


def _install(row: dict[str, Any], rows: dict[str, dict[str, Any]], functions: Functions) -> list[str]:
    """Commands that install the unit; none when the value before does not fit the field."""
    size, write = row["before_bytes"], operand(row["before_bytes"])
    if not write:
        return []
    name = f"hostsnap-maxreadreq-{row['vendor']}-{row['device']}-{size}.service"
    same = [a for a, f in functions.items() if (f["vendor"], f["device"]) == (row["vendor"], row["device"])]
    mine = [a for a in same if rows.get(a, {}).get("before_bytes") == size]
    # by ids it survives a renumbered bus, but it must not reach a function that had another value
    ids = f"{row['vendor']}:{row['device']}"
    found = f'$(lspci -Dnd {ids} | cut -d" " -f1)' if mine == same else " ".join(mine)
    unit = _unit(ids, size, _script(found, write, size))
    return [
        f"cat > /etc/systemd/system/{name} <<'EOF'\n{unit}EOF",
        "systemctl daemon-reload",
        f"systemctl enable --now {name}",
    ]


def _script(functions: str, write: str, size: int) -> str:
    """A shell line without single quotes that sets the field, reads it back and fails when one is not set."""
    value = write[:4]
    return (
        f"n=0; bad=0; for d in {functions}; do n=1; setpci -s $d CAP_EXP+8.w={write}; "
        f"v=$(setpci -s $d CAP_EXP+8.w); [ $((0x$v & 0x7000)) -eq $((0x{value})) ] || "
        f'{{ echo "$d: MaxReadReq is not {size} bytes"; bad=1; }}; done; [ $n$bad = 10 ]'
    )


def _unit(ids: str, size: int, script: str) -> str:
    """A unit file; $ is doubled because systemd expands it (systemd.service(5), COMMAND LINES)."""
    return (
        f"[Unit]\nDescription=PCIe MaxReadReq {size} bytes for {ids}\n"
        "After=systemd-modules-load.service nvidia-persistenced.service\nBefore=pve-guests.service\n\n"
        "[Service]\nType=oneshot\nRemainAfterExit=yes\n"
        f"ExecStart=/bin/sh -c '{script.replace('$', '$$')}'\n\n"
        "[Install]\nWantedBy=multi-user.target\n"
    )


def _unknown(after: Snapshot, functions: Functions) -> Iterable[dict[str, Any]]:
    what = "MaxReadReq"
    if fact := after.unread("pci", ("functions",)):
        yield {"subject": "", "what": what, "source": fact.source, "why": fact.why}
        return
    for address, function in functions.items():
        fact = after.unread("pci", ("functions", address, *FIELD))
        if fact and not _bytes(function):
            yield {"subject": address, "what": what, "source": fact.source, "why": fact.why}
