"""The command line: one file a verb, loaded when it is called. Parses, calls, prints, exits; no logic.

To add a verb: ``cli/VERB.py`` with a click command named like the verb, and the word in VERBS.
"""

from __future__ import annotations

import os
import sys
from importlib import import_module
from typing import Any

import click

PIPE_CLOSED = 141  # as a shell reports SIGPIPE
VERBS = (
    "take", "diff", "check", "forecast", "fix", "run", "explain", "bench", "rules", "show", "log", "redact",
    "collectors", "schema", "completion",
)


class Verbs(click.Group):
    """A group whose commands are imported one by one."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        """The verbs in the order in which a user meets them."""
        return list(VERBS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        """The command of a verb, None when there is no such verb."""
        if cmd_name not in VERBS:
            return None
        command: click.Command = getattr(import_module(f".{cmd_name}", __name__), cmd_name)
        return command

    def make_context(
        self, info_name: str | None, args: list[str], parent: click.Context | None = None, **extra: Any
    ) -> click.Context:
        """As click's, where --help prints; of a closed pipe click would make exit code 1, which means findings."""
        try:
            return super().make_context(info_name, args, parent, **extra)
        except BrokenPipeError:
            raise SystemExit(PIPE_CLOSED) from None

    def invoke(self, ctx: click.Context) -> object:
        """As click's, with the same care for a closed pipe."""
        try:
            return super().invoke(ctx)
        except BrokenPipeError:
            raise SystemExit(PIPE_CLOSED) from None

    def program(self) -> str:
        """The name the user called: snap, hostsnap, or python -m snapshot."""
        name = os.path.basename(sys.argv[0])
        return "python -m snapshot" if name == "__main__.py" else name or "hostsnap"


def _version(ctx: click.Context, _param: click.Parameter, value: bool) -> None:
    if value:
        from .. import __version__

        click.echo(f"hostsnap {__version__}")
        ctx.exit()


@click.group(cls=Verbs, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.option("--version", is_flag=True, is_eager=True, expose_value=False, callback=_version, help="Show the version.")
def snap() -> None:
    """Record the full state of a Linux/GPU host, compare two records, and see what got worse and how to mend it.

    \b
    SNAP, where a command takes one, is
      a path     has a / or ends in .toml; - is standard input
      an id      the UTC time of a snapshot in the store, or its beginning
      a label    the newest of this host that bears it; HOST/LABEL of another
      @1, @2     the last one of this host, the one before, ...
      REV:PATH   a file as git has it at a revision; ./PATH is from here
      now        this host as it is, recorded nowhere
    """
