"""What each PCI function is and which ports stand above it, from section pci.

pci.ids, list of device classes; PCI Express Base, "PCI Express Topology". The bus within a switch, from its upstream
port to its downstream ports, is no link. Functions below one port share its link. An SR-IOV virtual function has no
link and no slot of its own: what its physical function says counts for it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Literal

from ...pairing import Moves, pair
from ...sections.pci import Function
from ...sections.shape import of_model
from .read_requests import GPU_VENDORS

if TYPE_CHECKING:
    from ...document import Snapshot, UnreadFact

Table = Mapping[str, Any]
Functions = Mapping[str, Table]
Noun = Literal["GPU", "NIC", "NVMe drive"]
AMD = "1002"
LINK_PORTS = ("root port", "downstream port")
EMULATED = ("1b36", "15ad")  # Red Hat (QEMU) and VMware: the registers of their ports tell nothing of a slot


def functions_of(snapshot: Snapshot) -> dict[str, dict[str, Any]]:
    """The functions by address; none when the section has none."""
    functions: dict[str, dict[str, Any]] = snapshot.table("pci").get("functions", {})
    return functions


def unread(snapshot: Snapshot, address: str, *path: str) -> UnreadFact | None:
    """Why a fact of a function is unknown."""
    return snapshot.unread("pci", ("functions", address, *path))


def noun(function: Table) -> Noun | None:
    """GPU, NIC or NVMe drive; None for anything else. AMD's Instinct cards are processing accelerators."""
    code, vendor = function.get("class_code", ""), function.get("vendor")
    if code[:2] not in ("01", "02", "03", "12") or is_virtual(function):
        return None
    if (code.startswith("03") and vendor in GPU_VENDORS) or (code.startswith("12") and vendor == AMD):
        return "GPU"
    return "NVMe drive" if code.startswith("0108") else "NIC" if code.startswith("02") else None


def is_virtual(function: Table) -> bool:
    """Whether it is an SR-IOV virtual function."""
    return "physical_function" in function


def express(function: Table) -> Table:
    """The PCI Express capability, empty without one."""
    found: Table = function.get("express", {})
    return found


def link(function: Table) -> Table:
    """The link registers, empty without them."""
    found: Table = express(function).get("link", {})
    return found


def port_type(functions: Functions, address: str) -> str | None:
    """Device/port type; None when it is not known."""
    return express(functions.get(address, {})).get("type")


def lower_ends(functions: Functions) -> dict[str, str]:
    """Lower end -> the port right above it, of all that may be a link: the port's type is known, or unread."""
    below: dict[str, list[str]] = {}
    for address, function in functions.items():
        if function.get("bridges") and not is_virtual(function):
            below.setdefault(function["bridges"][-1], []).append(address)
    return {
        min(addresses): port for port, addresses in below.items()
        if port in functions and port_type(functions, port) in (*LINK_PORTS, None)
    }


def below_ports(functions: Functions, addresses: Iterable[str]) -> dict[str, list[str]]:
    """Port -> which of ADDRESSES stand below it, sorted."""
    found: dict[str, list[str]] = {}
    for address in sorted(addresses):
        for port in functions[address].get("bridges", ()):
            found.setdefault(port, []).append(address)
    return found


@lru_cache(maxsize=2)  # many tables ask for those of the same two snapshots
def moved(before: Snapshot | None, after: Snapshot) -> Mapping[str, str]:
    """Address after -> address before of the same function, by the diff's pairing."""
    return pair(functions_of(before), functions_of(after), of_model(Function)).before_of if before else {}


def moves(before: Snapshot | None, after: Snapshot) -> Moves:
    """The same, for the pairing of what has addresses as keys or fields."""
    return Moves(moved(before, after))
