"""snap log: what lies in the store."""

from __future__ import annotations

import click

from . import arguments


@click.command(short_help="List the snapshots in the store.")
@click.option("--all", "everyone", is_flag=True, help="Of all hosts, not only of this one.")
@click.option("--host", metavar="HOST", help="Of HOST.")
@click.option("-f", "--format", "form", type=click.Choice(("table", "json")), default="table", show_default=True,
              help="How to print it.")
def log(everyone: bool, host: str | None, form: str) -> None:
    """List the snapshots in the store, newest first, with the names that SNAP takes."""
    if everyone and host:
        raise click.UsageError("--all and --host exclude each other")
    from .. import store
    from ..report import listing

    wanted = None if everyone else host or arguments.this_host()
    entries = store.entries(wanted)
    render = listing.render_json if form == "json" else listing.render_table
    click.echo(render(entries, store.root(), wanted), nl=False)
