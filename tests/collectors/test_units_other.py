"""cron, udev, tmpfiles.d, tuned, limits: the rooms of the section units that are not about units."""

from __future__ import annotations

import errno
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from snapshot.collectors import units, units_cron, units_hooks, units_limits, units_tmpfiles, units_tuned, units_udev

from .fake import Content, MemoryHost, gather, node

INIT = "Max open files            1024   524288  files\nMax locked memory  8388608  unlimited  bytes\n"
DENIED = PermissionError(errno.EACCES, "denied")


def found(files: dict[str, Content], **others: Any) -> tuple[dict[str, Any], dict[str, str]]:
    """The section's table, and of its unread facts the reasons."""
    model, reading = gather(units, MemoryHost({"/proc/1/limits": INIT, **files}, **others))
    return model.table(), {".".join(u.path): u.why for u in reading.unreads}


def test_jobs_of_root_that_touch_tuning() -> None:
    table, _ = found({
        "/etc/cron.d/gpu": "PATH=/bin\n@reboot root /opt/gpu.sh\n@reboot op nvidia-smi -pm 1\n"
                           "*/5 * * * * root sysctl -p%x\n",
        "/etc/cron.d/gpu.bak": "@reboot root setpci x\n", "/opt/gpu.sh": "setpci -s 1 2\n",
        "/var/spool/cron/crontabs/root": "@reboot sleep 30 && nvidia-smi -pm 1\n0 0 1 1 * /usr/bin/backup\n",
    })
    assert {path: [(j["schedule"], j["text"]) for j in jobs] for path, jobs in table["cron"].items()} == {
        "/etc/cron.d/gpu": [("@reboot", "/opt/gpu.sh"), ("*/5 * * * *", "sysctl -p")],
        "/var/spool/cron/crontabs/root": [("@reboot", "sleep 30 && nvidia-smi -pm 1")],
    }
    assert table["scripts"]["/opt/gpu.sh"]["called_by"] == ["/etc/cron.d/gpu"]


RULES = """\
# comment, MODE="0666"
KERNEL=="nvidia*", MODE="0666", \\
  GROUP="video"
ACTION=="add", SUBSYSTEM=="block", ATTR{queue/scheduler}="none", ATTR{queue/read_ahead_kb}="4096"
SUBSYSTEM=="net", ATTR{address}=="02:00:00:00:00:01", NAME="fabric0"
KERNEL=="sdz", MODE="0660"
ACTION=="add", RUN+="/usr/local/bin/mrrs.sh %k", RUN+="own.sh", RUN{builtin}+="kmod load x"
ACTION!="remove", GOTO="x", ENV{A}="b"
"""


def test_udev_rules_that_touch_tuning() -> None:
    table, unread = found({
        "/etc/udev/rules.d/70-gpu.rules": RULES, "/usr/local/bin/mrrs.sh": "setpci -s $1 68.w=5000\n",
        "/usr/lib/udev/own.sh": "hdparm -A 1 /dev/$1\n",
    })
    rules = table["udev"]["/etc/udev/rules.d/70-gpu.rules"]
    assert [(rule["origin"]["line"], rule["match"], rule["set"]) for rule in rules] == [
        (2, ['KERNEL=="nvidia*"'], ['MODE="0666"', 'GROUP="video"']),
        (4, ['ACTION=="add"', 'SUBSYSTEM=="block"'], [
            'ATTR{queue/scheduler}="none"', 'ATTR{queue/read_ahead_kb}="4096"',
        ]),
        (5, ['SUBSYSTEM=="net"', 'ATTR{address}=="02:00:00:00:00:01"'], ['NAME="fabric0"']),
        (7, ['ACTION=="add"'], [
            'RUN+="/usr/local/bin/mrrs.sh %k"', 'RUN+="own.sh"', 'RUN{builtin}+="kmod load x"',
        ]),
    ]
    assert rules[3]["scripts"] == ["/usr/local/bin/mrrs.sh", "/usr/lib/udev/own.sh"]
    assert not unread


def test_packaged_rules_count_for_accelerators_unless_hidden() -> None:
    rule = 'KERNEL=="nvidia*", MODE="0660"\n'
    files: dict[str, Content] = {
        "/usr/lib/udev/rules.d/60-nvidia.rules": rule, "/usr/lib/udev/rules.d/60-block.rules": RULES,
        "/usr/lib/udev/rules.d/71-nvidia.rules": rule,
    }
    table, unread = found(
        files, links={"/etc/udev/rules.d/71-nvidia.rules": "/dev/null"}, nodes={"/dev/null": node("char", 1, 3)})
    assert set(table["udev"]) == {"/usr/lib/udev/rules.d/60-nvidia.rules"}
    assert table["masked"] == {"/usr/lib/udev/rules.d/71-nvidia.rules": "/etc/udev/rules.d/71-nvidia.rules"}
    assert not unread


def test_tmpfiles_that_touch_tuning() -> None:
    text = ("w /sys/kernel/mm/transparent_hugepage/enabled - - - - madvise\nw /etc/motd - - - - hi\n"
            "w+ \"/sys/a b\" - - - - 1 2\nc! /dev/nvidia-uvm 0666 root root - 508:0\n"
            "L /dev/char/195:0 - - - - ../nvidia0\n"
            "d /run/x 0755\nw\nc\n")
    table, _ = found({"/etc/tmpfiles.d/gpu.conf": text})
    lines = {path: [(t["type"], t.get("argument"), t.get("mode")) for t in some]
             for path, some in table["tmpfiles"].items()}
    assert lines == {
        "/sys/kernel/mm/transparent_hugepage/enabled": [("w", "madvise", None)], "/sys/a b": [("w+", "1 2", None)],
        "/dev/nvidia-uvm": [("c!", "508:0", "0666")], "/dev/char/195:0": [("L", "../nvidia0", None)],
    }
    assert table["tmpfiles"]["/dev/nvidia-uvm"][0]["owner"] == "root:root"


TUNED: dict[str, Content] = {
    "/etc/tuned/active_profile": "gpu\n", "/etc/tuned/profile_mode": "manual\n",
    "/etc/tuned/tuned-main.conf": "# main\nreapply_sysctl = 1\n",
    "/etc/tuned/gpu/tuned.conf": "[main]\ninclude=latency ; balanced\n[sysctl]\nvm.swappiness = 10 # low\n"
                                 "[cpu]\nreplace=1\ngovernor=performance\n[script]\nscript=${i:PROFILE_DIR}/go.sh\n",
    "/etc/tuned/gpu/go.sh": "nvidia-smi -pm 1\n",
    "/usr/lib/tuned/latency/tuned.conf": "[sysctl]\nvm.swappiness=60\nkernel.numa_balancing=0\n"
                                          "[cpu]\nforce_latency=1\n",
    "/usr/lib/tuned/profiles/balanced/tuned.conf": "[vm]\ntransparent_hugepages=always\n",
}


def test_the_profile_of_tuned_merges_what_it_includes() -> None:
    table, unread = found(TUNED)
    tuned = table["tuned"]
    assert (tuned["active"], tuned["mode"], tuned["options"]["reapply_sysctl"]["value"]) == (["gpu"], "manual", "1")
    assert tuned["profiles"] == [
        "/usr/lib/tuned/latency/tuned.conf", "/usr/lib/tuned/profiles/balanced/tuned.conf", "/etc/tuned/gpu/tuned.conf"]
    assert {name: {k: v["value"] for k, v in some.items()} for name, some in tuned["sections"].items() if some} == {
        "sysctl": {"vm.swappiness": "10", "kernel.numa_balancing": "0"},
        "cpu": {"replace": "1", "governor": "performance"}, "vm": {"transparent_hugepages": "always"},
        "script": {"script": "${i:PROFILE_DIR}/go.sh"},
    }
    assert tuned["options"]["reapply_sysctl"]["origin"]["line"] == 2
    assert table["scripts"]["/etc/tuned/gpu/go.sh"]["called_by"] == ["tuned"]
    assert not unread


def test_a_profile_may_include_the_one_it_hides() -> None:
    table, _ = found({
        "/etc/tuned/active_profile": "balanced",
        "/etc/tuned/balanced/tuned.conf": "[main]\ninclude=balanced\n[vm]\na=1\n",
        "/usr/lib/tuned/balanced/tuned.conf": "[main]\ninclude=balanced\n[vm]\na=0\nb=0\n",
    })
    assert {k: v["value"] for k, v in table["tuned"]["sections"]["vm"].items()} == {"a": "1", "b": "0"}
    assert "missing" not in table["tuned"]


def test_a_profile_that_is_missing_or_unknown_is_said() -> None:
    table, unread = found({"/etc/tuned/active_profile": "gone ${x}"})
    assert table["tuned"]["missing"] == ["gone"]
    assert list(unread) == ["tuned.sections"]
    closed: dict[str, Content] = {"/etc/tuned/active_profile": DENIED}
    table, unread = found(closed)
    assert ("active" in table["tuned"], unread) == (
        False, dict.fromkeys(("tuned.active", "tuned.profiles", "tuned.sections"), "not-found"))
    table, unread = found(closed, results={"tuned-adm active": "what"})
    assert unread["tuned.active"] == "tuned-adm names no active profile: 'what'"
    table, unread = found(closed, results={"tuned-adm active": "Current active profile: gone\n"})
    assert (table["tuned"]["active"], table["tuned"]["missing"], unread) == (["gone"], ["gone"], {})
    assert found({"/etc/tuned/": ""})[0]["tuned"] == {"active": []}
    assert "tuned" not in found({})[0]


def test_a_long_chain_of_profiles_ends() -> None:
    chain: dict[str, Content] = {
        f"/etc/tuned/p{i}/tuned.conf": f"[main]\ninclude=p{i + 1}\n[vm]\na={i}\n" for i in range(2000)}
    table, unread = found({"/etc/tuned/active_profile": "p0", **chain})
    assert (table["tuned"]["sections"]["vm"]["a"]["value"], list(unread)) == ("0", ["tuned.sections"])


@pytest.mark.parametrize(("text", "names"), [
    ("Current active profile: a b\nCurrent post-loaded profile: b\n", ["a", "b"]), ("No current active profile.\n", []),
    ("It seems that tuned daemon is not running, preset profile is not activated.\nPreset profile: a\n", ["a"]),
])
def test_what_tuned_adm_says(text: str, names: list[str]) -> None:
    assert units_tuned.parse_adm(text) == names


def test_profiles_of_the_corpus(corpus: Path) -> None:
    told = {path.name: units_tuned.parse_adm(path.read_text()) for path in sorted(corpus.glob("tuned-adm/*"))}
    assert told["list-active-virtual-guest.txt"] == ["virtual-guest"]


@pytest.mark.parametrize("junk", [b"", b"\xff\0", b"Max open files\n"])
def test_limits_of_pid_1_that_are_not_told_are_unknown(junk: bytes) -> None:
    model, reading = gather(units, MemoryHost({"/proc/1/limits": junk}))
    assert model.table()["limits"] == {}
    assert {u.path[1]: u.why for u in reading.unreads} == dict.fromkeys(
        ("init_nofile", "init_memlock"), "no such line in it")


def test_limits() -> None:
    table, unread = found({
        "/etc/security/limits.conf": "# x\n* soft nofile 1024 # y\nalice - memlock unlimited\n"
                                     "@gpu hard memlock 5\n* - core 0\n",
        "/etc/security/limits.d/90.conf": "root - nofile 1048576\n", "/etc/security/limits.d/x": "root - nofile 1\n",
        "/etc/systemd/system.conf": "[Manager]\nDefaultLimitNOFILE=1024:524288\nDefaultLimitMEMLOCK=8M\n",
        "/etc/systemd/system.conf.d/9.conf": "[Manager]\nDefaultLimitMEMLOCK=infinity\nDefaultLimitNOFILE=\n",
    })
    limits = table["limits"]
    assert [(s["domain"], s["type"], s["item"], s["value"]) for s in limits["sessions"]] == [
        ("*", "soft", "nofile", "1024"), ("<user>", "-", "memlock", "unlimited"), ("@gpu", "hard", "memlock", "5"),
        ("root", "-", "nofile", "1048576"),
    ]
    assert {key: value["value"] for key, value in limits["defaults"].items()} == {"DefaultLimitMEMLOCK": "infinity"}
    assert limits["init_nofile"] == {"soft": "1024", "hard": "524288"}
    assert limits["init_memlock"] == {"soft": "8388608", "hard": "unlimited"}
    assert not unread


@pytest.mark.parametrize(("path", "fact"), [
    ("/proc/1/limits", "limits.init_nofile"), ("/etc/security/limits.conf", "limits.sessions"),
    ("/etc/security/limits.d/", "limits.sessions"), ("/etc/systemd/system.conf.d/", "limits.defaults"),
    ("/etc/udev/rules.d/", "udev"), ("/etc/tmpfiles.d/", "tmpfiles"), ("/etc/cron.d/", "cron"),
    ("/etc/udev/rules.d/1.rules", "udev./etc/udev/rules.d/1.rules"), ("/etc/cron.d/a", "cron./etc/cron.d/a"),
    ("/etc/default/cpupower", "settings./etc/default/cpupower"),
])
def test_what_is_closed_is_unknown(path: str, fact: str) -> None:
    assert found({path: DENIED})[1].get(fact) == "EACCES"


@given(st.text())
def test_any_text_is_survived(text: str) -> None:
    units_limits.parse_init(text)
    units_tuned.parse(text, "f")
    units_udev.parse(text, "f")
    for parsed in (units_cron.parse(text, True), units_tmpfiles.parse(text, "f"), units_limits.parse_pam(text, "f"),
                   units_hooks.parse(text)):
        list(parsed)
