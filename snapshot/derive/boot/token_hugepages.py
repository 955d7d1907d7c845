"""hugepages= on the command line, against the pools of section memory.

Documentation/admin-guide/mm/hugetlbpage.rst, kernel-parameters.txt. A number counts for the hugepagesz= before it, else
for the default size; said twice for one size, the first counts. NODE:PAGES,... is of single nodes. The kernel takes
what it can get, without an error.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from ...regexes import regex
from ..tunables.tunable_hugepages import size_name
from .token_live import Answer, Check, Live

NODES = regex(r"[0-9]{1,5}:[0-9]{1,12}(?:,[0-9]{1,5}:[0-9]{1,12})*")
SIZED = ("x86_64",)  # architectures of which the default size is known: 2 MiB with 4 KiB pages


def pools(live: Live, pairs: Iterable[tuple[str, str, str | None]]) -> Iterator[tuple[str, str, Check]]:
    """Words, value and check of each hugepages= among the words of the command line (token, name and value)."""
    words = list(pairs)
    named = [value for _, name, value in words if name == "default_hugepagesz"]
    size = size_name(named[-1] or "") if named else "2048kB" if live.maybe("kernel", "machine") in SIZED else ""
    before, met = "", set[str]()
    for token, name, value in words:
        if name == "hugepagesz":
            before, size = token, size_name(value or "")
        elif name == "hugepages" and value:
            yield " ".join(filter(None, (before, token))), value, _pool(size, size in met)
            met.add(size)


def _pool(size: str, again: bool) -> Check:
    def check(live: Live, text: str | None) -> Answer:
        pages = "huge page" if text == "1" else "huge pages"
        wants, wanted = f"{text} {pages} of {size or 'the default size'}", _number(text or "")
        if again or not size or wanted is None:
            return Answer(wants, why="the kernel takes the first of two" if again else "")
        return _answer(live, size, wants, wanted)

    return check


def _answer(live: Live, size: str, wants: str, wanted: int) -> Answer:
    pools = live.value("memory", "hugepages") or {}
    if size not in pools:
        return Answer(wants, f"no pool of {size}", False, "the CPU or kernel has no pages of this size")
    pages = live.value("memory", "hugepages", size, "pages")
    setting = live.maybe("sysctl", "settings", "vm.nr_hugepages", "systemd") if size == "2048kB" else None
    short = pages is not None and pages < wanted
    effect = "" if pages is None else f"{pages} {'page' if pages == 1 else 'pages'} of {size}"
    return Answer(wants, effect, None if pages is None else not short,
                  overruled_by=setting["origin"] if short and setting else {})


def _number(text: str) -> int | None:
    """How many pages are asked for, over all nodes; None when TEXT is no number."""
    if NODES.fullmatch(text):
        return sum(int(part.partition(":")[2]) for part in text.split(","))
    return int(text) if re.fullmatch("[0-9]{1,12}", text) else None
