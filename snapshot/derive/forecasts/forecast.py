"""What the next boot makes of this host, thing by thing: kept, reverts, changes, may change, or unknown.

Joined from ``tunables`` (what is set, and by what), ``cmdline_next`` (the words of the next command line, and the
cpufreq driver that follows from them) and ``major_users`` (device numbers that the kernel gives out anew at each boot).
``forecast_evidence`` says what is known of things that nothing sets.

Row keys of ``forecast``; a key without a value is missing. Keys are those of ``tunables``; besides there are "cmdline
WORD", "cpufreq driver", "major DRIVER" and, where another kernel comes, "config OPTION" of the defaults that it was
built with. What nothing sets and nothing shows to have been touched has no row:
    kind, name, path   as in ``tunables``; kind is also cmdline, major or config
    device          device, interface, size of huge pages or list of CPUs: what is the subject there
    now, next       the value now and then; next is missing where it is not known. Both again with the unit that the
                    fact has in its name: now_mw, next_mw
    status          kept, reverts, changes, may or unknown
    lost            it will not be what it is now; missing where that is not known
    why             the reason
    source          {file, line, text} of what decides
    latency_us      of an idle state: the time to leave it
    noun, vendor, type, gpus   of a PCI function: GPU, NIC or NVMe drive; its vendor and device/port type; the GPUs
                    below it, where it is a port or bridge above some
    durable         commands that make a boot set what reverts, with all others of its kind
    boot, evidence  what a boot leaves where nothing sets it, and how that is known
    unknown         {lost, next: {source, why}} of one whose status is unknown, or whose value was not read
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from ...records import record
from ..access.major_users import major_users
from ..facts import Derived
from ..pci.gpu_bridges import gpu_bridges
from ..pci.pci_tree import functions_of, noun, port_type
from ..tunables.tunable_words import next_kernel
from ..tunables.tunables import tunables
from .forecast_cmdline import driver, with_driver, words
from .forecast_evidence import Evidence, why_no_baseline
from .forecast_kernel import booting, built
from .forecast_prediction import Prediction, where
from .forecast_remedy import remedies
from .forecast_status import predict

if TYPE_CHECKING:
    from ...document import Snapshot

NAMED = ("pci", "nvidia", "amdgpu", "power")  # kinds whose keys are KIND SUBJECT NAME
Row = dict[str, Any]


@record(frozen=True)
class Outlook:
    """What is foreseen for a boot of SNAPSHOT's host; ROWS are for what was not read, by the beginning of keys."""

    snapshot: Snapshot
    predictions: list[Prediction]
    unread: dict[str, Row]

    def table(self) -> Derived:
        """The table ``forecast``."""
        cures = remedies(self.snapshot, self.predictions)
        rows = self.unread | {one.key: one.table() | self._depth(one) for one in self.predictions if not one.plain}
        ports = gpu_bridges(self.snapshot, None).rows
        return Derived({key: row | self._function(row, ports) | ({"durable": cures[key]} if key in cures else {})
                        for key, row in rows.items()})

    def _depth(self, one: Prediction) -> Row:
        """How deep an idle state is."""
        if one.kind != "cpuidle":
            return {}
        state = self.snapshot.table("cpuidle").get("states", {}).get(one.path[2], {})
        return {"latency_us": state["latency_us"]} if "latency_us" in state else {}

    def _function(self, row: Row, ports: Mapping[str, Row]) -> Row:
        """What the PCI function of a row is."""
        functions, address = functions_of(self.snapshot), row.get("device")
        if row["kind"] != "pci" or address not in functions:
            return {}
        told = {"noun": noun(functions[address]), "vendor": functions[address].get("vendor"),
                "type": port_type(functions, address), "gpus": ports.get(address, {}).get("gpus")}
        return {key: value for key, value in told.items() if value}


def forecast(snapshot: Snapshot, baseline: Snapshot | None = None, kernel: str | None = None) -> Derived:
    """A row for each thing of which there is something to say. BASELINE counts where it is one (``why_no_baseline``).

    KERNEL is forecast instead of the one that boots next; SnapError when it is not installed.
    """
    return outlook(booting(snapshot, kernel) if kernel else snapshot, baseline).table()


def outlook(snapshot: Snapshot, baseline: Snapshot | None = None) -> Outlook:
    """Every prediction: words of the command line, the cpufreq driver, tunables, device numbers."""
    if baseline is not None and why_no_baseline(snapshot, baseline, next_kernel(snapshot)):
        baseline = None
    found = tunables(snapshot, baseline)
    return Outlook(snapshot, predicted(snapshot, found.rows, baseline), dict(map(_unread, found.unknown)))


def predicted(snapshot: Snapshot, rows: Mapping[str, Row], baseline: Snapshot | None = None) -> list[Prediction]:
    """The predictions for ROWS of ``tunables``, in which BASELINE's values are those before."""
    evidence = Evidence(snapshot, rows.values(), baseline, next_kernel(snapshot))
    line = [*words(snapshot)]
    chosen = driver(snapshot, line)
    found = [*line, *([chosen] if chosen else [])]
    for key, row in rows.items():
        if one := predict(key, row, evidence):
            found.append(with_driver(one, chosen) if chosen else one)
    return [*found, *built(snapshot), *_majors(snapshot)]


def _majors(snapshot: Snapshot) -> Iterator[Prediction]:
    """Dynamic numbers that a line names literally, by driver."""
    found: dict[str, Row] = {}
    for row in major_users(snapshot, None).rows.values():
        if row["state"] == "dynamic" and row.get("driver"):
            found.setdefault(row["driver"], row)
    for name, row in found.items():
        half, origin = "block" if row["type"] == "b" else "character", row["origin"]
        why = f"dynamic: the literal number in {where(origin)} is fragile"
        yield Prediction(f"major {name}", "major", f"device number of {name}", ("devices", half, name), "may", why,
                         row["major"], source=origin)


def _unread(gap: Row) -> tuple[str, Row]:
    """A row for what is not known of tunables: it has their kind, and device and name where the gap has them."""
    kind, _, rest = gap["subject"].partition(" ")
    device, _, name = rest.partition(" ") if kind in NAMED else ("", "", rest)
    why = {"source": gap["source"], "why": gap["why"]}
    keys = ("lost", "now", "next", "status", "boot", *(() if name else ("name",)),
            *(("noun", "type", "gpus") if kind == "pci" and not name else ()))
    row: Row = {"kind": kind, "unknown": dict.fromkeys(keys, why)}
    return gap["subject"], row | {key: value for key, value in (("device", device), ("name", name)) if value}
