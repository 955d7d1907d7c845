"""What sysctl.d files and the command line set: precedence, masks, patterns, the two tools' differences."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from snapshot.collectors.sysctl_files import Boot, key_of, parse, reading_order
from snapshot.sections.sysctl import Assignment, Setting

ETC, RUN, LOCAL, USR, LIB = (
    f"{d}/sysctl.d" for d in ("/etc", "/run", "/usr/local/lib", "/usr/lib", "/lib")
)
RP = [f"net.ipv4.conf.{name}.rp_filter" for name in ("all", "default", "enp3s0/200", "lo")]
KEYS = ["vm.swappiness", "net.core.rmem_max", *RP]


def one(*lines: str, cmdline: str = "", name: str = "a.conf") -> Boot:
    return parse({f"{ETC}/{name}": "\n".join(lines)}, cmdline, KEYS)


def values(boot: Boot, tool: str = "systemd") -> dict[str, str]:
    found = {key: getattr(setting, tool) for key, setting in boot.settings.items()}
    return {key: assignment.value for key, assignment in found.items() if assignment is not None}


def where(assignment: Assignment | None) -> str:
    assert assignment is not None
    return f"{assignment.origin.file}:{assignment.origin.line}"


def only(boot: Boot) -> Setting:
    (setting,) = boot.settings.values()
    return setting


def test_names_are_ordered_by_bytes_whatever_their_directory() -> None:
    names = ["9-", "90-", "99-Z", "99-a", "99-sysctl", "99_b", "ZZ", "zz", "ä", "\udcff"]
    places = [ETC, RUN, LOCAL, USR, LIB]
    paths = [f"{places[n % 5]}/{name}.conf" for n, name in enumerate(names)]
    assert reading_order([*reversed(paths), "/etc/sysctl.conf"]) == ([*paths, "/etc/sysctl.conf"], {})


def test_the_last_assignment_wins_and_the_losers_are_kept_with_their_places() -> None:
    boot = parse(
        {
            f"{ETC}/10-mine.conf": "vm.swappiness = 10\nvm.swappiness = 11",
            f"{USR}/60-vendor.conf": "# x\nvm.swappiness=60\n",
        }, "", KEYS,
    )
    setting = only(boot)
    assert where(setting.systemd) == where(setting.procps) == f"{USR}/60-vendor.conf:2"
    assert [where(loser) for loser in setting.overridden or ()] == [f"{ETC}/10-mine.conf:{n}" for n in (1, 2)]


@pytest.mark.parametrize("text", ["", None, "\n", "# nothing\n"])
def test_a_file_in_a_higher_directory_hides_one_of_its_name(text: str | None) -> None:
    hidden: dict[str, str | None] = dict.fromkeys([f"{LIB}/a.conf", f"{USR}/a.conf"], "vm.swappiness=3")
    boot = parse({**hidden, f"{ETC}/a.conf": text}, "", KEYS)
    assert boot.settings == {}
    assert boot.masked == dict.fromkeys(hidden, f"{ETC}/a.conf")


def test_a_mask_in_run_does_not_hide_a_file_in_etc() -> None:
    boot = parse({f"{RUN}/a.conf": None, f"{ETC}/a.conf": "vm.swappiness = 1"}, "", KEYS)
    assert values(boot) == {"vm.swappiness": "1"}
    assert boot.masked == {f"{RUN}/a.conf": f"{ETC}/a.conf"}


def test_sysctl_conf_is_procps_alone_and_last() -> None:
    files = {"/etc/sysctl.conf": "vm.swappiness=1", f"{ETC}/zz.conf": "vm.swappiness=2"}
    setting = only(parse(files, "", KEYS))
    assert where(setting.systemd) == f"{ETC}/zz.conf:1"
    assert where(setting.procps) == "/etc/sysctl.conf:1"
    assert setting.overridden is None


def test_sysctl_conf_without_its_link_sets_nothing_for_systemd() -> None:
    setting = only(parse({"/etc/sysctl.conf": "vm.swappiness=1"}, "", KEYS))
    assert setting.systemd is None and setting.procps is not None


def test_hidden_files_are_procps_alone() -> None:
    boot = one("vm.swappiness = 1", name=".x.conf")
    assert (values(boot), values(boot, "procps")) == ({}, {"vm.swappiness": "1"})


@pytest.mark.parametrize(
    ("line", "key", "value"),
    [
        ("vm.swappiness=10", "vm.swappiness", "10"),
        ("  vm.swappiness  =\t10 \r", "vm.swappiness", "10"),
        ("vm/swappiness = 10", "vm.swappiness", "10"),
        ("/vm/swappiness = 10", "vm.swappiness", "10"),
        ("vm..swappiness = 10", "vm.swappiness", "10"),
        ("net.ipv4.conf.enp3s0/200.forwarding = 1", "net.ipv4.conf.enp3s0/200.forwarding", "1"),
        ("net/ipv4/conf/enp3s0.200/forwarding = 1", "net.ipv4.conf.enp3s0/200.forwarding", "1"),
        ("net/core.rmem_max = 1", "net.core/rmem_max", "1"),
        ("/proc/sys/vm/swappiness = 1", "proc.sys.vm.swappiness", "1"),
        ("net.ipv4.tcp_rmem = 4096\t131072   6291456", "net.ipv4.tcp_rmem", "4096 131072 6291456"),
        ("vm.x = 70002 # inline ;x", "vm.x", "70002 # inline ;x"),
        ("kernel.core_pattern = |/bin/x a=b", "kernel.core_pattern", "|/bin/x a=b"),
        ('vm.x = "5"', "vm.x", '"5"'),
        ("vm.x = 1 \\", "vm.x", "1 \\"),
        ("vm.x =", "vm.x", ""),
        ("\ufeffvm.swappiness = 10", "\ufeffvm.swappiness", "10"),
        ("VM.Swappiness = 10", "VM.Swappiness", "10"),
        ("vm.\udcff = \udcfe", "vm.\udcff", "\udcfe"),
    ],
)
def test_how_a_line_is_read(line: str, key: str, value: str) -> None:
    boot = one(line)
    assert values(boot) == values(boot, "procps") == {key: value}
    assert only(boot).systemd == only(boot).procps


def test_the_line_is_kept_as_it_stood() -> None:
    assignment = only(one("", "# c", "\t-vm.swappiness =  10 ")).systemd
    assert assignment is not None
    assert (assignment.origin.line, assignment.origin.text) == (3, "\t-vm.swappiness =  10 ")
    assert assignment.optional is True


@pytest.mark.parametrize("line", ["", "   ", "# vm.swappiness = 1", "  ;vm.swappiness = 1", "\r"])
def test_comments_and_blank_lines_are_nothing(line: str) -> None:
    assert one(line) == Boot({}, {}, [])


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("vm.swappiness 10", "no ="),
        ("[section]", "no ="),
        ("= 5", "no key"),
        ("-", "no key"),
        ("/ = 5", "no key"),
        ("--vm.swappiness = 1", "second -"),
        ("vm/../vm/swappiness = 1", "upwards"),
        ("net.ipv4.conf.{all,l*}.rp_filter = 1", "braces"),
        ("vm.no_such_* = 1", "no key that is recorded"),
        ("-vm.swappiness", "keeps its key out"),
        ("-vm.swap*", "keeps nothing out"),
    ],
)
def test_a_line_that_sets_nothing_is_told_with_its_reason(line: str, why: str) -> None:
    boot = one("vm.swappiness = 1", line)
    (ignored,) = boot.ignored
    assert why in ignored.why
    assert (ignored.origin.line, ignored.origin.text) == (2, line)
    assert values(boot, "procps") == {"vm.swappiness": "1"}


def test_a_pattern_reaches_the_keys_that_exist_now() -> None:
    boot = one("net.ipv4.conf.*.rp_filter = 2")
    assert values(boot) == dict.fromkeys(RP, "2")
    found = boot.settings[RP[0]].systemd
    assert found is not None and found.pattern == "net.ipv4.conf.*.rp_filter"


@pytest.mark.parametrize(
    ("pattern", "keys"),
    [
        ("net.ipv4.*.rp_filter", []),
        ("net.*", []),
        ("vm.*", ["vm.swappiness"]),
        ("*.swappiness", ["vm.swappiness"]),
        ("net.ipv4.conf.??.rp_filter", [RP[3]]),
        ("net.ipv4.conf.[^a]*.rp_filter", RP[1:]),
        ("net.ipv4.conf.[!a]*.rp_filter", RP[1:]),
        ("net/ipv4/conf/enp3s0.*/rp_filter", [RP[2]]),
        ("net.ipv4.conf.enp3s0/*.rp_filter", [RP[2]]),
        ("net.ipv4.conf.enp*.rp_filter", [RP[2]]),
        ("net.ipv4.conf.[.rp_filter", []),
        ("NET.ipv4.conf.*.rp_filter", []),
    ],
)
def test_a_wildcard_stays_within_its_part(pattern: str, keys: list[str]) -> None:
    assert list(one(f"{pattern} = 1").settings) == sorted(keys)


@pytest.mark.parametrize("first", [0, 1])
def test_an_explicit_key_beats_a_pattern_in_any_order(first: int) -> None:
    lines = ["net.ipv4.conf.*.rp_filter = 2", "net.ipv4.conf.lo.rp_filter = 1"]
    boot = one(lines[first], lines[1 - first])
    assert values(boot) == values(boot, "procps") == {**dict.fromkeys(RP, "2"), RP[3]: "1"}
    assert [loser.value for loser in boot.settings[RP[3]].overridden or ()] == ["2"]


@pytest.mark.parametrize("first", [0, 1])
def test_a_key_with_a_dash_is_kept_out_of_patterns_in_any_order(first: int) -> None:
    lines = ["net.ipv4.conf.*.rp_filter = 2", "-net.ipv4.conf.lo.rp_filter"]
    boot = one(lines[first], lines[1 - first])
    assert values(boot) == values(boot, "procps") == dict.fromkeys(RP[:3], "2")


def test_among_patterns_the_last_wins() -> None:
    boot = one("net.ipv4.conf.l*.rp_filter = 1", "net.ipv4.conf.*o.rp_filter = 2")
    assert values(boot) == values(boot, "procps") == {RP[3]: "2"}


@pytest.mark.parametrize(("again", "systemd"), [("1", "2"), ("0", "0")])
def test_a_pattern_given_again_moves_for_systemd_only_with_a_new_value(again: str, systemd: str) -> None:
    boot = one(
        "net.ipv4.conf.l*.rp_filter = 1",
        "net.ipv4.conf.*o.rp_filter = 2",
        f"net.ipv4.conf.l*.rp_filter = {again}",
    )
    assert (values(boot), values(boot, "procps")) == ({RP[3]: systemd}, {RP[3]: again})


@pytest.mark.parametrize("key", ["vm.swappiness", "vm.swap*"])
def test_for_systemd_a_later_dash_undoes_and_an_earlier_does_not(key: str) -> None:
    undone, set_again = one(f"{key} = 1", f"-{key}"), one(f"-{key}", f"{key} = 1")
    assert (values(undone), values(undone, "procps")) == ({}, {"vm.swappiness": "1"})
    assert values(set_again) == values(set_again, "procps") == {"vm.swappiness": "1"}


def test_procps_does_not_know_a_key_behind_dash_and_blank() -> None:
    boot = one("- vm.swappiness = 1")
    assert (values(boot), values(boot, "procps")) == ({"vm.swappiness": "1"}, {})


def test_procps_lets_a_pattern_with_a_leading_slash_pass_explicit_keys() -> None:
    boot = one("vm.swappiness = 1", "/vm/swap* = 2")
    assert (values(boot), values(boot, "procps")) == ({"vm.swappiness": "1"}, {"vm.swappiness": "2"})


@pytest.mark.parametrize(
    ("token", "key", "value"),
    [
        ("sysctl.vm.swappiness=5", "vm.swappiness", "5"),
        ("sysctl/vm/swappiness=5", "vm.swappiness", "5"),
        ("sysctl.net/core.rmem_max=5", "net.core.rmem_max", "5"),
        ('sysctl.net.ipv4.tcp_rmem="1  2 3"', "net.ipv4.tcp_rmem", "1 2 3"),
        ("sysctl.net.bridge.bridge-nf-call-iptables=0", "net.bridge.bridge-nf-call-iptables", "0"),
        ("hung_task_panic=1", "kernel.hung_task_panic", "1"),
    ],
)
def test_words_of_the_command_line(token: str, key: str, value: str) -> None:
    boot = one(cmdline=f"quiet {token} -- sysctl.vm.x=1")
    assert values(boot, "cmdline") == {key: value}
    assert only(boot).cmdline is not None and where(only(boot).cmdline) == "/proc/cmdline:1"
    assert values(boot) == values(boot, "procps") == {}


def test_a_file_wins_over_the_command_line_which_is_told_beside_it() -> None:
    setting = only(one("vm.swappiness = 1", cmdline="sysctl.vm.swappiness=5 sysctl.vm.swappiness=6"))
    assert setting.systemd is not None and setting.cmdline is not None
    assert (setting.systemd.value, setting.cmdline.value) == ("1", "6")
    assert [loser.value for loser in setting.overridden or ()] == ["5"]


@pytest.mark.parametrize("token", ["sysctl.vm.swappiness", "sysctl.vm.swappiness="])
def test_a_word_without_a_value_sets_nothing(token: str) -> None:
    boot = one(cmdline=f"{token} sysctlx=1 sysctl=1 xsysctl.a=1")
    assert boot.settings == {}
    assert [ignored.origin.text for ignored in boot.ignored] == [token]


@pytest.mark.parametrize(
    "line",
    [
        "net.ipv4.tcp_fastopen_key = 1f2e-hunter2", "net.ipv6.conf.all.stable_secret=hunter2",
        "- net/ipv6/conf/x/stable_secret = hunter2", "  net.ipv4.tcp_fastopen_key hunter2",
        "-net.ipv6.conf.*.stable_secret = hunter2",
    ],
)
def test_secrets_are_dropped_from_value_and_line(line: str) -> None:
    boot = one(line, cmdline="sysctl.net.ipv6.conf.all.stable_secret=hunter2")
    assert "hunter2" not in repr(boot)
    assert "net.ipv6.conf.all.stable_secret" in boot.settings


LINE = st.text(st.sampled_from("vmswapn.*[]{}!^-=/ #;\t\r1\udcff"), max_size=24) | st.sampled_from(
    ["vm.swap*=1", "-vm.swappiness", "vm.swappiness=2", "net.ipv4.conf.*.rp_filter=1", "-net.ipv4.conf.lo.*"]
)
PATHS = [f"{d}/{name}.conf" for d in (ETC, RUN, LOCAL, USR, LIB) for name in ("a", "b", ".c", "\udcff")]
FILES = st.dictionaries(
    st.sampled_from([*PATHS, "/etc/sysctl.conf"]), st.none() | st.lists(LINE, max_size=6).map("\n".join)
)


@given(FILES, st.text('sysctl.vm=/"- ', max_size=40))
def test_whatever_stands_there_a_setting_has_its_origin(files: dict[str, str | None], cmdline: str) -> None:
    boot = parse(files, cmdline, KEYS)
    texts = {path: re.split("\r\n?|\n", text or "") for path, text in files.items()}
    for setting in boot.settings.values():
        for found in (setting.systemd, setting.procps, *(setting.overridden or ())):
            if found is not None and found.origin.file != "/proc/cmdline":
                text = found.origin.text  # of which a name such as pw= drops the value
                assert "<redacted>" in text or text == texts[found.origin.file][found.origin.line - 1]
                assert found.origin.file not in boot.masked
        if setting.systemd is not None:
            assert not setting.systemd.origin.file.endswith(("/.c.conf", "/sysctl.conf"))
        assert setting.table()


@given(st.text(max_size=200), st.text(max_size=60))
def test_any_text_is_a_file(text: str, cmdline: str) -> None:
    boot = parse({f"{ETC}/a.conf": text}, cmdline, [*KEYS, text])
    assert all(found.origin.line > 0 for found in boot.ignored)


def test_a_hostile_pattern_and_a_huge_file_end_in_time() -> None:
    text = "vm." + "*a" * 40 + "b = 1\n" + "vm.swappiness = 1\n" * 20_000
    boot = parse({f"{ETC}/a.conf": text}, "", ["vm." + "a" * 200, *KEYS])
    assert len(boot.settings["vm.swappiness"].overridden or ()) == 19_999


def test_a_key_and_its_path_swap_both_ways() -> None:
    assert key_of("net/ipv4/conf/enp3s0.200/mtu") == "net.ipv4.conf.enp3s0/200.mtu"
    assert key_of(key_of("a.b/c")) == "a.b/c"


def _corpus(corpus: Path, name: str) -> Boot:
    text = (corpus / "sysctl-d" / name).read_text()
    return parse({f"{ETC}/99-sysctl.conf": text}, "", KEYS)


def test_corpus_both_halves_of_a_pair_and_both_spellings_of_equals(corpus: Path) -> None:
    found = values(_corpus(corpus, "vfio-99-sysctl.conf"))
    assert (found["vm.dirty_ratio"], found["vm.dirty_bytes"]) == ("3", "4194304")
    assert found["net.bridge.bridge-nf-call-iptables"] == "0"
    assert found["vm.swappiness"] == "5"


def test_corpus_keys_that_this_kernel_lacks_are_settings_all_the_same(corpus: Path) -> None:
    boot = _corpus(corpus, "steamos-99-sysctl.conf")
    assert boot.settings["kernel.sched_cfs_bandwidth_slice_u"].systemd is not None
    assert (len(boot.settings), boot.ignored) == (6, [])


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("insights-sysctl.conf", {"kernel.domainname": "example.com", "kernel.modprobe": "/sbin/mod probe"}),
        ("rhcos4/etc/sysctl.conf", {}),
        ("rhcos4/etc/sysctl.d/forward.conf", {"net.ipv4.ip_forward": "1"}),
    ],
)
def test_corpus_comments_and_blanks(corpus: Path, name: str, found: dict[str, str]) -> None:
    boot = _corpus(corpus, name)
    assert (values(boot), boot.ignored) == (found, [])
