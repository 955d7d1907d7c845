"""Fixtures of the whole suite."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings
from syrupy.assertion import SnapshotAssertion

KINDS = pytest.StashKey[list[str]]()
# A change lands by tests that give the same verdict each time; what random examples find, they find on a desk.
settings.register_profile("ci", derandomize=True, deadline=None)
settings.register_profile("desk", deadline=None)
settings.load_profile("ci" if os.environ.get("CI") else "desk")


@pytest.fixture
def golden(snapshot: SnapshotAssertion) -> SnapshotAssertion:
    """Syrupy's fixture under a name that is not our package's."""
    return snapshot


@pytest.fixture(scope="session")
def corpus() -> Path:
    """The folder of public raw files that SNAP_CORPUS names."""
    folder = os.environ.get("SNAP_CORPUS")
    if not folder:
        pytest.skip("SNAP_CORPUS names no folder of public raw files")
    return Path(folder)


@pytest.fixture
def record_table(request: pytest.FixtureRequest) -> Callable[[list[str]], None]:
    """Keeps the lines about the kinds of raw files for the end of the run."""
    def keep(lines: list[str]) -> None:
        request.config.stash[KINDS] = lines

    return keep


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Hands the lines to the process that prints, where tests run in several."""
    if output := getattr(session.config, "workeroutput", None):
        output["kinds"] = session.config.stash.get(KINDS, [])


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """Takes them, when a process of pytest-xdist has ended."""
    if lines := getattr(node, "workeroutput", {}).get("kinds"):
        node.config.stash[KINDS] = lines


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Prints the table of the kinds of raw files and how many of each there are."""
    if lines := config.stash.get(KINDS, None):
        terminalreporter.section("public raw files by kind")
        for line in lines:
            terminalreporter.line(line)
