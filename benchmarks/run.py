"""Ratios of what users wait for against yardsticks: python -m benchmarks.run [RUNS]

Each pair of commands is run in turn, A B A B ..., as whole processes; a row gives both medians in milliseconds, the
median of the ratios pair by pair, the peak memory of A, and the bound that the project holds itself to.
"""

from __future__ import annotations

import os
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

PYTHON = sys.executable
SNAP = str(Path(PYTHON).parent / "snap")
BY_HAND = str(Path(__file__).parent / "by_hand.sh")
BIG_BYTES = 500_000
IMPORT = "from snapshot.document import Snapshot"
LOAD = f"{IMPORT}; import sys; s = Snapshot.load(sys.argv[1]); [s.table(n) for n in s.outcomes]"


class Pair(NamedTuple):
    """A command, its yardstick, and the most that their ratio may be."""

    name: str
    command: list[str]
    yardstick: list[str]
    bound: str


class Run(NamedTuple):
    """One finished process."""

    ms: float
    peak_mib: float


def timed(argv: list[str]) -> Run:
    """Runs ARGV to its end, its output thrown away; RuntimeError when it fails."""
    null = os.open(os.devnull, os.O_RDWR)
    began = time.perf_counter()
    pid = os.posix_spawn(argv[0], argv, os.environ, file_actions=[(os.POSIX_SPAWN_DUP2, null, fd) for fd in (0, 1, 2)])
    _, status, usage = os.wait4(pid, 0)
    ms = (time.perf_counter() - began) * 1000
    os.close(null)
    if os.waitstatus_to_exitcode(status) not in (0, 3):
        raise RuntimeError(f"{argv} exited {os.waitstatus_to_exitcode(status)}")
    return Run(ms, usage.ru_maxrss / 1024)


def big_snapshot(folder: Path) -> Path:
    """A valid snapshot of about BIG_BYTES: this host's, with more sysctl values."""
    from snapshot.capture import take
    from snapshot.document import Snapshot
    from snapshot.host.live import Live
    from snapshot.sections.sysctl import Sysctl

    host = Live()
    taken = take(host)
    host.close()
    missing = BIG_BYTES - len(taken.dumps())
    values: dict[str, int | str] = {f"net.ipv4.conf.eth{n}.param_{n % 40}": n for n in range(max(0, missing) // 38)}
    found = {name: section for name in taken.outcomes if (section := taken.section(name)) is not None}
    found["sysctl"] = Sysctl(values=values)
    path = folder / "big.snap.toml"
    Snapshot.build(taken.meta, taken.outcomes, taken.files, found).save(str(path))
    return path


def pairs(folder: Path) -> Iterator[Pair]:
    """What is measured."""
    bare = [PYTHON, "-I", "-c", "pass"]
    take = [SNAP, "take", "-o", str(folder / "take.snap.toml")]
    yield Pair("take : by hand", take, ["/bin/sh", BY_HAND, str(folder / "by_hand")], "2.5")
    if facter := shutil.which("facter"):
        yield Pair("take : facter", take, [facter], "1.0")
    yield Pair("--help : bare python", [SNAP, "--help"], bare, "5.0")
    big = big_snapshot(folder)
    yield Pair(f"load {big.stat().st_size // 1000} KB : import", [PYTHON, "-c", LOAD, str(big)],
               [PYTHON, "-c", IMPORT], "+60 ms")


def main() -> None:
    """Prints a row a pair."""
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 11
    print(f"{'':<26}{'A ms':>8}{'B ms':>8}{'A/B':>7}{'A-B ms':>8}{'A MiB':>7}  bound")
    with tempfile.TemporaryDirectory() as folder:
        for pair in pairs(Path(folder)):
            timed(pair.command), timed(pair.yardstick)
            both = [(timed(pair.command), timed(pair.yardstick)) for _ in range(runs)]
            a, b = (statistics.median(r[i].ms for r in both) for i in (0, 1))
            ratio = statistics.median(x.ms / y.ms for x, y in both)
            peak = max(x.peak_mib for x, _ in both)
            print(f"{pair.name:<26}{a:8.0f}{b:8.0f}{ratio:7.2f}{a - b:8.0f}{peak:7.0f}  {pair.bound}")


if __name__ == "__main__":
    main()
