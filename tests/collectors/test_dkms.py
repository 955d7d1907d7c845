"""The tree of DKMS, and what dkms status says."""

from __future__ import annotations

import errno
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fixtures import epyc
from fixtures.parts import dkms as part
from snapshot.collectors import dkms, dkms_conf, dkms_status
from snapshot.errors import AbsentError, ParseError
from snapshot.host.base import Result

from .epyc_parts import planted
from .fake import Content, MemoryHost, gather

TOP, NEW, OLD = "/var/lib/dkms/nvidia", "6.14.11-1-pve", "6.8.12-9-pve"
DENIED = PermissionError(errno.EACCES, "denied")
FILES: dict[str, Content] = {
    "/usr/src/nvidia-580.95.05/dkms.conf": 'AUTOINSTALL="yes"\nBUILD_EXCLUSIVE_KERNEL="^6\\..*"\n',
    f"{TOP}/580.95.05/{NEW}/x86_64/module/nvidia.ko.zst": b"1234",
    f"{TOP}/580.95.05/{NEW}/x86_64/module/nvidia-uvm.ko.zst": b"12",
    f"{TOP}/580.95.05/{OLD}/x86_64/module/nvidia.ko": b"123",
    f"/lib/modules/{NEW}/updates/dkms/nvidia.ko.zst": b"1234",
    f"/lib/modules/{NEW}/updates/dkms/nvidia-uvm.ko.zst": b"12",
}
LINKS = {
    f"{TOP}/580.95.05/source": "/usr/src/nvidia-580.95.05",
    f"{TOP}/kernel-{NEW}-x86_64": f"580.95.05/{NEW}/x86_64",
}


def found(
    files: dict[str, Content], links: dict[str, str] = LINKS, results: dict[str, Result | str] | None = None
) -> tuple[dict[str, Any], dict[str, str]]:
    """The section's table, and of its unread facts the reasons."""
    model, reading = gather(dkms, MemoryHost(files, links, None, results))
    return model.table(), {".".join(u.path): u.why for u in reading.unreads}


def version(table: dict[str, Any]) -> dict[str, Any]:
    only: dict[str, Any] = table["modules"]["nvidia"]["versions"]["580.95.05"]
    return only


def test_installed_is_what_the_kernel_s_link_names() -> None:
    table, unread = found(FILES)
    assert version(table) == {
        "source": "/usr/src/nvidia-580.95.05", "autoinstall": True, "limits": {"BUILD_EXCLUSIVE_KERNEL": "^6\\..*"},
        "builds": {
            NEW: {"x86_64": {"state": "installed", "modules": ["nvidia", "nvidia-uvm"]}},
            OLD: {"x86_64": {"state": "built", "modules": ["nvidia"]}},
        },
    }
    assert unread == {}


def test_added_is_a_version_without_builds() -> None:
    table, _ = found({p: c for p, c in FILES.items() if not p.startswith(TOP)} | {f"{TOP}/580.95.05/build/": ""})
    assert "builds" not in version(table) and "broken" not in version(table)


@pytest.mark.parametrize("links", [{}, {f"{TOP}/580.95.05/source": "/usr/src/gone"}])
def test_broken_is_a_version_without_source(links: dict[str, str]) -> None:
    table, _ = found(FILES, links)
    assert version(table)["broken"] is True
    assert "autoinstall" not in version(table)


def test_a_module_that_is_not_where_it_was_put_is_missing() -> None:
    files = {path: content for path, content in FILES.items() if "updates/dkms/nvidia-uvm" not in path}
    build = version(found({**files, f"/lib/modules/{NEW}/modules.dep": "kernel/a.ko:\n"})[0])["builds"][NEW]["x86_64"]
    assert build["missing"] is True and "differs" not in build
    other = {**files, f"/lib/modules/{NEW}/modules.dep": "misc/nvidia-uvm.ko.xz: x\n"}
    assert "missing" not in version(found(other)[0])["builds"][NEW]["x86_64"]


def test_without_the_list_of_depmod_missing_is_unknown() -> None:
    table, unread = found({p: c for p, c in FILES.items() if "updates/dkms/nvidia-uvm" not in p})
    assert "missing" not in version(table)["builds"][NEW]["x86_64"]
    assert unread == {f"modules.nvidia.versions.580.95.05.builds.{NEW}.x86_64.missing": "ENOENT"}


def test_modules_of_a_removed_kernel_are_missing() -> None:
    files = {path: content for path, content in FILES.items() if not path.startswith("/lib/modules")}
    table, unread = found({**files, f"/lib/modules/{OLD}/modules.dep": ""})
    assert version(table)["builds"][NEW]["x86_64"]["missing"] is True
    assert unread == {}


def test_another_size_is_another_module() -> None:
    table, _ = found({**FILES, f"/lib/modules/{NEW}/updates/dkms/nvidia.ko.zst": b"12345"})
    assert version(table)["builds"][NEW]["x86_64"]["differs"] is True


def test_originals_and_a_failed_build() -> None:
    log = f"DKMS make.log for nvidia-580.95.05 for kernel {NEW} (x86_64)\nMon\nerror\n"
    table, _ = found({**FILES, f"{TOP}/580.95.05/build/make.log": log,
                      f"{TOP}/original_module/{NEW}/x86_64/nvidia.ko": ""})
    assert version(table)["failed_for"] == NEW
    assert version(table)["builds"][NEW]["x86_64"]["original_saved"] is True


def test_no_tree_is_absent_where_its_folder_can_be_seen() -> None:
    with pytest.raises(AbsentError):
        found({"/var/lib/dpkg/status": ""}, {})
    assert found({"/etc/hostname": ""}, {}) == ({}, {"modules": "not there, nor anything beside it"})


@pytest.mark.parametrize("path", ["/var/lib/dkms/", f"{TOP}/"])
def test_a_closed_tree_is_unread(path: str) -> None:
    table, unread = found({path: DENIED}, {})
    assert "EACCES" in unread.values() and not table.get("modules")


def test_a_tree_elsewhere_is_asked_of_dkms() -> None:
    files: dict[str, Content] = {"/etc/dkms/framework.conf": 'dkms_tree="/srv/dkms"\n'}
    said = f"nvidia/580.95.05, {NEW}, x86_64: installed\n"
    table, unread = found(files, {}, {"dkms status": said})
    assert version(table)["builds"][NEW]["x86_64"] == {"state": "installed"} and unread == {}
    assert found(files, {})[1] == {"modules": "not-found"}
    slow = Result(None, why="timeout")
    assert found(files, {}, {"dkms status": slow}) == ({}, {"modules": "timeout"})


def test_weak_modules_are_asked_of_dkms_and_the_tree_stays() -> None:
    files = {**FILES, "/lib/modules/5.14.0-2/weak-updates/nvidia.ko": ""}
    said = f"nvidia, 580.95.05, 5.14.0-2, x86_64: installed-weak from {NEW}\nnvidia/580.95.05, {NEW}, x86_64: built\n"
    builds = version(found(files, LINKS, {"dkms status": said})[0])["builds"]
    assert builds["5.14.0-2"]["x86_64"] == {"state": "installed-weak", "weak_from": NEW}
    assert builds[NEW]["x86_64"]["state"] == "installed"


@pytest.mark.parametrize(("line", "state", "marks"), [
    ("m/1, 6.1, x86_64: installed", "installed", set()),
    ("m, 1, 6.1, x86_64: built", "built", set()),
    ("m/1, 6.1, x86_64: installed (Original modules exist)", "installed", {"original_saved"}),
    ("m, 1, 6.1, x86_64: installed (original_module exists)", "installed", {"original_saved"}),
    ("m/1, 6.1, x86_64: installed (WARNING! Diff between built and installed module!)", "installed",
     {"differs"}),
    ("m/1, 6.1, x86_64: installed (Original modules exist) (Differences between built and installed modules)",
     "installed", {"original_saved", "differs"}),
    ("m/1, 6.1, x86_64: built (Built modules are missing in the kernel modules folder)", "built",
     {"missing"}),
])
def test_lines_of_every_age(line: str, state: str, marks: set[str]) -> None:
    builds = dkms_status.parse(f"Deprecated feature: X\n{line}\r\n")["m"].versions["1"].builds
    assert builds is not None
    table = builds["6.1"]["x86_64"].table()
    assert table.pop("state") == state and set(table) == marks


def test_added_and_broken_lines() -> None:
    said = dkms_status.parse("a/1: added\nb, 2: added\nc/3: broken\n")
    assert said["a"].versions["1"].table() == said["b"].versions["2"].table() == {}
    assert said["c"].versions["3"].table() == {"broken": True}
    assert dkms_status.parse("") == {}
    with pytest.raises(ParseError, match="no line of dkms status"):
        dkms_status.parse("dkms: command failed\n")


@given(st.text(alphabet="am/1,: ()\n.xinstaledbuk-wfro", max_size=120) | st.text(max_size=200))
def test_any_text_is_survived(text: str) -> None:
    dkms_conf.parse(text)
    try:
        dkms_status.parse(text)
    except ParseError:
        assert text.strip()


def test_long_lines_take_no_time() -> None:
    for text in ("(" * 100_000, "a/1: installed" + " (x)" * 50_000, "a," * 100_000):
        try:
            dkms_status.parse(text)
        except ParseError as error:
            assert len(str(error)) < 200


@pytest.mark.parametrize("kernel", [epyc.BEFORE, epyc.AFTER])
def test_the_story_s_host_has_the_driver_for_the_next_kernel(kernel: str) -> None:
    model, reading = gather(dkms, planted(part, kernel))
    assert reading.unreads == []
    builds = version(model.table())["builds"]
    assert builds[epyc.AFTER]["x86_64"] == {"state": "installed", "modules": list(part.MODULES)}
    assert len(builds) == 3


def test_the_corpus(corpus: Path) -> None:
    seen = {}
    for file in sorted((corpus / "dkms-status").iterdir()):
        for name, module in dkms_status.parse(file.read_text()).items():
            for number, one in module.versions.items():
                for kernel, by_arch in (one.builds or {}).items():
                    seen[file.name] = (name, number, kernel, by_arch["x86_64"].table())
    assert seen["pve-nvidia-460.txt"] == ("nvidia", "460.73.01", "5.4.203-1-pve", {"state": "installed"})
    assert seen["i915-6.1.txt"] == ("i915-sriov-dkms", "6.1", "6.2.16-3-pve", {"state": "installed"})
    assert seen["i915-diff-warning.txt"][3]["differs"] is True
    for name in ("old-format-original-module-exists.txt", "zfs-original-modules-exist.txt"):
        assert seen[name][3]["original_saved"] is True
