"""The chain of boots, driven once for all tests, and the table of what came of it."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from .chain import drive, runs
from .image import UnavailableError, image, single_file, work
from .stages import STAGES
from .verdicts import Verdicts

TABLE = pytest.StashKey[list[str]]()


@pytest.fixture(scope="session")
def chain(tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> Path:
    """The folder of the chain's results; those of SNAP_RIG_RESULTS, an earlier chain, where it is set."""
    request.config.stash[TABLE] = lines = list[str]()
    if earlier := os.environ.get("SNAP_RIG_RESULTS"):
        return Path(earlier)
    try:
        made, snap = image(), tmp_path_factory.mktemp("build") / "snap"
        single_file(snap)
    except UnavailableError as why:
        pytest.skip(f"no reboot here: {why}")
    folder = work() / "chain"
    machine = drive(made, snap, folder)
    lines.append(f"{len(machine.boots)} boots, {sum(boot.took_s for boot in machine.boots):.0f} s; "
                 f"boots that died before their hook and were tried again: {', '.join(machine.died) or 'none'}")
    return folder


@pytest.fixture(scope="session")
def verdicts(chain: Path) -> dict[str, Verdicts]:
    """By name of a run, what the product said of it."""
    return {run.name: Verdicts(run) for run in runs(chain)}


@pytest.fixture(params=[stage.name for stage in STAGES[1:]])
def verdict(request: pytest.FixtureRequest, verdicts: dict[str, Verdicts]) -> Verdicts:
    """Each run in turn."""
    return verdicts[request.param]


@pytest.fixture(scope="session")
def tell(request: pytest.FixtureRequest) -> Callable[[str], None]:
    """Keeps a line for the end of the session."""
    return lambda line: request.config.stash[TABLE].append(line)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Prints the table of the runs."""
    if lines := config.stash.get(TABLE, None):
        terminalreporter.section("reboots")
        for line in lines:
            terminalreporter.line(line)
