from __future__ import annotations

from typing import Any

import pytest

from snapshot.derive.boot.kernel_config import kernel_config
from snapshot.derive.boot.module_options import module_options
from snapshot.document import Snapshot

from ...pairs import snapshot
from .test_kernel_tokens import cmdline

CONF = "/etc/modprobe.d/x.conf"


def host(
    value: str | None, written: str | None, *, kind: str = "loaded", module: str = "x", stale: tuple[str, ...] = (),
    unread: dict[str, list[list[str]]] | None = None, **option: Any,
) -> Snapshot:
    word = {"origin": {"file": CONF, "line": 1, "text": "options"}} | ({} if written is None else {"value": written})
    parameters = {} if value is None else {"p": value}
    image = {"file": "/boot/initrd.img-6.8", "changed": "2026-01-01T00:00:00Z", "stale": list(stale)}
    section = {kind: {module: {"parameters": parameters}}, "options": {module: {"p": {"files": word} | option}},
               "kernels": {"6.8": {"files": {}, "missing": [], "initramfs": image}}}
    return snapshot({"modules": section, "kernel": {"release": "6.8"}}, unread=unread)


def applied(after: Snapshot) -> bool | None:
    found: bool | None = module_options(after, None).rows.get("x p", {}).get("applied")
    return found


@pytest.mark.parametrize(("value", "written", "answer"), [
    ("1", "1", True), ("1", "0", False), ("Y", "1", True), ("N", "1", False), ("Y", None, True), ("Y", "off", False),
    ("4294967295", "0xffffffff", True), ("4294967295", "-1", True), ("18446744073709551615", "-1", True),
    ("255", "-1", True), ("5", "-1", False), ("0", "68719476736", False), ("a", "b", None), ("a", "a", True),
    ("1,2", "1,2", True), ("Y", "junk", None),
])
def test_whether_an_option_is_in_effect(value: str, written: str | None, answer: bool | None) -> None:
    assert applied(host(value, written)) is answer


def test_what_the_row_tells() -> None:
    row = module_options(host("0", "1", kind="builtin", stale=(CONF,)), None).rows["x p"]
    assert row == {"module": "x", "parameter": "p", "value": "0", "wanted": "1", "file": CONF, "builtin": True,
                   "stale": True, "applied": False, "line": {"file": CONF, "line": 1, "text": "options"}}


@pytest.mark.parametrize("after", [
    host(None, "1"), host("0", "1", module="nvidia"), host("0", "1", module="nvidia_uvm"),
    host("0", "1", cmdline={"value": "0", "origin": {"file": "/proc/cmdline", "line": 1, "text": "x.p=0"}}),
], ids=["not shown", "nvidia", "nvidia_uvm", "command line"])
def test_no_row(after: Snapshot) -> None:
    assert not module_options(after, None).rows


def test_a_parameter_that_could_not_be_read() -> None:
    found = module_options(host(None, "1", unread={"modules": [["loaded", "x", "parameters", "p"]]}), None)
    assert [one["subject"] for one in found.unknown] == ["x p"] and not found.rows


def built(*words: str, **config: str) -> Snapshot:
    installed = {"image": True, "initrd": True, "modules": True, "config": config}
    return snapshot({"kernel": {"release": "6.8", "installed": {"6.8": installed}}, "cmdline": cmdline(*words),
                     "sysctl": {"values": {}}})


@pytest.mark.parametrize(("option", "word"), [
    ("preempt", "preempt=full"), ("governor", "cpufreq.default_governor=performance"), ("iommu", "iommu=pt"),
    ("iommu", "amd_iommu=off"), ("thp", "transparent_hugepage=never"), ("aspm", "pcie_aspm=off"),
    ("amd_pstate", "amd-pstate=passive"), ("numa_balancing", "numa_balancing=disable"), ("hz", None),
])
def test_what_stands_above_a_default(option: str, word: str | None) -> None:
    assert kernel_config(built(*([word] if word else []), **{option: "v"}), None).rows[option].get("instead") == word


def test_a_sysctl_file_stands_above_numa_balancing() -> None:
    after = built(numa_balancing="y")
    setting = {"systemd": {"value": "0", "origin": {"file": "/etc/sysctl.d/9.conf", "line": 1, "text": ""}}}
    tables = {name: after.table(name) for name in ("kernel", "cmdline")}
    tables["sysctl"] = {"values": {}, "settings": {"kernel.numa_balancing": setting}}
    assert kernel_config(snapshot(tables), None).rows["numa_balancing"]["instead"] == "/etc/sysctl.d/9.conf"


def test_defaults_of_the_running_kernel_alone() -> None:
    assert kernel_config(built(hz="250"), None).rows["hz"] == {
        "option": "hz", "words": "timer frequency (HZ)", "value": "250", "release": "6.8"}
    assert kernel_config(snapshot({"kernel": {}}, meta={"kernel": None}), None).rows == {}
    tables: dict[str, dict[str, Any]] = {"kernel": {"release": "6.8"}}
    assert kernel_config(snapshot(tables, unread={"kernel": [["installed"]]}), None).unknown[0]["why"] == "EACCES"
