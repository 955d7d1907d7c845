"""The words that say why a container can or cannot open a device, each with what it means."""

from __future__ import annotations

REASONS: dict[str, str] = {
    # it can, or nothing here stops it
    "ok": "a rule covers it",
    "empty-list": "the container has no device rules at all, which lets everything through",
    "open-list": "the list is in deny mode (allow = a) and no rule stops it",
    "unprivileged": "rules stop nothing in this unprivileged container; mode and owner of the node decide",
    # the whole container
    "v1-key-refused": "LXC 7 does not know the key lxc.cgroup.*, and the start fails",
    "line-refused": "LXC or Proxmox VE refuses a line of the configuration, and the start fails",
    # the host
    "node-missing": "the node is not there on the host; a start without it fails",
    "optional-skipped": "the node is not there on the host; the mount entry is optional and is skipped",
    "node-not-a-device": "an ordinary file stands where the device node should be",
    "driver-not-loaded": "the driver is not registered now, so that its number is not stale: there is none",
    "stale-node": "the host's node has a number that its driver does not have",
    "mode": "the mode of the host's node lets nobody in this unprivileged container open it: EACCES",
    # the line that gives it
    "mount-ignored": "LXC ignores the mount entry, because its target begins with /",
    "mount-broken": "the start fails on the mount entry: fields are missing, or create=file for a directory",
    "given-twice": "devN and a mount entry give the same device: the start fails with File exists",
    # the rules
    "stale-major": "a rule names the number that the driver had",
    "never-allowed": "no line was ever meant for it",
    "mknod-only": "the rule that covers it grants m, which is mknod and no open",
    "partial-access": "no single rule that covers it grants both r and w",
    "rule-dropped-by-lxc": "LXC drops the rule, because it does not parse, and starts without it",
    "rule-ignored-by-pve": "Proxmox VE ignores the line with a warning",
    "wrong-key": "the key is neither devices.allow nor devices.deny, which makes it a deny",
    "v1-key": "lxc.cgroup.devices has no effect on a host with cgroup2 only",
    "rule-in-pending": "the rule stands in the pending part, where it counts for nothing",
    "rule-in-snapshot": "the rule stands below a snapshot's header, where it counts for nothing",
    "deny-listed": "a deny rule stops it",
    "start-fails": "the kernel refuses the rule a *:* rwm, and the start fails",
    # the next start cures it
    "generated-config-stale": "devN gave it the number of the last start, which the driver no longer has",
    "not-restarted": "the file gives it, but the container has not been restarted since",
    # unknown
    "hook-may-rewrite": "the file denies it, but a hook of the container may rewrite rules or make nodes at start",
    "lxc-version-unread": "it has lxc.cgroup.* lines, which LXC 7 refuses, and the version of LXC was not recorded",
    "includes-unread": "the files that the start includes, or their order, were not recorded",
    "rule-by-path": "a rule names a path whose node was not recorded",
    "not-recorded": "the node was not recorded",
    "unread": "the node or the drivers could not be read",
    "node-gone": "the node is not on the host now; whether the running container still holds it is unknown",
    "running-unknown": "whether the container runs is not known, and the next start will settle it otherwise",
    "not-seen": "the container runs, and what its last start settled was not recorded",
}
