"""Where a report goes, and in which formats: -f FORMAT to standard output, -f FORMAT=FILE into a file."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING

import click

from ..records import record
from .arguments import STDOUT

if TYPE_CHECKING:
    from ..report.review import Review

FORMATS = ("text", "json", "markdown")
WIDTH = 80


@record(frozen=True)
class Output:
    """A format, and the file that it goes to; None is standard output."""

    form: str
    file: str | None = None


def parsed(_: click.Context, __: click.Parameter, texts: Iterable[str]) -> tuple[Output, ...]:
    """What the values of -f mean; without any, text. BadParameter when one means nothing, or two go to one place."""
    found = tuple(map(_output, texts)) or (Output("text"),)
    places = [output.file and os.path.realpath(output.file) for output in found]
    for output, place in zip(found, places, strict=True):
        if places.count(place) > 1:
            to = output.file or "standard output"
            raise click.BadParameter(f"two reports cannot go to {to}: -f {output.form}=FILE")
    return found


def _output(text: str) -> Output:
    form, given, file = text.partition("=")
    if form not in FORMATS:
        raise click.BadParameter(f"there is no format {form!r}: {', '.join(FORMATS)}")
    if not given or file in STDOUT:
        return Output(form)
    if not file or os.path.isdir(file):
        raise click.BadParameter(f"{text}: {'a directory' if file else 'there'} is no file to write to")
    return Output(form, file)


def emit(review: Review, outputs: Iterable[Output], everything: bool, benchmarks: bool = False) -> None:
    """Writes each report, files first: where one cannot be written, no other says how it went. SnapError then.

    With BENCHMARKS it is that of bench compare.
    """
    from .. import store

    rendered = _benchmarks if benchmarks else _rendered
    for one in sorted(outputs, key=lambda output: output.file is None):
        if one.file is None:
            printed(rendered(one.form, review, everything, color=color(), width=width()))
        else:
            store.write(one.file, rendered(one.form, review, everything).encode("utf-8", "backslashreplace"))


def printed(text: str) -> None:
    """Writes a text, coloured as it is, to standard output. What its encoding lacks comes as escapes."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # to fail would end in 1, which means findings
    click.echo(text, nl=False, color=True)


def _rendered(form: str, review: Review, everything: bool, color: bool = False, width: int = WIDTH) -> str:
    if form == "json":
        from ..report.as_json import render_json

        return render_json(review)
    if form == "markdown":
        from ..report.markdown import render_markdown

        return render_markdown(review)
    from ..report.text import render_text

    return render_text(review, color=color, everything=everything, width=width)


def _benchmarks(form: str, review: Review, everything: bool, color: bool = False, width: int = WIDTH) -> str:
    from ..report import bench_compare

    if form == "json":
        return bench_compare.render_json(review)
    if form == "markdown":
        return bench_compare.render_markdown(review)
    return bench_compare.render_text(review, color=color, everything=everything, width=width)


def width() -> int:
    """How wide text may be: as the terminal, where there is one, but no wider than reads well."""
    if not _terminal():
        return WIDTH
    import shutil

    return min(WIDTH, shutil.get_terminal_size().columns)


def color() -> bool:
    """Whether standard output is a terminal on which colour is wanted: https://no-color.org."""
    return _terminal() and "NO_COLOR" not in os.environ and os.environ.get("TERM") != "dumb"


def _terminal() -> bool:
    return sys.stdout is not None and sys.stdout.isatty()
