"""Texts of boot loaders: whatever they hold, and secrets in them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from snapshot.collectors.boot_bls import Folder, loader_default, order, parse_entry, version_order
from snapshot.collectors.boot_entries import parse_env, parse_grub, release
from snapshot.errors import ParseError


@pytest.mark.parametrize(
    ("image", "told"),
    [
        ("/boot/vmlinuz-6.8.12-9-pve", "6.8.12-9-pve"), ("/EFI/proxmox/6.8.9-pve/vmlinuz-6.8.9-pve", "6.8.9-pve"),
        ("/0123/6.1.0-10-amd64/linux", "6.1.0-10-amd64"), ("\\EFI\\p\\6.5-pve\\vmlinuz-6.5-pve", "6.5-pve"),
        ("($root)/vmlinuz-5.14.0-1.el9.x86_64", "5.14.0-1.el9.x86_64"), ("/vmlinuz-linux", None),
        ("/ROOT/pve-1@/boot/vmlinuz-6.8.12-9-pve", "6.8.12-9-pve"), ("/boot/memtest86+x64.efi", None),
    ],
)
def test_releases_by_image(image: str, told: str | None) -> None:
    assert release(image) == told


def test_an_entry_keeps_its_words_and_no_secret() -> None:
    text = "# x\ntitle\tA  B\nlinux /l/vmlinuz-6.1\noptions a=1 rd.luks.key=/k\noptions b single\ninitrd /i\n"
    entry = parse_entry(text.replace("\n", "\r\n"), "/f", {})
    assert entry is not None
    assert (entry.title, entry.kernel, entry.initrds) == ("A  B", "6.1", ["/i"])
    assert (entry.words, entry.recovery) == (["a=1", "rd.luks.key=<redacted>", "b", "single"], True)
    assert "/k" not in entry.origin.text
    assert parse_entry("title x\nefi /EFI/memtest.efi\n", "/f", {}) is not None
    assert parse_entry("title x\n", "/f", {}) is None


def test_defaults_of_loader_conf() -> None:
    assert loader_default("default a\n#default b\ndefault proxmox-*\r\ntimeout 3\n") == "proxmox-*"
    assert loader_default("timeout 3\ndefault\n") is None
    assert (loader_default("default a\ndefault @other\n"), loader_default("default @Saved\n")) == ("a", "@Saved")


def folder(*files: str, **more: str) -> Folder:
    """The entries in FILES (names without .conf), and of MORE those with further lines."""
    found = Folder()
    for file in sorted([*files, *more], key=lambda file: "+" in file):
        found.add(file, f"linux /vmlinuz-6.1\n{more.get(file, '')}", "/f", {})
    return found


def test_the_menu_begins_with_newer_ids() -> None:
    entries = folder("p-6.8.12-9-pve", "P-6.8.12-10-pve", "p-6.8.0-rc1")
    assert order(entries.places) == ["P-6.8.12-10-pve", "p-6.8.12-9-pve", "p-6.8.0-rc1"]
    assert order(folder("arch", "arch-lts", "a-5", "a-10").places) == ["arch", "arch-lts", "a-10", "a-5"]
    assert entries.default("p-6.8.12-9-pve.conf") == "p-6.8.12-9-pve"
    assert entries.default("p-*") == entries.default(None, "x", "p-6.8.12-10-PVE.conf") == "P-6.8.12-10-pve"
    assert (entries.default("x.conf"), entries.asked("x.conf")) == ("P-6.8.12-10-pve", {None})
    assert folder(".a", "auto-b").entries == {}


def test_entries_with_a_sort_key_come_first() -> None:
    entries = folder(
        "z", a="sort-key debian\nversion 6.1\n", b="sort-key debian\nversion 6.10\n",
        c="sort-key debian\nmachine-id 1\nversion 7\n", d="sort-key arch\nversion 1\n",
    )
    assert order(entries.places) == ["d", "b", "a", "c", "z"]
    assert entries.default() == "d"


def test_boot_counters_are_no_part_of_the_id() -> None:
    entries = folder("m-6.1+3", "m-6.5+0-3", "m-6.0")
    assert set(entries.entries) == {"m-6.1", "m-6.5", "m-6.0"}
    assert order(entries.places) == ["m-6.1", "m-6.0", "m-6.5"]  # no tries are left for 6.5
    assert (entries.default(), entries.default("m-*")) == ("m-6.1", "m-6.1")
    assert entries.default("m-6.1.conf") == entries.default("m-6.1+3.conf") == "m-6.1"
    assert entries.asked("m-6.5.conf") == {"m-6.5", None}  # before systemd 258 the id was the file name
    assert (entries.default("m-6.5.conf"), entries.default("m-6.5*")) == (None, "m-6.5")
    assert (entries.of_file("m-6.5+0-3"), entries.of_file(None)) == ("m-6.5", None)
    assert set(folder("a+1", "a", "a+x").entries) == {"a", "a+1", "a+x"}


def test_a_name_without_conf_was_an_id_once() -> None:
    entries = folder("arch", "zen")
    assert (entries.default("zen"), entries.default("arch")) == ("zen", None)


def test_the_order_of_versions() -> None:
    rising = ["~1", "", "ab", "abb", "abc", "0001", "002", "12", "122", "122.9", "123~rc1-1", "123", "123-a", "123-a.1",
              "123-a1-1", "123-3", "123-3.1", "123^patch1", "123^1", "123.a-1", "123.1-1", "123a-1", "124-1"]
    falling = rising[::-1]
    assert sorted(falling, key=version_order) == rising


def test_an_entry_within_an_if_is_still_an_entry_and_others_are_not() -> None:
    entries = "menuentry \"A\" --id a {\n  linux /vmlinuz-6.1 x\n}\nfi\nmenuentry 'UEFI' {\n  fwsetup\n}\n"
    found = parse_grub("if [ x = y ]; then\n" + entries, "/f")
    assert list(found.entries) == ["a"]
    assert (found.entries["a"].words, found.find("A"), found.find("0")) == (["x"], ("a", False), ("a", False))
    assert (found.find("UEFI"), found.find("1")) == ((None, True), (None, False))
    found = parse_grub(entries.replace("fi\n", ""), "/f")
    assert (found.find("A"), found.find("0"), found.find("9"), found.find("UEFI")) == (*[("a", True)] * 3, (None, True))


def test_twins_are_both_kept() -> None:
    twin = "menuentry 'A' {\n linux /vmlinuz-6.1 {}\n}\n"
    found = parse_grub(twin.replace("{}", "x") + twin.replace("{}", "y"), "/f")
    assert list(found.entries) == ["A", "A line 5"]
    assert (found.find("A"), found.find("1")) == (("A", True), ("A line 5", True))


BY_HAND = """\
menuentry "A \\"q\\" b" --id x { # the first {
  linux ($root)/boot/vmlinuz-6.1 root=/dev/sda2 \\
    quiet iommu=pt # note
}
menuentry 'B' --class os { linux /vmlinuz-6.2 ro ; initrd /i /j }
submenu 'C > c' {
  menuentry D \\
    $menuentry_id_option 'd' {
    linux16 /vmlinuz-6.3 'a=b c' x#y; }
  menuentry 'It'\\''s' --id=e {
    linux /vmlinuz-6.4
  }
}
"""


def test_entries_written_by_hand_are_understood() -> None:
    found = parse_grub(BY_HAND, "/f")
    assert {key: (entry.title, entry.kernel, entry.words) for key, entry in found.entries.items()} == {
        "x": ('A "q" b', "6.1", ["root=/dev/sda2", "quiet", "iommu=pt"]), "B": ("B", "6.2", ["ro"]),
        "d": ("C > c > D", "6.3", ['"a=b c"', "x#y"]), "e": ("C > c > It's", "6.4", []),
    }
    assert (found.entries["B"].initrds, found.entries["x"].origin.line) == (["/i", "/j"], 2)
    wanted = {
        "0": "x", "1": "B", "2": "d", "2>1": "e", "2>9": "d", "C >> c>It's": "e", "C >> c>d": "d", "C > c": "x",
        "": "x",
    }
    assert {name: found.find(name) for name in wanted} == {name: (key, True) for name, key in wanted.items()}
    assert (found.whole, found.sure) == (True, True)


@pytest.mark.parametrize("text", [
    "menuentry 'D'\n{\n linux /a\n}\n", "menuentry 'A' {\n linux /a\n} fi\n", "menuentry 'A' {\n linux /a\n",
    "menuentry 'A' {\n linux /a\n}\n}\n", "if true; then\nmenuentry 'A' {\n linux /a\n}\n",
    "menuentry 'A' {\n linux /a\n}\nmenuentry {\n linux /b\n}\n", "menuentry 'A' {\n linux /a 'b\n}\n",
])
def test_what_grub_would_refuse_makes_its_choice_unsure(text: str) -> None:
    assert not parse_grub(f"set default=0\n{text}", "/f").find("0")[1]


def test_entries_that_may_not_be_there_do_not_count_for_sure() -> None:
    entry = "menuentry '{0}' {{\n linux /vmlinuz-6.{0}\n}}\n"
    for doubtful in (f"if [ x ]; then {entry.format(3)}fi\n", f"function f {{\n{entry.format(3)}}}\n",
                     "source /x.cfg\n", "blscfg\n"):
        found = parse_grub(entry.format(1) + doubtful + entry.format(2), "/f")
        assert [found.find(name) for name in ("0", "2", "x")] == [("1", True), ("2", False), ("1", True)]
        assert not found.find("1")[1]


HEAD = 'if [ "${next_entry}" ] ; then\n set default="${next_entry}"\n set boot_once=true\nelse\n set default="0"\nfi\n'


@pytest.mark.parametrize(("head", "default", "sure"), [
    (HEAD, "0", True), ("set default=2\n" + HEAD, "0", True), ("default='a b'\n", "a b", True),
    (HEAD + "if [ x ]; then set default=1; fi\n", "0", False), (HEAD + "if [ x ]; then set default=0; fi\n", "0", True),
    ("set default=$x\n", "", False), ("function f {\n set default=1\n}\n", "", True), ("", "", True),
])
def test_a_default_that_depends_is_not_sure(head: str, default: str, sure: bool) -> None:
    found = parse_grub(head + "menuentry a {\n set default=7\n linux /b\n}\n", "/f")
    assert (found.default, found.sure, found.whole) == (default, sure, True)


def test_an_environment_keeps_what_chooses() -> None:
    text = b"# GRUB Environment Block\nsaved_entry=a\\\\b\nnext_entry=\nrecordfail=1\n" + b"#" * 900
    assert parse_env(text, "/f") == {"saved_entry": "a\\b"}


@given(st.text(alphabet=st.sampled_from("menuentryslix '\"{}>\n\t$=0")), st.text(), st.binary())
def test_any_text_is_survived(grub: str, entry: str, env: bytes) -> None:
    parse_entry(entry, "/f", {})
    loader_default(entry)
    release(entry)
    for parse in (lambda: parse_grub(grub, "/f"), lambda: parse_env(env, "/f")):
        try:
            parse()
        except ParseError:
            continue


def test_a_huge_menu_is_read() -> None:
    one = "menuentry 'A {0}' --id a{0} {{\n\tlinux /vmlinuz-6.{0}\n}}\n"
    assert len(parse_grub("".join(one.format(n) for n in range(5000)), "/f").entries) == 5000
