"""The raw lxc.* keys that Proxmox VE passes on to LXC, from src/PVE/LXC/Config.pm of pve-container (94f5585).

pct.conf(5). A line with another key is skipped with a warning. The last group are names of LXC 2, which are
passed on and which LXC refuses.
"""

from __future__ import annotations

import re

from ..regexes import regex

_KEY = regex(
    r"""lxc\.(?:
    apparmor\.(?:profile|allow_incomplete|allow_nesting|raw) | arch | autodev | cap\.(?:drop|keep)
    | (?:cgroup2?|limit|net|prlimit)\..* | console\.(?:logfile|path) | devtty\.dir
    | environment(?:\.(?:runtime|hooks))? | group
    | hook\.(?:autodev|clone|destroy|mount|post-stop|pre-mount|pre-start|start|stop|version)
    | idmap | include | init\.(?:cmd|cwd) | kmsg | log\.(?:file|level) | mount\.(?:auto|entry|fstab)
    | pty\.max | rootfs\.mount | seccomp\.(?:profile|notify\.(?:proxy|cookie)) | selinux\.context
    | signal\.(?:halt|reboot|stop) | start\.(?:auto|delay|order)
    | sysctl\.(?:fs\.mqueue|kernel\.(?:msg(?:max|mnb|mni)|sem|shm(?:all|max|mni|_rmid_forced)))
    | tty\.max | uts\.name

    | aa_profile | aa_allow_incomplete | console | devttydir | (?:halt|reboot|stop)signal | id_map | init_cmd
    | logfile | loglevel | mount
    | network\.(?:type|flags|link|mtu|name|hwaddr|ipv[46](?:\.gateway)?|script\.(?:up|down))
    | pts | se_context | seccomp | tty | utsname
    )""",
    re.VERBOSE | re.ASCII,
)


def refused(key: str) -> str | None:
    """Why Proxmox VE skips a raw line with KEY; None when it does not."""
    if key in ("lxc.rootfs.path", "lxc.rootfs.options"):
        return f"{key} is made from the rootfs option"
    return None if _KEY.fullmatch(key) else f"does not know {key}"
