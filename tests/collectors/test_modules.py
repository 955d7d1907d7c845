"""Loaded modules and their parameters, what configures them, and what each installed kernel has."""

from __future__ import annotations

import errno
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fixtures import epyc
from fixtures.parts import modules as part
from snapshot.collectors import modules
from snapshot.collectors.modules import parse_load, parse_modules
from snapshot.errors import ParseError
from snapshot.records import replace

from .fake import Content, MemoryHost, gather, node

DENIED = PermissionError(errno.EACCES, "denied")
BASE: dict[str, Content] = {
    "/proc/version": "Linux version 6.8\n", "/proc/modules": "", "/proc/cmdline": "quiet\n", "/sys/module/": "",
}


def host(kernel: str = epyc.BEFORE) -> MemoryHost:
    whole = epyc.host(kernel)
    files: dict[str, Content] = dict(whole.files)
    part.plant(kernel, files, whole.links, {}, {})
    return MemoryHost(files, whole.links, whole.nodes, session=whole.session)


def found(files: dict[str, Content], links: dict[str, str] | None = None) -> tuple[dict[str, Any], dict[str, str]]:
    """The section's table of BASE and FILES, and of its unread facts the reasons."""
    model, reading = gather(modules, MemoryHost(BASE | files, links))
    return model.table(), {".".join(u.path): u.why for u in reading.unreads}


def test_the_epyc_host() -> None:
    model, reading = gather(modules, host())
    table = model.table()
    assert reading.unreads == []
    assert table["loaded"]["nvidia"] == {"version": part.NVIDIA, "taints": "POE"}
    assert table["loaded"]["nvidia_uvm"]["parameters"] == {"uvm_ats_mode": "1", "uvm_disable_hmm": "Y"}
    assert table["loaded"]["nvme"] == {}
    assert table["builtin"]["pcie_aspm"]["parameters"]["policy"] == "[default] performance powersave powersupersave"
    assert table["options"]["nvidia"]["NVreg_RegistryDwords"]["files"]["value"] == "PeerMappingOverride=1;"
    assert sorted(table["blacklist"]) == ["nouveau", "nvidiafb"]
    assert list(table["load"]) == ["nvidia", "nvidia_uvm"]
    assert "ignored" not in table
    kernels = table["kernels"]
    assert sorted(kernels) == sorted(part.RELEASES)
    nvidia = kernels[epyc.AFTER]["files"]["nvidia"]
    assert (nvidia["version"], nvidia["flavour"], nvidia["signer"]) == (part.NVIDIA, "open", part.SIGNER.decode())
    assert nvidia["file"] == "updates/dkms/nvidia.ko"
    assert kernels[epyc.AFTER]["files"]["zfs"]["version"] == "2.3.4-pve1"
    assert kernels[epyc.AFTER]["files"]["amdgpu"] == {"file": "kernel/drivers/gpu/drm/amd/amdgpu/amdgpu.ko"}
    assert kernels[epyc.AFTER]["missing"] == []
    assert kernels[epyc.AFTER]["initramfs"]["stale"] == []


def test_two_takes_are_the_same() -> None:
    first, second = (gather(modules, host())[0].table() for _ in range(2))
    assert repr(first) == repr(second)


def test_a_kernel_without_what_is_loaded_says_so() -> None:
    files = host().files
    top = f"/lib/modules/{epyc.AFTER}"
    files[f"{top}/modules.dep"] = b"kernel/drivers/nvme/host/nvme.ko.zst: kernel/drivers/nvme/host/nvme-core.ko.zst\n"
    table, _ = found({path: content for path, content in files.items() if path[:10] != "/etc/modul"})
    lacking = table["kernels"][epyc.AFTER]["missing"]
    assert {"nvidia", "nvidia_uvm", "zfs"} <= set(lacking)
    assert not {"nvme", "msr"} & set(lacking)


def test_debians_nvidia_files_stand_for_what_is_loaded() -> None:
    top = "/lib/modules/6.1.0-50-amd64"
    listed = "updates/dkms/nvidia-current.ko:\nupdates/dkms/nvidia-current-uvm.ko:\n"
    table, unread = found({
        "/proc/modules": "nvidia_uvm 1 0 - Live 0x0 (POE)\nnvidia 1 1 nvidia_uvm, Live 0x0 (POE)\n",
        f"{top}/modules.dep": listed,
        f"{top}/updates/dkms/nvidia-current.ko": part.module(version="535", license="NVIDIA"),
    })
    assert (table["kernels"]["6.1.0-50-amd64"]["missing"], unread) == ([], {})
    assert table["kernels"]["6.1.0-50-amd64"]["files"]["nvidia_current"]["flavour"] == "proprietary"


def test_a_name_to_load_may_be_an_alias() -> None:
    top = "/lib/modules/6.8"
    table, _ = found({
        "/etc/modules-load.d/a.conf": "char-major-10-200\nnet-pf-10\nnvidia NVreg_X=1\n", f"{top}/modules.dep": "",
        f"{top}/modules.alias": "# aliases\nalias char-major-10-200 tun\n",
        f"{top}/modules.builtin.alias": "alias net-pf-10 ipv6\n",
    })
    assert table["kernels"]["6.8"]["missing"] == ["nvidia NVreg_X=1"]


@pytest.mark.parametrize("data", [b"", b"\x7fELF", b"\0" * 4000, part.module(version="1")[:-40]])
def test_a_broken_module_file_is_there_but_unknown(data: bytes) -> None:
    top = "/lib/modules/6.8"
    table, unread = found({f"{top}/modules.dep": "extra/nvidia.ko:\n", f"{top}/extra/nvidia.ko": data})
    assert table["kernels"]["6.8"]["files"] == {"nvidia": {"file": "extra/nvidia.ko"}}
    assert {f"kernels.6.8.files.nvidia.{f}" for f in ("version", "flavour", "signer")} <= set(unread)


def test_a_module_file_that_is_listed_and_not_there_or_closed() -> None:
    top = "/lib/modules/6.8"
    listed: dict[str, Content] = {f"{top}/modules.dep": "extra/nvidia.ko:\n"}
    fact = "kernels.6.8.files.nvidia"
    assert found(listed)[1] == {fact: "modules.dep names it, but it is not there"}
    assert found(listed | {f"{top}/extra/nvidia.ko": DENIED})[1] == {fact: "EACCES"}


def test_an_initramfs_older_than_what_it_holds_is_stale() -> None:
    now = host()
    image, conf = f"/boot/initrd.img-{epyc.AFTER}", "/etc/modprobe.d/nvidia.conf"
    now.nodes[image] = replace(node("file", mode=0o644), mtime_ns=2_000_000_000)
    now.nodes[conf] = replace(node("file", mode=0o644), mtime_ns=2_000_000_001)
    dkms = f"/lib/modules/{epyc.AFTER}/updates/dkms/nvidia.ko"
    now.nodes[dkms] = replace(node("file", mode=0o644), mtime_ns=3_000_000_000)
    now.nodes["/etc/modprobe.d/zfs.conf"] = replace(node("file", mode=0o644), mtime_ns=1)
    table = gather(modules, now)[0].table()
    assert table["kernels"][epyc.AFTER]["initramfs"] == {
        "file": image, "changed": "1970-01-01T00:00:02Z", "stale": [conf, dkms],
    }


def test_a_kernel_without_modules_has_none_loaded() -> None:
    files = {path: content for path, content in BASE.items() if path != "/proc/modules"}
    model, reading = gather(modules, MemoryHost(files | {"/sys/module/kernel/parameters/panic": "1\n"}))
    assert model.table() == {"builtin": {"kernel": {"parameters": {"panic": "1"}}}}
    assert reading.unreads == []


def test_parameters_of_root_are_unread_and_write_only_ones_are_no_facts() -> None:
    top = "/sys/module/kvm/parameters"
    write_only, broken = PermissionError(errno.EPERM, ""), OSError(errno.EIO, "")
    files = BASE | {f"{top}/avic": DENIED, f"{top}/kick": write_only, f"{top}/x": broken}
    nodes = {f"{top}/kick": node("file", mode=0o200)}
    model, reading = gather(modules, MemoryHost({**files, "/proc/modules": "kvm 1 0 - Live 0x0\n"}, nodes=nodes))
    assert model.table()["loaded"] == {"kvm": {}}
    assert {".".join(u.path): u.why for u in reading.unreads} == {
        "loaded.kvm.parameters.avic": "EACCES", "loaded.kvm.parameters.x": "EIO",
    }


def test_what_counts_or_is_computed_is_not_recorded() -> None:
    damon = "/sys/module/damon_reclaim/parameters"
    table, _ = found({
        f"{damon}/kdamond_pid": "-1\n", f"{damon}/enabled": "N\n", f"{damon}/nr_quota_exceeds": "3\n",
        "/sys/module/acpi/parameters/acpica_version": "2\n", "/sys/module/x/refcnt": "7\n",
        "/sys/module/x/notes/.note.Linux": "\1", "/sys/module/x/sections/.text": "0x1\n",
    })
    assert table["builtin"] == {"damon_reclaim": {"parameters": {"enabled": "N"}}}


def test_a_secret_in_a_parameter_is_replaced() -> None:
    table, _ = found({"/sys/module/x/parameters/api_key": "hunter2\n", "/sys/module/x/parameters/name": "plain text\n"})
    assert table["builtin"]["x"]["parameters"] == {"api_key": "<redacted>", "name": "plain text"}


def test_etc_modules_counts_only_through_a_link() -> None:
    lines: dict[str, Content] = {"/etc/modules": "# names\nvfio\n"}
    table, _ = found(lines)
    assert "load" not in table
    assert [i["origin"]["line"] for i in table["ignored"]] == [2]
    table, _ = found(lines, {"/etc/modules-load.d/modules.conf": "../modules"})
    assert (list(table["load"]), "ignored" in table) == (["vfio"], False)


def test_a_closed_directory_of_options_leaves_them_unknown() -> None:
    _, unread = found({"/etc/modprobe.d/": DENIED})
    assert {"options", "blacklist", "install", "softdeps", "aliases", "masked"} <= set(unread)
    assert unread["options"] == "EACCES"


def test_files_hide_others_of_their_name() -> None:
    table, _ = found(
        {"/usr/lib/modprobe.d/a.conf": "blacklist x\n", "/etc/modprobe.d/.hid.conf": "blacklist y\n",
         "/etc/modprobe.d/b.conf~": "blacklist z\n"}, {"/etc/modprobe.d/a.conf": "/dev/null"})
    assert "blacklist" not in table
    assert table["masked"] == {"/usr/lib/modprobe.d/a.conf": "/etc/modprobe.d/a.conf"}


@pytest.mark.parametrize("junk", ["x", "a b c", "\0\1\2", "nvidia 1 1 - Live\n" * 3])
def test_junk_is_no_list_of_modules(junk: str) -> None:
    table, unread = found({"/proc/modules": junk + " "})
    assert "loaded" not in table
    assert unread["loaded"].startswith("not a line of /proc/modules")


def test_names_to_load_are_whole_lines() -> None:
    names = [name for name, _ in parse_load("/f", "# no\n; no\n\n  vfio-pci \r\nnvidia X=1\n")]
    assert names == ["vfio-pci", "nvidia X=1"]


@given(st.text())
def test_any_text_is_survived(text: str) -> None:
    list(parse_load("/f", text))
    try:
        parse_modules(text)
    except ParseError:
        return


def test_lists_of_the_corpus(corpus: Path) -> None:
    told = {path.name: parse_modules(path.read_text()) for path in sorted(corpus.glob("proc-modules/*"))}
    assert {name: len(names) for name, names in told.items()}["rhcos4-vm.txt"] == 81
    assert told["threadripper5955wx-ubuntu2204.txt"]["nvidia"] == "POE"
    assert not any(name.startswith("nvidia") for name in told["rhcos4-vm.txt"])


def test_lsmod_of_the_corpus_has_the_modules_of_proc(corpus: Path) -> None:
    for path in corpus.glob("lsmod/*"):
        shown = {line.split()[0] for line in path.read_text().splitlines()[1:]}
        listed = parse_modules((corpus / "proc-modules" / path.name).read_text())
        assert shown == set(listed)
