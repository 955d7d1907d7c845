"""Whether the next boot keeps nouveau, or nova, from a GPU of NVIDIA's: from pci, modules, boot and the command lines.

modprobe.d(5): ``blacklist`` stops a load by alias, ``install`` any by modprobe. kernel-parameters.txt:
module_blacklist= stops every load; kmod reads modprobe.blacklist= and MODULE.PARAMETER=. With modeset=0, or nomodeset,
nouveau is loaded and takes no GPU (nouveau_drm_init() in drivers/gpu/drm/nouveau/nouveau_drm.c). An initial RAM disk
has modprobe.d as it was when it was made, and may load nouveau before the real root is there; whether nouveau is in it
is not recorded. A boot with that image, and these lines, has shown what comes of them.

Row keys, by PCI address of a display function that nouveau, nova or nvidia has, or nobody; a key without a value is
missing:
    address
    module           nouveau, or nova_core where that has it
    bound            it has the GPU now
    kept_out         the next boot keeps it out
    by               {file, line, text} of what does, or should
    lost             not bound: the word of this command line that alone keeps it out, and that the next one lacks
    unknown          {kept_out: {source, why}} where that cannot be told; of what is not bound {lost: ...}
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from ...document import UnreadFact
from ...regexes import regex
from ..boot.boot_loader import seen
from ..boot.cmdline_next import cmdline_next
from ..boot.initramfs_state import seen_by_boot
from ..facts import Derived
from ..pci.pci_tree import functions_of
from ..tunables.tunable_words import RUNNING, Words, next_words, running_words
from .gpu_layers import NVIDIA

if TYPE_CHECKING:
    from ...document import Snapshot

Row = dict[str, Any]
Table = Mapping[str, Any]
OPEN = {"nouveau": "nouveau", "nova_core": "nova_core", "NovaCore": "nova_core"}  # driver -> module
_NOTHING = regex(r"\s*(?:/usr)?(?:/s?bin/)?(?:false|true)\b")
IN_IMAGE = "whether the initial RAM disk, which is older than that line, loads it is not recorded"
ALL_THE_SAME = "it was there at this boot, and the module has the GPU all the same"
NOT_DATED = "whether this boot began with that line is not known"
NO_KERNEL = "which kernel boots next is not known"
NEVER = {"changed": "1970-01-01T00:00:00Z"}  # for want of an image


def nouveau_binding(after: Snapshot, before: Snapshot | None) -> Derived:
    """A row for each GPU of AFTER; unknown as a whole where functions or modprobe.d were not read."""
    del before
    gaps = (after.unread(section, (key,)) for section, key in (
        ("pci", "functions"), ("modules", "blacklist"), ("modules", "install"), ("modules", "options")))
    if fact := next(filter(None, gaps), None):
        what = "what keeps nouveau from GPUs at boot"
        return Derived({}, [{"subject": "", "what": what, "source": fact.source, "why": fact.why}])
    found, keepers = Derived(), dict[str, _Keepers]()
    for address, function in functions_of(after).items():
        driver = function.get("driver")
        if function.get("vendor") == NVIDIA and str(function.get("class_code", "")).startswith("03") and (
                driver in (None, "nvidia", *OPEN)):
            module = OPEN.get(driver or "", "nouveau")
            of = keepers.setdefault(module, _Keepers(after, module))
            told = {"address": address, "module": module, "bound": driver in OPEN, **of.told(driver in OPEN)}
            found.rows[address] = {key: value for key, value in told.items() if value is not None}
    return found


class _Keepers:
    """What keeps MODULE out, at this boot and the next."""

    def __init__(self, snapshot: Snapshot, module: str) -> None:
        self.snapshot, self.module, self.table = snapshot, module, snapshot.table("modules")
        self.by_name = any(name.replace("-", "_") == module for name in self.table.get("load", {}))
        boot = snapshot.table("boot")
        self.release = boot.get("next", {}).get("kernel") or ("" if seen(snapshot) else snapshot.meta.kernel or "")
        self.kernel: Table = self.table.get("kernels", {}).get(self.release, {})
        gap = next(iter(cmdline_next(snapshot, None).unknown), None) if seen(snapshot) else None
        self.hidden = UnreadFact(path=[], source=gap["source"], why=gap["why"]) if gap else None

    def told(self, bound: bool) -> Row:
        """The keys of a row from kept_out on."""
        if self.module in self.kernel.get("missing", ()):
            return {"kept_out": True}
        word = None if self.hidden else next(self._words(next_words(self.snapshot)), None)
        if word:
            return {"kept_out": True, "by": word}
        if lines := [self._of_line(line, bound) for line in self._files()]:
            return min(lines, key=lambda told: (told.get("kept_out") is not True, "kept_out" in told))
        running = None if bound else next(self._words(running_words(self.snapshot)), None)
        if self.hidden and (bound or running):
            return _unknown(self.hidden.source, self.hidden.why, bound)
        return {"kept_out": False, "lost": running["text"] if running else None}

    def _of_line(self, line: Row, bound: bool) -> Row:
        """A line of modprobe.d, which the initial RAM disk may lack."""
        image, place = self.kernel.get("initramfs"), {"by": line}
        if not self.release:
            fact = self.snapshot.unread("boot", ("next",))
            return place | _unknown(*((fact.source, fact.why) if fact else ("/boot", NO_KERNEL)), bound)
        if fact := self.snapshot.unread("modules", ("kernels", self.release, "initramfs")):
            return place | _unknown(fact.source, fact.why, bound)
        tested = seen_by_boot(self.snapshot, self.release, line["file"], image or NEVER)
        stale = image is not None and line["file"] in image["stale"]
        return place | (_bound(line, stale, tested) if bound else _free(line, stale, tested))

    def _files(self) -> Iterator[Row]:
        """Lines of modprobe.d that keep it out."""
        black, command = (self.table.get(key, {}).get(self.module) for key in ("blacklist", "install"))
        modeset = self.table.get("options", {}).get(self.module, {}).get("modeset", {}).get("files", {})
        if command and _NOTHING.match(command["command"]):
            yield dict(command["origin"])
        if black and not self.by_name and black["origin"]["file"] != RUNNING:
            yield dict(black["origin"])
        if self.module == "nouveau" and modeset.get("value") == "0" and next_words(self.snapshot).last(
                "nouveau.modeset") is None:
            yield dict(modeset["origin"])

    def _words(self, words: Words) -> Iterator[Row]:
        """Words of a command line that keep it out."""
        lists = ("module_blacklist",) if self.by_name else ("module_blacklist", "modprobe.blacklist")
        for name in lists:
            for word in words.get(name):
                if self.module in (word.value or "").replace("-", "_").split(","):
                    yield dict(word.origin)
        modeset = words.get("nouveau.modeset")[-1:]
        if self.module == "nouveau" and (modeset or words.get("nomodeset")):
            word = (modeset or words.get("nomodeset"))[-1]
            if not modeset or word.value == "0":
                yield dict(word.origin)


def _bound(line: Table, stale: bool, tested: bool | None) -> Row:
    """Whether LINE keeps out what has the GPU now. TESTED: this boot began with that line and the next one's image."""
    if tested is None:
        return _unknown(line["file"], NOT_DATED)
    if tested:
        return {"kept_out": False} if stale else _unknown(line["file"], ALL_THE_SAME)
    return _unknown(line["file"], IN_IMAGE) if stale else {"kept_out": True}


def _free(line: Table, stale: bool, tested: bool | None) -> Row:
    """Whether LINE goes on to keep out what has no GPU now."""
    return _unknown(line["file"], IN_IMAGE, bound=False) if stale and not tested else {"kept_out": True}


def _unknown(source: str, why: str, bound: bool = True) -> Row:
    return {"unknown": {"kept_out" if bound else "lost": {"source": source, "why": why}}}
