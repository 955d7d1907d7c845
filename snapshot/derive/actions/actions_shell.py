"""What a line of shell, a command without a shell, or a script sets when it runs.

Loops over words, globs, ``seq`` and the devices that lspci or nvidia-smi list are gone through; conditions make what
they hold doubtful. A tool that is named where nobody can tell what it does (``$SETPCI``, xargs, another language) makes
an effect of target "unknown".
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from ...errors import ParseError
from ...records import field, record, replace
from ...regexes import regex
from ...sections.shell import Condition, Loop, Step, assigned, steps
from ...sections.shell_tokens import substitutions
from .action import Effect
from .actions_paths import write
from .actions_programs import HARMLESS, SHELLS, inline, program
from .actions_tools import TOOLS, effects
from .actions_words import Scope, Word, expand, loop_words, unknown, words

_DEEPEST, _MOST = 3, 256  # scripts and shells within each other; rounds of the loops round a command
_FORMAT = regex(r"%[sdiux]")
_NAMED = regex(r"(?<![\w.$-])[a-z_][\w-]*(?![\w.=-])")
_USED = regex(r"\$\{?([A-Za-z_]\w*)")
_OUTPUT = (">", ">>", ">|", "1>", "1>>", "&>")
_PATH = regex(r"/(?:sys|proc|dev)/\S*")
_SIGNS = (">", ">>", "|", "&&", "||", "#", "##")
_SELF = regex(r"(?:if )?(?:\[{1,2}|test) -[efwrd] \"?\$\{?(\w+)\}?\"?(?: \]{1,2})?(?: &&)?")
_BASH = ("bash", "zsh", "ksh")
Table = Mapping[str, Any]


@record(frozen=True)
class Found:
    """An effect, and the line of a script that it stands on, if it does."""

    effect: Effect
    origin: Table | None = None

    def behind(self, doubt: str, why_not: str) -> Found:
        """The same, depending on more."""
        effect = self.effect
        return replace(self, effect=replace(effect, doubt=doubt or effect.doubt, why_not=why_not or effect.why_not))


@record()
class Runner:
    """Finds what commands set. SCRIPTS is the table of section units; MET are those that were gone through; AMBIENT are
    variables that whatever runs the command gives it."""

    scripts: Mapping[str, Table]
    met: set[str] = field(default_factory=set)
    handled: set[str] = field(default_factory=set)  # tools of the line that is looked at
    ambient: Mapping[str, Word] = field(default_factory=dict)
    depth: int = 0
    budget: int = 0  # scripts that may still be gone through for the command that is looked at

    def line(self, text: str, scope: Scope, tools: Iterable[str], paths: Iterable[str] = ()) -> list[Found]:
        """What a shell line sets, of which TOOLS and PATHS are known to be named."""
        outer, self.handled = self.handled, set()
        try:
            found = self._shell(text, scope)
        except ParseError:
            found = []
        left = {*tools} - {*self.handled, "target"}
        self.handled = outer | self.handled
        return [*found, *_unknown(text, left, paths)]

    def command(self, argv: list[Word], tools: Iterable[str], paths: Iterable[str] = ()) -> list[Found]:
        """What a command that no shell reads sets."""
        outer, self.handled = self.handled, set()
        try:
            found = self._program(argv, "exec")
        except ParseError:
            found = []
        sign = next((word.text for word in argv if word.text in _SIGNS), "")
        if sign and not inline([word.text for word in argv]):
            whole, why = " ".join(word.text for word in argv), f"no shell reads its {sign}"
            ignored = sign not in (">", ">>", "|")  # a further argument, which some programs pass over
            found = [f.behind(why if ignored else "", "" if ignored else why) for f in self.line(whole, Scope(), tools)]
        left = {*tools} - {*self.handled, "target"} if not found else set()
        self.handled = outer
        return [*found, *_unknown(" ".join(word.text for word in argv), left, paths)]

    def unmet(self, scripts: Iterable[str]) -> list[Found]:
        """What those of SCRIPTS set that no command was understood to run since this was last asked."""
        met, self.met = self.met, set()
        left = [path for path in scripts if path in self.scripts and path not in met]
        found = [f.behind(f"how {path} is called is not understood", "") for path in left
                 for f in self.script(path, None, "sh")]
        self.met.clear()
        return found

    def script(self, path: str, arguments: tuple[Word, ...] | None, by: str) -> list[Found]:
        """What a script sets. BY: exec or shell, when it is run by its name; else the interpreter that reads it."""
        table = self.scripts[path]
        self.met.add(path)
        self.budget = self.budget - 1 if self.depth else _MOST
        if self.depth >= _DEEPEST or self.budget < 0:
            return [Found(Effect("unknown", (path,), None, doubt="too many scripts call each other"))]
        self.depth += 1
        name = table.get("interpreter") if by in ("exec", "shell") else by
        why_not, doubt = _startable(table, by)
        scope = Scope(self.ambient, arguments, bash=name in _BASH)
        found = [f.behind(doubt, why_not) for line in table["lines"] for f in self._recorded(line, scope, name)]
        self.depth -= 1
        return found

    def _recorded(self, line: Table, scope: Scope, interpreter: str | None) -> list[Found]:
        """What a recorded line of a script sets, in the loops and with the variables that were recorded with it."""
        tools, paths, depends = line["tools"], line.get("paths") or [], line.get("depends") or []
        if tools == ["target"] or _is_head(line["text"]):
            return []
        if interpreter not in (None, "", *SHELLS):
            return [Found(Effect("unknown", (*tools, *paths), None), line["origin"])]
        loops = [text for text in depends if text.startswith("for ")]
        ends = [text for text in depends if text.split(" ")[0] in ("exit", "exec")]
        others = [text for text in depends if text not in (*loops, *ends) and not _asks_itself(text, loops)]
        sets = "".join(f"{name}={word}; " for name, word in _ordered(line.get("values") or {}))
        text = sets + "".join(f"{loop}; do {sets}" for loop in loops) + line["text"] + "\n" + "done;" * len(loops)
        doubt = f"it depends on: {others[0]}" if others else ""
        why_not = f"it stands behind {ends[0]}" if ends else ""
        shifted = any(other.endswith("()") or other.split(" ")[0] in ("shift", "set") for other in others)
        found = self.line(text, replace(scope, arguments=None) if shifted else scope, tools, paths)
        return [replace(f.behind(doubt, why_not), origin=f.origin or line["origin"]) for f in found]

    def _shell(self, text: str, scope: Scope) -> list[Found]:
        found: list[Found] = []
        sets: dict[str, tuple[str | None, set[Loop | Condition]]] = {}
        for step in steps(text):
            loops = [block.text for block in step.within if isinstance(block, Loop)]
            conditions = [b for b in step.within if isinstance(b, Condition) and not _asks_itself(b.text, loops)]
            doubt = next((f"it depends on: {c.text}" for c in conditions if not c.never), "")
            why_not = next((f"it stands behind {c.text}" for c in conditions if c.never), "")
            rounds = [(_seen(step, seen, sets), why) for seen, why in _rounds(step, scope)]
            for seen, unlisted in rounds:
                found += [f.behind(doubt or unlisted, why_not) for f in self._step(step, seen)]
            found += [f.behind(doubt, why_not) for f in self._inside(step, rounds[0][0])]
            sets |= {name: (raw, {*step.within}) for name, raw in assigned(step)}
        return list(dict.fromkeys(found)) if all(f.origin is None for f in found) else found

    def _step(self, step: Step, scope: Scope) -> list[Found]:
        argv = words([word for word in step.words if word != "!"], scope)
        return [*self._program(argv, "shell"), *map(Found, self._writes(step, argv, scope))]

    def _inside(self, step: Step, scope: Scope) -> list[Found]:
        """What commands set whose output becomes a word of STEP or of the loops round it."""
        loops = [word for block in step.within if isinstance(block, Loop) for word in block.words or ()]
        inner = [text for word in (*step.words, *loops) if "$(" in word or "`" in word for text in substitutions(word)]
        return [f for text in inner for f in self._shell(text, scope)]

    def _program(self, argv: list[Word], by: str) -> list[Found]:
        """What a command sets: a tool, a script, or a shell with a command in it."""
        name, rest = program(argv)
        text = name.text if name else ""
        base = posixpath.basename(text)
        if base in SHELLS and (command := inline([word.text for word in rest])):
            return self._shell(command, Scope(self.ambient, bash=base in _BASH)) if self.depth < _DEEPEST else []
        path = next((p for p in self._called(base, text, rest) if p in self.scripts), "")
        if path:
            at = next((i for i, word in enumerate(rest) if word.text == path), -1)
            reader = base if at >= 0 or base in (".", "source") else by
            return self.script(path, tuple(rest[at + 1 :]), "sh" if reader in (".", "source") else reader)
        if base in HARMLESS or (base == "command" and rest[:1] and rest[0].text[:2].lower() == "-v"):
            self.handled.update(tool for word in argv for tool in _NAMED.findall(word.text))
            return []
        if base == "systemctl":
            self.handled.add("systemd-sysctl")
        if base not in TOOLS and not base.startswith("set_irq_affinity"):
            return []
        self.handled.add(base)
        some = effects(base, rest)
        return [*map(Found, some if some is not None else [Effect("unknown", (base, *(w.text for w in rest)), None)])]

    def _called(self, base: str, text: str, rest: list[Word]) -> Iterator[str]:
        """Where the script may lie that a command runs."""
        if base in (*SHELLS, ".", "source") or base.startswith(("python", "perl")):
            yield from (word.text for word in rest if not word.text.startswith("-"))
        elif "/" in text:
            yield text
        elif text:
            yield from (f"{folder}/{text}" for folder in ("/usr/local/sbin", "/usr/local/bin"))

    def _writes(self, step: Step, argv: list[Word], scope: Scope) -> Iterator[Effect]:
        """Writes of a command to files below /sys and /proc."""
        name, rest = program(argv)
        base = posixpath.basename(name.text) if name else ""
        targets = [(expand(r.word, scope), True) for r in step.redirects if r.sign in _OUTPUT]
        value = _said(base, rest) if not step.piped else None
        if base in ("tee", "dd"):
            value = _piped(step, scope)
            outputs = [replace(w, text=w.text[3:], glob=w.glob[3:]) for w in rest if w.text.startswith("of=")]
            targets += [(word, False) for word in (outputs if base == "dd" else rest) if word.text[:1] != "-"]
        for word, redirected in targets:
            effect = write(word, value, redirected, scope.bash)
            if effect or word.known:
                self.handled.add("write")
            if effect:
                yield effect


def _unknown(text: str, tools: set[str], paths: Iterable[str]) -> list[Found]:
    """An effect for TOOLS that TEXT names outside of paths (nvme is a tool, /dev/nvme* none), if there are any."""
    plain = _PATH.sub("", text)
    left = sorted(tool for tool in tools if tool == "write" or tool in plain)
    return [Found(Effect("unknown", (*left, *paths), None))] if left else []


def _asks_itself(condition: str, loops: list[str]) -> bool:
    """Whether a condition only asks for the file that a pattern of a loop has just found: then it holds."""
    match = _SELF.fullmatch(condition)
    found = [text for text in loops if match and text.startswith(f"for {match[1]} in ")]
    return any(sign in text for text in found for sign in "*?[")


def _is_head(text: str) -> bool:
    """Whether a line holds no command: the head of a loop."""
    try:
        return not steps(text)
    except ParseError:
        return False


def _startable(table: Table, by: str) -> tuple[str, str]:
    """(why it will not start, what makes its lines doubtful) of a script."""
    interpreter = table.get("interpreter")
    if by in ("exec", "shell") and table.get("executable") is False:
        return "the script is not executable", ""
    if by == "exec" and interpreter == "":
        return "the script has no line #!, so the kernel does not run it", ""
    return "", "" if interpreter is not None else "what its lines stand in is not recorded"


def _ordered(values: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """VALUES with those first that others use."""
    left = dict(values)
    while left:
        free = (name for name, word in left.items() if not {*_USED.findall(word)} & {*left} - {name})
        name = next(free, next(iter(left)))
        yield name, left.pop(name)


def _seen(step: Step, scope: Scope, sets: Mapping[str, tuple[str | None, set[Loop | Condition]]]) -> Scope:
    """SCOPE with the variables that were set before STEP; those set under more conditions are unknown."""
    within = {*step.within}
    for name, (raw, conditions) in sets.items():
        known = raw is not None and conditions <= within
        scope = scope.having(name, expand(raw or "", scope) if known else unknown(f"${name}"))
    return scope


def _rounds(step: Step, scope: Scope) -> list[tuple[Scope, str]]:
    """What is seen in each round of the loops round STEP, and why the rounds are not known."""
    rounds = [(scope, "")]
    for loop in (block for block in step.within if isinstance(block, Loop)):
        rounds = [(seen.having(loop.name, word), doubt or why) for seen, doubt in rounds
                  for word, why in _values(loop, seen)]
        if len(rounds) > _MOST:
            return [(scope.having(loop.name, unknown(f"${loop.name}")), f"too many rounds: {loop.text}")]
    return rounds


def _values(loop: Loop, scope: Scope) -> list[tuple[Word, str]]:
    found = loop_words(loop, scope) or [unknown(f"${loop.name}")]
    return [(word, "" if word.known else f"its loop is not understood: {loop.text}") for word in found]


def _said(base: str, rest: list[Word]) -> str | None:
    """What echo or printf writes; None when that is not known."""
    while base == "echo" and rest and re.fullmatch("-[neE]+", rest[0].text):
        rest = rest[1:]
    if base not in ("echo", "printf", ":", "true") or not all(word.known for word in rest):
        return None
    texts = [word.text for word in rest]
    if base != "printf":
        return " ".join(texts) if base == "echo" else ""
    form, values = texts[0].replace("\\n", "") if texts else "", iter(texts[1:])
    filled = _FORMAT.sub(lambda _: next(values, ""), form)
    return filled if "\\" not in filled and "%" not in filled else None


def _piped(step: Step, scope: Scope) -> str | None:
    """What a command reads from the one before it."""
    if step.piped is None or step.piped.piped is not None or step.piped.redirects:
        return None
    name, rest = program(words(step.piped.words, scope))
    return _said(posixpath.basename(name.text), rest) if name else None

