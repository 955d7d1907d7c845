"""modprobe.d(5) to the letter: who wins, what is folded, and lines that do nothing."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from snapshot.collectors import dropin
from snapshot.collectors.modprobe import Config, folded, lines, parse

DIRECTORIES = dropin.directories("modprobe.d")


def of(text: str, cmdline: str = "", modules: tuple[str, ...] = ()) -> Config:
    return parse([("/etc/modprobe.d/a.conf", text)], cmdline, modules)


def test_the_last_name_wins_whatever_its_place_and_the_command_line_stands_above() -> None:
    files: dict[str, str | None] = {
        "/etc/modprobe.d/t-a.conf": "options t-x width=1 width=2\n",
        "/usr/lib/modprobe.d/t-b.conf": "options t_x width=3\n",
    }
    option = parse(dropin.texts(files, DIRECTORIES), "quiet t-x.width=4 -- t_x.width=5").options["t_x"]["width"]
    assert option.files is not None and option.cmdline is not None and option.overridden is not None
    assert (option.files.value, option.files.origin.file) == ("3", "/usr/lib/modprobe.d/t-b.conf")
    assert (option.cmdline.value, option.cmdline.origin.file) == ("5", "/proc/cmdline")
    assert [a.value for a in option.overridden] == ["1", "2", "4"]


def test_names_of_one_file_are_ordered_by_bytes_across_directories() -> None:
    names = ("/etc/modprobe.d/99-a", "/run/modprobe.d/9-z", "/usr/lib/modprobe.d/ZZ", "/lib/modprobe.d/9-z")
    paths = [f"{name}.conf" for name in names]
    order, masked = dropin.order(paths, DIRECTORIES)
    assert order == ["/run/modprobe.d/9-z.conf", "/etc/modprobe.d/99-a.conf", "/usr/lib/modprobe.d/ZZ.conf"]
    assert masked == {"/lib/modprobe.d/9-z.conf": "/run/modprobe.d/9-z.conf"}


def test_values_keep_what_stands_in_quotes() -> None:
    options = of('options nvidia NVreg_RegistryDwords="A=1; B=2" NVreg_X=0x10 flag\n').options["nvidia"]
    values = {name: option.files.value for name, option in options.items() if option.files}
    assert values == {"NVreg_RegistryDwords": "A=1; B=2", "NVreg_X": "0x10", "flag": None}


def test_a_note_behind_an_option_is_parameters_that_nobody_knows() -> None:
    assert set(of("options zfs zfs_arc_max=1 # note\n").options["zfs"]) == {"zfs_arc_max", "#", "note"}


def test_lines_go_on_behind_a_backslash_and_lose_others() -> None:
    text = "options a b=1 \\\n  c=2\n# no \\\nblacklist x\nblacklist y\\z\n"
    assert list(lines(text)) == [(1, "options a b=1   c=2"), (5, "blacklist yz")]
    assert list(lines("a\\\\\nb\\")) == [(1, "a\\"), (2, "b")]


def test_carriage_returns_belong_to_names() -> None:
    config = of("blacklist nouveau\r\n\r\noptions a b=1\r\n")
    assert list(config.blacklist) == ["nouveau\r"]
    assert config.options["a"]["b"].files is not None
    assert config.ignored == []


def test_commands_softdeps_and_aliases() -> None:
    config = of(
        "install nouveau /bin/false\ninstall nouveau /bin/true\nremove a-b modprobe -r c PASSWORD=x\n"
        "softdep nvidia pre: vfio-pci a post: b-c\nalias my-nic e1000e\nalias my-nic igb\n"
    )
    assert config.install["nouveau"].command == "/bin/false"
    assert config.remove["a_b"].command == "modprobe -r c PASSWORD=<redacted>"
    assert (config.softdeps["nvidia"].before, config.softdeps["nvidia"].after) == (["vfio_pci", "a"], ["b_c"])
    assert config.aliases == {"my_nic": ["e1000e", "igb"]}


def test_blacklists_of_the_command_line() -> None:
    found = of("blacklist b\n", "modprobe.blacklist=a,b module_blacklist=c-d").blacklist
    assert {name: entry.refused for name, entry in found.items()} == {"a": None, "b": None, "c_d": True}
    assert found["b"].origin.file == "/etc/modprobe.d/a.conf"


def test_words_of_the_command_line_count_only_for_modules_that_are_known() -> None:
    config = of("options a b=1\n", "systemd.unit=x a.c=2 nvme-core.io-timeout=3", ("nvme_core",))
    assert {module: list(options) for module, options in config.options.items()} == {
        "a": ["b", "c"], "nvme_core": ["io_timeout"],
    }


def test_lines_that_do_nothing_are_named() -> None:
    config = of("opitons a b=1\noptions a\ninclude /x\nblacklist\nweakdep a b\n  # note\n")
    assert [(i.origin.line, i.why) for i in config.ignored] == [
        (1, "kmod: no such directive"), (2, "kmod: it lacks a word"), (3, "kmod: no longer supported"),
        (4, "kmod: it lacks a word"), (6, "kmod: no such directive"),
    ]


def test_secrets_are_in_neither_value_nor_line() -> None:
    option = of("options cifs password=hunter2\n").options["cifs"]["password"].files
    assert option is not None
    assert "hunter2" not in repr(option)


def test_brackets_of_a_pattern_keep_their_hyphens() -> None:
    assert folded("a-b[c-d]e-f[g-h]") == "a_b[c-d]e_f[g-h]"
    assert folded("a[b-") == "a[b-"


@given(st.text(alphabet=st.sampled_from("optinsblack \t\\\n#=\"'x\r\0é")), st.text())
def test_any_text_is_survived(text: str, cmdline: str) -> None:
    of(text, cmdline)
    assert all(number >= 1 for number, _ in lines(text))


def test_a_huge_file_is_read_in_one_go() -> None:
    assert len(list(lines("a\\\n" * 300_000))) == 1
    config = of("options a " + "x=1 " * 5_000 + "\n" + "blacklist b\n" * 50_000)
    assert len(config.blacklist) == 1
    assert config.options["a"]["x"].overridden is not None and len(config.options["a"]["x"].overridden) == 4_999
