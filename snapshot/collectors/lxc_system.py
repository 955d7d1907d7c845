"""What holds for all containers of plain LXC, from /etc/lxc/lxc.conf.

lxc.system.conf(5); lxc_global_config_value in src/lxc/initutils.c: the first line with a key counts, blanks at the
end belong to the value, a # makes a comment at column 0 only. Proxmox VE's containers are not told by it where their
files and cgroups are.
"""

from __future__ import annotations

from ..regexes import regex

FILE = "/etc/lxc/lxc.conf"
_LINE = regex(r"[ \t]*+(lxc\.[\w.]++)[ \t]*+=[ \t]*+(.*)")


def parse(text: str) -> dict[str, str]:
    """The values by key (lxc.lxcpath, lxc.cgroup.pattern, ...). Other lines are skipped, as LXC does."""
    values: dict[str, str] = {}
    for line in text.split("\n"):
        if found := _LINE.fullmatch(line):
            values.setdefault(found[1], found[2])
    return values
