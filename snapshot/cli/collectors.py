"""snap collectors: what each section reads and needs."""

from __future__ import annotations

import click

from ..sections import NAMES


@click.command(short_help="Say what each section reads and needs.")
@click.argument("section", nargs=-1, type=click.Choice(("meta", *NAMES)), metavar="[SECTION ...]")
def collectors(section: tuple[str, ...]) -> None:
    """Say what each section and the snapshot's meta reads, which commands it may run, and what root adds.

    Nothing else is touched: * stands for part of one name, ** for everything below.
    """
    from ..capture import META_READS
    from ..collectors import collector
    from ..collectors.describe import render

    for name in section or ("meta", *NAMES):
        click.echo(render(name, META_READS if name == "meta" else collector(name).reads), nl=False)
