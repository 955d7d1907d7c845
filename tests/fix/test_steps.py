"""What a script does for one command: which kind it is of, and what is left to the reader."""

from __future__ import annotations

import pytest

from snapshot.fix.seen import Seen
from snapshot.fix.steps import steps, verified

SEEN = Seen({"/etc/a": "5" * 64}, {("/etc/a", 3): "x"})


@pytest.mark.parametrize(("command", "kind"), [
    ("sed -i 3s/x/y/ /etc/a", "edit"), ("sed -i 4s/x/y/ /etc/a", "edit"), ("sed -i s/x/y/ /etc/b", "edit"),
    ("sed -i 3s/x/y/ /etc/b", "left"), ("sed -i 3s/x/y/ b", "left"), ("sed -i.bak 3s/x/y/ /etc/a", "left"),
    ("sed -n 3p /etc/a", "left"),
    ("sed -i 3,4d /etc/a", "left"), ("sed -i 3d /etc/a", "edit"), ("sed -i '3q' /etc/a", "left"),
    ("sed -i -e '0,/^\\[/{/^\\[/i a' -e '}' /etc/b", "edit"), ("sed -i '4{/a/d}' /etc/b", "left"),
    ("sed -i '1i a' /etc/b", "edit"), ("sed -i '2a a' /etc/b", "left"),
    ("echo a >> /etc/b", "edit"), ("echo $a >> /etc/b", "left"), ("echo 1 > /sys/a", "act"),
    ("echo 1 > /sys/*", "left"),
    ("echo 'a\\nb' >> /etc/b", "left"), ("echo 5 | tee /sys/a", "act"), ("printf '%x' 255 > /proc/irq/a", "act"),
    ("printf 'a\\nb\\n' > /etc/b", "edit"), ("cat > /etc/b <<'EOF'\na\nEOF", "edit"),
    ("cat > /etc/b <<EOF\n$a\nEOF", "left"),
    ("cat > /etc/b <<'EOF'\na\nEOF\nchmod 755 /etc/b", "edit"),
    ("cat > /etc/b <<'EOF'\na\nEOF\nchmod 755 /etc/c", "left"),
    ("cat > /etc/b <<'EOF'\na\nEOF\nreboot", "left"), ("cat > /etc/../b <<'EOF'\na\nEOF", "left"),
    ("pct reboot 101", "restart"), ("pct reboot a", "left"), ("pct set 101 -onboot 1", "edit"),
    ("pct set 101 -devN /dev/a", "left"), ("pct set 101 -memory MIB", "left"), ("pct destroy 101", "left"),
    ("lxc-stop -n a", "restart"), ("lxc-stop -n ../a", "left"), ("systemctl daemon-reload", "apply"),
    ("update-grub", "apply"), ("reboot", "left"), ("poweroff", "left"), ("apt install a", "left"),
    ("ipmitool chassis power cycle", "left"), ("# a", "left"), ("nvidia-smi -pm 1   # a", "left"), ("unknown", "left"),
    ("sysctl -w a=1", "act"), ("setpci -s 0:0.0 A.w=1:1", "act"), ("rm /dev/kfd", "act"), ("rm -r /dev/kfd", "left"),
    ("rm /dev/../etc/passwd", "left"), ("rm /etc/passwd", "left"), ("modprobe a && nvidia-smi -pm 1", "act"),
    ("modprobe a && reboot", "left"), ("modprobe a; reboot", "left"), ("nvidia-smi -L", "look"), ("ls -l /dev", "look"),
    ("journalctl -k --vacuum-size=1", "left"), ("cat a | sh", "left"), ("find / -delete", "left"),
    ("for c in $(seq 0 3); do echo a > /sys/x$c/y; done", "act"), ("for c in a b; do reboot; done", "left"),
    ("echo UUID=$(blkid -s UUID -o value /dev/a)' /b ext4' >> /etc/fstab", "edit"),
    ("echo UUID=$(reboot)' /b ext4' >> /etc/fstab", "left"), ("lxc.prlimit.memlock: unlimited", "left"),
    ("grep -qxF a /etc/b || echo a >> /etc/b", "edit"), ("reboot || echo a >> /etc/b", "left"),
    ("sed '1e reboot' /etc/b | grep -q a || echo a >> /etc/b", "left"), ("ls > /etc/passwd", "left"),
])
def test_kind(command: str, kind: str) -> None:
    assert {step.kind for step in steps(command, SEEN)} == {kind}


@pytest.mark.parametrize(("command", "kind"), [
    ("pct exec 101 -- dd if=/dev/a of=/dev/null count=0", "act"), ("pct exec 101 -- dd if=/dev/a", "left"),
    ("pct exec 101 -- reboot", "left"), ("pct exec 101 -- nvidia-smi", "act"),
    ("systemctl is-enabled a", "act"), ("cat /proc/cmdline", "look"), ("cat /sys/*/type | sort | uniq -c", "look"),
    ("grep a $(uname -r)", "left"), ("sysctl a=1", "left"), ("sysctl a", "look"),
    ("reboot", "left"), ("cat a > b", "left"),
    ("# after the next boot", "left"), ("setpci -s 0:0.0 A.w=1", "left"), ("setpci -s 0:0.0 A.w", "look"),
])
def test_verifying(command: str, kind: str) -> None:
    assert verified(command).kind == kind


def test_two_commands_joined_are_two_steps() -> None:
    assert [step.code for step in steps("rm /dev/kfd && mknod -m 0660 /dev/kfd c 509 0", SEEN)] == [
        "act rm /dev/kfd || return", "act mknod -m 0660 /dev/kfd c 509 0 || return"]
