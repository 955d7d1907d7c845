"""The command line of the next boot against the running one, and edits that do not reach it: sections boot, cmdline.

Documentation/admin-guide/kernel-parameters.rst; grub-mkconfig(8); proxmox-boot-tool(8). The loader's entry is what the
kernel gets. Where it cannot be seen (an ESP that is not mounted) the file that entries are made from stands in, as if
they had been made anew: ``assumed``. An edit of that file does nothing before then, and one of a file that this host's
loader does not use never does. proxmox-boot-tool takes the running words where /etc/kernel/cmdline is not there. Words
with one name (- as _) are one row, since their order counts; what GRUB's scripts and the loader add themselves is no
edit: BOOT_IMAGE, initrd, root and the like. Entries of other makers (grubby's, kernel-install's) are compared with no
file.

Row keys, by name; a key without a value is missing:
    name, token      token is the words of the next boot, else of now, else of the file, as they stand
    state            kept, added, removed or changed, from now to next; absent: it stands in a file alone
    now, next        the words, joined with blanks
    configured       the words of the file that entries are made from
    applied          false: the entry does not have what that file says; missing while the entry cannot be seen, or is
                     made by other means
    wrong_file       it stands, so, only in a file that the loader of this host does not use
    elsewhere        with wrong_file: {words, file, line, text} of that file
    tuning           it is more than quiet, splash, ro, root= and the like
    assumed          next is what the file says
    kernel           release that boots next
    file, line, text the line that it comes from: of a file when it has the words, else of the entry
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from ...records import field, record
from ..facts import Derived
from ..tunables.tunable_words import pair

if TYPE_CHECKING:
    from ...document import Snapshot

Row = dict[str, Any]
Words = dict[str, list[str]]  # name -> its words in order
LOADERS = ("BOOT_IMAGE", "initrd")
PLAIN = (
    *LOADERS, "root", "rootflags", "rootfstype", "ro", "rw", "boot", "quiet", "splash", "rhgb", "nosplash", "noquiet",
    "vt.handoff", "resume", "cryptdevice", "loglevel", "ostree",
)
GENERATED = {"default-grub": "grub.cfg", "kernel-cmdline": "loader/entries"}  # file -> end of the menus made from it


@record()
class _Source:
    """Words, and the lines that they come from."""

    words: Words = field(default_factory=dict)
    origins: list[Mapping[str, Any]] = field(default_factory=list)

    def line(self, name: str) -> Row:
        """File, line and text of NAME's words: the first line that has one of them, else the first of all."""
        has = (o for o in self.origins if any(word in o["text"] for word in self.words.get(name, ())))
        found = next(has, self.origins[0] if self.origins else {})
        return {key: found[key] for key in ("file", "line", "text") if key in found}


def cmdline_next(after: Snapshot, before: Snapshot | None) -> Derived:
    """A row for each name on either command line or in a file for one; BEFORE adds nothing."""
    del before
    if fact := after.unread("cmdline", ("tokens",)) or after.unread("boot", ("next",)):
        return _unknown(fact.source, fact.why)
    boot = _Boot.of(after)
    if boot.entry is None and boot.used is None:
        facts = (after.unread("boot", ("configured", name)) for name in GENERATED)
        if fact := next(filter(None, facts), None):
            return _unknown(fact.source, fact.why)
        return _unknown("/boot", "neither the loader's entry nor the file that it is made from can be seen")
    return Derived({name: boot.row(name) for name in boot.names()})


def _unknown(source: str, why: str) -> Derived:
    return Derived({}, [{"subject": "", "what": "the command line of the next boot", "source": source, "why": why}])


def _makes(file: str, chosen: Mapping[str, Any]) -> bool:
    """Whether the menu of the CHOSEN entry is one that is made from FILE."""
    return file in GENERATED and chosen.get("menu", "").endswith(GENERATED[file])


@record()
class _Boot:
    """What runs, what comes, and the files."""

    now: Words
    entry: _Source | None
    used: _Source | None  # the file that entries are made from
    unused: _Source
    made: bool  # the entry is made from the file as it stands
    kernel: str | None

    @classmethod
    def of(cls, snapshot: Snapshot) -> _Boot:
        """Of one snapshot."""
        boot = snapshot.table("boot")
        chosen = boot.get("next", {})
        menu = boot.get("menus", {}).get(chosen.get("menu"), {})
        told = menu.get("entries", {}).get(chosen.get("entry"), {})
        entry = _Source(by_name(told["words"]), [told["origin"]]) if "words" in told else None
        files = boot.get("configured", {})
        used = next((key for key, file in files.items() if file.get("used")), None)
        made = used is not None and not told.get("recovery") and _makes(used, chosen)
        unused = [file for file in files.values() if file.get("used") is False]
        now = by_name(snapshot.table("cmdline").get("tokens", ()))
        source = _file([files[used]]) if used else _Source(now) if _taken_over(snapshot, boot) else None
        return cls(now, entry, source, _file(unused), made, chosen.get("kernel"))

    @property
    def next(self) -> Words:
        """The words of the next boot. The file lacks those that the loader's scripts add: these stay."""
        if self.entry:
            return self.entry.words
        words = self.used.words if self.used else {}
        return {name: self.now[name] for name in self.now if name in PLAIN} | words

    def names(self) -> list[str]:
        """The names, in order of the next command line, then of the running one, then of files."""
        files = (self.used.words if self.used else {}, self.unused.words)
        met = dict.fromkeys(name for words in (self.next, self.now, *files) for name in words)
        return [name for name in met if name not in LOADERS]

    def row(self, name: str) -> Row:
        """The row of NAME."""
        told = {"now": self.now.get(name), "next": self.next.get(name),
                "configured": self.used.words.get(name) if self.used else None}
        words = told["next"] or told["now"] or told["configured"] or self.unused.words[name]
        row: Row = {"name": name, "token": " ".join(words), "state": _state(told["now"], told["next"])}
        row |= {key: " ".join(value) for key, value in told.items() if value}
        row |= {"tuning": name not in PLAIN, "wrong_file": self._wrong_file(name)}
        if row["wrong_file"]:
            row["elsewhere"] = {"words": " ".join(self.unused.words[name]), **self.unused.line(name)}
        row |= {"applied": told["configured"] == told["next"]} if self._comparable(name) else {}
        row |= {"assumed": True} if self.entry is None else {}
        return row | ({"kernel": self.kernel} if self.kernel else {}) | self._line(name)

    def _comparable(self, name: str) -> bool:
        """Whether the entry should have NAME as the file does. GRUB's scripts add the plain ones themselves."""
        return self.entry is not None and self.made and name not in PLAIN

    def _wrong_file(self, name: str) -> bool:
        if self.entry is not None and not self.made:
            return False
        there = {*self.next.get(name, ()), *(self.used.words.get(name, ()) if self.used else ())}
        return name not in PLAIN and any(word not in there for word in self.unused.words.get(name, ()))

    def _line(self, name: str) -> Row:
        sources = (self.used, self.unused, self.entry)
        source = next((s for s in sources if s and name in s.words), None)
        return source.line(name) if source else {}


def by_name(words: Iterable[str]) -> Words:
    """The words of the kernel's part, those before --, by name; a variable of GRUB's script ($vt_handoff) is none."""
    found: Words = {}
    for word in words:
        if word == "--":
            break
        if word[:1] not in ("", "$"):
            found.setdefault(pair(word)[0], []).append(word)
    return found


def _taken_over(snapshot: Snapshot, boot: Mapping[str, Any]) -> bool:
    """Whether proxmox-boot-tool makes entries for systemd-boot, from the running words for want of a file."""
    managed = any(esp.get("configured") for esp in boot.get("esps", {}).values())
    known = snapshot.unread("boot", ("configured", "kernel-cmdline")) is None
    return managed and known and boot.get("loader") == "systemd-boot" and "kernel-cmdline" not in boot.get(
        "configured", {})


def _file(files: Iterable[Mapping[str, Any]]) -> _Source:
    listed = list(files)
    words = by_name(word for file in listed for word in file["words"])
    return _Source(words, [origin for file in listed for origin in file["origins"]])


def _state(now: list[str] | None, following: list[str] | None) -> str:
    if not now or not following:
        return "removed" if now else "added" if following else "absent"
    return "kept" if now == following else "changed"
