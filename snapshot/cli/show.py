"""snap show: a snapshot as a readable page, or parts of it."""

from __future__ import annotations

import click

from . import arguments


@click.command(short_help="Show a snapshot, or parts of it.")
@click.argument("words", nargs=-1, metavar="[SNAP] [PATH ...]")
@click.option("-f", "--format", "form", type=click.Choice(("table", "toml", "json")), default="table",
              show_default=True, help="How to print it.")
def show(words: tuple[str, ...], form: str) -> None:
    """Show a readable page of the host as SNAP recorded it (default: the last snapshot, @1), or the parts at PATH.

    A PATH is a section and keys with dots, as in sysctl.values.vm.swappiness or pci.functions.0000:01:00.0; also
    meta, outcomes and files. A label that is also a section's name is written HOST/LABEL.
    """
    from ..report import page, values

    named = words and ("/" in words[0] or words[0].endswith(".toml") or not values.is_path(words[0]))
    reference = words[0] if named else None
    paths = words[1:] if reference else words
    snapshot = arguments.snapshot(reference or "@1")
    if not paths and form == "table":
        click.echo(page.render(snapshot), nl=False)
        return
    found = [values.find(snapshot, path) for path in paths] or values.whole(snapshot)
    if form == "table":
        for keys, value in found:
            click.echo(values.render_table(keys, value), nl=False)
    else:
        click.echo((values.render_toml if form == "toml" else values.render_json)(found), nl=False)
