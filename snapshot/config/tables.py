"""The tables of snap.toml, one model each; their descriptions are what the published schema says.

The engine's own stand in ``engine.settings``. What is only known elsewhere is checked there, where it is used: patterns
of paths by the diff, ids and limits of rules by the engine, names of parsers by whoever runs the commands.
"""

import math

from ..engine.finding import Severity
from ..engine.settings import Rules, Waiver
from ..regexes import regex
from ..sections.base import Model, field

_NAME = regex(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")


class Patterns(Model):
    """Which facts change by themselves, beyond what hostsnap knows; all that volatile.toml may hold."""

    add: list[str] = field(description="patterns of facts that change by themselves", default=[])
    keep: list[str] = field(description="patterns of facts that do not, whatever else says so", default=[])


class Volatile(Patterns):
    """The same in snap.toml, with the files that add to it."""

    file: list[str] | None = field(
        description="files with a table [volatile]; missing: volatile.toml beside this file, if there is one",
        default=None)


class Learned(Model):
    """A volatile.toml, as `diff --null` writes it."""

    volatile: Patterns = field(description="what was learned", default=Patterns())
    noise: dict[str, float] = field(description="what was learned of benchmarks, as [noise] of snap.toml", default={})


class Tolerance(Model):
    """How far a number may move and still count as the same."""

    path: str = field(description="pattern of the facts")
    amount: int | float | str = field(description='"1%", "64 MiB", "5 W", or a number in the unit of the fact')


class Expect(Model):
    """What the host has to have: how many, or which."""

    gpus: int | list[str] | None = field(description="how many GPUs, or their UUIDs or addresses", default=None)
    nics: int | list[str] | None = field(description="how many NICs, or their names, MACs or addresses", default=None)
    nvme: int | list[str] | None = field(description="how many NVMe drives, or serials or addresses", default=None)
    dimms: int | list[str] | None = field(description="how many memory modules, or slots or serials", default=None)
    cpus: int | None = field(description="how many CPUs are online", default=None)
    numa_nodes: int | None = field(description="how many NUMA nodes", default=None)
    memory_gib: int | None = field(description="GiB of memory, rounded down", default=None)
    mounts: list[str] | None = field(description="directories where something has to be mounted", default=None)

    def _verify(self) -> None:
        for name, value in vars(self).items():
            if value == [] or (isinstance(value, int) and value < 0):
                raise ValueError(f"{name}: {value} is nothing that can be expected")
        if relative := [place for place in self.mounts or () if not place.startswith("/")]:
            raise ValueError(f"mounts: {relative[0]!r} is no directory from the root, as in /models")


class Bench(Model):
    """A command that measures; `bench run` runs it, without a shell, and nothing else does."""

    name: str = field(description="what it is called: letters, digits and . _ -")
    command: list[str] = field(description="program and arguments, as they are")
    parser: str = field(description="which form its output has: the name of an importer")
    repeat: int = field(description="how many runs are measured", default=1)
    warmup: int = field(description="how many runs before them are not", default=0)
    timeout_s: float | None = field(description="seconds after which a run is ended; missing: never", default=None)
    workload: dict[str, str] = field(
        description='what was run, where the output does not say it: parallel = "8"', default={})

    def _verify(self) -> None:
        if not _NAME.fullmatch(self.name):
            raise ValueError(f"{self.name!r} cannot be its name: use letters, digits and . _ -")
        if not self.command or not self.command[0] or "\0" in "".join(self.command):
            raise ValueError("command needs a program, and no NUL can stand in it")
        if self.repeat < 1 or self.warmup < 0 or not (self.timeout_s is None or 0 < self.timeout_s < math.inf):
            raise ValueError("repeat has to be at least 1, warmup at least 0, and timeout_s above 0")


class Roofline(Model):
    """The limit that a metric cannot pass on this host."""

    metric: str = field(description="name of the metric, or a pattern")
    value: float = field(description="the limit, in UNIT")
    unit: str = field(description="as the measurement has it: tok/s, GB/s, ...")
    source: str = field(description="where the number comes from")
    workload: dict[str, str] = field(
        description='only of measurements whose workload has these: concurrency = "1"', default={})

    def _verify(self) -> None:
        if not 0 < self.value < math.inf or not self.source.strip():
            raise ValueError("value has to be a number above 0, and source to say where it comes from")


class Redact(Model):
    """Names that redaction leaves as they are, because they tell nothing."""

    keep_hosts: list[str] = field(description="host names, without domain", default=[])
    keep_domains: list[str] = field(description="domains, with all below them", default=[])
    keep_users: list[str] = field(description="user names", default=[])


class Store(Model):
    """Where snapshots lie, and how many of them."""

    directory: str | None = field(description="the store; $SNAP_STORE goes before it", default=None)
    keep: int | None = field(description="how many snapshots of a host to keep; missing: all", default=None)

    def _verify(self) -> None:
        if self.directory == "" or (self.keep is not None and self.keep < 1):
            raise ValueError("directory must not be empty, and keep has to be at least 1")


class Diff(Model):
    """Options of diff and check; those of the command line go before them."""

    only: list[str] = field(description="patterns: compare nothing else", default=[])
    ignore: list[str] = field(description="patterns: leave these out", default=[])
    fail_on: Severity | None = field(description="exit 1 for findings of this severity or above", default=None)
    fail_on_existing: bool = field(description="count also what was so before", default=False)
    allow_unknown: list[str] = field(description="rules and sections that need not be judged", default=[])


class Tables(Model):
    """Settings of hostsnap for a host: snap.toml."""

    waiver: list[Waiver] = field(description="findings and changes that are accepted", default=[])
    rules: Rules = field(description="which rules there are, and what of them is different here", default=Rules())
    volatile: Volatile = field(description="what changes by itself", default=Volatile())
    tolerance: list[Tolerance] = field(description="how far numbers may move", default=[])
    expect: Expect = field(description="what the host has to have", default=Expect())
    bench: list[Bench] = field(description="commands that measure", default=[])
    roofline: list[Roofline] = field(description="limits that metrics cannot pass", default=[])
    noise: dict[str, float] = field(
        description="pattern of metrics -> how far apart two runs of the same can be, percent", default={})
    redact: Redact = field(description="what redaction leaves as it is", default=Redact())
    store: Store = field(description="where snapshots lie", default=Store())
    diff: Diff = field(description="options of diff and check", default=Diff())
