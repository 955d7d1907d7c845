"""Parameters of modules."""

from __future__ import annotations

from typing import Any

from ..tuned import Row, action, assign, cmdline, host, rows


def options(files: Row | None = None, given: Row | None = None, **more: Any) -> Row:
    option = {"files": files, "cmdline": given}
    return {
        "modules": {
            "options": {"zfs": {"zfs_arc_max": {k: v for k, v in option.items() if v}}},
            "loaded": {"zfs": {"parameters": {"zfs_arc_max": "68719476736"}}},
        }
        | more
    }


ARC = "module zfs.zfs_arc_max"


def test_options_of_files_and_command_line() -> None:
    found = assign("0x1000000000", file="/etc/modprobe.d/zfs.conf")
    assert rows(host(**options(found)))[ARC]["verdict_boot"] == "kept"
    after = host(**options(found), cmdline=cmdline("zfs.zfs_arc_max=1"))
    row = rows(after)[ARC]
    assert (row["verdict_boot"], row["configured_by"]["how"], len(row["overridden"])) == ("changes", "cmdline", 1)
    assert rows(host(**options()))[ARC]["verdict_boot"] == "may"
    line = action("file", "/sys/module/zfs/parameters/zfs_arc_max", value="68719476736")
    assert rows(host(**options(assign("1"))), line)[ARC]["verdict_boot"] == "kept"


def test_options_that_do_nothing() -> None:
    builtin = options(assign("1"), loaded={}, builtin={"zfs": {"parameters": {"zfs_arc_max": "0"}}})
    row = rows(host(**builtin))[ARC]
    assert row["verdict_boot"] == "may" and "built into the kernel" in row["not_run"][0]["why_not"]
    row = rows(host(**options(assign("1"), loaded={})))[ARC]
    assert row["absent"] == "the module is not loaded" and "verdict_boot" not in row
    row = rows(host(**options(assign("1"), loaded={"zfs": {}})))[ARC]
    assert row["absent"] == "the module does not show it"


def test_options_newer_than_the_initramfs() -> None:
    file = "/etc/modprobe.d/zfs.conf"
    stale = {"files": {}, "missing": [], "initramfs": {"file": "/boot/initrd.img", "changed": "x", "stale": [file]}}
    after = host(**options(assign("68719476736", file=file), kernels={"6.8.12-9-pve": stale}))
    row = rows(after)[ARC]
    assert row["verdict_boot"] == "may" and "initramfs" in row["maybe"][0]["doubt"]


def test_options_of_nvidia() -> None:
    modules = {
        "options": {
            "nvidia": {"NVreg_EnableStreamMemOPs": {"files": assign("0x1")}, "NVreg_X": {"files": assign("1")}}
        },
        "loaded": {"nvidia": {}},
    }
    found = rows(host(modules=modules, nvidia={"driver": {"parameters": {"EnableStreamMemOPs": 1}}}))
    assert found["module nvidia.NVreg_EnableStreamMemOPs"]["verdict_boot"] == "kept"
    assert found["module nvidia.NVreg_EnableStreamMemOPs"]["path"] == [
        "nvidia",
        "driver",
        "parameters",
        "EnableStreamMemOPs",
    ]
    assert found["module nvidia.NVreg_X"]["absent"] == "the module does not show it"


def test_words_with_a_dot_that_are_no_parameters() -> None:
    assert rows(host(cmdline=cmdline("rd.luks=1", "systemd.show_status=0"))) == {}


def test_a_part_of_the_kernel_that_became_a_module_keeps_its_past() -> None:
    before = host(modules={"builtin": {"zfs": {"parameters": {"zfs_arc_max": "1"}}}})
    assert rows(host(**options()), before=before)[ARC]["before"] == "1"


def test_a_core_parameter_that_is_a_sysctl_too_is_told_as_that() -> None:
    found = rows(host(modules={"builtin": {"kernel": {"parameters": {"panic": "-1", "consoleblank": "0"}}}},
                      sysctl={"values": {"kernel.panic": -1}}))
    assert {key for key in found if "kernel." in key} == {"sysctl kernel.panic", "module kernel.consoleblank"}
