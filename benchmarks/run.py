"""Ratios of what users wait for against yardsticks: python -m benchmarks.run [RUNS]

Each pair of commands is run in turn, A B A B ..., as whole processes; a row gives both medians in milliseconds, the
median of the ratios pair by pair, the peak memory of A, and the bound that the project holds itself to. Of the big
host it is processor time, children included: there the files cost nothing but their number. Its live take sees the
big host's /proc and /sys in a mount namespace, for which root is needed; without, that row is left out.
"""

from __future__ import annotations

import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from . import big_host, numbers
from . import pairs as snapshots

PYTHON = sys.executable
SNAP = str(Path(PYTHON).parent / "snap")
BY_HAND = str(Path(__file__).parent / "by_hand.sh")
READ_ALL = str(Path(__file__).parent / "read_all.py")
IN_PLACE = 'mount --bind "$0/sys" /sys && mount --bind "$0/proc" /proc && exec "$@"'
MOUNTINFO = "1 1 0:1 / / rw - tmpfs none rw\n"  # no mount that can hang
BIG_BYTES = 500_000
IMPORT = "from snapshot.document import Snapshot"
LOAD = f"{IMPORT}; import sys; s = Snapshot.load(sys.argv[1])"
EVERY = f"{LOAD}; [s.table(n) for n in s.outcomes]"
COMPARE = (
    f"{IMPORT}; from snapshot.derive.bench.benchmarks import compared; from snapshot.report.benchmarks import write;"
    "from snapshot.report.paper import Paper; import sys; a, b = map(Snapshot.load, sys.argv[1:]); paper = Paper();"
    "write(paper, compared(b, a), None, True); print(paper.text())")


class Pair(NamedTuple):
    """A command, its yardstick, and the most that their ratio may be."""

    name: str
    command: list[str]
    yardstick: list[str]
    bound: str
    processor: bool = False  # its time instead of the time on the clock


class Run(NamedTuple):
    """One finished process."""

    ms: float
    processor_ms: float
    peak_mib: float


def timed(argv: list[str]) -> Run:
    """Runs ARGV to its end, its output thrown away; RuntimeError when it fails."""
    null = os.open(os.devnull, os.O_RDWR)
    began = time.perf_counter()
    pid = os.posix_spawn(argv[0], argv, os.environ, file_actions=[(os.POSIX_SPAWN_DUP2, null, fd) for fd in (0, 1, 2)])
    _, status, usage = os.wait4(pid, 0)
    ms = (time.perf_counter() - began) * 1000
    os.close(null)
    if os.waitstatus_to_exitcode(status) not in (0, 1, 3):  # of a comparison: findings, or some could not be judged
        raise RuntimeError(f"{argv} exited {os.waitstatus_to_exitcode(status)}")
    return Run(ms, (usage.ru_utime + usage.ru_stime) * 1000, usage.ru_maxrss / 1024)


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


def big_root(parent: Path) -> Path:
    """The big host, with the two files of /proc that a live take needs of itself."""
    root = parent / "big"
    big_host.write(root)
    (root / "proc/self").mkdir()
    (root / "proc/self/mountinfo").write_text(MOUNTINFO)
    (root / "proc/self/status").write_text("CapEff:\t0000000000000000\n")
    return root


def pairs(folder: Path, fast: Path) -> Iterator[Pair]:
    """What is measured."""
    bare = [PYTHON, "-I", "-c", "pass"]
    take = [SNAP, "take", "-o", str(folder / "take.snap.toml")]
    yield Pair("take : by hand", take, ["/bin/sh", BY_HAND, str(folder / "by_hand")], "2.5")
    if facter := shutil.which("facter"):
        yield Pair("take : facter", take, ["/bin/sh", "-c", f"{facter} || [ $? = 1 ]"], "1.0")  # 1: a fact is missing
    root = str(big_root(fast))
    read_all = [PYTHON, "-I", "-S", READ_ALL, root]
    yield Pair("big, recorded : read all", [*take, "--root", root], read_all, "2.5", processor=True)
    if os.geteuid() == 0 and (unshare := shutil.which("unshare")):
        live = [unshare, "-m", "/bin/sh", "-c", IN_PLACE, root, *take]
        yield Pair("big, live : read all", live, read_all, "2.5", processor=True)
    yield Pair("--help : bare python", [SNAP, "--help"], bare, "5.0")
    big = big_snapshot(folder)
    yield Pair(f"load {big.stat().st_size // 1000} KB : import", [PYTHON, "-c", LOAD, str(big)],
               [PYTHON, "-c", IMPORT], "+60 ms")
    yield Pair("every section : import", [PYTHON, "-c", EVERY, str(big)], [PYTHON, "-c", IMPORT], "")
    yield from compared(folder)
    yield from numbers_compared(folder)


def compared(folder: Path) -> Iterator[Pair]:
    """Comparisons of two snapshots that differ in 30 facts."""
    small, large = (snapshots.write(folder / str(size), size) for size in (300_000, 3_000_000))
    judged, larger = ([SNAP, "diff", "--config", "/dev/null", *map(str, sides)] for sides in (small, large))
    plain = [str(side).replace(".snap.toml", ".json") for side in small]
    if jdiff := shutil.which("jdiff"):
        yield Pair("diff 300 KB : jdiff", judged, [jdiff, *plain], "5.0")
    if deep := shutil.which("deep"):
        yield Pair("diff 300 KB : deep diff", judged, [deep, "diff", *map(str, small)], "0.33")
    yield Pair("diff 3 MB : 300 KB", larger, judged, "4.0")
    yield Pair("check 300 KB : load", [SNAP, "check", str(small[0])], [PYTHON, "-c", LOAD, str(small[0])], "")


def numbers_compared(folder: Path) -> Iterator[Pair]:
    """Comparisons of benchmark numbers."""
    if pyperf := shutil.which("pyperf", path=f"{Path(PYTHON).parent}:{os.environ['PATH']}"):
        sides, files = numbers.write(folder)
        theirs = [pyperf, "compare_to", *files]
        yield Pair("numbers : pyperf", [PYTHON, "-c", COMPARE, *sides], theirs, "1.5")
        yield Pair("bench compare : pyperf", [SNAP, "bench", "compare", "--config", "/dev/null", *sides], theirs, "")


def rules_judged(folder: Path) -> str:
    """A line of the table for ``benchmarks.rules``, which is timed within its process."""
    sides = snapshots.write(folder / "rules", BIG_BYTES)
    argv = [PYTHON, "-m", "benchmarks.rules", *map(str, sides)]
    done = subprocess.run(argv, check=True, capture_output=True, text=True)
    return f"{'300 rules, 500 KB':<26}{float(done.stdout):8.0f}{'':30}  60 ms"


def main() -> None:
    """Prints a row a pair."""
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 11
    print(f"{'':<26}{'A ms':>8}{'B ms':>8}{'A/B':>7}{'A-B ms':>8}{'A MiB':>7}  bound")
    shm = "/dev/shm" if os.path.isdir("/dev/shm") else None
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory(dir=shm) as fast:
        for pair in pairs(Path(folder), Path(fast)):
            timed(pair.command), timed(pair.yardstick)
            print(row(pair, [(timed(pair.command), timed(pair.yardstick)) for _ in range(runs)]))
        print(rules_judged(Path(folder)))


def row(pair: Pair, both: list[tuple[Run, Run]]) -> str:
    """A line of the table."""
    times = [(a.processor_ms, b.processor_ms) if pair.processor else (a.ms, b.ms) for a, b in both]
    a, b = (statistics.median(t[i] for t in times) for i in (0, 1))
    ratio = statistics.median(x / y for x, y in times)
    peak = max(x.peak_mib for x, _ in both)
    return f"{pair.name:<26}{a:8.0f}{b:8.0f}{ratio:7.2f}{a - b:8.0f}{peak:7.0f}  {pair.bound}"


if __name__ == "__main__":
    main()
