"""What the next boot does: units and the scripts that they call."""

from __future__ import annotations

import time
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from snapshot.derive import derived
from snapshot.derive.actions.boot_actions import boot_actions, unknown_sources

from ..boots import ETC, VENDOR, WANTS, brief, host, script, service, unit
from ..made import snapshot

ALL = ("all", "power-limit")
GOVERNOR = "/sys/devices/system/cpu/cpu*/cpufreq/scaling_governor"
FORGETS = "the driver forgets it when its last client ends, as nothing switches persistence mode on before"
PM = ("nvidia-smi", ("all", "persistence"), "1")


@pytest.mark.parametrize(("line", "found"), [
    ("/usr/sbin/sysctl -w vm.swappiness=10", [("sysctl", ("vm.swappiness",), "10")]),
    ("-/usr/sbin/sysctl -q kernel.numa_balancing=0 vm.x=1",
     [("sysctl", ("kernel.numa_balancing",), "0"), ("sysctl", ("vm.x",), "1")]),
    ("/bin/sh -c 'echo never > /sys/kernel/mm/transparent_hugepage/enabled'",
     [("file", ("/sys/kernel/mm/transparent_hugepage/enabled",), "never")]),
    ("/bin/bash -c \"echo 0 > /proc/sys/kernel/numa_balancing\"", [("sysctl", ("kernel.numa_balancing",), "0")]),
    ("/bin/sh -c 'echo performance | tee /sys/devices/system/cpu/cpu*/cpufreq/scaling_governor'",
     [("file", (GOVERNOR,), "performance")]),
    ("/bin/sh -c 'for f in /sys/devices/system/cpu/cpu*/cpufreq/scaling_governor; do echo performance > $f; done'",
     [("file", (GOVERNOR,), "performance")]),
    ("/bin/sh -c 'for d in $(lspci -Dnd 10de: | cut -d\" \" -f1); do setpci -s $$d CAP_EXP+8.w=5000:7000; done'",
     [("setpci", ("10de:", "CAP_EXP+8.w", "5000:7000"), "5000:7000")]),
    ("/bin/sh -c \"for d in $(lspci -d 10de: | awk '{print $$1}'); do setpci -s $d CAP_EXP+8.w=5000:7000; done\"",
     [("setpci", ("10de:", "CAP_EXP+8.w", "5000:7000"), "5000:7000")]),
    ("/usr/bin/setpci -s 01:00.0 CAP_EXP+8.w=5000:7000", [
        ("setpci", ("0000:01:00.0", "CAP_EXP+8.w", "5000:7000"), "5000:7000")]),
    ("/usr/bin/setpci -d 10DE:2BB5 CAP_EXP+8.w=5000:7000 68.w=1", [
        ("setpci", ("10de:2bb5", "CAP_EXP+8.w", "5000:7000"), "5000:7000"),
        ("setpci", ("10de:2bb5", "68.w", "1"), "1")]),
    ("/usr/bin/setpci -s 01:00.0 1.w=1 -s 02:00.0 1.w=2", [
        ("setpci", ("0000:01:00.0", "1.w", "1"), "1"), ("setpci", ("0000:02:00.0", "1.w", "2"), "2")]),
    ("/usr/bin/setpci -D -s 01:00.0 1.w=1", []), ("/usr/bin/setpci -s 01:00.0 CAP_EXP+8.w", []),
    ("/usr/bin/nvidia-smi -pm 1", [PM]), ("/usr/bin/nvidia-smi --persistence-mode=1", [PM]),
    ("/usr/bin/nvidia-smi -c EXCLUSIVE_PROCESS -i 0,3", [
        ("nvidia-smi", ("0", "compute-mode"), "EXCLUSIVE_PROCESS"),
        ("nvidia-smi", ("3", "compute-mode"), "EXCLUSIVE_PROCESS")]),
    ("/usr/bin/nvidia-smi -i GPU-1 -mig 1", [("nvidia-smi", ("GPU-1", "mig"), "1")]),
    ("/usr/bin/nvidia-smi -e 0", [("nvidia-smi", ("all", "ecc"), "0")]), ("/usr/bin/nvidia-smi -q -d POWER", []),
    ("/usr/bin/cpupower frequency-set -g performance", [("cpupower", ("all", "governor"), "performance")]),
    ("/usr/bin/cpupower -c 0-63 frequency-set -u 3GHz -d 2000MHz", [
        ("cpupower", ("0-63", "max"), "3GHz"), ("cpupower", ("0-63", "min"), "2000MHz")]),
    ("/usr/bin/cpupower idle-set -d 2", [("cpupower", ("all", "idle-state 2"), "disable")]),
    ("/usr/bin/cpupower idle-set -D 10", [("cpupower", ("all", "idle-latency"), "10")]),
    ("/usr/bin/cpupower idle-set -E", [("cpupower", ("all", "idle-state *"), "enable")]),
    ("/usr/bin/cpupower set --epp performance", [("cpupower", ("all", "epp"), "performance")]),
    ("/usr/bin/cpupower frequency-info", []),
    ("/usr/bin/cpufreq-set -r -g performance", [("cpupower", ("0", "governor"), "performance")]),
    ("/usr/bin/x86_energy_perf_policy performance", [("cpupower", ("all", "energy-perf-policy"), "performance")]),
    ("/usr/bin/x86_energy_perf_policy --hwp-epp 0", [("cpupower", ("all", "epp"), "0")]),
    ("/sbin/ethtool -G eno1 rx 8192 tx 4096", [
        ("ethtool", ("eno1", "ring", "rx"), "8192"), ("ethtool", ("eno1", "ring", "tx"), "4096")]),
    ("/sbin/ethtool -K eno1 gro off lro on", [
        ("ethtool", ("eno1", "offload", "generic-receive-offload"), "off"),
        ("ethtool", ("eno1", "offload", "large-receive-offload"), "on")]),
    ("/sbin/ethtool -C eno1 adaptive-rx off rx-usecs 3", [
        ("ethtool", ("eno1", "coalesce", "adaptive-rx"), "off"), ("ethtool", ("eno1", "coalesce", "rx-usecs"), "3")]),
    ("/sbin/ethtool -L eno1 combined 32", [("ethtool", ("eno1", "channels", "combined"), "32")]),
    ("/sbin/ethtool -k eno1", []), ("/sbin/ethtool eno1", []),
    ("/sbin/ip link set dev eno1 mtu 9000", [("ip", ("eno1", "mtu"), "9000")]),
    ("/sbin/ip link set eno1 txqueuelen 10000 up", [("ip", ("eno1", "txqueuelen"), "10000")]),
    ("/sbin/swapoff -a", [("swap", ("all",), "off")]),
    ("/sbin/blockdev --setra 8192 /dev/nvme0n1", [("file", ("/sys/block/nvme0n1/queue/read_ahead_kb",), "4096")]),
    ("/usr/bin/env A=1 nice -n 5 timeout 30 /usr/sbin/sysctl -w a.b=1", [("sysctl", ("a.b",), "1")]),
    ("/bin/sh -c 'echo 2-3 > /proc/irq/45/smp_affinity_list'", [("irq", ("/proc/irq/45/smp_affinity_list",), "2-3")]),
    ("/bin/sh -c 'for f in /sys/x/*/y; do [ -w \"$f\" ] && echo 1 > \"$f\"; done'", [("file", ("/sys/x/*/y",), "1")]),
    ("/bin/sh -c 'for f in /sys/x/*/y; do if [ -f $f ]; then echo 1 > $f; fi; done'", [("file", ("/sys/x/*/y",), "1")]),
    ("/bin/sh -c 'nvidia-smi -pm 1'  ## on", [PM]), ("/usr/bin/nvidia-smi topo -m", []),
    ("/usr/bin/nvidia-smi --query-gpu=name --format=csv", []),
    ("/bin/sh -c 'nvidia-smi -pm 1 && nvidia-smi -pl 450 || true'", [PM, ("nvidia-smi", ALL, "450")]),
    ("/usr/sbin/sysctl -w net/ipv4/conf/eno1.100/rp_filter=2",
     [("sysctl", ("net.ipv4.conf.eno1/100.rp_filter",), "2")]),
    ("/bin/sh -c 'printf \"%%s\" madvise > /sys/kernel/mm/transparent_hugepage/enabled'",
     [("file", ("/sys/kernel/mm/transparent_hugepage/enabled",), "madvise")]),
])
def test_a_command_of_a_unit(line: str, found: list[Any]) -> None:
    actions = service(f"ExecStart={line}")
    assert brief(actions) == found
    assert all(a.how == "unit" and a.unit == "tune.service" and not a.why_not for a in actions)
    assert all(a.origin["file"] == f"{ETC}/tune.service" and a.origin["line"] == 7 for a in actions)


@pytest.mark.parametrize(("line", "doubt", "value"), [
    ("/bin/sh -c '[ -e /sys/x ] && sysctl -w a.b=1'", "it depends on: [ -e /sys/x ] &&", "1"),
    ("/bin/sh -c 'if [ -e /x ]; then sysctl -w a.b=1; fi'", "it depends on: if [ -e /x ]", "1"),
    ("/bin/sh -c 'test -e /x || exit 0; sysctl -w a.b=1'", "it depends on: test -e /x || exit 0", "1"),
    ("/bin/sh -c 'ready || sysctl -w a.b=1'", "it depends on: ready ||", "1"),
    ("/bin/sh -c 'sysctl -w a.b=$(nproc)'", "the value is not known", None),
    ("/bin/sh -c 'sysctl -w a.b=${X}'", "the value is not known", None),
    ("/bin/sh -c 'A=1; sysctl -w a.b=${A}'", "the value is not known", None),  # systemd puts in its own ${A}, empty
    ("/usr/sbin/sysctl -w a.b=$VALUE", "the value is not known", None),
    ("/usr/sbin/sysctl -w a.b=%H", "the value is not known", None),
    ("/usr/bin/nvidia-smi -pl $LIMIT", "the value is not known", None),
    ("/usr/bin/nvidia-smi -pl 450", FORGETS, "450"),
    ("/bin/sh -c 'for d in $(lspci | grep -i nvidia | cut -d\" \" -f1); do setpci -s $d 1.w=1; done'",
     "its loop is not understood: for d in $(lspci | grep -i nvidia | cut -d\" \" -f1)", "1"),
    ("/bin/sh -c 'for b in $(ls /sys/block); do echo none > /sys/block/$b/queue/scheduler; done'",
     "its loop is not understood: for b in $(ls /sys/block)", "none"),
    ("/bin/bash -c 'echo on > /sys/bus/pci/devices/*/power/control'",
     "a redirection to a pattern works only where it matches one file", "on"),
    ("/sbin/modprobe nvidia NVreg_EnableX=1", "only where nvidia is not loaded before", "1"),
    ("/usr/bin/wrmsr -a 0x1a4 0xf", "what it sets is not understood", None),
    ("/usr/bin/nvidia-settings -a x=1", "what it sets is not understood", None),
    ("/bin/sh -c 'ls /sys/class/net | xargs -n1 ethtool -K'", "what it sets is not understood", None),
    ("/bin/sh -c 'cat /etc/x > /sys/kernel/y'", "the value is not known", None),
    ("/usr/sbin/sysctl -w a.b=1 || true", "no shell reads its ||", "1"),
    ("/usr/bin/nvidia-smi -pm 1  # on", "no shell reads its #", "1"),
    ("/bin/sh -c 'echo \"; sysctl -w a.b=1'", "what it sets is not understood", None),
    ("/usr/bin/nvidia-smi conf-compute -srs 1", "what it sets is not understood", None),
    ("/bin/sh -c 'for f in /sys/x; do [ -e $f ] && echo 1 > $f; done'", "it depends on: [ -e $f ] &&", "1"),
    ("/bin/sh -c 'for f in /sys/x/*; do [ -e $g ] && echo 1 > $f; done'", "it depends on: [ -e $g ] &&", "1"),
    ("/usr/bin/cpupower frequency-set --nonsense 1", "what it sets is not understood", None),
])
def test_what_is_not_sure_is_doubted_and_never_guessed(line: str, doubt: str, value: str | None) -> None:
    action = service(f"ExecStart={line}")[-1]
    assert (action.certain, action.why_not, action.doubt, action.value) == (False, "", doubt, value)


@pytest.mark.parametrize(("line", "why_not"), [
    ("/bin/echo never > /sys/kernel/mm/transparent_hugepage/enabled", "no shell reads its >"),
    ("/bin/sh -c 'echo performance > /sys/devices/system/cpu/cpu*/cpufreq/scaling_governor'",
     "sh redirects to no pattern"),
    ("/bin/sh -c 'echo x | tee \"/sys/devices/system/cpu/cpu*/cpufreq/scaling_governor\"'",
     "its path is a pattern in quotes"),
    ("/bin/sh -c 'exit 0; sysctl -w a.b=1'", "it stands behind exit 0"),
    ("/bin/sh -c 'sysctl -w a.b=1", "systemd ignores the line: a quote is not closed"),
    ("/usr/bin/setpci CAP_EXP+8.w=5000:7000", "setpci is told no device"),
])
def test_what_surely_does_nothing(line: str, why_not: str) -> None:
    action = service(f"ExecStart={line}")[-1]
    assert (action.certain, action.why_not) == (False, why_not)


def test_the_unit_that_hostsnap_proposes() -> None:
    function = {"vendor": "10de", "device": "2bb5", "class_code": "030200", "driver": "nvidia", "source": "config"}
    express = [{"type": "endpoint", "max_read_request_bytes": size} for size in (512, 4096)]
    now, then = (snapshot(pci={"functions": {"0000:01:00.0": {**function, "express": one}}}) for one in express)
    command: str = derived("read_requests", now, then).rows["0000:01:00.0"]["durable"][0]
    name = "hostsnap-maxreadreq-10de-2bb5-4096.service"
    text = command.partition("<<'EOF'\n")[2].removesuffix("EOF")
    actions = boot_actions(host({f"{ETC}/{name}": text}, [name]))
    assert brief(actions) == [("setpci", ("10de:2bb5", "CAP_EXP+8.w", "5000:7000"), "5000:7000")]


SCRIPT = """\
#!/bin/bash
set -euo pipefail
LIMIT=${1:-450}
GOV=performance
nvidia-smi -pm 1
nvidia-smi -pl "$LIMIT"
cpupower frequency-set -g $GOV || true
for dev in $(lspci -Dnd 10de: | cut -d ' ' -f 1); do
  setpci -s "$dev" CAP_EXP+8.w=5000:7000
done
for i in {0..1}; do
  nvidia-smi -i $i -c 3
done
for b in /sys/block/nvme*n1; do
  echo none > "$b/queue/scheduler"
done
if [ -d /sys/kernel/mm/ksm ]; then
  echo 0 > /sys/kernel/mm/ksm/run
fi
tune_nic() {
  ethtool -G "$1" rx 8192
}
tune_nic eno1
"""


def test_a_script_with_its_arguments_loops_and_functions() -> None:
    actions = script(SCRIPT, "/opt/tune 300")
    assert brief(actions) == [
        PM, ("nvidia-smi", ALL, "300"), ("cpupower", ("all", "governor"), "performance"),
        ("setpci", ("10de:", "CAP_EXP+8.w", "5000:7000"), "5000:7000"),
        ("nvidia-smi", ("0", "compute-mode"), "3"), ("nvidia-smi", ("1", "compute-mode"), "3"),
        ("file", ("/sys/block/nvme*n1/queue/scheduler",), "none"),
    ]
    assert [(a.where, a.doubt) for a in actions if not a.certain] == [
        (("/sys/kernel/mm/ksm/run",), "it depends on: if [ -d /sys/kernel/mm/ksm ]"),
        (("$1", "ring", "rx"), "it depends on: tune_nic()"),
    ]
    assert [(a.how, a.origin["file"], a.origin["line"]) for a in actions][:2] == [
        ("script", "/opt/tune", 5), ("script", "/opt/tune", 6)]
    assert {(a.where, a.value) for a in script(SCRIPT)} >= {(ALL, "450")}


@pytest.mark.parametrize("call", [
    "/bin/bash /opt/tune", "/bin/sh -c /opt/tune", "/bin/sh -c 'sleep 5; exec /opt/tune'",
    "/usr/bin/env bash -e /opt/tune", "-/opt/tune", "/bin/sh -c '. /opt/tune'",
])
def test_ways_to_call_a_script(call: str) -> None:
    assert brief(script("#!/bin/sh\nsysctl -w a.b=1\n", call)) == [("sysctl", ("a.b",), "1")]


def test_a_script_that_does_not_start() -> None:
    files = {f"{ETC}/tune.service": unit("ExecStart=/opt/tune"), "/opt/tune": "#!/bin/sh\nsysctl -w a.b=1\n"}
    assert boot_actions(host(files, ["tune.service"]))[0].why_not == "the script is not executable"
    by_shell = {**files, f"{ETC}/tune.service": unit("ExecStart=/bin/sh /opt/tune")}
    assert brief(boot_actions(host(by_shell, ["tune.service"]))) == [("sysctl", ("a.b",), "1")]
    assert script("sysctl -w a.b=1\n")[0].why_not == "the script has no line #!, so the kernel does not run it"
    assert brief(script("sysctl -w a.b=1\n", "/bin/sh -c /opt/tune")) == [("sysctl", ("a.b",), "1")]


def test_lines_of_another_language_are_not_read_as_shell() -> None:
    text = "#!/usr/bin/python3\nimport subprocess\nsubprocess.run(['sysctl', '-w', 'a.b=1'])\n"
    for call in ("/opt/tune", "/usr/bin/python3 /opt/tune"):
        (action,) = script(text, call)
        assert (action.target, action.where, action.certain) == ("unknown", ("sysctl",), False)


def test_a_script_of_an_older_snapshot_is_doubted() -> None:
    table = host({f"{ETC}/tune.service": unit("ExecStart=/opt/tune")}, ["tune.service"],
                 {"/opt/tune": "#!/bin/sh\nsysctl -w a.b=1\n"}).table("units")
    del table["scripts"]["/opt/tune"]["interpreter"]
    assert boot_actions(snapshot(units=table))[0].doubt == "what its lines stand in is not recorded"


def test_lines_that_call_a_tool_by_a_variable_may_set() -> None:
    (action,) = script("#!/bin/sh\nSETPCI=/usr/bin/setpci\n$SETPCI -s 1:0.0 1.w=1\n")
    assert (action.target, action.where) == ("unknown", ("setpci",))


def test_guards_reads_and_messages_set_nothing() -> None:
    assert script("#!/bin/sh\ncommand -v setpci >/dev/null\necho 'setpci failed' >&2\nnvidia-smi -L\nsysctl -n vm.x\n"
                  "v=$(setpci -s 1:0.0 CAP_EXP+8.w)\nmodprobe nvidia\n") == ()


FATES = [
    ({"install": ""}, (), {}, "the unit is static, and nothing starts it"),
    ({}, (), {}, "the unit is disabled"),
    ({}, (), {f"{ETC}/suspend.target.wants/tune.service": f"{ETC}/tune.service"}, "only suspend.target wants the unit"),
    ({}, (), {"/run/systemd/system/multi-user.target.wants/tune.service": f"{ETC}/tune.service"},
     "the unit is enabled in /run only"),
]


@pytest.mark.parametrize(("form", "enabled", "links", "why_not"), FATES)
def test_units_that_do_not_run(form: Any, enabled: Any, links: dict[str, str], why_not: str) -> None:
    found = host({f"{ETC}/tune.service": unit("ExecStart=sysctl -w a.b=1", **form)}, enabled, links=links)
    (action,) = boot_actions(found)
    assert (action.why_not, action.certain, action.value) == (why_not, False, "1")


def test_masked_and_transient_units() -> None:
    text = unit("ExecStart=sysctl -w a.b=1")
    masked = host({f"{VENDOR}/tune.service": text}, links={f"{ETC}/tune.service": "/dev/null"})
    assert boot_actions(masked)[0].why_not == "the unit is masked"
    linked = {f"{WANTS}/tune.service": f"{VENDOR}/tune.service", "/run/systemd/system/tune.service": "/dev/null"}
    assert boot_actions(host({f"{VENDOR}/tune.service": text}, links=linked))[0].doubt == (
        "the unit is masked until the reboot")
    for folder in ("/run/systemd/system", "/run/systemd/transient"):
        assert boot_actions(host({f"{folder}/tune.service": text}))[0].why_not == "the unit lies in /run only"


def test_who_starts_a_unit() -> None:
    text = unit("ExecStart=sysctl -w a.b=1", install="")
    plain = unit("ExecStart=sysctl -w c.d=1", head="Wants=tune.service")
    files = {f"{ETC}/tune.service": text, f"{ETC}/other.service": plain}
    assert ("sysctl", ("a.b",), "1") in brief(boot_actions(host(files, ["other.service"])))
    assert {a.why_not for a in boot_actions(host(files))} == {
        "the unit is disabled", "other.service, which starts it, will not run: the unit is disabled"}
    timed = "[Timer]\nOnBootSec=60\n[Install]\nWantedBy=timers.target\n"
    timer = {f"{ETC}/tune.service": text, f"{ETC}/tune.timer": timed}
    links = {f"{ETC}/timers.target.wants/tune.timer": f"{ETC}/tune.timer"}
    assert boot_actions(host(timer, links=links))[0].doubt == "tune.timer starts the unit, at its time"
    assert boot_actions(host(timer))[0].why_not == "tune.timer, which starts it, will not run: the unit is disabled"
    wanted = {f"{ETC}/my.service.wants/tune.service": f"{ETC}/tune.service"}
    assert boot_actions(host({f"{ETC}/tune.service": text}, links=wanted))[0].doubt == "my.service starts the unit"
    circle = {f"{ETC}/a.service": unit("ExecStart=sysctl -w a.b=1", install="", head="Wants=b.service"),
              f"{ETC}/b.service": unit("ExecStart=sysctl -w a.c=1", install="", head="Wants=a.service")}
    assert not brief(boot_actions(host(circle)))


LIST = "systemctl list-units --all --full --plain --no-legend --no-pager"


def states(line: str) -> dict[str, str]:
    return {LIST: f"{line} Unit\n"}


def test_a_long_chain_of_units() -> None:
    one = host({f"{ETC}/t.service": unit("ExecStart=sysctl -w a.b=1", install="")}).table("units")["units"]["t.service"]
    names = [f"t{n}.service" for n in range(1501)]
    chain = {name: {**one, "needs": [other], "after": [other]} for name, other in pairwise(names)}
    chain[names[0]] = {**chain[names[0]], "state": "masked"}
    actions = boot_actions(snapshot(units={"units": chain}))
    assert len(actions) == 1500 and not brief(actions)


def test_a_circle_of_which_one_is_enabled() -> None:
    files = {f"{ETC}/{name}.service": unit(f"ExecStart=sysctl -w a.{name}=1", head=f"Wants={other}.service")
             for name, other in ("ab", "ba")}
    assert len(brief(boot_actions(host(files, ["a.service"])))) == 2
    assert len(brief(boot_actions(host(files, ["b.service"])))) == 2


def test_conditions_and_how_it_went_in_this_boot() -> None:
    files = {f"{ETC}/tune.service": unit("ExecStart=sysctl -w a.b=1", head="ConditionPathExists=/x"),
             "/run/systemd/system/": ""}
    for line, doubt in (("tune.service loaded active exited", ""),
                        ("tune.service loaded inactive dead", "it depends on: ConditionPathExists=/x"),
                        ("tune.service loaded failed failed", "the unit has failed in this boot (failed)"),
                        ("tune.service bad-setting inactive dead", "the unit has failed in this boot (dead)")):
        assert boot_actions(host(files, ["tune.service"], results=states(line)))[0].doubt == doubt, line


def test_a_oneshot_that_does_not_remain_is_stopped_at_once() -> None:
    lines = ("ExecStart=sysctl -w a.b=1", "ExecStop=sysctl -w a.b=0")
    assert brief(service(*lines)) == [("sysctl", ("a.b",), "1")]
    text = unit(*lines).replace("RemainAfterExit=yes\n", "")
    actions = boot_actions(host({f"{ETC}/tune.service": text}, ["tune.service"]))
    assert brief(actions) == [("sysctl", ("a.b",), "1"), ("sysctl", ("a.b",), "0")]


def test_instances_and_variables_of_a_service() -> None:
    files = {f"{ETC}/mtu@.service": unit("ExecStart=/sbin/ip link set %i mtu 9000")}
    links = {f"{WANTS}/mtu@eno1.service": f"{ETC}/mtu@.service"}
    assert brief(boot_actions(host(files, links=links))) == [("ip", ("eno1", "mtu"), "9000")]
    files = {f"{ETC}/mtu@.service": unit("ExecStart=/sbin/ip link set %i mtu 9000", install="DefaultInstance=eno1\n"
                                         "WantedBy=multi-user.target")}
    (general,) = [a for a in boot_actions(host(files, links=links)) if a.unit == "mtu@.service"]
    assert general.why_not == "a template runs as its instances only"
    assert brief(boot_actions(host(files, links=links))) == [("ip", ("eno1", "mtu"), "9000")]
    rhel = {f"{VENDOR}/cpupower.service": unit("ExecStart=/usr/bin/cpupower $CPUPOWER_START_OPTS"),
            "/etc/sysconfig/cpupower": "CPUPOWER_START_OPTS=\"frequency-set -g performance\"\n"}
    links = {f"{WANTS}/cpupower.service": f"{VENDOR}/cpupower.service"}
    assert brief(boot_actions(host(rhel, links=links))) == [("cpupower", ("all", "governor"), "performance")]


AFTER_DAEMON = "After=nvidia-persistenced.service"


def test_a_power_limit_needs_persistence_before_it() -> None:
    assert brief(script("#!/bin/sh\nnvidia-smi -pl 300\nnvidia-smi -pm 1\n")) == [PM]
    assert brief(script("#!/bin/sh\nnvidia-smi -pm 1\nnvidia-smi -pl 300\n")) == [PM, ("nvidia-smi", ALL, "300")]
    assert brief(script("#!/bin/sh\nnvidia-smi -pm 1\nnvidia-smi -pm 0\nnvidia-smi -pl 300\n"))[2:] == []
    daemon = {f"{ETC}/nvidia-persistenced.service": unit("ExecStart=/usr/bin/nvidia-persistenced", kind="forking")}
    for head, found in ((AFTER_DAEMON, [PM, ("nvidia-smi", ALL, "300")]), ("", [PM])):
        files = {**daemon, f"{ETC}/a.service": unit("ExecStart=nvidia-smi -pl 300", head=head)}
        assert brief(boot_actions(host(files, ["a.service", "nvidia-persistenced.service"]))) == found


def test_the_persistence_daemon() -> None:
    for options, value in (("--user nvpd", "1"), ("--user nvpd --no-persistence-mode --verbose", "0")):
        files = {f"{VENDOR}/nvidia-persistenced.service": unit(
            f"ExecStart=/usr/bin/nvidia-persistenced {options}", "ExecStopPost=/bin/rm -rf /run/nvidia-persistenced",
            kind="forking"), f"{ETC}/pl.service": unit("ExecStart=nvidia-smi -pl 300", head=AFTER_DAEMON)}
        links = {f"{WANTS}/nvidia-persistenced.service": f"{VENDOR}/nvidia-persistenced.service"}
        actions = boot_actions(host(files, ["pl.service"], links=links))
        assert ("nvidia-smi", ("all", "persistence"), value) in brief(actions)
        assert (("nvidia-smi", ALL, "300") in brief(actions)) == (value == "1")


def two(first: str, second: str, head: str) -> list[tuple[Any, ...]]:
    files = {f"{ETC}/a.service": unit(f"ExecStart={first}"), f"{ETC}/b.service": unit(f"ExecStart={second}", head=head)}
    return brief(boot_actions(host(files, ["a.service", "b.service"])))


def test_the_last_word_of_two_units() -> None:
    set1, set2 = "sysctl -w a.b=1", "sysctl -w a.b=2"
    one, other = ("sysctl", ("a.b",), "1"), ("sysctl", ("a.b",), "2")
    assert two(set1, set2, "After=a.service") == [one, other]
    assert two(set1, set2, "Before=a.service") == [other, one]
    assert two(set1, set2, "After=multi-user.target") == [one, other]
    assert two(set1, set2, "Before=sysinit.target") == [other, one]
    assert two(set1, set2, "") == []
    assert two(set1, set1, "") == [one, one]
    assert len(two(set1, "sysctl -w a.c=2", "")) == 2


def test_a_unit_behind_the_network_has_the_last_word() -> None:
    origin = {"file": "/etc/netplan/1.yaml", "line": 3, "text": "mtu: 1500"}
    plan = {"ethernets.eno1": {"options": {"mtu": {"value": "1500", "origin": origin}}}}
    for head, last in (("", []), ("After=network-online.target", ["1500", "9000"])):
        files = {f"{ETC}/mtu.service": unit("ExecStart=/sbin/ip link set eno1 mtu 9000", head=head),
                 f"{VENDOR}/systemd-networkd.service": unit("ExecStart=/x", head="Before=network.target")}
        found = host(files, ["mtu.service"], net={"interfaces": {}, "netplan": plan})
        assert [value for _, _, value in brief(boot_actions(found))] == last


def test_scripts_that_call_each_other_come_to_an_end() -> None:
    scripts = {f"/opt/{name}": "#!/bin/sh\n" + f"/opt/{other}; sysctl -w a.b=1\n" * 300 for name, other in ("ab", "ba")}
    found = host({f"{ETC}/t.service": unit("ExecStart=/opt/a")}, ["t.service"], scripts)
    begun = time.process_time()
    assert ("sysctl", ("a.b",), "1") in brief(boot_actions(found))
    assert time.process_time() - begun < 5


def test_swap_units_and_daemons() -> None:
    files = {f"{ETC}/dev-sdb1.swap": "[Swap]\nWhat=/dev/sdb1\n[Install]\nWantedBy=swap.target\n",
             f"{VENDOR}/irqbalance.service": unit("ExecStart=/usr/sbin/irqbalance --foreground", kind="simple")}
    links = {f"{ETC}/swap.target.wants/dev-sdb1.swap": f"{ETC}/dev-sdb1.swap",
             f"{WANTS}/irqbalance.service": f"{VENDOR}/irqbalance.service"}
    actions = boot_actions(host(files, links=links))
    assert brief(actions) == [("swap", ("/dev/sdb1",), "on")]
    assert {(a.target, a.where, a.doubt) for a in actions if not a.certain} >= {
        ("irq", ("all",), "irqbalance.service sets it as it sees fit")}


SYSCTL = {
    "values": {}, "settings": {
        "vm.swappiness": {"procps": {"value": "10", "origin": {"file": "/etc/sysctl.conf", "line": 1, "text": "x"}}},
        "vm.x": {"systemd": {"value": "3", "origin": {"file": "/etc/sysctl.d/1.conf", "line": 1, "text": "x"}},
                 "procps": {"value": "3", "origin": {"file": "/etc/sysctl.d/1.conf", "line": 1, "text": "x"}}},
    },
}


def test_files_that_sysctl_loads() -> None:
    def of(command: str) -> tuple[Any, ...]:
        return boot_actions(host({f"{ETC}/t.service": unit(f"ExecStart={command}")}, ["t.service"], sysctl=SYSCTL))

    swap, other = ("sysctl", ("vm.swappiness",), "10"), ("sysctl", ("vm.x",), "3")
    assert brief(of("sysctl -p")) == [swap]
    assert brief(of("sysctl --load=/etc/sysctl.d/1.conf")) == [other]
    assert brief(of("sysctl -q --system")) == [swap, other]
    (action,) = of("sysctl -p /opt/my.conf")
    assert (action.target, action.where, action.doubt) == (
        "unknown", ("sysctl", "/opt/my.conf"), "what /opt/my.conf holds is not recorded")


def test_what_was_not_read_is_said() -> None:
    assert unknown_sources(host({}, net={"interfaces": {}})) == []
    assert [s["why"] for s in unknown_sources(snapshot())] == ["the snapshot has no such section"]
    found = unknown_sources(snapshot({"units": ["scripts", "/root/x"]}, units={"units": {}}, net={"interfaces": {}}))
    assert found == [{"source": "/src", "why": "EACCES"}]
    runtime = snapshot({"units": ["units", "a.service", "runtime"]}, units={"units": {}}, net={"interfaces": {}})
    assert unknown_sources(runtime) == []
    assert boot_actions(snapshot()) == ()


def test_many_units_and_cpus_take_no_time() -> None:
    loop = "ExecStart=/bin/sh -c 'for c in $(seq 0 255); do echo {} > /sys/devices/system/cpu/cpu$$c/online; done'"
    files = {f"{ETC}/t{n}.service": unit(loop.format(n), head=f"After=t{n - 1}.service") for n in range(20)}
    found = host(files, [path.rpartition("/")[2] for path in files])
    found.table("units")
    begun = time.process_time()
    assert len(brief(boot_actions(found))) == 20 * 256
    assert time.process_time() - begun < 2


@settings(deadline=None, max_examples=60)
@given(st.text(alphabet="a1 $(){}'\"`\\;&|<>*=-\n/%#") | st.text())
def test_any_text_is_survived(text: str) -> None:
    table = host({f"{ETC}/tune.service": unit("ExecStart=/opt/tune")}, ["tune.service"],
                 {"/opt/tune": "#!/bin/sh\nsysctl -w a.b=1\n"}).table("units")
    line = table["scripts"]["/opt/tune"]["lines"][0]
    line["text"], line["depends"], line["values"] = f"setpci {text} sysctl", [text, f"for a in {text}"], {"a": text}
    command = table["units"]["tune.service"]["commands"][0]
    table["units"]["tune.service"]["commands"] = [
        {**command, "text": f"/opt/tune {text}"},
        {**command, "text": f'/bin/sh -c "setpci {text}"', "tools": ["setpci"]}]
    job = {"schedule": "@reboot", "text": text, "tools": ["setpci"], "origin": line["origin"]}
    table["cron"] = {"/etc/crontab": [job]}
    table["udev"] = {"/etc/udev/x.rules": [{"match": [text], "set": [f'RUN+="{text}"', text], "jumps": [text],
                                            "origin": line["origin"]}]}
    for action in boot_actions(snapshot(units=table)):
        assert not (action.certain and (action.why_not or action.doubt or action.value is None))
