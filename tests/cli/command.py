"""Runs the command line in this process as a shell would: argv in, exit code and output out."""

from __future__ import annotations

import sys
from dataclasses import dataclass

import pytest

from snapshot.__main__ import main


@dataclass(frozen=True)
class Ended:
    """How a command ended."""

    code: int
    out: str
    err: str

    def golden(self) -> str:
        """Output and exit code as one text."""
        return f"{self.out}{self.err}[exit {self.code}]\n"


@dataclass(frozen=True)
class Snap:
    """The command, bound to a test's output capture."""

    capture: pytest.CaptureFixture[str]
    patch: pytest.MonkeyPatch

    def __call__(self, *argv: str) -> Ended:
        """Runs ``snap ARGV``."""
        self.patch.setattr(sys, "argv", ["/usr/bin/snap", *argv])
        code = 0
        try:
            main()
        except SystemExit as stop:
            code = stop.code if isinstance(stop.code, int) else int(stop.code is not None)
        out, err = self.capture.readouterr()
        return Ended(code, out, err)
