"""Texts of boot loaders: whatever they hold, and secrets in them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from snapshot.collectors.boot_entries import (
    loader_default,
    matching,
    newest_first,
    parse_entry,
    parse_env,
    parse_grub,
    release,
)
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
    entries = {
        name: entry for name in ("p-6.8.12-9-pve", "p-6.8.12-10-pve", "p-6.8.0-rc1")
        if (entry := parse_entry(f"linux /vmlinuz-{name[2:]}\n", "/f", {}))
    }
    assert newest_first(entries) == ["p-6.8.12-10-pve", "p-6.8.12-9-pve", "p-6.8.0-rc1"]
    assert matching("p-6.8.12-9-pve.conf", newest_first(entries)) == "p-6.8.12-9-pve"
    assert matching("p-*", newest_first(entries)) == "p-6.8.12-10-pve"
    assert matching("@saved", newest_first(entries)) is None


def test_an_entry_within_an_if_is_still_an_entry_and_others_are_not() -> None:
    entries = "menuentry \"A\" --id a {\n  linux /vmlinuz-6.1 x\n}\nfi\nmenuentry 'UEFI' {\n  fwsetup\n}\n"
    found = parse_grub("if [ x = y ]; then\n" + entries, "/f")
    assert list(found.entries) == ["a"]
    assert (found.entries["a"].words, found.find("A"), found.find("0")) == (["x"], "a", "a")


def test_twins_are_both_kept() -> None:
    twin = "menuentry 'A' {\n linux /vmlinuz-6.1 {}\n}\n"
    found = parse_grub(twin.replace("{}", "x") + twin.replace("{}", "y"), "/f")
    assert list(found.entries) == ["A", "A line 5"]
    assert (found.find("A"), found.find("1")) == ("A", "A line 5")


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
