"""Signals that ask to stop, signal(7): what was measured is kept, and no benchmark goes on behind our back."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager

ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Stop:
    """A signal that asks to stop: raises KeyboardInterrupt, but while HELD it waits for ``release``."""

    def __init__(self) -> None:
        self.held = self._asked = False

    def __call__(self, _number: int, _frame: object) -> None:
        """Handles the signal."""
        self._asked = True
        if not self.held:
            raise KeyboardInterrupt

    def release(self) -> None:
        """KeyboardInterrupt when there was such a signal."""
        self.held = False
        if self._asked:
            raise KeyboardInterrupt


@contextmanager
def stoppable() -> Iterator[Stop]:
    """While it is entered, signals that would end this process raise KeyboardInterrupt; nohup(1) keeps its word."""
    stop = Stop()
    deaf = signal.getsignal(signal.SIGHUP) == signal.SIG_IGN
    old = {number: signal.signal(number, stop) for number in ENDING if not (deaf and number == signal.SIGHUP)}
    try:
        yield stop
    finally:
        for number, handler in old.items():
            signal.signal(number, handler)
