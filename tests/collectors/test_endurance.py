"""Long lines and long files: every parser takes time in proportion, and a file that nobody wrote is not read."""

from __future__ import annotations

import time
import tracemalloc
from collections.abc import Callable

import pytest

from snapshot.collectors import cmdline, devices, dpkg, kernel, lxc, lxc_config, lxc_system, preempt, pve_conf, sysctl
from snapshot.collectors import os as os_collector
from snapshot.collectors.lxc_part import Draft
from snapshot.collectors.sysctl_files import parse as parse_sysctl
from snapshot.errors import ParseError
from snapshot.sections.sysctl import agrees

from .fake import MemoryHost, gather

KEYS = [f"net.ipv4.conf.e{n}.rp_filter" for n in range(500)] + [f"kernel.k{n}" for n in range(200)]
FILE = "/etc/sysctl.d/x.conf"


def _devices(text: str) -> object:
    try:
        return devices.parse_devices(text)
    except ParseError as error:
        return error


PARSERS: dict[str, Callable[[str], object]] = {
    "sysctl.d": lambda text: parse_sysctl({FILE: text}, "", KEYS),
    "sysctl value": lambda text: (sysctl.value_of(text.encode()), sysctl.guest_kind(text), agrees(text, text)),
    "pve": lambda text: pve_conf.parse(text, FILE).live.part(),
    "lxc": lambda text: Draft().take(lxc_config.parse(text, FILE)).part(),
    "lxc.conf": lxc_system.parse,
    "cmdline": cmdline.parse,
    "kernel": lambda text: (kernel.parse_banner(text), kernel.installed_kernels([text], [text])),
    "preempt": lambda text: (preempt.running_mode(text), preempt.options(text.encode())),
    "dpkg": lambda text: dpkg.versions(text.encode(), ["lxc"]),
    "os": os_collector.parse_os_release,
    "devices": _devices,
}
HEADS = ("", "vm.x = ", "lxc.idmap = ", "lxc.mount.entry: ", "Linux version 1 #a", "A=", "snapstate:")
UNITS = (" ", "a", '"', "\\", "9", "=", "-", "[", "*", "//", "key=", " #a", "a ", "token: '")


@pytest.mark.parametrize("name", PARSERS)
def test_a_long_line_takes_time_in_proportion(name: str) -> None:
    slow = {}
    for head in HEADS:
        for unit in UNITS:
            for end in ("", "\n."):
                text = head + unit * (40_000 // len(unit)) + end
                began = time.process_time()
                PARSERS[name](text)
                slow[head, unit, end] = time.process_time() - began
    assert max(slow.values()) < 0.5, max(slow, key=lambda case: slow[case])


@pytest.mark.parametrize("unit", [
    b"a\n", b"a=\n", b"\n", b"\r", b"a*=1\n", b"*.*.*.*.*=1\n", b"-\n", b"lxc.a\n", b"x" * 4000 + b"\n",
    b"[a]" * 16 + b"x" * 60 + b"=1\n",
])
def test_a_mebibyte_of_short_lines(unit: bytes) -> None:
    text = unit * ((1 << 20) // len(unit))
    files: dict[str, str | bytes | OSError] = {f"/proc/sys/{key.replace('.', '/')}": "1\n" for key in KEYS}
    host = MemoryHost({**files, FILE: text, "/var/lib/lxc/box/config": text, "/proc/cmdline": text})
    tracemalloc.start()
    began = time.process_time()
    _, reading = gather(sysctl, host)
    gather(lxc, host)
    _, of_line = gather(cmdline, host)
    spent, peak = time.process_time() - began, tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 100 << 20 and spent < 8  # tracemalloc makes it several times slower
    assert [u.why for u in of_line.unreads] == ["EFBIG"]
    lines = max(text.count(b"\n"), text.count(b"\r"))
    whys = [u.why for u in reading.unreads if u.source == FILE and u.path == ("settings",)]
    assert whys == (["more than 10000 lines"] if lines > 10_000 else [])


def test_a_file_larger_than_a_mebibyte_is_unread() -> None:
    text = b"vm.swappiness = 1\n" + b"#" * (1 << 20)
    found, reading = gather(sysctl, MemoryHost({"/proc/sys/vm/swappiness": "60\n", FILE: text, "/proc/cmdline": ""}))
    assert found.table() == {"values": {"vm.swappiness": 60}}
    assert {(u.path, u.why) for u in reading.unreads} == {
        ((fact,), "larger than 1 MiB") for fact in ("settings", "masked", "ignored")}
    assert reading.files == {}


@pytest.mark.parametrize(("text", "why"), [
    ("".join(f"a{n}*=1\n" for n in range(1001)), "more than 1000 patterns"),
    ("kernel.k*=1\n" * 251, "patterns set more than 50000 keys"),
])
def test_patterns_beyond_all_measure_leave_the_settings_unknown(text: str, why: str) -> None:
    values = {f"/proc/sys/{key.replace('.', '/')}": "1\n" for key in KEYS}
    found, reading = gather(sysctl, MemoryHost({**values, FILE: text, "/proc/cmdline": ""}))
    assert "settings" not in found.table() and len(found.table()["values"]) == 700
    assert {u.path for u in reading.unreads if u.why == why} == {("settings",), ("masked",), ("ignored",)}


def test_keys_that_no_kernel_has() -> None:
    boot = parse_sysctl({FILE: f"{'a' * 600} = 1\n{'[a]' * 17} = 1\n{'[a]' * 16}=1\n"}, "", ["a" * 16])
    assert [i.why.split(" of")[0] for i in boot.ignored] == ["a key", "a pattern"] and list(boot.settings) == ["a" * 16]


def test_dpkg_status_of_one_paragraph() -> None:
    text = b"Package: lxc\n" * 100_000 + b"Status: install ok installed\nVersion: 1\n"
    began = time.process_time()
    assert dpkg.versions(text, ["lxc"]) == {"lxc": "1"}
    assert dpkg.versions(b"Package: lxc\n" * 100_000, ["lxc"]) == {}
    assert time.process_time() - began < 1
