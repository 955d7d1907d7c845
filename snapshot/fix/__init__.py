"""Findings turned into a POSIX shell script that mends them. Nothing is changed here: the script is text.

A block does what one remedy says, command by command: what changes files is wrapped (compared with what the snapshot
saw, backed up, written, compared again), what only makes a change take effect runs if there was one, and containers are
restarted once, behind all blocks. A command that is not known, or needs a decision, becomes a comment.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from ..records import record
from .block import Block, Item, blocks
from .prelude import PRELUDE
from .seen import Seen
from .words import comment, quote, visible

if TYPE_CHECKING:
    from ..document import Snapshot

__all__ = ["Item", "Made", "script"]
MACHINE_KEY = "hostsnap machine v1"  # of document.machine_hash
RULE = "# " + "-" * 76


@record(frozen=True)
class Made:
    """What a script was made from and by, for its head: the COMMAND, the SIDES in words, the TOOL and its time.

    UNSURE says what could not be judged, so that no remedy is known for it; empty where all was.
    """

    command: str
    sides: tuple[str, ...]
    tool: str
    when: str
    unsure: str = ""


def script(items: Iterable[Item], after: Snapshot, made: Made, now: bool = False) -> str:
    """The script for ITEMS on the host of AFTER, in their order; NOW: the immediate remedies instead of the durable."""
    found = blocks(items, Seen.of(after), now)
    run = [block for block in found if block.code]
    restarts = [*dict.fromkeys(block.restart for block in run if block.restart)]
    parts = [_head(after, made, now, found), _same_host(after, now), PRELUDE, _work()]
    parts += [block.text(number) for number, block in enumerate(found, 1)]
    parts += [_restart(number, name, run) for number, name in enumerate(restarts, 1)]
    return "\n".join([*parts, _calls(found, restarts), _end(found)])


def _head(after: Snapshot, made: Made, now: bool, found: Sequence[Block]) -> str:
    meta, left = after.meta, sum(block.left for block in found)
    nothing = "Nothing was found to mend." if made.unsure else "There is nothing to mend."
    lines = [
        f"Mends what `{made.command}` finds on {meta.host}: {'until the next boot or start' if now else 'for good'}.",
        *made.sides, f"Made by hostsnap {made.tool}, {made.when}. Machine {meta.machine or 'not known'}.", "",
        "Read it first. As root: sh FILE -n shows what it would change, sh FILE does it, and again is harmless.",
        "It refuses a file that is no longer what the snapshot saw. Files as they were go to",
        "/var/lib/hostsnap/backup/TIME. Exit status: 0 done, 1 something was refused or failed, 2 not run.",
        f"Blocks: {len(found)}, of which {left} leave something to you." if found else nothing,
        *filter(None, [made.unsure]),
    ]
    return "#!/bin/sh\n" + "\n".join(map(comment, lines)) + "\n"


def _same_host(after: Snapshot, now: bool) -> str:
    """The lines that stop on another machine, for another user, and with NOW in another boot."""
    meta = after.meta
    lines = [
        f'[ "$(uname -n)" = {quote(visible(meta.host))} ] || stop {quote(f"This is not {visible(meta.host)}.")}',
        '[ "$(id -u)" = 0 ] || stop "This needs root."',
    ]
    if meta.machine:
        lines += [
            "if [ -s /etc/machine-id ] && command -v openssl > /dev/null; then",
            f"    machine=$(printf %s \"$(cat /etc/machine-id)\" | openssl dgst -sha256 -hmac '{MACHINE_KEY}')",
            f'    case $machine in *"= "{quote(meta.machine)}*) ;; *)',
            f'        stop {quote(f"This is another machine than the {visible(meta.host)} of the snapshot.")} ;;',
            "    esac", "fi",
        ]
    if now and meta.boot_id:
        lines += [
            f'[ "$(cat /proc/sys/kernel/random/boot_id)" = {quote(meta.boot_id)} ] ||',
            '    stop "The host was booted since the snapshot: what is right now may be another thing."',
        ]
    return "stop() { printf '%s\\n' \"$*\" >&2; exit 2; }\n" + "\n".join(lines) + "\n"


def _work() -> str:
    return "\n".join([
        "work=$(mktemp -d) || stop 'There is no temporary directory.'", "trap 'rm -rf \"$work\"' EXIT",
        "trap 'exit 130' HUP INT TERM", "",
    ])


def _restart(number: int, name: str, run: Sequence[Block]) -> str:
    """The functions that restart NAME, and check what the blocks that want it have mended."""
    mine = [block for block in run if block.restart == name]
    acts = [*dict.fromkeys(line for block in mine for line in block.restarting)]
    checks = [*dict.fromkeys(line for block in mine for line in block.checks)]
    return f"{RULE}\n{function(f'restart_{number}', acts)}{function(f'checks_{number}', checks or [':'])}"


def function(name: str, code: Iterable[str]) -> str:
    """A function of the shell. Its code is not set in, because of here-documents and texts of several lines."""
    return "\n".join([f"{name}() {{", *code, "}", ""])


def _calls(found: Sequence[Block], restarts: Sequence[str]) -> str:
    calls = [f"block {number} {block.id} {quote(visible(block.title))}"
             for number, block in enumerate(found, 1) if block.code]
    calls += [f"restart {number} {name}" for number, name in enumerate(restarts, 1)]
    return "\n".join([RULE, *calls, ""])


def _end(found: Sequence[Block]) -> str:
    left = sum(block.left for block in found)
    return "\n".join([
        r"printf '\n%s\n' " + f'"done: $n_done, so already: $n_same, refused: $n_refused, failed: $n_failed,'
        f' left to you: {left} (comments of this script)"',
        '[ ! -d "$backup" ] || printf \'%s\\n\' "The files as they were: $backup"',
        '[ "$n_refused$n_failed" = 00 ]', "",
    ])
