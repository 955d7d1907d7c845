"""The command: ``hostsnap``, ``snap`` and ``python -m snapshot``."""

from __future__ import annotations

import gc
import os
import signal
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from types import FrameType, TracebackType

INTERRUPTED = 130  # as a shell reports SIGINT
ENDING = (signal.SIGTERM, signal.SIGHUP)


class Ended(BaseException):
    """A signal that ends this process: raised, so that programs that it has begun end first, signal(7)."""


def main() -> None:
    """Runs the command line and exits. A fault is one line on stderr and exit code 2, never 1: that means findings."""
    # No code of other packages runs in ours because it is installed; the search for it costs 15 ms.
    os.environ["PYDANTIC_DISABLE_PLUGINS"] = "__all__"
    try:
        code = _run()
        if sys.stdout is not None:
            sys.stdout.flush()  # here, where a full disk or a closed pipe can still be told
    except KeyboardInterrupt:  # while click is imported, or its work is done
        code = INTERRUPTED
    except BrokenPipeError:
        from .cli import PIPE_CLOSED

        code = PIPE_CLOSED
        _drop_output()
    except OSError as error:
        code = _failed(f"{error.filename or 'output'}: {error.strerror or error}")
        _drop_output()
    sys.exit(code)


def _run() -> int:
    import click

    from .cli import snap
    from .errors import SnapError

    try:
        code = snap.main(prog_name=snap.program(), standalone_mode=False)
        return code if isinstance(code, int) else 0
    except SystemExit as stop:
        return stop.code if isinstance(stop.code, int) else 2
    except SnapError as error:
        return _failed(str(error))
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except click.Abort:
        return INTERRUPTED


def _failed(text: str) -> int:
    from .cli import snap
    from .report.paper import shown

    if sys.stderr is not None:
        sys.stderr.write(f"{snap.program()}: {shown(text)}\n")
    return 2


def _crashed(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    """Of a fault of our own: all that there is to say, and an exit code that cannot be taken for findings."""
    if issubclass(kind, KeyboardInterrupt):
        os._exit(INTERRUPTED)
    sys.__excepthook__(kind, error, trace)
    if sys.stderr is not None:
        sys.stderr.flush()
    os._exit(2)


def _drop_output() -> None:
    """Points standard output at nothing, so that the interpreter's own flush at its end cannot fail again."""
    if sys.stdout is not None:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _end(number: int, _frame: FrameType | None) -> None:
    for one in ENDING:
        signal.signal(one, signal.SIG_IGN)  # once is enough, and what is put in order now is not to be left half done
    raise Ended(number)


def _die(number: int) -> None:
    """Ends this process by the signal, as whoever sent it expects."""
    signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)
    os._exit(128 + number)  # as process 1 of a container, which it does not end


def run() -> None:
    """What the installed commands call: main in a process of its own, which ends before its garbage would matter."""
    gc.disable()
    sys.excepthook = _crashed
    for number in ENDING:
        if signal.getsignal(number) == signal.SIG_DFL:  # not where nohup(1) has it ignored
            signal.signal(number, _end)
    try:
        main()
    except Ended as ended:
        _die(ended.args[0])
    except SystemExit as stop:
        if sys.stderr is not None:
            sys.stderr.flush()
        os._exit(stop.code if isinstance(stop.code, int) else 2)  # nor is anything taken apart that nobody needs


if __name__ == "__main__":
    run()
