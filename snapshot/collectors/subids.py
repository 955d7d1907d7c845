"""Ranges of subordinate ids, from /etc/subuid and /etc/subgid.

subuid(5), subgid(5): OWNER:START:COUNT, the owner by name or number, no comments. LXC as root uses root's.
Names of other users are private: they are counted.
"""

from __future__ import annotations

import re

from ..regexes import regex
from ..sections.runtimes import IdRange, SubIds

_LINE = regex(r"([^:\s]+):([0-9]{1,10}):([0-9]{1,10})\s*")


def parse(text: str) -> SubIds:
    """The ranges. A line of another form gives nobody anything."""
    ranges: dict[str, list[IdRange]] = {}
    others = 0
    for match in filter(None, map(_LINE.fullmatch, text.split("\n"))):
        if match[1] == "root" or re.fullmatch("[0-9]+", match[1]):
            ranges.setdefault(match[1], []).append(IdRange(start=int(match[2]), count=int(match[3])))
        else:
            others += 1
    return SubIds(ranges=dict(sorted(ranges.items())) or None, others=others or None)
