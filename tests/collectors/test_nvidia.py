"""The section nvidia as a whole: what is asked, what is left alone, and how sources come together."""

from __future__ import annotations

import errno
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from fixtures import epyc
from fixtures.parts import nvidia as part
from snapshot.capture import take
from snapshot.collectors import nvidia, nvidia_events
from snapshot.collectors.nvidia_report import XML
from snapshot.collectors.nvidia_userspace import FABRIC_MANAGER
from snapshot.errors import AbsentError
from snapshot.host.base import Result, Stat

from .fake import Content, MemoryHost, gather

DENIED = PermissionError(errno.EACCES, "denied")
FIRST, LAST = part.UUIDS[0], part.UUIDS[-1]
DEPRECATED = "Requested functionality has been deprecated"
Results = dict[str, Result | str]
Nodes = Mapping[str, Stat | OSError]
Plant = tuple[dict[str, Content], dict[str, str], dict[str, Stat], Results]


def planted(kernel: str = epyc.AFTER) -> Plant:
    base = epyc.host(kernel)
    nodes = {path: stat for path, stat in base.nodes.items() if isinstance(stat, Stat)}
    plant: Plant = ({**base.files}, dict(base.links), nodes, dict(base.results))
    part.plant(kernel, *plant)
    return plant


def found(
    plant: tuple[Mapping[str, Content], Mapping[str, str], Nodes, Results]
) -> tuple[dict[str, Any], dict[str, str], MemoryHost]:
    """The section's table, of its unread facts the reasons, and the host."""
    host = MemoryHost(*plant)
    model, reading = gather(nvidia, host)
    return model.table(), {".".join(u.path): u.why for u in reading.unreads}, host


def asked(host: MemoryHost) -> set[str]:
    return {command.argv[0] for command in host.ran}


@pytest.mark.parametrize("kernel", [epyc.BEFORE, epyc.AFTER])
def test_the_epyc_host(kernel: str) -> None:
    table, unread, _ = found(planted(kernel))
    assert table["loaded"] is True
    assert (table["driver"]["version"], table["driver"]["flavour"]) == (part.VERSION, "open")
    assert table["driver"]["modules"] == ["nvidia", "nvidia_drm", "nvidia_modeset", "nvidia_uvm"]
    assert (table["driver"]["uvm_disable_hmm"], table["driver"]["drm_modeset"]) == (True, True)
    assert table["driver"]["parameters"]["RegistryDwords"] == "PeerMappingOverride=1;"
    assert table["driver"]["capabilities"]["mig/monitor"] == {"minor": 2, "mode": "0444"}
    assert set(table["user_space"]["libraries"].values()) == {part.VERSION}
    assert (table["user_space"]["nvml"], table["user_space"]["cuda"], table["attached"]) == ("580.95", "13.0", 8)
    assert list(table["gpus"]) == list(part.UUIDS)
    assert [gpu["address"] for gpu in table["gpus"].values()] == list(part.ADDRESSES)
    assert table["gpus"][LAST]["state"]["power"]["limit_mw"] == 450_000
    assert table["p2p_read"]["ids"] == list(part.ADDRESSES)
    assert table["topology"]["ids"] == [*part.ADDRESSES, *sorted(part.NICS)]
    assert table["topology"]["rows"][1] == ["NODE", "X", *["NODE"] * 2, *["SYS"] * 6, "PHB", "PHB"]
    assert table["affinity"][part.ADDRESSES[7]] == {"cpus": "64-127,192-255", "nodes": "1"}
    assert not {"events", "nvlink"} & set(table)
    assert unread == {f"gpus.{uuid}.state.application_clocks": DEPRECATED for uuid in part.UUIDS}


def test_the_story_changes_nothing_here() -> None:
    assert found(planted(epyc.BEFORE))[0] == found(planted(epyc.AFTER))[0]


def test_a_recording_may_hold_nothing_but_answers() -> None:
    host = MemoryHost(results=part.answers(range(2)))
    host.source = "directory"
    model, reading = gather(nvidia, host)
    table, unread = model.table(), {".".join(u.path) for u in reading.unreads}
    assert ("loaded" in table, list(table["gpus"]), table["attached"]) == (False, list(part.UUIDS[:2]), 2)
    assert table["p2p_read"]["ids"] == list(part.ADDRESSES[:2])
    assert table["gpus"][FIRST]["vbios"] == "98.02.5d.00.01"
    assert {"loaded", "driver", "events"} <= unread and not {"gpus", "topology", "nvlink"} & unread


def test_processes_stay_out() -> None:
    assert "secret" not in str(found(planted())[0])


def test_two_takes_are_the_same_bytes() -> None:
    texts = [take(MemoryHost(*planted()), names=["nvidia"]).dumps() for _ in range(2)]
    assert texts[0] == texts[1]


def test_a_tool_that_hangs_costs_its_own_facts_only() -> None:
    plant = planted()
    part.hang(plant[3])
    table, unread, _ = found(plant)
    assert table["driver"]["version"] == part.VERSION
    assert (table["gpus"][FIRST]["minor"], "answers" in table["gpus"][FIRST]) == (0, False)
    lost = {"attached", "topology", "affinity", "p2p_read", "nvlink"}
    versions = {"user_space.smi", "user_space.nvml", "user_space.cuda"}
    gpus = {f"gpus.{uuid}.{fact}" for uuid in part.UUIDS for fact in ("state", "answers")}
    assert unread == dict.fromkeys({*lost, *versions, *gpus}, "timeout")
    plant[3].update({" ".join(XML): part.report(range(8))})
    table, unread, _ = found(plant)
    assert (table["attached"], unread["topology"], "gpus" in unread) == (8, "timeout", False)


def test_a_gpu_that_fell_off_the_bus() -> None:
    plant = planted()
    part.lose(plant[3])
    table, unread, _ = found(plant)
    uuid, address = part.UUIDS[part.LOST], part.ADDRESSES[part.LOST]
    assert {key for key, gpu in table["gpus"].items() if not gpu["answers"]} == {uuid}
    assert (unread[f"gpus.{uuid}.state"], table["attached"]) == ("Unknown Error", 7)
    assert table["events"] == {address: {"xid": {"79": 1}, "off_bus": 1}}
    assert unread["topology"] == "of one GPU: Unknown Error"


def test_a_lost_gpu_that_the_module_does_not_list_is_there_all_the_same() -> None:
    plant = planted()
    part.lose(plant[3])
    address = part.ADDRESSES[part.LOST]
    del plant[0][f"/proc/driver/nvidia/gpus/{address}/information"]
    del plant[0][f"/proc/driver/nvidia/gpus/{address}/power"]
    table, unread, _ = found(plant)
    assert table["gpus"][address] == {"address": address, "answers": False}
    assert unread[f"gpus.{address}.state"] == "Unknown Error"
    assert f"gpus.{address}.uuid" in unread


@pytest.mark.parametrize("failure", [
    Result(9, b"NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver.\n"),
    Result(18, b"Failed to initialize NVML: Driver/library version mismatch\nNVML library version: 580.178\n"),
    Result(6, b"No devices were found\n"), Result(None, why="denied"), Result(0, b""),
])
def test_a_failure_is_unread_with_its_text(failure: Result) -> None:
    plant = planted()
    plant[3].update({" ".join(argv): failure for argv in nvidia.SMI})
    table, unread, _ = found(plant)
    first = failure.stdout.split(b"\n")[0].decode()
    assert list(table["gpus"]) == list(part.UUIDS)
    assert first in unread[f"gpus.{FIRST}.state"] and unread["topology"]
    assert (failure.why or str(failure.exit_code)) in unread["user_space.smi"]
    assert "no GPU named" not in unread["nvlink"] or failure.exit_code == 0


def test_nothing_is_loaded_made_or_woken() -> None:
    plant = planted()
    del plant[2]["/dev/nvidia3"]
    _, unread, host = found(plant)
    why = "nvidia-smi is not run: /dev/nvidia3 is not there, and it would make it"
    assert asked(host) == {"journalctl"}
    assert unread["topology"] == unread["attached"] == unread[f"gpus.{FIRST}.state"] == unread["user_space.smi"] == why
    plant = planted()
    for path in list(plant[0]):
        if path.endswith("e1:00.0/power/runtime_status"):
            plant[0][path] = "suspended\n"
    _, unread, host = found(plant)
    assert asked(host) == {"journalctl"}
    assert unread["p2p_read"] == f"nvidia-smi is not run: {part.ADDRESSES[7]} sleeps, and it would wake it"


def test_a_gpu_that_was_never_used() -> None:
    plant = planted()
    address = part.ADDRESSES[0]
    fresh = part.information(0).replace(FIRST, "GPU-????????-????-????-????-????????????")
    plant[0][f"/proc/driver/nvidia/gpus/{address}/information"] = fresh.replace("98.02.5d.00.01", "??.??.??.??.??")
    assert found(plant)[0]["gpus"][FIRST]["vbios"] == "98.02.5d.00.01"
    part.hang(plant[3])
    table, unread, _ = found(plant)
    assert table["gpus"][address]["minor"] == 0 and FIRST not in table["gpus"]
    assert unread[f"gpus.{address}.uuid"] == unread[f"gpus.{address}.vbios"] == "the driver has not read it yet"


def test_what_is_noted_by_address_follows_to_the_uuid() -> None:
    plant = planted()
    plant[0][f"/proc/driver/nvidia/gpus/{part.ADDRESSES[0]}/information"] = DENIED
    table, unread, _ = found(plant)
    assert table["gpus"][FIRST]["name"] == "NVIDIA RTX PRO 6000 Blackwell Server Edition"
    assert unread[f"gpus.{FIRST}"] == "EACCES"


def test_two_gpus_of_one_uuid_are_told_apart_by_address() -> None:
    plant = planted()
    plant[0][f"/proc/driver/nvidia/gpus/{part.ADDRESSES[1]}/information"] = part.information(1).replace(
        part.UUIDS[1], FIRST)
    table, _, _ = found(plant)
    assert len(table["gpus"]) == 8 and set(part.ADDRESSES[:2]) <= set(table["gpus"])


def test_a_card_without_driver() -> None:
    files: dict[str, Content] = {"/sys/module/ext4/": "", "/sys/bus/pci/devices/0000:01:00.0/vendor": "0x10de\n"}
    table, unread, host = found((files, {}, {}, {}))
    assert (table["loaded"], set(table)) == (False, {"loaded", "user_space"})
    assert (unread, asked(host)) == ({"events": "not-found"}, {"journalctl"})


def test_no_card_and_no_driver_is_absent() -> None:
    files: dict[str, Content] = {"/sys/module/ext4/": "", "/sys/bus/pci/devices/0000:01:00.0/vendor": "0x8086\n"}
    with pytest.raises(AbsentError):
        found((files, {}, {}, {}))
    for hidden in ({"/sys/bus/pci/devices/0000:01:00.0/vendor": DENIED}, {"/sys/bus/pci/devices/": DENIED}):
        kept = files if "vendor" in str(hidden) else {"/sys/module/ext4/": ""}
        assert found(({**kept, **hidden}, {}, {}, {}))[0]["loaded"] is False


def test_a_host_that_tells_nothing_is_unknown() -> None:
    table, unread, _ = found(({}, {}, {}, {}))
    assert "loaded" not in table
    assert {"loaded", "driver", "gpus", "topology", "events", "nvlink"} <= set(unread)
    assert unread["topology"] == "nvidia-smi is not run: it is not known whether its module is loaded"
    table, unread, _ = found(({}, {}, {"/run/nvidia-persistenced/socket": DENIED}, {}))
    assert unread["user_space.persistenced"] == "EACCES" and "persistenced" not in table["user_space"]


def test_libraries_by_the_links_that_programs_follow() -> None:
    links = {"/usr/lib/x86_64-linux-gnu/libcuda.so.1": "nvidia/current/libcuda.so.1",
             "/usr/lib/x86_64-linux-gnu/nvidia/current": "/etc/alternatives/nvidia",
             "/usr/lib/x86_64-linux-gnu/nvidia/current/libcuda.so.1": "libcuda.so.550.90.07",
             "/usr/lib64/libcuda.so.1": "libcuda.so.535.54.03", "/usr/lib64/libnvidia-ml.so.1": "../../etc/shadow"}
    files: dict[str, Content] = {
        "/usr/lib/x86_64-linux-gnu/nvidia/current/libcuda.so.550.90.07": b"", "/sys/module/ext4/": ""}
    del links["/usr/lib/x86_64-linux-gnu/nvidia/current"]
    table, unread, _ = found((files, links, {}, {}))
    assert table["user_space"]["libraries"] == {"/usr/lib/x86_64-linux-gnu/libcuda.so.1": "550.90.07"}
    assert unread["user_space.libraries./usr/lib64/libcuda.so.1"] == "leads to no file with a version"  # it dangles
    assert "user_space.libraries./usr/lib64/libnvidia-ml.so.1" in unread


def test_the_fabric_manager() -> None:
    plant = planted()
    config = "# c\nLOG_LEVEL=4\nFABRIC_MODE=0\nBIND_INTERFACE_IP=192.0.2.7\nFABRIC_MODE=1\n"
    plant[0].update({FABRIC_MANAGER: b"", "/usr/share/nvidia/nvswitch/fabricmanager.cfg": config})
    plant[3]["nv-fabricmanager --version"] = "Fabric Manager version is : 580.95.05\n"
    user = found(plant)[0]["user_space"]
    assert (user["fabric_manager"], list(user["fabric_settings"])) == ("580.95.05", ["FABRIC_MODE"])
    mode = user["fabric_settings"]["FABRIC_MODE"]
    assert (mode["value"], mode["origin"]["line"]) == ("1", 5)
    plant[3]["nv-fabricmanager --version"] = Result(1, b"", b"error while loading shared libraries\n")
    assert found(plant)[1]["user_space.fabric_manager"] == "exit 1: error while loading shared libraries"


def test_nics_of_the_topology_are_known_by_address() -> None:
    plant = planted()
    plant[3][" ".join(nvidia.TOPO)] = (
        "\tGPU0\tNIC0\tNIC1\tCPU Affinity\nGPU0\t X \tPIX\tSYS\t0-7\nNIC0\tPIX\t X \tSYS\nNIC1\tSYS\tSYS\t X \n"
        "\nNIC Legend:\n\n  NIC0: mlx5_0\n  NIC1: mlx5_1\n")
    plant[3][" ".join(XML)] = part.report(range(1))
    plant[1]["/sys/class/infiniband/mlx5_0/device"] = "../../../0000:00:01.0"
    table, unread, _ = found(plant)
    assert table["topology"]["ids"] == ["0000:00:01.0", part.ADDRESSES[0], "mlx5_1"]
    assert unread["p2p_read"] == "the report does not tell which GPU is which"  # eight rows, one GPU


@pytest.mark.parametrize(("log", "why"), [
    ("", "exit 1: no output"),
    ("NVRM: Xid (PCI:0000:01:00): 79, gone\n", "the kernel log does not reach back to the boot"),
])
def test_a_log_that_begins_late_may_have_had_more(log: str, why: str) -> None:
    plant = planted()
    plant[3][" ".join(nvidia_events.COMMAND)] = Result(0 if log else 1, log.encode())
    table, unread, _ = found(plant)
    assert unread["events"] == why
    assert ("events" in table) == bool(log)


def junk(content: bytes) -> Callable[[Mapping[str, Content]], dict[str, Content]]:
    return lambda files: {path: content if "nvidia" in path else kept for path, kept in files.items()}


@pytest.mark.parametrize("content", [b"", b"\0", b"\xff\xfe\r\n" * 3000, b"9" * 5000, b"<" * 99, b"Module 1"])
def test_junk_everywhere_is_survived(content: bytes) -> None:
    files, links, nodes, results = planted()
    results.update({question: Result(0, content) for question in results})
    table, unread, _ = found((junk(content)(files), links, nodes, results))
    assert not {"version", "flavour", "uvm_disable_hmm"} & set(table["driver"])
    assert {"driver.version", "driver.flavour", "attached", "topology", "p2p_read", "nvlink", "events"} <= set(unread)


def test_without_root_all_is_there_but_what_is_denied() -> None:
    plant = planted()
    plant[0]["/proc/driver/nvidia/capabilities/mig/config"] = DENIED
    plant[0]["/proc/driver/nvidia/params"] = DENIED
    plant[0]["/sys/module/nvidia_uvm/parameters/uvm_disable_hmm"] = DENIED
    table, unread, _ = found(plant)
    denied = {"driver.capabilities.mig/config", "driver.parameters", "driver.uvm_disable_hmm"}
    assert {path for path, why in unread.items() if why == "EACCES"} == denied
    assert len(table["gpus"]) == 8


def test_capabilities_that_cannot_be_listed_cost_no_more_than_themselves() -> None:
    plant = planted()
    plant[0].update({path: DENIED for path in plant[0] if path.startswith("/proc/driver/nvidia/capabilities/")})
    plant[0]["/proc/driver/nvidia/capabilities"] = DENIED
    table, unread, _ = found(plant)
    assert unread["driver.capabilities"] == "EACCES" and "capabilities" not in table["driver"]
    assert len(table["gpus"]) == 8
