"""Assignments in dkms.conf and framework.conf, from /var/lib/dkms/NAME/VERSION/source and /etc/dkms.

dkms(8). Both are sourced by bash. Here only plain assignments are read: NAME=value or NAME[0]=value with at
most one pair of quotes; what a value expands to is not worked out, so it is kept as written. The last counts.
"""

from __future__ import annotations

from ..regexes import regex

_ASSIGNMENT = regex(
    r"""[ \t]*([A-Za-z_][A-Za-z0-9_]*(?:\[[0-9]{1,4}\])?)=(?:"([^"]*)"|'([^']*)'|([^\s"';#]*))[ \t]*(?:[;#].*)?"""
)


def parse(text: str) -> dict[str, str]:
    """What TEXT assigns, by name. A line that is no plain assignment sets nothing."""
    values = {}
    for line in text.split("\n"):
        if match := _ASSIGNMENT.fullmatch(line.rstrip("\r")):
            name, double, single, plain = match.groups()
            values[name] = next(v for v in (double, single, plain) if v is not None)
    return values
