"""snap redact: a snapshot with pseudonyms in place of names, serials and addresses."""

from __future__ import annotations

import click

from . import arguments
from .arguments import STDOUT


@click.command(short_help="Replace names, serials and addresses by pseudonyms.")
@click.argument("reference", metavar="SNAP")
@click.option("-o", "--output", metavar="FILE", help="Write to FILE; without, or with -, to standard output.")
def redact(reference: str, output: str | None) -> None:
    """Replace host, domain and user names, serials, MACs, UUIDs, IP addresses and paths under /home by pseudonyms.

    They depend on a key: $SNAP_REDACT_KEY, else redact.key of the store, which is made at first use. Snapshots redacted
    with one key compare as their originals do. Read what is left before you publish it.

    \b
    Exit codes: 0 written; 2 error, nothing written.
    """
    if output == "":
        raise click.UsageError("-o needs a file")
    from ..redact import Redaction
    from ..redact.key import load

    redacted = Redaction(load(), arguments.snapshot(reference)).snapshot
    if output in (None, *STDOUT):
        arguments.write(redacted.dumps().encode())
    else:
        redacted.save(output)
