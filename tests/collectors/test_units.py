"""What sets tunables at boot, and failed units: the whole section."""

from __future__ import annotations

import errno
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fixtures import epyc
from fixtures.parts import units as part
from snapshot.collectors import units
from snapshot.collectors.units import parse_settings
from snapshot.collectors.units_clock import TRACKING, parse_tracking
from snapshot.collectors.units_states import LIST_UNITS, parse
from snapshot.errors import ParseError
from snapshot.host.base import Result, Stat

from .fake import Content, MemoryHost, gather, node

DENIED = PermissionError(errno.EACCES, "denied")
ETC, RUN, VENDOR = "/etc/systemd/system", "/run/systemd/system", "/usr/lib/systemd/system"
TUNE = f"{ETC}/gpu-tune.service"
UNIT = """\
[Unit]
After=nvidia-persistenced.service
Before=pve-guests.service
[Service]
Type=oneshot
ExecStart=/usr/local/sbin/gpu-tune all
[Install]
WantedBy=multi-user.target
"""
SCRIPT = "#!/bin/sh\nTOKEN=hunter2\nlog start\nsetpci -s 01:00.0 CAP_EXP+8.w=5000:7000\n"
HOST: dict[str, Content] = {TUNE: UNIT, "/usr/local/sbin/gpu-tune": SCRIPT}
ENABLED = {f"{ETC}/multi-user.target.wants/gpu-tune.service": TUNE}
LIST = " ".join(LIST_UNITS.argv)


def found(
    files: dict[str, Content], links: dict[str, str] | None = None, results: dict[str, Result | str] | None = None,
    nodes: dict[str, Stat | OSError] | None = None,
) -> tuple[dict[str, Any], dict[str, str]]:
    """The section's table, and of its unread facts the reasons."""
    init = "Max open files            1024   524288  files\nMax locked memory  8388608  unlimited  bytes\n"
    model, reading = gather(units, MemoryHost({"/proc/1/limits": init, **files}, links, nodes, results))
    return model.table(), {".".join(u.path): u.why for u in reading.unreads}


def test_an_operators_unit_and_its_script() -> None:
    table, unread = found(HOST, ENABLED)
    origin = {"file": TUNE, "line": 6, "text": "ExecStart=/usr/local/sbin/gpu-tune all"}
    assert table["units"] == {"gpu-tune.service": {
        "file": TUNE, "state": "enabled", "preset": "enable", "type": "oneshot",
        "install": ["WantedBy=multi-user.target"], "wanted_by": ["multi-user.target"],
        "after": ["nvidia-persistenced.service"], "before": ["pve-guests.service"],
        "commands": [{
            "key": "ExecStart", "text": "/usr/local/sbin/gpu-tune all", "scripts": ["/usr/local/sbin/gpu-tune"],
            "origin": origin,
        }],
    }}
    line = "setpci -s 01:00.0 CAP_EXP+8.w=5000:7000"
    assert table["scripts"] == {"/usr/local/sbin/gpu-tune": {
        "called_by": ["gpu-tune.service"], "executable": False, "interpreter": "sh",
        "lines": [{
            "text": line, "tools": ["setpci"],
            "origin": {"file": "/usr/local/sbin/gpu-tune", "line": 4, "text": line},
        }],
    }}
    assert not unread


def test_a_unit_without_links_is_disabled() -> None:
    assert found(HOST)[0]["units"]["gpu-tune.service"]["state"] == "disabled"


def test_a_unit_that_touches_nothing_is_left_out() -> None:
    table, _ = found({f"{ETC}/web.service": "[Service]\nExecStart=/usr/bin/webd\n", "/usr/bin/webd": b"\x7fE\0setpci"})
    assert table["units"] == {}


@pytest.mark.parametrize(("script", "why"), [
    (DENIED, "EACCES"), (b"#" * 65537, "larger than 64 KiB"),
])
def test_a_script_that_cannot_be_read_is_named(script: Content, why: str) -> None:
    table, unread = found({**HOST, "/usr/local/sbin/gpu-tune": script}, ENABLED)
    assert unread == {"scripts./usr/local/sbin/gpu-tune": why}
    assert table["units"]["gpu-tune.service"]["commands"][0]["scripts"] == ["/usr/local/sbin/gpu-tune"]
    assert "scripts" not in table


@pytest.mark.parametrize(("path", "why"), [
    ("/home/op/tune.sh", "outside of what is read"), ("/usr/local/%i/tune", "its path holds a variable"),
])
def test_a_script_that_is_not_looked_for_is_named(path: str, why: str) -> None:
    table, unread = found({TUNE: f"[Service]\nExecStart=/bin/sh {path}\n"})
    assert unread == {f"scripts.{path}": why}
    assert table["units"]["gpu-tune.service"]["commands"][0]["scripts"] == [path]


def test_a_unit_that_cannot_be_read_is_unknown() -> None:
    table, unread = found({TUNE: DENIED})
    assert (table["units"], unread) == ({}, {"units.gpu-tune.service": "EACCES"})


def test_folders_that_cannot_be_listed_leave_all_units_unknown() -> None:
    _, unread = found({f"{ETC}/": DENIED})
    assert unread == {"units": "EACCES", "scripts": "EACCES"}


def test_without_root_the_crontab_and_the_guests_are_unknown() -> None:
    _, unread = found({"/var/spool/cron/crontabs/root": DENIED, "/etc/pve/lxc/": DENIED})
    assert unread == {"cron./var/spool/cron/crontabs/root": "EACCES", "hooks": "EACCES"}


def test_a_known_daemon_is_there_whatever_it_runs() -> None:
    table, _ = found({f"{VENDOR}/irqbalance.service": "[Service]\nExecStart=/usr/sbin/irqbalance --foreground\n"})
    assert table["units"]["irqbalance.service"]["commands"][0]["tools"] == ["irqbalance"]
    table, _ = found(
        {f"{VENDOR}/irqbalance.service": ""}, {f"{ETC}/irqbalance.service": "/dev/null"})
    assert table["units"] == {"irqbalance.service": {"file": f"{ETC}/irqbalance.service", "state": "masked"}}


def test_a_masked_unit_tells_what_does_not_run() -> None:
    files: dict[str, Content] = {f"{VENDOR}/mrrs.service": "[Service]\nExecStart=setpci x\n"}
    table, _ = found(files, {f"{RUN}/mrrs.service": "/dev/null"})
    unit = table["units"]["mrrs.service"]
    assert (unit["state"], unit["file"], unit["commands"][0]["tools"]) == (
        "masked-runtime", f"{RUN}/mrrs.service", ["setpci"])
    files[f"{ETC}/mrrs.service"] = ""
    table, _ = found(files)
    unit = table["units"]["mrrs.service"]
    assert (unit["state"], unit["file"], unit["commands"][0]["tools"]) == ("masked", f"{ETC}/mrrs.service", ["setpci"])
    files |= {f"{VENDOR}/t@.service": "[Service]\nExecStart=setpci %i\n", f"{ETC}/t@.service": ""}
    table, _ = found(files, {f"{ETC}/m.target.wants/t@x.service": f"{VENDOR}/t@.service"})
    assert {table["units"][name]["state"] for name in ("t@.service", "t@x.service")} == {"masked"}


def test_an_instance_that_is_a_link_to_its_template_is_a_unit() -> None:
    text = "[Service]\nExecStart=setpci %i\n[Install]\nWantedBy=m.target\n"
    table, _ = found({f"{VENDOR}/t@.service": text}, {f"{ETC}/t@x.service": f"{VENDOR}/t@.service"})
    assert {name: unit["state"] for name, unit in table["units"].items()} == {
        "t@.service": "indirect", "t@x.service": "enabled"}


def test_drop_ins_of_an_alias_count() -> None:
    files: dict[str, Content] = {f"{VENDOR}/u.service": "[Service]\nExecStart=/x\n",
                                 f"{ETC}/al.service.d/a.conf": "[Service]\nLimitMEMLOCK=infinity\n"}
    table, _ = found(files, {f"{ETC}/al.service": f"{VENDOR}/u.service"})
    unit = table["units"]["u.service"]
    assert (unit["drop_ins"], unit["limits"]["LimitMEMLOCK"]["value"]) == ([f"{ETC}/al.service.d/a.conf"], "infinity")


def test_a_timer_that_starts_a_tuning_unit_is_one() -> None:
    timer = "[Timer]\nOnBootSec=60\nUnit=gpu-tune.service\n[Install]\nWantedBy=timers.target\n"
    table, _ = found({**HOST, f"{ETC}/later.timer": timer, f"{ETC}/other.timer": "[Timer]\nOnBootSec=1\n"})
    assert table["units"]["later.timer"]["triggers"] == "gpu-tune.service"
    assert "other.timer" not in table["units"]


def test_an_instance_is_built_from_its_template() -> None:
    links = {f"{ETC}/multi-user.target.wants/gpu@0.service": f"{ETC}/gpu@.service"}
    table, _ = found({f"{ETC}/gpu@.service": "[Service]\nExecStart=nvidia-smi -i %i -pl 400\n"}, links)
    assert (table["units"]["gpu@0.service"]["state"], table["units"]["gpu@0.service"]["file"]) == (
        "enabled", f"{ETC}/gpu@.service")


def test_drop_ins_replace_commands_and_add_limits() -> None:
    more = "[Service]\nExecStart=\nExecStart=sysctl -w vm.swappiness=10\nLimitMEMLOCK=infinity\n"
    table, _ = found({**HOST, f"{TUNE}.d/10.conf": more})
    unit = table["units"]["gpu-tune.service"]
    assert [c["text"] for c in unit["commands"]] == ["sysctl -w vm.swappiness=10"]
    assert unit["limits"]["LimitMEMLOCK"]["value"] == "infinity"
    assert unit["drop_ins"] == [f"{TUNE}.d/10.conf"]


def test_an_unbalanced_quote_is_a_fault_that_systemd_refuses() -> None:
    table, _ = found({TUNE: "[Service]\nExecStart=/bin/sh -c 'setpci -s 1\n"})
    assert table["units"]["gpu-tune.service"]["commands"][0]["fault"] == "a quote is not closed"


def test_rc_local_counts_by_itself_and_by_its_bit() -> None:
    text = "#!/bin/sh\necho never > /sys/kernel/mm/transparent_hugepage/enabled\n"
    table, _ = found({"/etc/rc.local": text})
    script = table["scripts"]["/etc/rc.local"]
    assert (script["called_by"], script["executable"]) == (["rc.local"], False)
    assert script["lines"][0]["paths"] == ["/sys/kernel/mm/transparent_hugepage/enabled"]
    table, _ = found({"/etc/rc.local": text}, nodes={"/etc/rc.local": node("file", mode=0o755)})
    assert table["scripts"]["/etc/rc.local"]["executable"] is True


def test_states_come_from_systemd() -> None:
    files = {**HOST, "/run/systemd/system/": ""}
    told = "* gpu-tune.service loaded failed failed GPU tuning\nssh.service loaded active running OpenSSH\n"
    table, unread = found(files, ENABLED, {LIST: told})
    assert table["failed"] == {"gpu-tune.service": {"load": "loaded", "active": "failed", "sub": "failed"}}
    assert table["units"]["gpu-tune.service"]["runtime"]["active"] == "failed"
    table, _ = found(files, ENABLED, {LIST: "ssh.service loaded active running OpenSSH\n"})
    assert (table["failed"], table["units"]["gpu-tune.service"]["runtime"]) == ({}, {"active": "inactive"})
    assert not unread


@pytest.mark.parametrize(("result", "why"), [
    (Result(None, why="timeout"), "timeout"), (Result(1, b"", b"Failed to connect"), "exit code 1"),
    (Result(None, why="not-recorded"), "not-recorded"), ("", "an empty list"),
    ("what\n", "no line of a list of units: 'what'"),
])
def test_a_systemd_that_does_not_tell_leaves_states_unknown(result: Result | str, why: str) -> None:
    table, unread = found({**HOST, "/run/systemd/system/": ""}, ENABLED, {LIST: result})
    assert unread == {"failed": why, "units.gpu-tune.service.runtime": why}
    assert "failed" not in table
    assert table["units"]["gpu-tune.service"]["state"] == "enabled"


def test_without_systemd_nothing_is_asked() -> None:
    host = MemoryHost(HOST)
    gather(units, host)
    assert host.ran == []


def test_the_clock() -> None:
    fields = "7F7F0101,,10,1.0,0,0,0,0,0,0,0,0,0,"
    chrony = {"/run/chrony/chronyd.pid": "1"}
    tracking = " ".join(TRACKING.argv)
    assert found(dict(chrony), results={tracking: f"{fields}Normal\n"})[0]["clock"] == {
        "source": "chrony", "synchronized": True}
    assert found(dict(chrony), results={tracking: f"{fields}Not synchronised\n"})[0]["clock"]["synchronized"] is False
    table, unread = found(dict(chrony))
    assert ("clock" in table, unread) == (False, {"clock": "not-found"})
    assert found({"/run/systemd/timesync/": ""})[0]["clock"] == {"source": "systemd-timesyncd", "synchronized": False}
    assert found({"/run/systemd/timesync/synchronized": ""})[0]["clock"]["synchronized"] is True
    assert "clock" not in found({})[0]


def test_settings_of_daemons() -> None:
    table, _ = found({"/etc/default/cpufrequtils": '# x\nENABLE="true"\nGOVERNOR="performance"\n'})
    assert table["settings"]["/etc/default/cpufrequtils"]["GOVERNOR"]["value"] == "performance"


def test_hooks_of_guests() -> None:
    conf = "hookscript: local:snippets/gpu.pl\nlxc.hook.pre-start: /opt/ct/majors.sh 1\n[old]\nlxc.hook.stop: /opt/no\n"
    table, unread = found({
        "/etc/pve/lxc/101.conf": conf, "/var/lib/vz/snippets/gpu.pl": 'system("nvidia-smi -pm 1");\n',
        "/opt/ct/majors.sh": "mknod /dev/x c 508 0\n", "/opt/no": "mknod /dev/y c 1 1\n",
    })
    assert table["hooks"] == {"/etc/pve/lxc/101.conf": ["/var/lib/vz/snippets/gpu.pl", "/opt/ct/majors.sh"]}
    assert set(table["scripts"]) == {"/var/lib/vz/snippets/gpu.pl", "/opt/ct/majors.sh"}
    assert not unread


def test_a_hook_on_another_storage_is_unread() -> None:
    assert set(found({"/etc/pve/": ""})[1]) == {"hooks"}
    table, unread = found({"/etc/pve/lxc/": "", "/etc/pve/qemu-server/7.conf": "hookscript: nas:snippets/gpu.pl\n"})
    assert unread == {"hooks./etc/pve/qemu-server/7.conf": "on a storage whose folder is not known"}
    assert "hooks" not in table


SECRETS: dict[str, Content] = {
    TUNE: "[Service]\nEnvironment=PW=s3cret\nExecStart=nvidia-smi --token s3cret --password=s3cret\n"
          "ExecStart=/usr/local/sbin/gpu-tune\n",
    "/usr/local/sbin/gpu-tune": "API_KEY=s3cret\necho s3cret | sudo -S nvidia-smi -pm 1\n"
                                "nvidia-smi; curl -u op:s3cret -H 'Authorization: Bearer s3cret' http://op:s3cret@x/\n"
                                "sysctl -w x=1 <<< s3cret\nsshpass -p s3cret ethtool -K x\n",
    "/etc/cron.d/t": "PASSWORD=s3cret\n@reboot root nvidia-smi --password s3cret\n",
    "/etc/udev/rules.d/9.rules": 'KERNEL=="x", RUN+="/usr/bin/nvidia-smi --token s3cret"\n',
    "/etc/tmpfiles.d/t.conf": "w /sys/x - - - - password=s3cret\n",
    "/etc/tuned/active_profile": "p\n", "/etc/tuned/p/tuned.conf": "[x]\npassword=s3cret\n",
    "/etc/default/cpupower": "SECRET=s3cret\nPASSWORD='s3cret'\n",
    "/etc/security/limits.conf": "s3cret - nofile 5\n@gpu - memlock unlimited\n",
    "/etc/systemd/system.conf": "[Manager]\nDefaultEnvironment=PW=s3cret\n",
}


def test_no_secret_gets_in() -> None:
    table, _ = found(SECRETS)
    assert "s3cret" not in repr(table)
    assert len(table["scripts"]["/usr/local/sbin/gpu-tune"]["lines"]) == 4
    assert set(table) >= {"units", "scripts", "cron", "udev", "tmpfiles", "tuned", "settings", "limits"}


JUNK = [b"", b"\0", b"\xff\xfe[Unit]", b"[" * 5000, b"[Service]\nExecStart=", b"\\\n" * 3000, b"=\n\"'{" * 900,
        UNIT.replace("\n", "\r\n").encode()]


@pytest.mark.parametrize("junk", JUNK)
def test_junk_in_every_file_costs_nothing_else(junk: bytes) -> None:
    files: dict[str, Content] = dict.fromkeys(SECRETS, junk)
    files |= {f"{VENDOR}/lxc.service": "[Service]\nExecStart=/usr/libexec/lxc-containers\n", "/etc/crontab": junk,
              "/proc/1/limits": junk, "/etc/systemd/system.conf.d/1.conf": junk, "/etc/pve/lxc/1.conf": junk}
    assert "lxc.service" in found(files)[0]["units"]


def test_crlf_is_read() -> None:
    table, _ = found({TUNE: UNIT.replace("\n", "\r\n"), "/usr/local/sbin/gpu-tune": SCRIPT.replace("\n", "\r\n")})
    assert table["units"]["gpu-tune.service"]["type"] == "oneshot"
    assert table["scripts"]["/usr/local/sbin/gpu-tune"]["lines"][0]["text"].endswith("7000")


@given(st.text())
def test_parsers_raise_only_their_error(text: str) -> None:
    parse_settings(text, "f")
    for parser in (parse, parse_tracking):
        try:
            parser(text)
        except ParseError as error:
            assert str(error)


@pytest.mark.parametrize("kernel", [epyc.BEFORE, epyc.AFTER])
def test_the_storys_host(kernel: str) -> None:
    host = epyc.host(kernel)
    files: dict[str, Content] = dict(host.files)
    nodes: dict[str, Stat] = {p: s for p, s in host.nodes.items() if isinstance(s, Stat)}
    part.plant(kernel, files, host.links, nodes, host.results)
    model, reading = gather(units, MemoryHost(files, host.links, nodes, host.results, host.session))
    table = model.table()
    assert not reading.unreads
    assert table["failed"] == {}
    assert {name: unit["state"] for name, unit in table["units"].items()} == {
        "chrony.service": "enabled", "gpu-power.service": "enabled", "ksmtuned.service": "enabled",
        "networking.service": "enabled", "nvidia-persistenced.service": "enabled", "pve-guests.service": "enabled",
        "systemd-sysctl.service": "static",
    }
    assert all(unit["runtime"]["active"] == "active" for unit in table["units"].values())
    assert "setpci" not in repr(table)
    assert [line["text"] for line in table["scripts"]["/usr/local/sbin/gpu-power"]["lines"]] == [
        "nvidia-smi -pm 1", 'nvidia-smi -pl "$1"']
    assert table["clock"] == {"source": "chrony", "synchronized": True}
    assert table["udev"]["/usr/lib/udev/rules.d/60-nvidia.rules"][1]["tools"] == ["nvidia-modprobe"]
    assert table["units"]["ksmtuned.service"]["preset"] == "disable"


def test_a_packaged_unit_with_a_script_counts_however_it_names_it() -> None:
    script: dict[str, Content] = {"/usr/libexec/tune": "ethtool -G eno1 rx 4096\n"}
    for line in ("/usr/libexec/tune x", '"/usr/libexec/tune"', "/bin/sh -c '/usr/libexec/tune'",
                 "/bin/a ; /usr/libexec/tune", "/bin/a ; \\\n  -/usr/libexec/tune"):
        table, _ = found({f"{VENDOR}/a.service": f"[Service]\nExecStart={line}\n", **script})
        assert table["units"]["a.service"]["commands"][0]["scripts"] == ["/usr/libexec/tune"], line
    assert "a.service" not in found({f"{VENDOR}/a.service": "[Service]\nExecStart=/bin/a\n", **script})[0]["units"]


def test_limits_of_the_administrator_make_a_unit_count() -> None:
    unit = "[Service]\nExecStart=/usr/bin/d\nLimitMEMLOCK=8M\n"
    assert found({f"{VENDOR}/d.service": unit})[0]["units"] == {}
    table, _ = found({f"{VENDOR}/d.service": unit, f"{ETC}/d.service.d/o.conf": "[Service]\nLimitMEMLOCK=infinity\n"})
    assert table["units"]["d.service"]["limits"]["LimitMEMLOCK"]["value"] == "infinity"


def test_mounts_and_swap_of_the_administrator() -> None:
    mount = "[Mount]\nWhat=//nas/m\nWhere=/models\nOptions=ro,password=s3cret\n"
    table, _ = found({
        f"{ETC}/models.mount": mount, f"{VENDOR}/dev-hugepages.mount": mount, "/run/systemd/generator/x.mount": mount,
        "/run/systemd/generator/dev-sda2.swap": "[Swap]\nWhat=/dev/sda2\n",
    })
    assert set(table["units"]) == {"models.mount", "dev-sda2.swap"}
    assert table["units"]["models.mount"]["mounts"] == [
        "What=//nas/m", "Where=/models", "Options=ro,password=<redacted>"]
    assert table["units"]["dev-sda2.swap"]["state"] == "generated"


def test_scripts_of_ifupdown() -> None:
    folder = "/etc/network/if-up.d"
    table, _ = found({f"{folder}/rings": "ethtool -G eno1 rx 4096\n", f"{folder}/other": "exit 0\n"})
    assert table["scripts"][f"{folder}/rings"]["called_by"] == [folder]
    assert len(table["scripts"]) == 1
