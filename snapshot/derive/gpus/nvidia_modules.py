"""NVIDIA's kernel module by stage: the one that is loaded, why none is, and the one that the next boot loads.

modprobe.d(5); Documentation/admin-guide/module-signing.rst: where signatures are enforced an unsigned module is
refused, and one that is signed by a key that is not enrolled. Which keys are is not recorded, but a key whose module
is loaded must be. From sections nvidia, pci, modules, kernel, boot and firmware. Of the folders with NVIDIA's
libraries the first in ld.so's order counts: /usr/lib has 32-bit ones where there is another.

Row keys, by stage (loaded; not loaded: the driver is installed here, or was loaded before, and GPUs have no driver;
next boot: the file of the kernel that boots next); a key without a value is missing:
    stage, kernel    the running kernel, or the one that boots next
    version, flavour of the module, or of its file
    user_space, fits_user_space   versions of the libraries, and whether the module is of that one
    wanted_flavour, wanted_by, fits_gpus   flavour that GPUs of this host need, their names, whether it is of that one
    file, signed, signer   of the file
    enforced         the kernel takes signed modules alone
    refused          it will not take this file
of next boot:
    same             version and flavour are those of the loaded module
of loaded:
    next_version, next_flavour   of the file that the next boot loads
of not loaded:
    unbound          addresses of NVIDIA GPUs without a driver
    gpus             how many they are
    reason           no-file, cmdline (module_blacklist=), install-command (a command that loads nothing stands in
                     modprobe.d), unsigned, signature (perhaps: signatures are enforced since before, and the key
                     may not be enrolled), blacklist (nothing loads it by itself); missing when nothing tells
    origin           the line of modprobe.d or of the command line
    loaded_before    a module was loaded before
and of any:
    dkms, dkms_state, dkms_failed, headers_installed, headers_package   of the file's kernel, as in ``dkms_builds``
    unknown          {key: {source, why}} of keys above that could not be told
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from ...document import UnreadFact
from ...regexes import regex
from ..boot.module_state import module_state
from ..facts import Derived
from ..pci.pci_tree import functions_of, noun
from .gpu_layers import NVIDIA
from .nvidia_flavour import wanted_flavour

if TYPE_CHECKING:
    from ...document import Snapshot

Row = dict[str, Any]
LIBRARIES = (
    "/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/lib64", "/usr/lib", "/usr/local/nvidia/lib64",
)
OF_FILE = ("file", "version", "flavour", "signed", "signer")
OF_DKMS = ("dkms", "dkms_state", "dkms_failed", "headers_installed", "headers_package")
LOCKED = ("integrity", "confidentiality")
_NOTHING = regex(r"(/usr)?(/s?bin/)?(false|true)\b")


def nvidia_modules(after: Snapshot, before: Snapshot | None) -> Derived:
    """A row for each stage; unknown as a whole where it is not known whether the module is loaded."""
    if fact := after.unread("nvidia", ("loaded",)):
        what = "NVIDIA's kernel module"
        return Derived({}, [{"subject": "", "what": what, "source": fact.source, "why": fact.why}])
    table, found = _Table(after, before), Derived()
    loaded = table.loaded()
    following = table.following()
    absent = None if loaded else table.not_loaded()
    for row in filter(None, (loaded, following, absent)):
        found.rows[row["stage"]] = {key: value for key, value in row.items() if value is not None}
    if loaded and "next boot" in found.rows:
        told = found.rows["next boot"]
        more = {f"next_{key}": told[key] for key in ("version", "flavour") if key in told}
        found.rows["loaded"] |= more
    return found


def libraries_in_use(snapshot: Snapshot) -> list[str]:
    """Versions of the libraries in the first folder that has some, sorted."""
    told: dict[str, str] = snapshot.table("nvidia").get("user_space", {}).get("libraries", {})
    folders = {posixpath.dirname(path) for path in told}
    first = next((folder for folder in LIBRARIES if folder in folders), min(folders, default=""))
    return sorted({version for path, version in told.items() if posixpath.dirname(path) == first})


class _Table:
    """The rows of one snapshot."""

    def __init__(self, after: Snapshot, before: Snapshot | None) -> None:
        self.after, self.before = after, before
        self.section = after.table("nvidia")
        self.modules, self.running = after.table("modules"), after.table("kernel").get("release", "")
        self.states = module_state(after, None)
        self.rows = {row["kernel"]: row for row in self.states.rows.values() if row["module"] == "nvidia"}

    def loaded(self) -> Row | None:
        """The module in the running kernel."""
        if not self.section.get("loaded"):
            return None
        driver = self.section.get("driver", {})
        row = {"stage": "loaded", "kernel": self.running or None, **{k: driver.get(k) for k in ("version", "flavour")}}
        gaps = {key: fact for key in ("version", "flavour")
                if row[key] is None and (fact := self.after.unread("nvidia", ("driver", key)))}
        return self._fitted(row, gaps)

    def following(self) -> Row | None:
        """The file that the next boot loads; None where there is none, or it is no matter which kernel boots."""
        if not (self.section.get("loaded") or self._installed()):
            return None
        kernel = self.after.table("boot").get("next", {}).get("kernel")
        state = self.rows.get(kernel, {})
        if fact := self._kernels_unread("") or (self._kernels_unread(kernel) if kernel else self._choice_unread()):
            row: Row = {"stage": "next boot", "kernel": kernel, "version": None, "flavour": None}
            return self._fitted(row, dict.fromkeys(("file", "version", "flavour", "enforced", "refused"), fact))
        return self._of_file(state) if state.get("on_disk") else None

    def not_loaded(self) -> Row | None:
        """Why no module is loaded, where there is a driver and a GPU for it."""
        was = self.before is not None and self.before.table("nvidia").get("loaded", False)
        if not (self._installed() or was):
            return None
        if fact := next(self._gpus_unread(), None):
            return {"stage": "not loaded", **_unknown({}, {"unbound": fact})}
        unbound = [a for a, f in self._gpus() if "driver" not in f]
        if not unbound:
            return None
        state = self.rows.get(self.running, {})
        row: Row = {"stage": "not loaded", "kernel": self.running or None, "unbound": unbound, "gpus": len(unbound)}
        row["loaded_before"] = was or None
        row |= {key: state.get(key) for key in (*OF_FILE, *OF_DKMS)}
        row |= self._signature(state) | self._reason(state)
        return row

    def _installed(self) -> bool:
        libraries = self.section.get("user_space", {}).get("libraries")
        return bool(libraries) or any(row["needed"] or row["on_disk"] for row in self.rows.values())

    def _gpus(self) -> Iterator[tuple[str, Row]]:
        for address, function in functions_of(self.after).items():
            if noun(function) == "GPU" and function.get("vendor") == NVIDIA:
                yield address, function

    def _gpus_unread(self) -> Iterator[UnreadFact]:
        """What hides whether a GPU has a driver."""
        if fact := self.after.unread("pci", ("functions",)):
            yield fact
        for address, function in self._gpus():
            fact = self.after.unread("pci", ("functions", address, "driver"))
            if fact and "driver" not in function:
                yield fact

    def _kernels_unread(self, kernel: str) -> UnreadFact | None:
        subject = f"{kernel} " if kernel else ""
        gap = next((gap for gap in self.states.unknown if gap["subject"] == subject), None)
        return UnreadFact(path=[], source=gap["source"], why=gap["why"]) if gap else None

    def _choice_unread(self) -> UnreadFact | None:
        """Why it is unknown which kernel boots next; None where that is no matter, since all have the same file."""
        fact = self.after.unread("boot", ("next",))
        return None if all(self._alike(row) for row in self.rows.values()) else fact

    def _alike(self, state: Row) -> bool:
        """Whether a kernel has the file that is loaded now, and takes it."""
        row = self._of_file(state)
        return bool(row.get("same")) and row.get("refused") is False

    def _of_file(self, state: Row) -> Row:
        row: Row = {"stage": "next boot", "kernel": state["kernel"], **{k: state.get(k) for k in (*OF_FILE, *OF_DKMS)}}
        driver = self.section.get("driver", {})
        pairs = [(row[key], driver.get(key)) for key in ("version", "flavour")]
        row["same"] = all(disk == now for disk, now in pairs) if all(None not in pair for pair in pairs) else None
        row |= self._signature(state)
        gaps = {key: UnreadFact(path=[], **state["unknown"][key]) for key in OF_FILE if key in state.get("unknown", {})}
        if "candidates" in state:
            why = f"modprobe.d chooses among {' '.join(state['candidates'])}"
            gaps |= {key: UnreadFact(path=[], source="/lib/modules", why=why) for key in ("version", "flavour")}
        return self._fitted(row, gaps)

    def _fitted(self, row: Row, gaps: dict[str, UnreadFact]) -> Row:
        """ROW, against libraries and GPUs."""
        libraries, wanted = libraries_in_use(self.after), wanted_flavour(self.after)
        if libraries:
            row |= {"user_space": libraries, "fits_user_space": row["version"] and libraries == [row["version"]]}
        elif fact := self.after.unread("nvidia", ("user_space", "libraries")):
            gaps["user_space"] = fact
        if wanted:
            row |= {"wanted_flavour": wanted[0], "wanted_by": wanted[1]}
            row["fits_gpus"] = row["flavour"] and row["flavour"] == wanted[0]
        follows = (("version", "fits_user_space"), ("flavour", "fits_gpus"))
        gaps |= {fits: gaps[key] for key, fits in follows if key in gaps}
        return row | _unknown(row, gaps)

    def _signature(self, state: Row) -> Row:
        """Whether the kernel refuses the file, as far as lockdown and signatures tell."""
        if fact := self.after.unread("kernel", ("lockdown",)):
            return _unknown({}, {"enforced": fact, "refused": fact})
        enforced = _enforced(self.after)
        if not state.get("on_disk") or not enforced:
            return {"enforced": enforced, "refused": False if state.get("on_disk") else None}
        if "signed" not in state:
            fact = UnreadFact(path=[], source="/lib/modules", why="whether the file is signed is not known")
            return {"enforced": True, **_unknown({}, {"refused": fact})}
        if not state["signed"]:
            return {"enforced": True, "refused": True}
        known = self.section.get("loaded") and self.rows.get(self.running, {}).get("signer") == state["signer"]
        fact = UnreadFact(path=[], source="mokutil --list-enrolled", why="which keys are enrolled is not recorded")
        return {"enforced": True, "refused": False} if known else {"enforced": True, **_unknown({}, {"refused": fact})}

    def _reason(self, state: Row) -> Row:
        """What keeps the module from loading, the surest first."""
        black = self.modules.get("blacklist", {}).get("nvidia")
        command = self.modules.get("install", {}).get("nvidia")
        if not state.get("on_disk"):
            return {"reason": None if self._kernels_unread("") or self._kernels_unread(self.running) else "no-file"}
        if black and black.get("refused"):
            return {"reason": "cmdline", "origin": black["origin"]}
        if command and _NOTHING.match(command["command"].strip()):
            return {"reason": "install-command", "origin": command["origin"]}
        if state.get("signed") is False and _enforced(self.after):
            return {"reason": "unsigned", "refused": True}
        if self._newly_enforced():
            return {"reason": "signature"}
        return {"reason": "blacklist", "origin": black["origin"]} if black else {}

    def _newly_enforced(self) -> bool:
        then = self.before
        known = then is not None and not then.unread("kernel", ("lockdown",))
        return bool(known and then and _enforced(self.after) and not _enforced(then))


def _enforced(snapshot: Snapshot) -> bool:
    builtin = snapshot.table("modules").get("builtin", {}).get("module", {}).get("parameters", {})
    return snapshot.table("kernel").get("lockdown") in LOCKED or builtin.get("sig_enforce") == "Y"


def _unknown(row: Row, gaps: dict[str, UnreadFact]) -> Row:
    """GAPS as the key unknown, with what ROW has of it already."""
    told = {key: {"source": fact.source, "why": fact.why} for key, fact in gaps.items()} | row.get("unknown", {})
    return {"unknown": told} if told else {}
