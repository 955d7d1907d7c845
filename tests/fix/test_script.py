"""Scripts that really run: what they change, what they refuse, and that they do nothing twice."""

from __future__ import annotations

import subprocess
from pathlib import Path
from shlex import quote

import pytest

from snapshot.document import Snapshot, machine_hash
from snapshot.fix import Item, Made, script
from snapshot.records import replace

from .machine import Machine, seen, shellcheck

MADE = Made("snap fix pre post", ("pve1  pre", "post"), "0", "2026-01-02T00:00:00Z")
CONF = "/etc/pve/lxc/101.conf"
RULE, OTHER = "lxc.cgroup2.devices.allow: c 508:* rwm", "lxc.cgroup2.devices.allow: c 195:* rwm"
ENTRY = "lxc.mount.entry: /dev/nvidia-uvm dev/nvidia-uvm none bind,optional,create=file"
TEXT = f"arch: amd64\nhostname: llm\n{OTHER}\n{RULE}\n{ENTRY}\n"
LINES = {(CONF, 3): OTHER, (CONF, 4): RULE, (CONF, 5): ENTRY}
RESTART = "pct reboot 101"
NOW = (f"sed -i '4s/c 508:/c 511:/' {CONF}", RESTART)
DURABLE = (r"sed -i '4{\|508:|d}; 5{\|/dev/nvidia-uvm|d}' " + CONF, "pct set 101 -dev0 /dev/nvidia-uvm,mode=0666",
           RESTART)
VERIFY = ("pct exec 101 -- dd if=/dev/nvidia-uvm of=/dev/null count=0",)
STALE = Item("lxc.device-major-stale", "critical", "it cannot be opened", ("101 uvm",), NOW, DURABLE, (), VERIFY)


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine.made(tmp_path / "host")


@pytest.fixture
def after(machine: Machine) -> Snapshot:
    """A snapshot of the machine with one container."""
    return seen({CONF: machine.write(CONF, TEXT)}, LINES)


def of(*items: Item, after: Snapshot, now: bool = False) -> str:
    return script(items, after, MADE, now)


def one(*commands: str, verify: tuple[str, ...] = ()) -> Item:
    return Item("a.rule", "high", "it is wrong", ("it",), (), commands, (), verify)


def test_the_corrected_number_now(machine: Machine, after: Snapshot) -> None:
    ran = machine.run(of(STALE, after=after, now=True))
    assert ran.code == 0, ran.out
    assert machine.read(CONF) == TEXT.replace("508", "511")
    assert "pct reboot 101" in ran.calls
    assert "verified" in ran.out


def test_the_durable_remedy_replaces_rule_and_mount_entry(machine: Machine, after: Snapshot) -> None:
    text = of(STALE, after=after)
    ran = machine.run(text)
    assert ran.code == 0, ran.out
    assert machine.read(CONF) == f"arch: amd64\nhostname: llm\n{OTHER}\ndev0: /dev/nvidia-uvm,mode=0666\n"
    assert f"#   {NOW[0]}" in text  # the other remedy is told, and not done


@pytest.mark.parametrize("now", [True, False])
def test_twice_is_the_same_and_restarts_nothing(machine: Machine, after: Snapshot, now: bool) -> None:
    text = of(STALE, after=after, now=now)
    machine.run(text)
    left = machine.files()
    ran = machine.run(text)
    assert (ran.code, machine.files()) == (0, left), ran.out
    assert not [call for call in ran.calls if call.startswith(("pct reboot", "pct set"))]


def test_a_copy_is_kept_before_and_not_below_etc_pve(machine: Machine, after: Snapshot) -> None:
    machine.run(of(STALE, after=after))
    copies = [*machine.path("/var/lib/hostsnap/backup").rglob("101.conf")]
    assert [copy.read_text() for copy in copies] == [TEXT]
    assert [path.name for path in machine.path("/etc/pve").rglob("*")] == ["lxc", "101.conf"]
    assert copies[0].parents[3].stat().st_mode & 0o77 == 0


def test_a_changed_line_is_refused(machine: Machine, after: Snapshot) -> None:
    changed = TEXT.replace(RULE, "lxc.cgroup2.devices.allow: c 508:0 rw")
    machine.write(CONF, changed)
    for now in (True, False):
        ran = machine.run(of(STALE, after=after, now=now))
        assert ran.code == 1
        assert "REFUSED" in ran.out
        assert machine.read(CONF) == changed
        assert not [call for call in ran.calls if call.startswith("pct reboot")]


def test_a_line_that_moved_is_refused_and_one_that_stands_is_not(machine: Machine, after: Snapshot) -> None:
    moved = f"# a comment\n{TEXT}"
    machine.write(CONF, moved)
    ran = machine.run(of(STALE, after=after, now=True))
    assert (ran.code, machine.read(CONF)) == (1, moved)
    machine.write(CONF, f"{TEXT}# a comment\n")
    ran = machine.run(of(STALE, after=after, now=True))
    assert (ran.code, machine.read(CONF)) == (0, TEXT.replace("508", "511") + "# a comment\n"), ran.out


def test_a_dev_that_somebody_took_is_refused_and_the_file_put_back(machine: Machine, after: Snapshot) -> None:
    taken = TEXT + "dev0: /dev/kvm\n"
    machine.write(CONF, taken)
    ran = machine.run(of(STALE, after=after))
    assert (ran.code, machine.read(CONF)) == (1, taken)
    assert "another dev0" in ran.out


def test_where_pct_fails_the_file_is_put_back(machine: Machine, after: Snapshot) -> None:
    machine.write("broken", "")
    ran = machine.run(of(STALE, after=after))
    assert (ran.code, machine.read(CONF)) == (1, TEXT)
    assert "pct reboot 101" not in ran.calls


def test_an_unmended_container_is_told(machine: Machine, after: Snapshot) -> None:
    machine.write("shut", "")
    ran = machine.run(of(STALE, after=after))
    assert ran.code == 1
    assert "not mended" in ran.out


def test_a_stopped_container_is_not_started(machine: Machine, after: Snapshot) -> None:
    machine.write("status", "status: stopped\n")
    ran = machine.run(of(STALE, after=after))
    assert ran.code == 0, ran.out
    assert "pct reboot 101" not in ran.calls


def test_a_restart_alone_is_not_done_where_the_device_opens(machine: Machine, after: Snapshot) -> None:
    item = replace(STALE, durable=(RESTART,))
    assert "pct reboot 101" not in machine.run(of(item, after=after)).calls
    machine.write("shut", "")
    assert "pct reboot 101" in machine.run(of(item, after=after)).calls


def test_one_restart_for_all_blocks(machine: Machine, after: Snapshot) -> None:
    other = one(f"sed -i '3s/195/196/' {CONF}", RESTART)
    ran = machine.run(of(STALE, other, after=after, now=True))
    assert ran.calls.count("pct reboot 101") == 1
    assert machine.read(CONF).count("c 196:") == machine.read(CONF).count("c 511:") == 1


def test_what_pct_writes_anew_comes_behind_edits_by_number(machine: Machine, after: Snapshot) -> None:
    ran = machine.run(of(STALE, one(f"sed -i '3s/195/196/' {CONF}"), after=after))
    assert ran.code == 0, ran.out
    assert "c 196:* rwm\ndev0: " in machine.read(CONF)


def test_dry_shows_and_changes_nothing(machine: Machine, after: Snapshot) -> None:
    before = machine.files()
    ran = machine.run(of(STALE, one("systemctl enable x.service"), after=after), "-n")
    assert (ran.code, machine.files()) == (0, before), ran.out
    assert f"< {RULE}" in ran.out
    assert not [call for call in ran.calls if not call.startswith("pct status")]
    assert not machine.path("/var/lib/hostsnap").exists()


def test_a_drop_in_has_its_line_once_and_the_last_word(machine: Machine, after: Snapshot) -> None:
    file = "/etc/sysctl.d/zz-hostsnap.conf"
    text = of(one(f"echo vm.swappiness=10 >> {file}"), after=after)
    for found, wanted in (
        (None, "vm.swappiness=10\n"), ("a=1", "a=1\nvm.swappiness=10\n"),
        ("vm.swappiness=10\nvm.swappiness=60\n", "vm.swappiness=10\nvm.swappiness=60\nvm.swappiness=10\n"),
    ):
        if found is not None:
            machine.write(file, found)
        for _ in range(2):
            assert machine.run(text).code == 0
            assert machine.read(file) == wanted


UNIT = "cat > /etc/systemd/system/a.service <<'EOF'\n[Service]\nExecStart=/bin/sh -c 'x=$$(y)'\nEOF"


def test_a_unit_file_is_made_and_loaded_once(machine: Machine, after: Snapshot) -> None:
    text = of(one(UNIT, "systemctl daemon-reload", "systemctl enable --now a.service"), after=after)
    first, second = machine.run(text), machine.run(text)
    assert machine.read("/etc/systemd/system/a.service") == "[Service]\nExecStart=/bin/sh -c 'x=$$(y)'\n"
    assert first.calls == ["systemctl daemon-reload", "systemctl enable --now a.service"]
    assert second.calls == ["systemctl enable --now a.service"]


def test_a_file_that_nobody_saw_is_not_overwritten(machine: Machine, after: Snapshot) -> None:
    machine.write("/etc/systemd/system/a.service", "mine\n")
    ran = machine.run(of(one(UNIT, "systemctl enable a.service"), after=after))
    assert (ran.code, machine.read("/etc/systemd/system/a.service"), ran.calls) == (1, "mine\n", [])
    known = seen({"/etc/systemd/system/a.service": machine.write("/etc/systemd/system/a.service", "old\n")}, {})
    assert machine.run(of(one(UNIT), after=known)).code == 0
    assert machine.read("/etc/systemd/system/a.service").startswith("[Service]")


def test_a_refresh_that_failed_is_done_by_the_next_run(machine: Machine) -> None:
    file = "/etc/kernel/cmdline"
    after = seen({file: machine.write(file, "root=/dev/x quiet\n")}, {(file, 1): "root=/dev/x quiet"})
    text = of(one(f"sed -i '1s|$| iommu=pt|' {file}", "proxmox-boot-tool refresh"), after=after)
    program = machine.path("bin/proxmox-boot-tool")
    works = program.read_text()
    program.write_text(works + "exit 1\n")
    assert machine.run(text).code == 1
    program.write_text(works)
    for calls in (["proxmox-boot-tool refresh"], []):
        ran = machine.run(text)
        assert (ran.code, ran.calls) == (0, calls), ran.out
        assert machine.read(file) == "root=/dev/x quiet iommu=pt\n"


def test_a_line_whose_text_is_not_known_needs_the_whole_file(machine: Machine) -> None:
    file = "/etc/fstab"
    after = seen({file: machine.write(file, "a\nb\n")}, {})
    item = one(f"sed -i 2s/^/#/ {file}")
    machine.write(file, "b\na\n")
    assert machine.run(of(item, after=after)).code == 1
    machine.write(file, "a\nb\n")
    assert machine.run(of(item, after=after)).code == 0
    assert machine.read(file) == "a\n#b\n"
    assert "Left to you" in of(item, after=seen({}, {}))


def test_an_edit_by_pattern_needs_the_file_as_it_was_or_as_this_script_left_it(machine: Machine) -> None:
    file, text = "/etc/network/interfaces", "auto eth0\nmtu 1500\n"
    after = seen({file: machine.write(file, text)}, {(file, 2): "mtu 1500"})
    made = of(one(f"sed -i 2s/1500/9000/ {file}"), one(rf"sed -i 's/\beth0\b/eth1/g' {file}"), after=after)
    assert machine.run(made).code == 0
    assert machine.read(file) == "auto eth1\nmtu 9000\n"
    machine.write(file, text + "iface eth0\n")
    assert machine.run(made).code == 1
    assert machine.read(file) == "auto eth0\nmtu 9000\niface eth0\n"


def test_an_insertion_stands_where_it_was_meant_or_nowhere(machine: Machine, after: Snapshot) -> None:
    line = "lxc.cgroup2.devices.allow: c 511:0 rwm"
    command = rf"sed '/^\[/q' {CONF} | grep -qxF '{line}' || sed -i '5a {line}' {CONF}"
    machine.write(CONF, f"{TEXT}[snap]\n{ENTRY}\n")
    for _ in range(2):
        assert machine.run(of(one(command), after=after)).code == 0
        assert machine.read(CONF) == f"{TEXT}{line}\n[snap]\n{ENTRY}\n"
    machine.write(CONF, f"# new\n{TEXT}")
    assert machine.run(of(one(command), after=after)).code == 1
    assert machine.read(CONF) == f"# new\n{TEXT}"


def test_values_are_read_back(machine: Machine, after: Snapshot) -> None:
    item = one("sysctl -w net.ipv4.tcp_rmem='4096 87380 6'", "setpci -s 0000:01:00.0 CAP_EXP+8.w=5000:7000")
    first, second = machine.run(of(item, after=after)), machine.run(of(item, after=after))
    assert (first.code, second.code) == (0, 0), first.out
    assert [c for c in first.calls if "=" in c] == [
        "sysctl -w net.ipv4.tcp_rmem=4096 87380 6", "setpci -s 0000:01:00.0 CAP_EXP+8.w=5000:7000"]
    assert not [c for c in second.calls if "=" in c]


def test_a_register_that_does_not_take_the_value_is_told(machine: Machine, after: Snapshot) -> None:
    machine.write("locked", "")
    ran = machine.run(of(one("setpci -s 0000:01:00.0 CAP_EXP+8.w=5000:7000"), after=after))
    assert ran.code == 1
    assert "does not hold" in ran.out


def test_another_host_user_machine_or_boot_is_refused(machine: Machine, after: Snapshot) -> None:
    machine.write("/etc/machine-id", "abc\n")
    machine.write("/proc/sys/kernel/random/boot_id", "two\n")
    right = seen({CONF: machine.write(CONF, TEXT)}, LINES, machine=machine_hash("abc"), boot_id="two")
    wrong = [
        (seen({}, LINES, host="pve2"), False), (seen({}, LINES, machine=machine_hash("abd")), False),
        (seen({}, LINES, boot_id="one"), True),
    ]
    for snapshot, now in wrong:
        ran = machine.run(of(STALE, after=snapshot, now=now))
        assert (ran.code, ran.calls, machine.read(CONF)) == (2, [], TEXT), ran.out
    assert machine.run(of(STALE, after=right, now=True)).code == 0
    (machine.root / "bin/id").write_text("#!/bin/sh\necho 1000\n")
    assert machine.run(of(STALE, after=after)).code == 2


def test_nothing_to_mend_is_a_script_too(machine: Machine, after: Snapshot) -> None:
    assert machine.run(of(after=after)).code == 0


HOSTILE = (
    "$(touch PWNED)", "`touch PWNED`", "'; touch PWNED; '", 'a"; touch PWNED; "', "a\ntouch PWNED\n", "a\rb\x1b[2J",
    "$'x'", "EOF\ntouch PWNED", "\\", "-e", "1e touch PWNED", "s/a/touch PWNED/e", "../../x", "!!", "{}", "a b", "*",
    "\udcff", "\u202e",
)


@pytest.mark.parametrize("value", HOSTILE)
def test_hostile_values_run_nothing(machine: Machine, value: str) -> None:
    """Wherever a value can stand: messages, subjects, lines, checksums, file names, commands quoted or not."""
    line = value.replace("\n", " ")
    file = f"/etc/{line.replace('/', '_')}.conf"
    after = seen({file: value, CONF: value, "/etc/x": value}, {(CONF, 4): value, (file, 1): line})
    machine.write(CONF, f"1\n2\n3\n{line}\n")
    words = (value, quote(value))
    commands = [command for word in words for command in (
        f"sed -i '4s/508/511/' {CONF}", f"echo {word} >> /etc/y", f"sysctl -w a={word}", f"pct set 101 -dev0 {word}",
        f"cat > /etc/{word}.service <<EOF\n{value}\nEOF", f"lxc-stop -n {word}", f"systemctl restart {word}",
        f"sed -i '1s/a/{value}/' /etc/x", f"sed -i 1s/a/b/ {word}", f"sed -i {word} {CONF}", f"rm /dev/{word}",
        f"setpci -s {word} CAP_EXP+8.w=5000:7000", f"pct reboot {word}", f"echo 1 > /sys/{word}", f"# {value}", word,
        f"printf {word} > /etc/z", f"grep -q {word} {CONF} || sed -i {word} {CONF}",
    )]
    verify = [(f"cat {word}", f"pct exec 101 -- cat {word}") for word in words]
    made = of(*(
        Item(f"r.{at}", "high", value, (value,), (value,), (command,), (value,), shown)
        for at, command in enumerate(commands) for shown in verify
    ), after=after)
    ran = machine.run(made)
    assert ran.code in (0, 1), ran.out
    assert "done: " in ran.out  # it came to its end
    assert not [*machine.root.rglob("PWNED*")]
    assert "reboot" not in ran.calls


def test_a_refused_edit_ends_its_block_whatever_the_line_says(machine: Machine) -> None:
    file, text = "/etc/a", "x() { return 1; } || return"
    after = seen({file: machine.write(file, f"{text}\n")}, {(file, 1): text})
    machine.write(file, "y\n")
    item = one(f"sed -i '1s/x/z/' {file}", f"sed -i '1s/./z/' {file}", "systemctl restart a")
    ran = machine.run(of(item, after=after))
    assert (ran.code, ran.calls, machine.read(file)) == (1, [], "y\n")


@pytest.mark.parametrize("value", HOSTILE)
def test_a_hostile_head_runs_nothing(machine: Machine, value: str) -> None:
    machine.write("/etc/machine-id", "abc\n")
    meta = {"host": value, "machine": value, "boot_id": value}
    for left_out in ((), ("host",), ("host", "machine")):
        kept = {key: text for key, text in meta.items() if key not in left_out}
        made = script([STALE], seen({}, {}, **kept), Made(value, (value,), value, value), True)
        assert machine.run(made).code == 2
        assert not [*machine.root.rglob("PWNED*")]


def test_shellcheck_has_nothing_to_say(tmp_path: Path, after: Snapshot) -> None:
    items = (STALE, one(UNIT, "systemctl daemon-reload", "update-grub", "reboot"),
             one("for c in $(seq 0 3); do echo performance > /sys/cpu$c/governor; done", "ip link set dev eth0 up"))
    for now in (True, False):
        assert shellcheck(of(*items, after=after, now=now), tmp_path) == ""


def test_it_can_be_piped_into_a_shell(machine: Machine, after: Snapshot) -> None:
    """No command of it reads the script as its input."""
    machine.path("bin/systemctl").write_text('#!/bin/sh\ncat > "$HOST/got"\n')
    text = of(one("systemctl restart a"), one("echo a=1 >> /etc/sysctl.d/z.conf"), after=after)
    moved = text.replace("/etc/", f"{machine.root}/etc/").replace("/var/lib/", f"{machine.root}/var/lib/")
    done = subprocess.run(["sh"], input=moved + "#\n" * 60000, text=True, capture_output=True,
                          env={"PATH": f"{machine.root}/bin:/usr/bin:/bin", "HOST": str(machine.root)})
    assert done.returncode == 0, done.stderr
    assert machine.read("/etc/sysctl.d/z.conf") == "a=1\n"
    assert machine.read("got") == ""
