"""A new rule as a pack that is whole: it lints clean, and its examples come out as they say."""

from __future__ import annotations

from .rule import ID

_TEXT = """\
# Save as {pack}.toml. `{program} rules lint {pack}.toml` says what is wrong with it and runs its examples;
# `{program} schema pack` describes every key, `{program} schema` every fact that a path can lead to.

[[rule]]
id = "{id}"
title = "vm.swappiness is high"  # what it is about, in a few words
severity = "medium"  # critical, high, medium, low or info
scope = "state"  # judged on each snapshot; "change": on two
needs = ["sysctl"]  # sections without which it cannot be judged
where = [  # when it applies
  {{ path = ["after", "sysctl", "values", "vm.swappiness"], op = "exists" }},
]
check = [  # what has to hold
  {{ path = ["after", "sysctl", "values", "vm.swappiness"], op = "le", limit = "most" }},
]
limits.most = 10  # a user can change it in snap.toml
names.value = ["after", "sysctl", "values", "vm.swappiness"]  # what {{value}} stands for
message = "vm.swappiness is {{value}}, above {{most}}"
why = ["The higher it is, the cheaper the kernel takes swapping to be, compared with reading files again."]
after = ["after", "sysctl", "values", "vm.swappiness"]
evidence = [["after", "sysctl", "values", "vm.swappiness"]]
now = ["sysctl -w vm.swappiness={{most}}"]  # mends it until the next boot
durable = ["echo vm.swappiness={{most}} >> /etc/sysctl.d/90-{name}.conf"]  # mends it for good
verify = ["sysctl vm.swappiness"]
references = ["Linux: Documentation/admin-guide/sysctl/vm.rst, swappiness"]

[[rule.example]]
name = "above the limit"
verdict = "fail"
class = "existing"  # there is no snapshot from before
message = "vm.swappiness is 60, above 10"
after.sections.sysctl.values = {{ "vm.swappiness" = 60 }}

[[rule.example]]
name = "at the limit"
verdict = "pass"
after.sections.sysctl.values = {{ "vm.swappiness" = 10 }}

[[rule.example]]
name = "not readable: unknown, no pass"
verdict = "unknown"
after.sections.sysctl.values = {{}}
after.unread = [{{ path = ["sysctl", "values", "vm.swappiness"] }}]
"""


def skeleton(identifier: str, program: str = "snap") -> str:
    """A pack with the rule IDENTIFIER, with examples that fail, pass and are unknown. ValueError when it is no id.

    PROGRAM is what its comments call this tool.
    """
    if not ID.fullmatch(identifier):
        raise ValueError(f"{identifier!r} is no rule id: it is PACK.WORDS in lower case, with hyphens")
    pack, name = identifier.partition(".")[0], identifier.replace(".", "-")
    return _TEXT.format(pack=pack, id=identifier, name=name, program=program)
