"""On what terms diff, check and explain judge: the options that they share, and below them what snap.toml says.

Lists of both are put together: patterns to ignore, rules and sections that may be unknown, packs. Where both name one
thing (the threshold, --only, the tolerance of a path) the command line's counts.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

import click

from ..errors import misspelt
from ..sections import NAMES
from . import arguments
from .outputs import parsed

if TYPE_CHECKING:
    from ..config import Config
    from ..derive.forecasts.forecast import Outlook
    from ..diff.pattern import Pattern
    from ..diff.selection import Selection
    from ..diff.tolerance import Tolerance
    from ..document import Snapshot
    from ..engine.rule import Rule
    from ..report.review import Explain, Review

F = TypeVar("F", bound=Callable[..., Any])
G = TypeVar("G")
P = TypeVar("P")
Fault = Callable[[int, str], Exception]  # which of a list, what is wrong with it -> the error
Texts = tuple[str, ...]
SEVERITIES = ("critical", "high", "medium", "low", "info")
SCOPES = ("state", "change")


def _options(*options: Callable[[F], F]) -> Callable[[F], F]:
    def decorate(command: F) -> F:
        for option in reversed(options):
            command = option(command)
        return command

    return decorate


ruling = _options(
    click.option("--rules", multiple=True, metavar="DIR|FILE",
                 help="A rule pack besides those shipped, or a directory of packs (repeatable)."),
    click.option("--config", metavar="FILE",
                 help="Settings, instead of $SNAP_CONFIG, ./snap.toml or /etc/hostsnap/snap.toml; /dev/null for none."),
)
choosing = _options(
    click.option("--only", multiple=True, metavar="RULE|SECTION",
                 help="Judge by these rules only (pcie.* or pcie: all of a pack), or by rules on these sections"
                      " (repeatable)."),
    click.option("--ignore", multiple=True, metavar="RULE|SECTION",
                 help="Leave out these rules, or rules on these sections (repeatable)."),
)
reporting = _options(
    click.option("-f", "--format", "outputs", multiple=True, callback=parsed, metavar="FORMAT[=FILE]",
                 help="text (the default), json or markdown; with =FILE into a file (repeatable)."),
    click.option("--all", "everything", is_flag=True, help="Say everything, and list every change."),
    click.option("--fail-on", type=click.Choice(SEVERITIES),
                 help="Exit 1 for findings of this severity or above; high unless the settings say otherwise."),
    click.option("--allow-unknown", multiple=True, metavar="RULE|SECTION",
                 help="Do not exit 3 when this rule, or rules on this section, cannot be judged (repeatable)."),
    click.option("-v", "--verbose", is_flag=True, help="Say on standard error what the settings are."),
)


class Terms:
    """The options of the command line, empty or None where it has none, and what they and the settings come to."""

    def __init__(
        self, rules: Texts = (), config: str | None = None, fail_on: str | None = None,
        fail_on_existing: bool | None = None, allow_unknown: Texts = (), only: Texts = (), ignore: Texts = (),
        tolerance: Texts = (), volatile: bool = False,
    ) -> None:
        self.rules, self.config, self.volatile = rules, config, volatile
        self.fail_on, self.fail_on_existing, self.allow_unknown = fail_on, fail_on_existing, allow_unknown
        self.only, self.ignore, self.tolerance = only, ignore, tolerance

    @cached_property
    def settings(self) -> Config:
        """What snap.toml says. FormatError when it says it wrongly."""
        from ..config import load

        return load(self.config)

    @property
    def packs(self) -> tuple[str, ...]:
        """Where packs lie besides those shipped."""
        return (*self.settings.rules.packs, *self.rules)

    @cached_property
    def every_rule(self) -> tuple[Rule, ...]:
        """The shipped rules and those of other packs, as they are written. FormatError when one is not well made."""
        from ..engine.packs import shipped

        if not self.packs:
            return shipped()
        from ..engine.pack_file import added

        return (*shipped(), *added(self.packs))

    @cached_property
    def own_rules(self) -> tuple[Rule, ...]:
        """The rules as the settings want them. FormatError when these name one that is not there."""
        if not (self.settings.rules.disable or self.settings.rules.override):
            return self.every_rule
        from ..engine.overrides import overridden

        return overridden(self.every_rule, self.settings.rules, self.settings.origin)

    @property
    def disabled(self) -> tuple[str, ...]:
        """The ids of the rules that the settings leave out."""
        if not (self.settings.rules.disable or self.settings.rules.override):
            return ()
        from ..engine.overrides import disabled

        return disabled(dict.fromkeys(rule.id for rule in self.every_rule), self.settings.rules)

    @cached_property
    def selection(self) -> Selection:
        """What of a comparison counts. BadParameter, or FormatError of the settings, when a pattern is none."""
        from ..diff.selection import Selection

        def given(option: str, texts: Iterable[str]) -> tuple[Pattern, ...]:
            return _patterns(texts, _wrong(option))

        def settled(table: str, key: str) -> tuple[Pattern, ...]:
            return _patterns(getattr(getattr(self.settings, table), key), self._unset(table, key))

        return Selection(
            only=given("--only", self.only) or settled("diff", "only"),
            ignore=given("--ignore", self.ignore) + settled("diff", "ignore"),
            volatile=settled("volatile", "add"), stable=settled("volatile", "keep"),
            tolerances=self._tolerances(), show_volatile=self.volatile,
        )

    def _tolerances(self) -> tuple[Tolerance, ...]:
        if not (self.tolerance or self.settings.tolerance):
            return ()
        from ..diff.tolerance import Tolerance

        def parsed(text: str) -> Tolerance:
            path, given, amount = text.rpartition("=")
            if not given:
                raise ValueError(f'{text!r} is no PATTERN=AMOUNT, as in memory.total_bytes="64 MiB"')
            return Tolerance.parse(path, amount)

        given = _each(self.tolerance, parsed, _wrong("--tolerance"))
        settled = _each(self.settings.tolerance, lambda one: Tolerance.parse(one.path, one.amount),
                        self._unset("tolerance"))
        named = [tolerance.pattern for tolerance in given]
        return (*given, *(tolerance for tolerance in settled if tolerance.pattern not in named))

    @cached_property
    def allowed(self) -> tuple[str, ...]:
        """The rules and sections that may be unknown. BadParameter, or FormatError, when there is no such thing."""
        names = (*(rule.id for rule in self.every_rule), *NAMES)

        def there(word: str) -> str:
            if word not in names:
                raise ValueError(nothing(word, names))
            return word

        settled = _each(self.settings.diff.allow_unknown, there, self._unset("diff", "allow_unknown"))
        return tuple(dict.fromkeys((*settled, *_each(self.allow_unknown, there, _wrong("--allow-unknown")))))

    def _unset(self, *where: str) -> Fault:
        """What is wrong with a setting of the list at WHERE, with file and line."""
        from ..engine.settings import fault

        return lambda at, what: fault((*where, at), what, self.settings.origin)

    @property
    def threshold(self) -> str:
        """The severity from which on findings count."""
        return self.fail_on or self.settings.diff.fail_on or "high"

    @property
    def existing(self) -> bool:
        """Whether what was so before counts too."""
        return self.settings.diff.fail_on_existing if self.fail_on_existing is None else self.fail_on_existing

    def review(
        self, before: Snapshot | None, after: Snapshot, before_name: str, after_name: str,
        rules: Sequence[Rule] | None = None, scopes: Collection[str] = SCOPES, typed: Iterable[str | None] = (),
        outlook: Outlook | None = None,
    ) -> Review:
        """Compares and judges; by RULES instead of all, if they are given. TYPED is what names the snapshots again.

        OUTLOOK is what is foreseen, if the review is a forecast.
        """
        from datetime import date

        from ..report.review import review

        return review(
            before, after, before_name, after_name, rules=self.own_rules if rules is None else rules,
            selection=self.selection, threshold=self.threshold, allow_unknown=self.allowed,
            fail_on_existing=self.existing, waivers=self.settings.waiver, today=date.today(), scopes=scopes,
            known=[rule.id for rule in self.every_rule], locate=self.settings.origin,
            expect=self.settings.expect.table(), explain=self._explain(typed, before is None, rules),
            outlook=outlook, disabled=self.disabled, noise=self.settings.noise, rooflines=self.settings.roofline,
        )

    def _explain(self, typed: Iterable[str | None], alone: bool, rules: Sequence[Rule] | None) -> Explain:
        """The command, to be pasted. Where explain, which has fewer options, counts otherwise, by the rule."""
        existing = alone or self.existing == self.settings.diff.fail_on_existing
        numbered = existing and (rules is None or len(rules) == len(self.own_rules))
        named = tuple(typed)
        return lambda number, rule: self.again("explain", str(number if numbered else rule), *named)

    def again(self, *words: str | None) -> str:
        """The command of these WORDS with the same settings and rules, to be pasted."""
        import shlex

        options = [] if self.config is None else ["--config", self.config]
        options += [word for place in self.rules for word in ("--rules", place)]
        return f"{arguments.program()} {shlex.join([*filter(None, words), *options])}"

    def rule(self, identifier: str) -> Rule:
        """The rule of this id, as the settings want it, or as it is written if they disable it. UsageError for none."""
        forecasts_first = sorted((*self.every_rule, *self.own_rules), key=lambda rule: rule.scope != "forecast")
        every = {rule.id: rule for rule in forecasts_first}  # of a fault and its forecast the fault
        if identifier not in every:
            raise click.UsageError(nothing(identifier, every, "rule"))
        return every[identifier]

    def chosen(self, only: Iterable[str], ignore: Iterable[str]) -> tuple[Rule, ...]:
        """The rules, by id or by the sections they need. BadParameter when a word names none, or none is left."""
        wanted, unwanted = self._named("--only", only), self._named("--ignore", ignore)
        left = tuple(r for r in self.own_rules if r.id not in unwanted and (r.id in wanted or not tuple(only)))
        if not left:
            raise click.UsageError("--only and --ignore leave no rule")
        return left

    def _named(self, option: str, words: Iterable[str]) -> set[str]:
        """The ids of the rules that WORDS name, each a rule, a pack or a section."""
        from fnmatch import fnmatchcase

        named = {rule.id: (rule.id.partition(".")[0], *rule.needs) for rule in self.every_rule}

        def ids(word: str) -> set[str]:
            found = {name for name, words in named.items() if fnmatchcase(name, word) or word in words}
            if not found and word not in NAMES:
                raise ValueError(nothing(word, (*named, *NAMES)))
            return found

        return set[str]().union(*_each(words, ids, _wrong(option)))

    def check(self, verbose: bool) -> None:
        """Raises what is wrong with the terms, before a host is looked at; says what they are if VERBOSE."""
        lines = [*self._said()]
        if verbose:
            click.echo("\n".join(lines), err=True)

    def _said(self) -> Iterator[str]:
        settings = self.settings
        yield f"Settings: {settings.file or 'none'}"
        counts = {
            "waivers": settings.waiver, "changed rules": settings.rules.override,
            "disabled rules": self.disabled,
            "volatile patterns": self.selection.volatile, "stable patterns": self.selection.stable,
            "tolerances": self.selection.tolerances, "wanted patterns": self.selection.only,
            "ignored patterns": self.selection.ignore, "allowed unknowns": self.allowed,
            "expectations": self.settings.expect.table(),
        }
        yield from (f"  {what}: {len(some)}" for what, some in counts.items() if some)
        yield f"  fail on {self.threshold}{' and what was so before' if self.existing else ''}"
        yield f"Rules: {len(self.own_rules)}{', with those of ' if self.packs else ''}{', '.join(self.packs)}"


def _wrong(option: str) -> Fault:
    return lambda _, what: click.BadParameter(what, param_hint=option)


def _each(given: Iterable[G], parse: Callable[[G], P], fault: Fault) -> tuple[P, ...]:
    """What each of some words is parsed to; FAULT is raised of the one that cannot be."""
    found = []
    for at, one in enumerate(given):
        try:
            found.append(parse(one))
        except ValueError as error:
            raise fault(at, str(error)) from None
    return tuple(found)


def _patterns(given: Iterable[str], fault: Fault) -> tuple[Pattern, ...]:
    """Some patterns of facts, which mostly nobody gives."""
    if not given:
        return ()
    from ..diff.pattern import Pattern

    return _each(given, Pattern.parse, fault)


def nothing(word: str, names: Iterable[str], kind: str = "rule or section") -> str:
    """That there is no rule or section WORD, and which one may be meant."""
    names = list(names)
    alike = [name for name in names if name.partition(".")[0] == word.partition(".")[0]]  # of one pack
    begun = [name for name in names if word and name.startswith(word)]
    near = begun or misspelt(word, names) or misspelt(word, alike, 1, 0.3)
    return f"there is no {kind} {word!r}" + (f"; did you mean {near[0]!r}?" if near else "")
