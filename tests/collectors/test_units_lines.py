"""Which lines of a script touch tuning."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from snapshot.collectors.units_lines import logical_lines, may_tune, paths_in, redacted, tools_in, tuning_lines


@pytest.mark.parametrize(("line", "tools"), [
    ("setpci -s 01:00.0 CAP_EXP+8.w=5000:7000", ["setpci"]),
    ("/usr/bin/nvidia-smi -pl 400 && cpupower frequency-set -g performance", ["cpupower", "nvidia-smi"]),
    ('subprocess.run(["nvidia-smi", "-pm", "1"])', ["nvidia-smi"]),
    ("ip link set dev eno1 mtu 9000", ["ip"]), ("ip -br link set eno1 txqueuelen 10000", ["ip"]),
    ("ip link set eno1 up", []), ("ip addr show", []),
    ("echo never > /sys/kernel/mm/transparent_hugepage/enabled", ["write"]),
    ("echo 1 >>/proc/sys/vm/drop_caches", ["write"]),
    ("echo 0 | sudo tee -a /sys/devices/system/cpu/cpu0/online", ["write"]),
    ("printf 1 | dd of=/sys/x/y", ["write"]), ('open("/sys/x", "w").write("1")', ["write"]),
    ("for f in /sys/devices/system/cpu/cpu*/cpufreq/scaling_governor; do", ["target"]),
    ("KSM=/sys/kernel/mm/ksm", ["target"]),
    ("cat /sys/class/net/eno1/mtu", []), ("cat /proc/meminfo 2>/dev/null", []),
    ("echo 1000 > /proc/self/oom_score_adj", []),
    ("cat /etc/sysctl.d/10.conf", []), ("ls /usr/lib/tuned/balanced", []), ("my-setpci x", []), ("ethtool.py", []),
    ("echo hello", []), ("", []),
])
def test_what_a_line_names(line: str, tools: list[str]) -> None:
    assert tools_in(line) == tools
    assert not tools or may_tune(line)


def test_a_loop_keeps_the_place_and_the_write() -> None:
    text = ("#!/bin/sh\n# setpci in a comment\nfor f in /sys/devices/system/cpu/cpu*/cpufreq/scaling_governor\ndo\n"
            "  echo performance > \"$f\"\n  echo done > /tmp/x\ndone\n")
    assert [(line.origin.line, line.tools) for line in tuning_lines(text, "/x")] == [(3, ["target"]), (5, ["write"])]
    assert tuning_lines(text.replace("echo performance", "cmp"), "/x") == []


def test_a_place_that_is_only_read_is_no_tuning() -> None:
    assert tuning_lines("for p in /sys/class/power_supply/*; do cat $p; done\n", "/x") == []


def test_a_line_goes_on_behind_a_backslash() -> None:
    text = "nvidia-smi \\\n  -pm 1\n# a\\\nsysctl -p\n"
    assert [(line.origin.line, line.text) for line in tuning_lines(text, "/x")] == [
        (1, "nvidia-smi -pm 1"), (4, "sysctl -p")]
    assert logical_lines("a\\") == [(1, "a")]
    assert logical_lines("\n\n") == []


def test_paths() -> None:
    assert paths_in('echo 1 > "/sys/b/$x/y"; cat /proc/a, /sys/c*') == ["/proc/a,", "/sys/b/$x/y", "/sys/c*"]
    assert paths_in("nothing") is None


@pytest.mark.parametrize("line", [
    "curl -u op:hunter2 x", "curl -H 'Authorization: Bearer hunter2'", "echo hunter2 | sudo -S setpci",
    "sudo -S setpci <<< hunter2", "sshpass -p hunter2 ssh", "X_TOKEN=hunter2", "tool --api-key hunter2",
    "curl http://op:hunter2@host/",
    "sudo -u hunter2 nvidia-smi", "su - hunter2 -c 'nvidia-smi'", "runuser -u hunter2 -- nvidia-smi",
])
def test_secrets_go(line: str) -> None:
    assert "hunter2" not in redacted(line)


@pytest.mark.parametrize("line", [
    "setpci -s 01:00.0 CAP_EXP+8.w=5000:7000", "nvidia-smi -pl 400 -i 0", "sudo -u root ethtool -K x tso on",
])
def test_what_is_no_secret_stays(line: str) -> None:
    assert redacted(line) == line


@pytest.mark.parametrize("text", [
    "ip link set " * 6000, "/sys/a" * 12000, "echo " * 13000, "mysql " * 10000, "tee -a " * 9000, "x" * 65536,
    "\\\n" * 32000,
])
def test_hostile_text_takes_no_time(text: str) -> None:
    begun = time.process_time()
    tuning_lines(text, "/x")
    redacted(text)
    assert time.process_time() - begun < 2


@given(st.text())
def test_any_text_is_survived(text: str) -> None:
    tuning_lines(text, "/x")
    tuning_lines(f"sysctl {text} > /sys/", "/x")
    redacted(text)
