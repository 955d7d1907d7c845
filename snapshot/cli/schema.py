"""snap schema: the JSON Schema of snapshot files."""

from __future__ import annotations

import click


@click.command(short_help="Print the JSON Schema of snapshot files.")
def schema() -> None:
    """Print the JSON Schema (2020-12) of snapshot files, generated from the models.

    Editors that understand the line "#:schema ./hostsnap-1.schema.json" at the head of each snapshot take it from the
    folder that the snapshot lies in: snap schema > hostsnap-1.schema.json
    """
    import json

    from ..schema import schema as build

    click.echo(json.dumps(build(), indent=2, sort_keys=True))
