"""The snapshot file: meta, outcomes, sections and files; load, save, format version.

A snapshot is TOML. ``[meta]`` stands first, then ``[outcomes.SECTION]``, the sections in the order of
``sections.NAMES``, and ``[files]``. Sections are parsed, and checked against their models, when asked for.

What a file lacks must not read as what the host lacks. So the facts of each section are counted in its
outcome, the files in meta, and a file that holds another number (cut short, edited) is refused; and so is a
section that this version does not know, since to leave it out would claim a comparison that was not made.
"""

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import Annotated, Any, Literal, Self, TypeVar

from .. import __version__, sections, store, tomlio
from ..errors import FormatError, SnapError
from ..regexes import regex
from ..sections.base import EVIDENCE, SCALARS, Model, field
from . import migrations, parts
from .check import checked, fault
from .migrations import FORMAT as FORMAT

M = TypeVar("M", bound=Model)
LIMIT_BYTES = 256 << 20
ALWAYS = ("os", "kernel", "cmdline", "cpu", "memory")  # sections of which no host is without
REFUSED = ("EACCES", "EPERM", "needs root")  # reasons of unread facts
_TIME = regex(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")
SCHEMA_FILE = f"hostsnap-{FORMAT}.schema.json"  # beside the snapshot: editors find it there without a network
State = Literal["ok", "partial", "absent", "denied", "failed", "timeout", "skipped"]


_MACHINE_KEY = b"hostsnap machine v1"


def machine_hash(machine_id: str) -> str:
    """The machine's identity without giving away its id, as machine-id(5) asks: a keyed hash, 32 hex digits."""
    import hashlib
    import hmac

    own = machine_id.strip().encode("utf-8", "surrogateescape")
    return hmac.new(_MACHINE_KEY, own, hashlib.sha256).hexdigest()[:32]


class Meta(Model):
    """Which machine, which boot, when, by whom and how the snapshot was taken."""

    format: int = field(description="version of the file format")
    tool: str = field(description="version of hostsnap that wrote it")
    host: str = field(description="host name")
    label: str | None = field(default=None, description="what the user called it")
    taken: str | None = field(
        default=None, description="UTC, YYYY-MM-DDTHH:MM:SSZ; missing for a root that no take recorded"
    )
    machine: str | None = field(default=None, description="keyed hash of /etc/machine-id, 32 hex digits")
    boot_id: str | None = field(default=None, description="/proc/sys/kernel/random/boot_id")
    uptime_s: int | None = field(default=None, description="seconds since boot, whole")
    system_state: str | None = field(
        default=None, description="systemctl is-system-running: running, degraded, starting...; none without systemd"
    )
    kernel: str | None = field(default=None, description="uname -r")
    uid: int | None = field(default=None, description="user id of the take")
    capabilities: str | None = field(
        default=None, description="effective capabilities of the take, 16 hex digits"
    )
    virtualization: str | None = field(default=None, description="as in section os")
    source: Literal["live", "directory", "archive"] = field(description="what was read")
    baseline: bool | None = field(
        default=None, description="true when taken as the state that the boot leaves, before any tuning"
    )
    redacted: bool | None = field(default=None, description="true when names and serials are pseudonyms")
    files: int | None = field(
        default=None, description="how many configuration files are listed; set when the snapshot is built"
    )
    unread: list[str] | None = field(default=None, description="sources of meta that could not be read, and why")

    def _verify(self) -> None:
        """Times and numbers that a host can have."""
        if self.taken is not None and not _TIME.fullmatch(self.taken):
            raise ValueError(f"not a time of the form YYYY-MM-DDTHH:MM:SSZ: {self.taken!r}")
        if (self.uid or 0) < 0 or (self.uptime_s or 0) < 0:
            raise ValueError("uid and uptime_s cannot be negative")


class UnreadFact(Model):
    """A fact that is unknown, and everything below it."""

    path: list[str] = field(description="keys within the section; empty is the whole section")
    source: str = field(description="the file or command that was to tell")
    why: str = field(description="errno name, timeout, or a few words")


class Outcome(Model):
    """How a section's capture ended."""

    state: State = field(
        description="absent: by positive evidence only; any other word but ok: facts may be missing"
    )
    facts: int = field(description="how many values the section holds")
    why: str | None = field(default=None, description="evidence of absence, or what failed")
    unread: list[UnreadFact] | None = field(default=None, description="unknown facts")

    def _verify(self) -> None:
        if self.state == "absent" and not self.why:
            raise ValueError("absent without the evidence of it")

    def refused(self) -> list[UnreadFact]:
        """The unknown facts that root would have read."""
        return [fact for fact in self.unread or () if fact.why in REFUSED]


class FileFact(Model):
    """A configuration file that was read."""

    size_bytes: int = field(description="size")
    mtime: Annotated[str | None, EVIDENCE] = field(
        default=None, description="last change, UTC, YYYY-MM-DDTHH:MM:SSZ"
    )
    sha256: str = field(description="of its content")


class Snapshot:
    """One host at one time. Sections are parsed and checked when they are asked for, and then kept.

    Any method raises FormatError, with file, line and key, when what it needs is not as the models say.
    """

    def __init__(
        self, name: str, text: str, tables: dict[str, Any], cuts: Mapping[str, tuple[int, int]]
    ) -> None:
        """For loads. A top-level table is in TABLES, or not parsed yet at its place in TEXT."""
        self._begin(name, text, tables, cuts)
        self.meta = checked(Meta, self._raw("meta"), ("meta",), name, text)
        self.outcomes = self._each(Outcome, "outcomes")
        self._complete()

    def _begin(self, name: str, text: str, tables: dict[str, Any], cuts: Mapping[str, tuple[int, int]]) -> None:
        self.name = name
        self._text = text
        self._tables = tables
        self._cuts = cuts
        self._models: dict[str, Model] = {}
        self._read: dict[str, dict[str, Any]] = {}
        self._twins: dict[str, Snapshot] = {}
        self._unread: dict[str, dict[tuple[str, ...], UnreadFact]] = {}

    @classmethod
    def build(
        cls,
        meta: Meta,
        outcomes: Mapping[str, Outcome],
        files: Mapping[str, FileFact],
        models: Mapping[str, Model],
    ) -> Self:
        """The snapshot of what was collected; MODELS by section. It counts facts and files itself."""
        built = cls.__new__(cls)
        tables = _plain(models)
        built._begin("snapshot", "", tables, {})
        built._models = dict(models)
        built.meta = meta.copy(files=len(files))
        built.outcomes = {name: _settled(o, tables.get(name)) for name, o in outcomes.items()}
        built.files = dict(files)
        built._complete()
        return built

    @classmethod
    def loads(cls, data: bytes, name: str) -> Self:
        """The snapshot in DATA; NAME is what errors call it."""
        if len(data) > LIMIT_BYTES:
            raise FormatError(f"{name}: not a snapshot: larger than {LIMIT_BYTES >> 20} MiB")
        text = tomlio.decode(data, name)
        cuts = parts.cut(text)
        tables = tomlio.loads(text[slice(*cuts.get("meta", (0, 0)))] if cuts else text, name)
        number = migrations.version(tables, name)
        if number < FORMAT:
            cuts, tables = {}, migrations.migrated(tomlio.loads(text, name), number, name)
        return cls(name, text, tables, cuts)

    @classmethod
    def load(cls, path: str) -> Self:
        """The snapshot in the file PATH, - for standard input. SnapError when it cannot be read."""
        name = "standard input" if path == "-" else path
        try:
            with open(0 if path == "-" else path, "rb", closefd=path != "-") as file:
                return cls.loads(file.read(LIMIT_BYTES + 1), name)
        except OSError as error:
            raise SnapError(f"{name}: cannot be read: {error.strerror}") from None

    def save(self, path: str) -> None:
        """Writes the file, whole or not at all, with mode 0600. SnapError when it cannot."""
        store.write(path, self.dumps().encode())

    def dumps(self) -> str:
        """The whole file as canonical text."""
        tables = {"meta": self.meta.table(), "outcomes": _plain(self.outcomes)}
        tables |= {name: self.table(name) for name in sections.NAMES if self._has(name)}
        tables["files"] = _plain(self.files)
        texts = (tomlio.dumps({key: table}) for key, table in tables.items())
        return f"#:schema ./{SCHEMA_FILE}\n\n" + "\n".join(texts)

    @cached_property
    def files(self) -> dict[str, FileFact]:
        """The configuration files that were read, by path."""
        files = self._each(FileFact, "files")
        self._counted(("meta", "files"), self.meta.files, len(files))
        return files

    def text(self, section: str) -> str:
        """The TOML text of a section, "" when it has none. Equal texts hold equal facts; others may."""
        if section in self._cuts:
            return self._text[slice(*self._cuts[section])].rstrip("\n") + "\n"
        return tomlio.dumps({section: self._tables[section]}) if section in self._tables else ""

    def table(self, section: str) -> dict[str, Any]:
        """A section as plain dicts, lists and scalars, checked against its model; {} when it has none.

        It is one for all who ask, and not to be changed.
        """
        if section not in self._read:
            self._read[section] = {} if self.section(section) is None else self._raw(section)
        return self._read[section]

    def section(self, section: str) -> Model | None:
        """A section as its model; None when it has none. KeyError when no section has this name."""
        model = sections.model(section)
        if section in self._twins:
            return self._twins[section].section(section)
        if section not in self._models and self._has(section):
            raw = self._raw(section)
            found = checked(model, raw, (section,), self.name, self._text)
            self._counted(("outcomes", section, "facts"), self.outcomes[section].facts, count_facts(raw))
            self._models[section] = found
        return self._models.get(section)

    def share(self, other: Self, section: str) -> None:
        """From now on parse SECTION, whose text and count of facts are the same in OTHER, once for both."""
        if section not in self._cuts or section not in other._cuts:  # one that was built has nothing to parse
            return
        one, another = self._twins.get(section, self), other._twins.get(section, other)
        if one is not another:
            one._twins[section] = self._twins[section] = another

    def alike(self, other: Self, names: Iterable[str]) -> bool:
        """Whether the sections NAMES say the same and lack the same as in OTHER: their texts were found to be equal."""
        def one(name: str) -> bool:
            return self._twins.get(name, self) is other._twins.get(name, other) or not (
                self._has(name) or other._has(name))

        return all(one(name) and self.outcomes.get(name) == other.outcomes.get(name) for name in names)

    def unread(self, section: str, path: Sequence[str]) -> UnreadFact | None:
        """Why a fact that SECTION does not hold at PATH is unknown; None when it does not exist on the host.

        A section that the file lacks, or that failed without saying what it misses, is unknown as a whole.
        """
        found = self.gaps(section)
        if not found:
            return None
        above = (tuple(path[:n]) for n in range(len(path) + 1))
        return next((found[key] for key in above if key in found), None)

    def gaps(self, section: str) -> Mapping[tuple[str, ...], UnreadFact]:
        """What ``unread`` goes by: the unknown facts of SECTION by path."""
        if section not in self._unread:
            self._unread[section] = {tuple(fact.path): fact for fact in reversed(self._unknown(section))}
        return self._unread[section]

    def _unknown(self, section: str) -> list[UnreadFact]:
        outcome = self.outcomes.get(section)
        if outcome is None:
            return [UnreadFact(path=[], source=self.name, why="the snapshot has no such section")]
        unread = outcome.unread or []
        if outcome.state in ("ok", "absent") or (unread and (outcome.facts or outcome.state == "partial")):
            return unread
        return [UnreadFact(path=[], source=section, why=outcome.why or outcome.state)]

    def _has(self, key: str) -> bool:
        return key in self._tables or key in self._cuts

    def _raw(self, key: str) -> Any:
        if key in self._twins:
            return self._twins[key]._raw(key)
        if key not in self._tables and key in self._cuts:
            start, end = self._cuts[key]
            self._tables |= tomlio.loads(self._text[start:end], self.name, lambda: self._text.count("\n", 0, start) + 1)
        return self._tables.get(key, {})

    def _each(self, model: type[M], key: str) -> dict[str, M]:
        raw = self._raw(key)
        if not isinstance(raw, dict):
            raise self._fault((key,), "expected a table")
        return {k: checked(model, table, (key, k), self.name, self._text) for k, table in raw.items()}

    def _complete(self) -> None:
        """Refuses a file whose outcomes and sections do not go together."""
        present = {*self._tables, *self._cuts} - {"meta", "outcomes", "files"}
        for name in sorted(present | self.outcomes.keys()):
            if name not in sections.NAMES:
                wrote = f"hostsnap {self.meta.tool:.40} wrote the file"
                path = (name,) if name in present else ("outcomes", name)
                raise self._fault(path, f"hostsnap {__version__} has no such section ({wrote}): upgrade it")
            if name not in self.outcomes:
                raise self._fault((name,), f"there is no outcomes.{name}")
            outcome = self.outcomes[name]
            if name in ALWAYS and outcome.state == "absent":
                raise self._fault(("outcomes", name), "every host has one, so that it cannot be absent")
            if name not in present and (outcome.facts or outcome.state in ("ok", "partial")):
                raise self._fault(("outcomes", name), "the file has no such section (cut short?)")
        if not self._has("files") and "files" not in vars(self):
            self._counted(("meta", "files"), self.meta.files, 0)

    def _counted(self, path: tuple[str, ...], said: int | None, held: int) -> None:
        if said is not None and said != held:
            raise self._fault(path, f"{said}, but the file holds {held} (cut short, or edited by hand?)")

    def _fault(self, path: tuple[str, ...], what: str) -> FormatError:
        return fault(self.name, self._text, path, what)


def count_facts(value: Any) -> int:
    """How many facts a table holds: one a scalar or array; of an array of tables, those of its tables."""
    kind = type(value)
    if kind is dict:
        return sum(1 if type(item) in SCALARS else count_facts(item) for item in value.values())
    if kind is list and value and all(isinstance(item, dict) for item in value):
        return sum(map(count_facts, value))
    return 1


def _settled(outcome: Outcome, section: dict[str, Any] | None) -> Outcome:
    """An outcome as it is written: facts counted, unread facts sorted and none twice."""
    unread = {(tuple(fact.path), fact.source, fact.why): fact for fact in outcome.unread or ()}
    return outcome.copy(facts=count_facts(section or {}), unread=[unread[key] for key in sorted(unread)] or None)


def _plain(models: Mapping[str, Model]) -> dict[str, Any]:
    return {name: model.table() for name, model in models.items()}
