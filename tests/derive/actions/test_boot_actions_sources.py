"""What the next boot does besides units: udev, tmpfiles.d, tuned, cron, rc.local, hooks, and the network's files."""

from __future__ import annotations

from typing import Any

import pytest

from snapshot.collectors.net_ifupdown import Interfaces
from snapshot.collectors.net_networkd import take
from snapshot.derive.actions.boot_actions import UDEV, Action, boot_actions
from snapshot.sections.net import Setting

from ..boots import ETC, VENDOR, WANTS, brief, host, unit

RULES = "/etc/udev/rules.d/60-tune.rules"
GPU = {"vendor": "10de", "device": "2bb5", "class_code": "030200", "driver": "nvidia", "source": "config"}
PCI = {"functions": {"0000:01:00.0": GPU, "0000:21:00.0": GPU, "0000:01:00.1": {**GPU, "class_code": "040300"}}}
STORAGE = {"blocks": {"a": {"name": "nvme0n1", "queue": {"rotational": False}},
                      "b": {"name": "sda", "queue": {"rotational": True}}}}
NET = {"interfaces": {"02:00:00:00:00:01": {
    "name": "eno1", "kind": "physical", "permanent_mac": "02:00:00:00:00:01", "driver": "mlx5_core"}}}


def rule(text: str, path: str = RULES, scripts: dict[str, str] | None = None, **sections: Any) -> tuple[Action, ...]:
    return boot_actions(host({path: text}, scripts=scripts, **sections))


@pytest.mark.parametrize(("text", "found"), [
    ('ACTION=="add|change", KERNEL=="sd[a-z]|nvme*", SUBSYSTEM=="block", ATTR{queue/scheduler}="none"',
     [(("/sys/block/sd[a-z]/queue/scheduler",), "none"), (("/sys/block/nvme*/queue/scheduler",), "none")]),
    ('ACTION=="add", SUBSYSTEM=="block", ATTR{queue/rotational}=="0", ATTR{queue/read_ahead_kb}="128"',
     [(("/sys/block/nvme0n1/queue/read_ahead_kb",), "128")]),
    ('ACTION=="bind", SUBSYSTEM=="pci", ATTR{vendor}=="0x10de", ATTR{class}=="0x0302*", ATTR{power/control}="on"',
     [(("/sys/bus/pci/devices/0000:01:00.0/power/control",), "on"),
      (("/sys/bus/pci/devices/0000:21:00.0/power/control",), "on")]),
    ('SUBSYSTEM=="net", ACTION=="add", ATTR{address}=="02:00:00:00:00:01", ATTR{mtu}="9000"',
     [(("/sys/class/net/eno1/mtu",), "9000")]),
    ('ACTION=="add", SUBSYSTEM=="module", KERNEL=="nf_conntrack", SYSCTL{net.netfilter.nf_conntrack_max}="1000"',
     [(("net.netfilter.nf_conntrack_max",), "1000")]),
    ('SUBSYSTEM=="block", KERNEL=="nvme*n1", RUN+="/bin/sh -c \'echo none > /sys/block/%k/queue/scheduler\'"',
     [(("/sys/block/nvme*n1/queue/scheduler",), "none")]),
    ('SUBSYSTEM=="pci", ATTR{vendor}=="0x1002", ATTR{power/control}="on"', []),
    ('ACTION!="add", GOTO="x"\nSUBSYSTEM!="block", GOTO="x"\nKERNEL=="sd?", ATTR{queue/scheduler}="none"\nLABEL="x"',
     [(("/sys/block/sd?/queue/scheduler",), "none")]),
    ('ACTION=="add", SUBSYSTEM=="pci", RUN+="/usr/bin/nvidia-modprobe -c 0 -u"', []),
])
def test_udev_rules(text: str, found: list[Any]) -> None:
    actions = rule(text, pci=PCI, storage=STORAGE, net=NET)
    assert [(where, value) for _, where, value in brief(actions)] == found
    assert len(actions) == len(found) and all(a.how == "udev" and a.order >= UDEV for a in actions)


@pytest.mark.parametrize(("text", "doubt", "why_not"), [
    ('ACTION=="change", SUBSYSTEM=="block", ATTR{queue/scheduler}="none"', "it acts when a device changes", ""),
    ('ACTION=="remove", SUBSYSTEM=="block", ATTR{queue/scheduler}="none"', "", "it does not act on new devices"),
    ('SUBSYSTEM=="block", ENV{ID_MODEL}=="X", ATTR{queue/scheduler}="none"', 'it depends on: ENV{ID_MODEL}=="X"', ""),
    ('SUBSYSTEM=="net", KERNEL=="eno1", ATTR{mtu}="9000"',
     "it depends on: KERNEL, which may still be another name than eno1", ""),
    ('SUBSYSTEM=="odd", ATTR{x}="1"', "what it sets is not understood", ""),
    ('SUBSYSTEM=="block", ATTR{queue/nr_requests}="$env{X}"', "the value is not known", ""),
    ('GOTO="x"\nSUBSYSTEM=="block", ATTR{queue/scheduler}="none"\nLABEL="x"', "", "a rule above jumps past it"),
    ('A=="1", B=="2", GOTO="x"\nSUBSYSTEM=="block", ATTR{queue/scheduler}="none"\nLABEL="x"',
     'a rule above may jump past it: A=="1", B=="2"', ""),
    ('SUBSYSTEM=="pci", RUN+="/usr/local/bin/mrrs %k"', "it depends on: [ -n \"$1\" ] &&", ""),
    ('SUBSYSTEM=="pci", PROGRAM="/usr/bin/setpci -s %k 1.w=1"', "what it sets is not understood", ""),
])
def test_udev_rules_that_may_not_act(text: str, doubt: str, why_not: str) -> None:
    action = rule(text, scripts={"/usr/local/bin/mrrs": '#!/bin/sh\n[ -n "$1" ] && setpci -s $1 1.w=1\n'})[0]
    assert (action.certain, action.doubt, action.why_not) == (False, doubt, why_not)


def test_udev_rules_in_order_of_names_and_those_in_run() -> None:
    one, two = (f'SUBSYSTEM=="block", KERNEL=="sda", ATTR{{queue/scheduler}}="{word}"\n' for word in ("a", "b"))
    actions = boot_actions(host({"/etc/udev/rules.d/90-a.rules": one, "/usr/local/lib/udev/rules.d/10-b.rules": two}))
    assert [a.value for a in actions] == ["b", "a"] and actions[0].order < actions[1].order
    assert rule(one, "/run/udev/rules.d/9-x.rules")[0].why_not == "the rule lies in /run only"
    masked = host({RULES: one, f"{VENDOR}/systemd-udevd.service": unit("ExecStart=x", install="")},
                  links={f"{ETC}/systemd-udevd.service": "/dev/null"})
    assert boot_actions(masked)[0].why_not == "the unit is masked"


@pytest.mark.parametrize(("line", "found"), [
    ("w /sys/kernel/mm/transparent_hugepage/enabled - - - - madvise", ("madvise", True, "", "")),
    ("w! /proc/sys/vm/swappiness - - - - 10", ("10", True, "", "")),
    ("w /sys/devices/system/cpu/cpu*/online - - - - 1", ("1", True, "", "")),
    ("w /sys/block/sda/queue/scheduler - - - - none",
     ("none", False, "it is written early in the boot, perhaps before the driver is there", "")),
    ("w /sys/devices/system/cpu/cpu0/cpufreq/scaling_governor - - - - performance",
     ("performance", False, "it is written early in the boot, perhaps before the driver is there", "")),
    ("w /sys/kernel/x - - - - %H", (None, False, "the value is not known", "")),
    ("w /sys/kernel/x", (None, False, "the value is not known", "it says not what to write")),
])
def test_tmpfiles(line: str, found: Any) -> None:
    (action,) = boot_actions(host({"/etc/tmpfiles.d/t.conf": f"{line}\n"}))
    assert (action.value, action.certain, action.doubt, action.why_not) == (
        found if line != "w /sys/kernel/x" else ("", False, "", "it says not what to write"))


def test_of_tmpfiles_the_first_line_for_a_path_counts() -> None:
    lines = "w /sys/kernel/x - - - - 1\nw /sys/kernel/x - - - - 2\nw+ /sys/kernel/x - - - - 3\n"
    files = {"/etc/tmpfiles.d/a.conf": lines,
             "/run/tmpfiles.d/b.conf": "w /sys/kernel/y - - - - 1\nc! /dev/cuse 0600 - - - 10:203\n"}
    actions = boot_actions(host(files))
    assert [(a.value, a.why_not) for a in actions] == [
        ("1", ""), ("2", "an earlier line is for the same path"), ("3", ""), ("1", "the line lies in /run only")]


PROFILE = """\
[main]
summary=x
[cpu]
governor=schedutil|performance
energy_perf_bias=performance
min_perf_pct=100
force_latency=1
[sysctl]
vm.swappiness = 10
vm.dirty_ratio = >40
kernel.numa_balancing = 0
[sysfs]
/sys/kernel/mm/ksm/run=0
[vm]
transparent_hugepages=never
transparent_hugepage.defrag=never
[fast]
type=disk
devices=nvme0n1, sda
elevator=none
readahead=8192 s
[net]
devices=eno1
ring=rx 8192 tx 4096
features=gro off
txqueuelen=5000
[bootloader]
cmdline=isolcpus=1
[off]
type=sysctl
enabled=false
a.b=1
[scheduler]
group.x=0:f:1:*:x
[script]
script=${i:PROFILE_DIR}/go.sh
"""
TUNED_UNIT = {f"{VENDOR}/tuned.service": unit("ExecStart=/usr/sbin/tuned -l -P", kind="dbus")}
TUNED_ON = {f"{WANTS}/tuned.service": f"{VENDOR}/tuned.service"}
TUNED_FILES = {"/etc/tuned/active_profile": "gpu\n", "/etc/tuned/gpu/tuned.conf": PROFILE, **TUNED_UNIT}


def test_tuned() -> None:
    held = {"file": "/etc/sysctl.d/9.conf", "line": 1, "text": "x"}
    script = "#!/bin/sh\nnvidia-smi -pm $X\nsysctl -w k.l=1\n"
    actions = boot_actions(host(
        TUNED_FILES, links=TUNED_ON, scripts={"/etc/tuned/gpu/go.sh": script},
        cpufreq={"governors": ["performance", "powersave"]},
        sysctl={"values": {}, "settings": {"kernel.numa_balancing": {"procps": {"value": "1", "origin": held}}}},
        cmdline={"tokens": [], "parameters": {"transparent_hugepage": ["always"]}},
    ))
    assert all(a.how == "tuned" and a.unit == "tuned.service" for a in actions)
    assert sorted(brief(actions)) == sorted([
        ("cpupower", ("all", "governor"), "performance"), ("cpupower", ("all", "perf-bias"), "performance"),
        ("file", ("/sys/devices/system/cpu/intel_pstate/min_perf_pct",), "100"),
        ("file", ("/dev/cpu_dma_latency",), "1"), ("sysctl", ("vm.swappiness",), "10"),
        ("file", ("/sys/kernel/mm/ksm/run",), "0"),
        ("file", ("/sys/kernel/mm/transparent_hugepage/defrag",), "never"),
        ("file", ("/sys/block/sda/queue/scheduler",), "none"),
        ("file", ("/sys/block/sda/queue/read_ahead_kb",), "4096"),
        ("ethtool", ("eno1", "ring", "rx"), "8192"), ("ethtool", ("eno1", "ring", "tx"), "4096"),
        ("ethtool", ("eno1", "offload", "generic-receive-offload"), "off"), ("ip", ("eno1", "txqueuelen"), "5000"),
        ("sysctl", ("k.l",), "1"),
    ])
    left = {a.where: (a.value, a.why_not or a.doubt) for a in actions if not a.certain}
    nvme = "tuned leaves NVMe disks alone that have several paths"
    assert left == {
        ("vm.dirty_ratio",): ("40", "only when it is more than what is set"),
        ("kernel.numa_balancing",): ("0", "tuned applies /etc/sysctl.d/9.conf after it"),
        ("/sys/kernel/mm/transparent_hugepage/enabled",): ("never", "the command line sets it"),
        ("/sys/block/nvme0n1/queue/scheduler",): ("none", nvme),
        ("/sys/block/nvme0n1/queue/read_ahead_kb",): ("4096", nvme),
        ("tuned", "scheduler", "group.x"): (None, "what it sets is not understood"),
        ("all", "persistence"): (None, "the value is not known"),
    }


@pytest.mark.parametrize(("files", "links", "why_not"), [
    (TUNED_FILES, {}, "the unit is disabled"),
    ({k: v for k, v in TUNED_FILES.items() if k not in TUNED_UNIT}, {}, "there is no tuned.service"),
    ({**TUNED_FILES, "/etc/tuned/active_profile": "gpu gone"}, TUNED_ON,
     "tuned does not start without the profile gone"),
])
def test_tuned_that_does_not_run(files: dict[str, Any], links: dict[str, str], why_not: str) -> None:
    actions = boot_actions(host(files, links=links))
    assert actions and {a.why_not for a in actions if a.where == ("vm.swappiness",)} == {why_not}


CRON = {f"{VENDOR}/cron.service": unit("ExecStart=/usr/sbin/cron -f", kind="simple")}
CRON_ON = {f"{WANTS}/cron.service": f"{VENDOR}/cron.service"}


def test_cron() -> None:
    files = {**CRON, "/etc/cron.d/gpu": "@reboot root sleep 30 && nvidia-smi -pm 1\n*/5 * * * * root sysctl -w a.b=1\n",
             "/var/spool/cron/crontabs/root": "@reboot /opt/gpu.sh 300\n"}
    scripts = {"/opt/gpu.sh": "#!/bin/sh\nnvidia-smi -pm 1\nnvidia-smi -pl $1\n"}
    actions = boot_actions(host(files, links=CRON_ON, scripts=scripts))
    persistent = ("nvidia-smi", ("all", "persistence"), "1")
    assert brief(actions) == [persistent, persistent, ("nvidia-smi", ("all", "power-limit"), "300")]
    assert {a.how for a in actions} == {"cron"}
    assert [a.doubt for a in actions if not a.certain] == ["it runs at its time (*/5 * * * *), not at the boot"]
    assert {a.why_not for a in boot_actions(host(files, scripts=scripts))} == {"the unit is disabled"}
    without = {path: text for path, text in files.items() if path not in CRON}
    assert {a.doubt for a in boot_actions(host(without, scripts=scripts))} == {"no cron daemon is recorded"}


RC = {f"{VENDOR}/rc-local.service": unit("ExecStart=/etc/rc.local start", kind="forking", install="")}
RC_TEXT = "#!/bin/sh -e\nnvidia-smi -pm 1\nexit 0\nsetpci -s 01:00.0 68.w=5936\n"


def test_rc_local() -> None:
    actions = boot_actions(host(RC, scripts={"/etc/rc.local": RC_TEXT}))
    assert [(a.how, a.unit, a.target, a.why_not) for a in actions] == [
        ("rc.local", "rc-local.service", "nvidia-smi", ""),
        ("rc.local", "rc-local.service", "setpci", "it stands behind exit 0")]
    assert actions[0].certain
    actions = boot_actions(host({**RC, "/etc/rc.local": RC_TEXT}))
    assert {a.why_not for a in actions} == {"the script is not executable"}
    actions = boot_actions(host({}, scripts={"/etc/rc.local": RC_TEXT}))
    assert {a.why_not for a in actions} == {"no rc-local.service runs it"}


def test_hooks_of_guests_and_of_ifupdown() -> None:
    actions = boot_actions(host({"/etc/pve/lxc/101.conf": "hookscript: local:snippets/gpu.sh\n"}, scripts={
        "/var/lib/vz/snippets/gpu.sh": "#!/bin/bash\nsysctl -w a.b=1\n",
        "/etc/network/if-up.d/tune": "#!/bin/sh\nethtool -K $IFACE gro off\n"}))
    assert [(a.how, a.unit, a.doubt) for a in actions] == [
        ("interfaces", "", "ifupdown runs it for each interface, if it runs scripts"),
        ("hook", "101.conf", "it runs when the guest of /etc/pve/lxc/101.conf starts")]


def test_the_script_of_package_ethtool_sets_only_what_a_stanza_asks_for() -> None:
    script = "#!/bin/sh\n$ETHTOOL --offload \"$IFACE\" $SETTINGS\nethtool -K $IFACE gro off\n"
    assert boot_actions(host({}, scripts={"/etc/network/if-up.d/ethtool": script})) == ()


def test_files_of_cpufrequtils_and_cpupower() -> None:
    units = {f"{VENDOR}/{name}.service": unit("ExecStart=/x") for name in ("cpufrequtils", "cpupower")}
    links = {f"{WANTS}/{name}.service": f"{VENDOR}/{name}.service" for name in ("cpufrequtils", "cpupower")}

    def of(text: str, on: bool = True, path: str = "/etc/default/cpufrequtils") -> list[tuple[Any, ...]]:
        found = boot_actions(host({**(units if on else {}), path: text}, links=links if on else {}))
        return [(a.where, a.value, a.why_not or a.doubt) for a in found]

    text = 'GOVERNOR="performance"\nMAX_SPEED=0\nMIN_SPEED=2000000\n'
    both = [(("all", "governor"), "performance"), (("all", "min"), "2000000")]
    assert of(f'ENABLE="true"\n{text}') == [(*one, "") for one in both]
    assert of(f'ENABLE="false"\n{text}') == [(*one, "ENABLE is not true") for one in both]
    assert of(text) == [(*one, "it does not say ENABLE") for one in both]
    assert of(f'ENABLE="true"\n{text}', on=False) == [(*one, "there is no cpufrequtils.service") for one in both]
    assert of("governor='performance'\n#max_freq=1\n", path="/etc/default/cpupower") == [
        (("all", "governor"), "performance", "")]


INTERFACES = """\
iface eno0 inet manual
    mtu 9000
auto eno1
iface eno1 inet manual
    mtu 9000
    offload-gro off
    post-up ethtool -G $IFACE rx 8192 tx 8192 || true
    up ip link set $IFACE txqueuelen 10000
    pre-down ethtool -K eno1 gro on
iface eno2 inet manual
    mtu 9000
"""
NETWORKING = {f"{VENDOR}/networking.service": unit("ExecStart=/sbin/ifup -a")}


def test_ifupdown() -> None:
    found = Interfaces().take(INTERFACES, "/etc/network/interfaces").stanza_table()
    stanzas = {name: stanza.table() for name, stanza in found.items()}
    net = {"interfaces": {}, "ifupdown": stanzas}
    links = {f"{WANTS}/networking.service": f"{VENDOR}/networking.service"}
    actions = boot_actions(host(NETWORKING, links=links, net=net))
    assert brief(actions) == [
        ("ip", ("eno1", "mtu"), "9000"), ("ethtool", ("eno1", "ring", "rx"), "8192"),
        ("ethtool", ("eno1", "ring", "tx"), "8192"), ("ip", ("eno1", "txqueuelen"), "10000")]
    assert [(a.where, a.doubt) for a in actions if not a.certain] == [
        (("eno0", "mtu"), "eno0 is not brought up by itself"),
        (("eno1", "offload", "generic-receive-offload"), "a script has to be there that reads the option"),
        (("eno2", "mtu"), "eno2 is not brought up by itself")]
    assert {a.why_not for a in boot_actions(host(NETWORKING, net=net))} == {"the unit is disabled"}
    assert not brief(boot_actions(host({}, net=net)))


def networkd(**texts: str) -> dict[str, Any]:
    files: dict[str, Any] = {}
    for name, text in texts.items():
        options: dict[str, Setting] = {}
        file = name.replace("__", "-").replace("_", ".")
        take(options, text, f"/etc/systemd/network/{file}")
        files[file] = {"options": {key: setting.table() for key, setting in options.items()}}
    return {**NET, "networkd": files}


def test_link_files() -> None:
    match, keys = "[Match]\nPermanentMACAddress=02:00:00:00:00:01\n", "GenericReceiveOffload=no\nCombinedChannels=8\n"
    mine = f"{match}[Link]\nMTUBytes=9000\nRxBufferSize=8192\nName=eno1\n{keys}"
    default = "[Match]\nOriginalName=*\n[Link]\nMTUBytes=1500\n"
    actions = boot_actions(host({}, net=networkd(**{"10__a_link": mine, "99__default_link": default})))
    assert brief(actions) == [
        ("ip", ("eno1", "mtu"), "9000"), ("ethtool", ("eno1", "ring", "rx"), "8192"),
        ("ethtool", ("eno1", "offload", "generic-receive-offload"), "no"),
        ("ethtool", ("eno1", "channels", "combined"), "8")]
    other = mine.replace("00:01", "00:02")
    assert brief(boot_actions(host({}, net=networkd(**{"10__a_link": other, "99__default_link": default})))) == [
        ("ip", ("eno1", "mtu"), "1500")]
    path = "[Match]\nPath=pci-*\n[Link]\nMTUBytes=9000\n"
    actions = boot_actions(host({}, net=networkd(**{"10__a_link": path, "99__default_link": default})))
    assert [(a.value, a.doubt) for a in actions] == [
        ("9000", "whether 10-a.link fits eno1 is not known"), ("1500", "10-a.link may come before it")]
    masked = host({}, net=networkd(**{"10__a_link": "", "99__default_link": default}))
    assert [(a.value, a.doubt) for a in boot_actions(masked)] == [("1500", "")]


def test_networkd_and_netplan() -> None:
    network = networkd(**{"20__a_network": "[Match]\nName=eno*\n[Link]\nMTUBytes=9000\n"})
    running = {f"{VENDOR}/systemd-networkd.service": unit("ExecStart=/x")}
    links = {f"{WANTS}/systemd-networkd.service": f"{VENDOR}/systemd-networkd.service"}
    assert brief(boot_actions(host(running, links=links, net=network))) == [("ip", ("eno1", "mtu"), "9000")]
    assert [a.doubt for a in boot_actions(host({}, net=network))] == [
        "whether systemd-networkd.service runs is not recorded"]
    (action,) = boot_actions(host(running, links=links, net=networkd(**{"20__a_network": "[Link]\nMTUBytes=9000\n"})))
    assert action.doubt == "[Match] of 20-a.network asks for more than a name"  # which is not recorded, or it has none
    origin = {"file": "/etc/netplan/1.yaml", "line": 3, "text": "mtu: 9000"}
    plan: dict[str, Any] = {
        "ethernets.eno1": {"options": {"mtu": {"value": "9000", "origin": origin}}},
        "ethernets.x": {"options": {"match.macaddress": {"value": "02:00:00:00:00:01", "origin": origin},
                                    "generic-receive-offload": {"value": "false", "origin": origin}}},
        "ethernets.y": {"options": {"match.driver": {"value": "e*", "origin": origin},
                                    "mtu": {"value": "1", "origin": {**origin, "file": "/run/netplan/x.yaml"}}}},
    }
    actions = boot_actions(host({}, net={**NET, "netplan": plan}))
    assert brief(actions) == [("ip", ("eno1", "mtu"), "9000"),
                              ("ethtool", ("eno1", "offload", "generic-receive-offload"), "false")]
    assert (actions[2].why_not, actions[2].doubt) == ("it lies in /run only", "which interface it matches is not known")
