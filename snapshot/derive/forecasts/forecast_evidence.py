"""What a boot leaves of a tunable that nothing sets, and how that is known: the first of these that tells.

1. A baseline: a snapshot of this host from earlier in this boot, or from early in a boot of the kernel that comes next;
   not of what a word or a file set then that is not there any more.
2. A sibling that nobody touched: a function of the same driver whose MaxReadReq is still what a reset leaves (PCI
   Express Base Specification, Device Control register, 010b) shows that the driver does not set it.
3. The defaults of ``boot_defaults``, a register's reset value among them, and what the kernel that comes was built with
   (init/Kconfig names: CPU_FREQ_DEFAULT_GOV_*, TRANSPARENT_HUGEPAGE_*, PCIEASPM_*).

The kernel starts without huge pages on less than 512 MiB (mm/huge_memory.c, hugepage_init). A cpufreq driver in active
mode knows two governors alone, and for another default it has one of its own (cpufreq_init_policy).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from ...records import record
from ..tunables.tunable_cpufreq import ACTIVE, EVERYWHERE
from ..tunables.tunable_words import next_words, running_words
from ..tunables.tunables import given

if TYPE_CHECKING:
    from ...document import Snapshot

Row = Mapping[str, Any]
RESET, SPECIFICATION = 512, "what a reset leaves, as another function of its driver has it"
EARLY_S = 15 * 60  # of a boot: nobody has tuned by hand yet
BUILT = {
    ("cpufreq", "scaling_governor"): "governor", ("thp", "transparent_hugepage/enabled"): "thp",
    ("power", "pcie_aspm/policy"): "aspm",
}
THP_BYTES = 512 << 20
OF_LOADER = ("BOOT_IMAGE", "initrd")  # words that loaders add
PATCHED = {"kernel.sched_autogroup_enabled"}  # Debian's kernels differ: sched-autogroup-disabled.patch came and went


@record(frozen=True)
class Known:
    """A value, and how it is known."""

    value: Any
    how: str


def why_no_baseline(snapshot: Snapshot, baseline: Snapshot, kernel: str) -> str:
    """Why BASELINE says nothing of what the next boot, of KERNEL, leaves on this host; empty when it does."""
    now, then = snapshot.meta, baseline.meta
    if (now.machine, now.host if not now.machine else "") != (then.machine, then.host if not then.machine else ""):
        return "it is of another machine"
    if now.boot_id and then.boot_id == now.boot_id:
        late = bool(now.taken and then.taken and then.taken > now.taken)
        return "it was taken later in the same boot" if late else ""
    if not kernel or then.kernel != kernel:
        return f"it is of another boot, and of kernel {then.kernel or 'unknown'}, not of {kernel or 'a known one'}"
    return ""


def early(baseline: Snapshot) -> bool:
    """Whether it was taken before anybody tunes by hand: marked so, or soon after the boot."""
    uptime = baseline.meta.uptime_s
    return baseline.meta.baseline is True or (uptime is not None and uptime <= EARLY_S)


class Evidence:
    """What is known of a boot of SNAPSHOT's host with KERNEL; ROWS are its tunables, with those of BASELINE before."""

    def __init__(self, snapshot: Snapshot, rows: Iterable[Row], baseline: Snapshot | None, kernel: str) -> None:
        self._snapshot, self._baseline, self._kernel = snapshot, baseline, kernel
        self._functions = snapshot.table("pci").get("functions", {})
        self._untouched = {
            self._like(row) for row in rows
            if row["kind"] == "pci" and row["name"] == "MaxReadReq" and row.get("live") == RESET
            and not row.keys() & {"configured_by", "maybe"}
        } - {None}
        self._config = self._read_config()
        self._given = given(baseline) if baseline is not None and _other_setters(snapshot, baseline) else frozenset()

    def _read_config(self) -> Mapping[str, Any]:
        installed = self._snapshot.table("kernel").get("installed", {})
        found: Mapping[str, Any] = installed.get(self._kernel, {}).get("config", {})
        return found

    def boot(self, row: Row) -> Known | None:
        """What the boot leaves; None when nothing tells."""
        return self._of_baseline(row) or self._sibling(row) or self._default(row) or self._built(row)

    def _of_baseline(self, row: Row) -> Known | None:
        if self._baseline is None or "before" not in row:
            return None
        meta = self._baseline.meta
        if meta.kernel != self._kernel and ("default_now" in row or row["name"] in PATCHED):
            return None  # another kernel, which has another default, or may have
        if tuple(row["path"]) in self._given:
            return None
        which = "of this boot" if meta.boot_id == self._snapshot.meta.boot_id else f"of kernel {meta.kernel}"
        return Known(row["before"], f"the baseline {which}")

    def _sibling(self, row: Row) -> Known | None:
        alike = row["kind"] == "pci" and row["name"] == "MaxReadReq" and "default" not in row
        return Known(RESET, SPECIFICATION) if alike and self._like(row) in self._untouched else None

    def _like(self, row: Row) -> tuple[str, ...] | None:
        """What functions that their driver treats alike share; None without a driver that keeps registers."""
        function = self._functions.get(row.get("subject"), {})
        if function.get("driver") in (None, "vfio-pci"):
            return None
        return tuple(str(function.get(key)) for key in ("vendor", "device", "driver"))

    def _default(self, row: Row) -> Known | None:
        return Known(row["default"], row["default_source"]) if "default" in row else None

    def _built(self, row: Row) -> Known | None:
        value = self._config.get(BUILT.get((row["kind"], row["name"]), ""))
        if value is None or not self._holds(row, value):
            return None
        return Known(value, f"built into kernel {self._kernel}")

    def _holds(self, row: Row, value: str) -> bool:
        if row["kind"] == "cpufreq":
            driver = self._snapshot.table("cpufreq").get("driver")
            return driver is not None and (driver not in ACTIVE or value in EVERYWHERE)
        if row["kind"] == "thp":
            return int(self._snapshot.table("memory").get("total_bytes", 0)) >= THP_BYTES
        return True


def _other_setters(snapshot: Snapshot, baseline: Snapshot) -> bool:
    """Whether words or files of the next boot are not those that BASELINE's boot had."""
    coming, then = ([setter.origin["text"] for name, setter in words.ordered if name not in OF_LOADER]
                    for words in (next_words(snapshot), running_words(baseline)))
    now, before = ({name: file.sha256 for name, file in of.files.items()} for of in (snapshot, baseline))
    return coming != then or now != before
