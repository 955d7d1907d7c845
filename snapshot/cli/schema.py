"""snap schema: the JSON Schema of snapshot files, and of what else has a form."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click


@click.command(short_help="Print the JSON Schema of snapshots and other files.")
@click.argument("what", type=click.Choice(("snapshot", "pack", "finding", "config")), default="snapshot",
                metavar="[snapshot|pack|finding|config]")
def schema(what: str) -> None:
    """Print a JSON Schema (2020-12), generated from the models: of snapshot files, rule packs, findings or snap.toml.

    Editors that understand a line "#:schema ./FILE" at the head of a TOML file take it from there. Snapshots have
    that line, for hostsnap-1.schema.json in the folder that they lie in.
    """
    import json

    click.echo(json.dumps(_builder(what)(), indent=2, sort_keys=True))


def _builder(what: str) -> Callable[[], dict[str, Any]]:
    if what == "pack":
        from ..engine.pack_schema import schema as pack

        return pack
    if what == "finding":
        from ..engine.finding import schema as finding

        return finding
    if what == "config":
        from ..config.schema import schema as config

        return config
    from ..schema import schema as snapshot

    return snapshot
