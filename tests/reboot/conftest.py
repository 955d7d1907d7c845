"""The chains of boots, each driven once for all tests, and the table of what came of them."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from .chain import drive, runs
from .image import UnavailableError, image, single_file, work
from .stages import STAGES, Stage
from .verdicts import Verdicts

TABLE = pytest.StashKey[list[str]]()


def pytest_configure(config: pytest.Config) -> None:
    """Makes room for the lines of the table."""
    config.stash[TABLE] = []


def driven(config: pytest.Config, build: Path, name: str, suite: str, stages: tuple[Stage, ...]) -> Path:
    """The folder of the results of chain NAME; where SNAP_RIG_RESULTS is set, of an earlier one."""
    if earlier := os.environ.get("SNAP_RIG_RESULTS"):
        return Path(earlier) / name
    try:
        made = image(suite)
        single_file(build / "snap", suite)
    except UnavailableError as why:
        pytest.skip(f"no reboot here: {why}")
    machine = drive(made, build / "snap", work() / name, stages)
    config.stash[TABLE].append(
        f"{name}: {len(machine.boots)} boots, {sum(boot.took_s for boot in machine.boots):.0f} s; "
        f"boots that died before their hook and were tried again: {', '.join(machine.died) or 'none'}")
    return work() / name


@pytest.fixture(scope="session")
def chain(tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> Path:
    """The folder of the long chain's results."""
    return driven(request.config, tmp_path_factory.mktemp("build"), "chain", "bookworm", STAGES)


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
    if lines := config.stash[TABLE]:
        terminalreporter.section("reboots")
        for line in lines:
            terminalreporter.line(line)
