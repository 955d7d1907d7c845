"""The chains of boots, driven once for all tests and side by side, and the table of what came of them."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from shutil import rmtree

import pytest

from .chain import drive, runs
from .image import Image, UnavailableError, image, single_file, work
from .stages import HOSTS
from .verdicts import Verdicts

TABLE = pytest.StashKey[list[str]]()


def pytest_configure(config: pytest.Config) -> None:
    """Makes room for the lines of the table."""
    config.stash[TABLE] = []


@pytest.fixture(scope="session")
def folders(tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> dict[str, Path]:
    """The folder of each host's results, of those hosts that the tests of this session name in HOST_NAMES.

    Their chains are driven at once, one for each of this machine's CPUs.
    """
    asked = {name for item in request.session.items if isinstance(item, pytest.Function)
             for name in getattr(item.module, "HOST_NAMES", ())}
    names = [name for name in HOSTS if name in asked]
    if earlier := os.environ.get("SNAP_RIG_RESULTS"):
        return {name: Path(earlier) / name for name in names}
    suites = dict.fromkeys(HOSTS[name][0] for name in names)
    made = {suite: _made(suite, tmp_path_factory.mktemp("build") / "snap") for suite in suites}
    drives = []
    for name in names:
        rmtree(work() / name, ignore_errors=True)
        suite, chains = HOSTS[name]
        drives += [partial(drive, *made[suite], work() / name, stages) for stages in chains]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        machines = list(pool.map(lambda one: one(), drives))
    for machine in machines:
        request.config.stash[TABLE].append(
            f"{machine.work.name}: {len(machine.boots)} boots, {sum(boot.took_s for boot in machine.boots):.0f} s; "
            f"boots that died before their hook and were tried again: {', '.join(machine.died) or 'none'}")
    return {name: work() / name for name in names}


def _made(suite: str, snap: Path) -> tuple[Image, Path]:
    """The image of Debian's release SUITE, and the product as a file for it."""
    try:
        found = image(suite)
        single_file(snap, suite)
    except UnavailableError as why:
        pytest.skip(f"no reboot here: {why}")
    return found, snap


@pytest.fixture(scope="session")
def chain(folders: dict[str, Path]) -> Path:
    """The folder of the results of both long chains."""
    return folders["chain"]


@pytest.fixture(scope="session")
def verdicts(chain: Path) -> dict[str, Verdicts]:
    """By name of a run, what the product said of it."""
    return {run.name: Verdicts(run) for stages in HOSTS["chain"][1] for run in runs(chain, stages)}


@pytest.fixture(params=[stage.name for stages in HOSTS["chain"][1] for stage in stages[1:]])
def verdict(request: pytest.FixtureRequest, verdicts: dict[str, Verdicts]) -> Verdicts:
    """Each run in turn."""
    return verdicts[request.param]


@pytest.fixture(scope="session")
def tell(request: pytest.FixtureRequest) -> Callable[[str], None]:
    """Keeps a line for the end of the session."""
    return lambda line: request.config.stash[TABLE].append(line)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Prints the table of the runs."""
    if lines := config.stash[TABLE]:
        terminalreporter.section("reboots")
        for line in lines:
            terminalreporter.line(line)
