from __future__ import annotations

from typing import Any

import pytest

from snapshot.derive.boot.wanted_modules import wanted_modules
from snapshot.document import Snapshot

from ...pairs import snapshot

CONF = "/etc/modules-load.d/x.conf"


def line(text: str, file: str = CONF) -> dict[str, Any]:
    return {"origin": {"file": file, "line": 1, "text": text}}


def disk(*missing: str) -> dict[str, Any]:
    return {"files": {}, "missing": list(missing)}


def host(
    *loaded: str, load: tuple[str, ...] = (), missing: tuple[str, ...] = (),
    missing_next: tuple[str, ...] | None = None, unread: dict[str, list[list[str]]] | None = None, **section: Any,
) -> Snapshot:
    """A host that runs 6.8 and, with MISSING_NEXT, boots 6.14."""
    kernels = {"6.8": disk(*missing)} | ({} if missing_next is None else {"6.14": disk(*missing_next)})
    following = "6.8" if missing_next is None else "6.14"
    modules = {"loaded": {name: {} for name in loaded}, "load": {name: line(name) for name in load},
               "kernels": kernels} | section
    return snapshot({"modules": modules, "kernel": {"release": "6.8"},
                     "boot": {"next": {"kernel": following, "by": "x"}}}, unread=unread)


def row(after: Snapshot, name: str, before: Snapshot | None = None) -> dict[str, Any]:
    found: dict[str, Any] = wanted_modules(after, before).rows[name]
    return found


def test_a_module_that_is_there() -> None:
    assert row(host("nvme_tcp", load=("nvme-tcp",)), "nvme_tcp") == {
        "module": "nvme-tcp", "loaded": True, "builtin": False, "asked_by": CONF, "line": line("nvme-tcp")["origin"]}


def test_kernels_that_have_no_such_module() -> None:
    found = row(host(load=("x",), missing=("x",), missing_next=("x",)), "x")
    assert (found["lacking"], found["lacking_next"]) == ("6.8", "6.14")
    assert "lacking_next" not in row(host(load=("x",), missing=("x",)), "x")
    assert "lacking" not in row(host(load=("x",), missing_next=("x",)), "x")


def test_options_behind_the_name() -> None:
    found = row(host(load=("loop max_loop=8",), missing=("loop max_loop=8",)), "loop max_loop=8")
    assert (found["options"], found["lacking"]) == ("max_loop=8", "6.8")


@pytest.mark.parametrize(("before", "idle"), [(host("x"), True), (host(), False), (None, False)])
def test_a_module_that_this_kernel_has_and_nobody_loaded(before: Snapshot | None, idle: bool) -> None:
    assert ("idle" in row(host(load=("x",)), "x", before)) is idle


def test_loaded_before_and_not_now() -> None:
    assert row(host(), "msr", host("msr")) == {"module": "msr", "loaded": False, "builtin": False, "was_loaded": True}
    built = row(host(builtin={"msr": {}}), "msr", host("msr"))
    assert built["builtin"] and wanted_modules(host("msr"), host("msr")).rows == {}


@pytest.mark.parametrize("section", [
    {"install": {"x": {"command": "/bin/false", **line("")}}},
    {"install": {"x": {"command": "/usr/bin/true", **line("")}}},
    {"blacklist": {"x": {"refused": True, **line("")}}},
])
def test_what_keeps_a_module_out(section: dict[str, Any]) -> None:
    assert row(host(load=("x",), **section), "x")["blocked"] == line("")["origin"]


@pytest.mark.parametrize("section", [
    {"install": {"x": {"command": "/sbin/modprobe -i x", **line("")}}}, {"blacklist": {"x": line("")}},
])
def test_what_does_not(section: dict[str, Any]) -> None:
    assert "blocked" not in row(host(load=("x",), **section), "x")


def ignored(name: str, why: str = "systemd: no file leads to it") -> list[dict[str, Any]]:
    return [{"why": why, **line(name, "/etc/modules")}]


def test_lines_that_nobody_reads() -> None:
    found = row(host(ignored=ignored("msr")), "msr")
    assert (found["ignored_in"], found["loaded"]) == ("/etc/modules", False)
    assert wanted_modules(host("msr", ignored=ignored("msr")), None).rows == {}
    assert wanted_modules(host(ignored=ignored("options x", "kmod: it lacks a word")), None).rows == {}


@pytest.mark.parametrize("name", ["nvidia", "nvidia-uvm", "nvidia_current_drm", "zfs", "spl", "nvidia_peermem"])
def test_modules_with_rules_of_their_own(name: str) -> None:
    assert wanted_modules(host(load=(name,), missing=(name,)), None).rows == {}


def test_what_could_not_be_read() -> None:
    assert wanted_modules(host(unread={"modules": [["loaded"]]}), None).unknown[0]["why"] == "EACCES"
    after = host(load=("x",), unread={"modules": [["kernels"]]}, kernels=None)
    assert row(after, "x")["unknown"].keys() == {"lacking", "lacking_next"}
