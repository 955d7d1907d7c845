"""Registers and power management of PCI functions."""

from __future__ import annotations

from typing import Any

import pytest

from snapshot.derive.tunables.tunable_pci import selects

from ..tuned import Row, action, cmdline, host, rows, verdicts

GPU, BRIDGE = "0000:01:00.0", "0000:00:01.1"


def functions(**more: Any) -> Row:
    express = {
        "type": "endpoint",
        "max_payload_bytes": 256,
        "max_read_request_bytes": 4096,
        "link": {"aspm": [], "autonomous_speed_disabled": False},
    }
    acs = dict.fromkeys(
        (
            "source_validation",
            "translation_blocking",
            "request_redirect",
            "completion_redirect",
            "upstream_forwarding",
            "egress_control",
            "direct_translated",
        ),
        False,
    )
    gpu = {"vendor": "10de", "device": "2bb5", "class_code": "030200", "source": "config", "express": express} | more
    port = {
        "vendor": "1022",
        "device": "1483",
        "class_code": "060400",
        "source": "config",
        "acs": acs,
        "express": {"type": "root port", "max_read_request_bytes": 512, "link": {"aspm": ["L0s", "L1"]}},
    }
    return {"pci": {"functions": {GPU: gpu, BRIDGE: port}}}


def setpci(selector: str, register: str, bits: str, **more: Any) -> Any:
    return action("setpci", selector, register, bits, value=bits, **more)


READS = f"pci {GPU} MaxReadReq"


@pytest.mark.parametrize(
    ("register", "bits", "word"),
    [
        ("CAP_EXP+8.w", "5000:7000", "kept"),
        ("CAP_EXP+08.W", "5936", "kept"),
        ("cap_exp+0x8.w", "2000:7000", "changes"),
        ("CAP10+8.w", "5000:7000", "kept"),
        ("CAP_EXP+9.b", "50:70", "kept"),
        ("CAP_EXP+8.l", "5000:7000", "kept"),
        ("CAP_EXP+8.w", "1000:1000", "may"),
        ("CAP_EXP+8.w", "0010:0010", "reverts"),
        ("CAP_EXP+8.w", "7000:7000", "may"),
        ("68.w", "5936", "may"),
        ("COMMAND", "0002", "may"),
        ("04.w", "0002", "reverts"),
        ("ECAP_ACS+6.w", "0000", "reverts"),
        ("CAP_EXP+8.w", "$V", "may"),
        ("CAP_EXP+8", "5000:7000", "may"),
        ("$REG", "5000:7000", "may"),
        ("CAP_EXP+10.w", "0", "reverts"),
    ],
)
def test_max_read_request(register: str, bits: str, word: str) -> None:
    assert rows(host(**functions()), setpci("10de:", register, bits))[READS]["verdict_boot"] == word


@pytest.mark.parametrize(
    ("selector", "chosen"),
    [
        ("10de:", True),
        ("10de:2bb5", True),
        ("10de:2BB5", True),
        ("10de:2bb6", False),
        ("8086:", False),
        (":2bb5", True),
        ("10de::0302", True),
        ("10de::0300", False),
        (GPU, True),
        ("01:00.0", True),
        ("0000:01:00.1", False),
        ("01:", True),
        ("02:00.0", False),
        ("0001:01:00.0", False),
        ("1:0.0", True),
        ("$d", None),
        ("", None),
        ("*:*:*.*", None),
    ],
)
def test_selectors(selector: str, chosen: bool | None) -> None:
    assert selects(selector, GPU, functions()["pci"]["functions"][GPU]) is chosen


def test_links_and_redirection() -> None:
    after = host(**functions())
    found = rows(
        after,
        setpci("10de:", "CAP_EXP+10.w", "0000:0003"),
        setpci("1022:1483", "ECAP_ACS+6.w", "0011:007f"),
        setpci(BRIDGE, "CAP_EXP+10.w", "0:3"),
        setpci(GPU, "CAP_EXP+30.w", "0020:0020"),
    )
    assert verdicts(found) == {
        READS: "reverts",
        f"pci {GPU} ASPM": "kept",
        f"pci {GPU} HASD": "changes",
        f"pci {BRIDGE} ASPM": "changes",
        f"pci {BRIDGE} ACSCtl.ReqRedir": "kept",
        f"pci {BRIDGE} ACSCtl.CmpltRedir": "kept",
    }
    assert (found[f"pci {BRIDGE} ASPM"]["live"], found[f"pci {BRIDGE} ASPM"]["configured"]) == ("L0s L1", "off")


def test_a_variable_may_mean_any_function() -> None:
    row = rows(host(**functions()), setpci("$d", "CAP_EXP+8.w", "5000:7000"))[READS]
    assert row["verdict_boot"] == "may" and row["maybe"][0]["value"] == "4096"


def test_the_kernel_sets_read_requests_when_told_to() -> None:
    row = rows(host(**functions(), cmdline=cmdline("pci=realloc,pcie_bus_perf")))[READS]
    assert (row["verdict_boot"], row["configured"]) == ("changes", 256)


def test_drivers_of_network_functions_have_their_own_value() -> None:
    assert rows(host(**functions(class_code="020000")))[READS]["verdict_boot"] == "may"


def test_runtime_power_management() -> None:
    after = host(
        power={"runtime_pm": {GPU: "on", BRIDGE: "auto"}, "aspm_policy": "performance"},
        cmdline=cmdline("pcie_aspm.policy=performance"),
        modules={"builtin": {"pcie_aspm": {"parameters": {"policy": "default [performance] powersave"}}}},
    )
    found = rows(after, action("file", f"/sys/bus/pci/devices/{GPU}/power/control", value="on", how="udev"))
    assert verdicts(found) == {
        f"power {GPU} power/control": "kept",
        f"power {BRIDGE} power/control": "may",
        "power pcie_aspm/policy": "kept",
    }
