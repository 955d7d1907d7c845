"""Blocks of a script: remedies by finding, put into the order in which they do not get into each other's way."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator, Sequence

from ..records import field, record
from ..regexes import regex
from .seen import Seen
from .steps import Step, steps, verified
from .words import comment

_PCT_SET = regex(r"^pct_set (\d+) ")
LATER = "It takes effect at the next boot."


@record(frozen=True)
class Item:
    """Findings that read as one: their rule, severity and message, the subjects, and what their remedies say."""

    rule: str
    severity: str
    message: str
    subjects: tuple[str, ...] = ()
    now: tuple[str, ...] = ()
    durable: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    verify: tuple[str, ...] = ()


@record()
class Block:
    """What is done for items with one remedy. CODE is empty where all is left to the reader."""

    items: list[Item]
    now: bool
    commands: tuple[str, ...]
    code: list[str] = field(default_factory=list)
    todo: list[str] = field(default_factory=list)  # what is left to the reader
    restart: str = ""  # what has to be restarted: "pct 101"
    restarting: list[str] = field(default_factory=list)
    checks: list[str] = field(default_factory=list)  # behind that restart
    later: bool = False  # only the next boot shows it

    @property
    def title(self) -> str:
        """Severity, rule and message of the first item."""
        first = self.items[0]
        return f"{first.severity} {first.rule}: {first.message}"

    @property
    def id(self) -> str:
        """A name that stays the same as long as the remedy does."""
        return hashlib.sha256("\n".join(self.commands).encode("utf-8", "surrogateescape")).hexdigest()[:16]

    @property
    def left(self) -> bool:
        """Whether something is left to the reader."""
        return bool(self.todo)

    def behind(self, others: Iterable[Block]) -> bool:
        """Whether it belongs behind OTHERS: pct(1) writes a file anew in which they name lines by number."""
        files = [f" /etc/pve/lxc/{found[1]}.conf " for code in self.code for found in _PCT_SET.finditer(code)]
        return any(file in code for file in files for other in others if other is not self for code in other.code)

    def text(self, number: int) -> str:
        """The block as a part of the script."""
        said = [line for item in self.items for line in _said(item)]
        warnings = dict.fromkeys(warning for item in self.items for warning in item.warnings)
        said += [comment(f"Mind: {warning}") for warning in warnings]
        said += [comment("It lasts until the next boot or start." if self.now else LATER)] if self.later else []
        said += self._other()
        said += [comment("Left to you:")] if self.todo else []
        said += [comment(line, "#   ") for line in self.todo]
        body = ["", f"block_{number}() {{", *self.code, "}"] if self.code else []
        return "\n".join(["# " + "-" * 76, comment(f"[{number}] {self.items[0].severity}"), *said, *body, ""])

    def _other(self) -> list[str]:
        """The remedy that is not taken, to tell the two apart."""
        first = self.items[0]
        taken = first.now if self.now else first.durable
        other = first.durable if self.now else first.now
        if not other or not taken or other == taken:
            return []
        words = "For good instead (without --now):" if self.now else "Until the next boot or start instead (--now):"
        return [comment(words), *(comment(command, "#   ") for command in other)]


def _said(item: Item) -> Iterator[str]:
    yield comment(f"{item.rule}  {', '.join(item.subjects)}")
    yield comment(f"  {item.message}")


def blocks(items: Iterable[Item], seen: Seen, now: bool) -> list[Block]:
    """A block for each remedy, in the order of the items."""
    by_remedy: dict[tuple[str, ...], list[Item]] = {}
    for item in items:
        chosen = (item.now or item.durable) if now else (item.durable or item.now)
        if chosen:
            by_remedy.setdefault(chosen, []).append(item)
    found = [_block(commands, group, seen, now) for commands, group in by_remedy.items()]
    return sorted(found, key=lambda block: block.behind(found))


def _block(commands: tuple[str, ...], items: list[Item], seen: Seen, now: bool) -> Block:
    block = Block(items, now, commands)
    done, block.todo = _cut(commands, seen)
    edited = False
    for step in done:
        edited |= step.kind == "edit"
        if step.kind == "restart":
            block.restart = step.name
            block.restarting.append(step.code)
        elif step.kind != "look":
            how = "apply" if step.kind == "apply" and edited else "act"
            block.code.append(f"{how} {step.code}" if step.kind == "apply" else step.code)
    if block.code or block.restart:
        _finish(block, edited)
        block.later = now if not block.restart else False
        block.later |= not now and edited and all(step.kind in ("edit", "look") for step in done)
    return block


def _cut(commands: Sequence[str], seen: Seen) -> tuple[list[Step], list[str]]:
    """What is done, and what is left to the reader: the first command that has to be, and those behind it."""
    done: list[Step] = []
    rest = [*commands]
    while rest:
        made = steps(rest[0], seen)
        restarted = {step.name for step in (*done, *made) if step.kind == "restart"}
        if any(step.kind == "left" for step in made) or len(restarted) > 1:
            break
        done += made
        del rest[0]
    if all(step.kind == "look" for step in done):
        return [], [*commands]
    return done, rest


def _finish(block: Block, edited: bool) -> None:
    """Adds what shows that it is mended, and the wish for a restart."""
    ways = dict.fromkeys(step for item in block.items for step in _verifying(item.verify))
    behind = [step for step in ways if block.restart and step.name == block.restart]
    block.checks = [step.code for step in behind]
    block.code += [step.code for step in ways if step not in behind]
    if not block.restart:
        return
    name = block.restart.replace(" ", "-")
    if edited:
        block.code.append(f"want {name}")
    elif behind:
        works = " && ".join(re.sub("^within", "works", code).removesuffix(" || return") for code in block.checks)
        block.code.append(f"if {works}; then note 'so already'; else want {name} yes; fi")
    else:
        block.code.append(f"want {name} yes")


def _verifying(commands: Sequence[str]) -> Iterator[Step]:
    """Up to the first one that is for the reader: what stands behind it is for later."""
    for command in commands:
        step = verified(command)
        if step.kind == "left":
            return
        yield step
