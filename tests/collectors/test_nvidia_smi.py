"""Reports of nvidia-smi in all their forms."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fixtures.parts import nvidia as part
from snapshot.collectors.nvidia_fields import FIELDS, meant, state_of
from snapshot.collectors.nvidia_report import LIST, TEXT, XML, combine, read_report
from snapshot.collectors.nvidia_smi import (
    Log,
    failure,
    parse_corrupted,
    parse_list,
    parse_lost,
    parse_text,
    parse_versions,
    parse_xml,
)
from snapshot.errors import ParseError
from snapshot.host.base import Result
from snapshot.sections.nvidia import State

MIB = 1 << 20
ONE = part.report(range(1))
TEXT_REPORT = """
==============NVSMI LOG==============

Driver Version                                         : 590.1
CUDA Version                                           : 13.1

Attached GPUs                                          : 1
GPU 00000000:C1:00.0
    Product Name                                       : NVIDIA H200
    Persistence Mode                                   : Disabled
    MIG Mode
        Current                                        : Enabled
    MIG Device
        Index                                          : 0
        GPU Instance ID                                : 2
        Compute Instance ID                            : 0
        Device Attributes
            Shared
                Multiprocessor count                   : 60
        Shared FB Memory Usage
            Total                                      : 40448 MiB
    MIG Device
        Index                                          : 1
        GPU Instance ID                                : 13
        Compute Instance ID                            : 1
    Serial Number                                      : [Unknown Error]
    GPU UUID                                           : GPU-c1
    Clocks Event Reasons
        Idle                                           : Not Active
        HW Slowdown                                    : Active
            HW Power Brake Slowdown                    : Active
    GPU Power Readings
        Current Power Limit                            : 450.25 W
        Default Power Limit                            : 700.00 W
    Processes
        Process ID                                     : 7034
            Name                                       : /usr/bin/secret
"""


def state(report: Log, n: int = 0) -> State:
    return state_of(report.devices[n].values, report.devices[n].mig)[0]


def test_a_text_report_says_the_same() -> None:
    log = parse_text(TEXT_REPORT)
    found, notes = state_of(log.devices[0].values, log.devices[0].mig)
    assert (log.values["attached_gpus"], log.devices[0].address) == ("1", "0000:c1:00.0")
    assert found.table() == {
        "persistence": False, "mig": True, "power": {"limit_mw": 450_250, "default_mw": 700_000},
        "mig_devices": {"13/1": {}, "2/0": {"multiprocessors": 60, "memory_bytes": 40448 * MIB}},
        "throttle_reasons": ["hw_power_brake_slowdown", "hw_slowdown"],
    }
    assert notes == {("serial",): "Unknown Error"}
    assert "secret" not in str(log)


def test_crlf_is_survived() -> None:
    assert state(parse_text(TEXT_REPORT.replace("\n", "\r\n"))) == state(parse_text(TEXT_REPORT))
    assert state(parse_xml(ONE.replace("\n", "\r\n"))) == state(parse_xml(ONE))


@pytest.mark.parametrize(("element", "path", "value"), [
    ("power_readings><power_limit>300.00 W</power_limit></power_readings", ("power", "requested_mw"), 300_000),
    ("power_readings><enforced_power_limit>9.5 W</enforced_power_limit></power_readings", ("power", "limit_mw"), 9_500),
    (("clocks_throttle_reasons><clocks_throttle_reason_hw_slowdown>Active</clocks_throttle_reason_hw_slowdown>"
      "</clocks_throttle_reasons"), ("throttle_reasons",), ["hw_slowdown"]),
    ("remapped_rows><remapped_row_pending>Yes</remapped_row_pending></remapped_rows",
     ("health", "remapped_rows_pending"), True),
    ("retired_pages><pending_retirement>Yes</pending_retirement></retired_pages",
     ("health", "retired_pages_pending"), True),
    ("gpu_recovery_action>Drain P2P</gpu_recovery_action", ("health", "recovery_action"), "Drain P2P"),
    (("pci><pci_gpu_link_info><link_widths><current_link_width>8x</current_link_width></link_widths>"
      "</pci_gpu_link_info></pci"), ("pcie", "width"), 8),
    ("ecc_mode><pending_ecc>Disabled</pending_ecc></ecc_mode", ("ecc_pending",), False),
])
def test_names_of_old_and_new_drivers(element: str, path: tuple[str, ...], value: object) -> None:
    log = parse_xml(f"<nvidia_smi_log><gpu id='00000000:01:00.0'><{element}></gpu></nvidia_smi_log>")
    found: object = state(log).table()
    for key in path:
        assert isinstance(found, dict)
        found = found[key]
    assert found == value


@pytest.mark.parametrize("text", ["N/A", "[N/A]", "[Not Supported]", ""])
def test_what_a_gpu_does_not_have_is_no_value_and_not_unknown(text: str) -> None:
    assert meant(text) == (None, "")
    assert state_of({"serial": text, "persistence_mode": text}, [])[1] == {}


@pytest.mark.parametrize("text", [
    "Unknown Error", "[Unknown Error]", "GPU requires reset", "[GPU requires reset]", "Insufficient Permissions",
    "[Insufficient Permissions]", "Requested functionality has been deprecated", "GPU is lost", "ERR!",
])
def test_an_error_is_unknown_and_never_a_value(text: str) -> None:
    names = {name: text for _, _, aliases in FIELDS for name in aliases}
    found, notes = state_of(names, [])
    assert found.table() == {}
    assert set(notes.values()) == {text.strip("[]")}
    assert set(notes) == {path[:1] for path, _, _ in FIELDS}


def test_a_value_of_another_form_is_unknown() -> None:
    found, notes = state_of({"fb_memory_usage/total": "20475 furlongs", "persistence_mode": "Maybe"}, [])
    assert found.table() == {}
    assert notes == {("memory_bytes",): "not understood: '20475 furlongs'", ("persistence",): "not understood: 'Maybe'"}


def test_none_is_a_value_of_the_recovery_action() -> None:
    values = {"gpu_recovery_action": "None", "gpu_reset_status/reset_required":
              "Requested functionality has been deprecated"}
    found, notes = state_of(values, [])
    assert (found.table(), notes) == ({"health": {"recovery_action": "None"}}, {})


def test_lines_around_the_report_are_understood() -> None:
    warned = Result(14, f"{ONE}WARNING: infoROM is corrupted at gpu {part.ADDRESSES[0]}\n".encode())
    report = read_report({XML: warned}, "")
    gpus, notes = combine({}, report)
    table = gpus[part.UUIDS[0]].table()
    assert (table["state"]["inforom_corrupted"], table["answers"], table["minor"]) == (True, True, 0)
    assert list(notes) == [part.UUIDS[0]]
    in_front = "Unable to determine the device handle for GPU3: 0000:5F:00.0: Unknown Error\n" + ONE
    report = read_report({XML: Result(0, in_front.encode())}, "")
    assert report.lost == {"0000:5f:00.0": "Unknown Error"} and report.attached == 1


@pytest.mark.parametrize(("line", "address", "why"), [
    ("GPU 0000:02:00.0: GPU is lost.  Reboot the system to recover this GPU", "0000:02:00.0",
     "GPU is lost.  Reboot the system to recover this GPU"),
    ("GPU0000:07:00.0: Unknown Error", "0000:07:00.0", "Unknown Error"),
    ("GPU3: 0000:5F:00.0: Unknown Error", "0000:5f:00.0", "Unknown Error"),
    ("GPU 00000001:C1:00.0: Not Found", "0001:c1:00.0", "Not Found"), ("GPU2: Unknown Error", "", "Unknown Error"),
    ("gpu 0000:23:00.0: Unknown Error", "0000:23:00.0", "Unknown Error"),
    ("gpu0: 0000:23:00.0: Unknown Error", "0000:23:00.0", "Unknown Error"),
])
def test_lost_gpus(line: str, address: str, why: str) -> None:
    assert parse_lost(f"Unable to determine the device handle for {line}\n") == {address: why}


def test_a_recording_may_hold_the_text_or_the_list() -> None:
    absent = Result(None, why="not-recorded")
    report = read_report({XML: absent, TEXT: Result(0, TEXT_REPORT.encode()), LIST: absent}, "")
    assert (report.source, report.cuda, list(combine({}, report)[0])) == ("nvidia-smi -q", "13.1", ["GPU-c1"])
    listed = b"GPU 0: NVIDIA H200 (UUID: GPU-00000000-0000-4000-8000-00000000000a)\n  MIG 1g Device 0: (UUID: MIG-1)\n"
    report = read_report({XML: absent, TEXT: absent, LIST: Result(0, listed)}, "")
    gpus, notes = combine({}, report)
    assert gpus["GPU-00000000-0000-4000-8000-00000000000a"].table() == {
        "uuid": "GPU-00000000-0000-4000-8000-00000000000a", "name": "NVIDIA H200", "answers": True}
    assert notes["GPU-00000000-0000-4000-8000-00000000000a"] == [(("state",), "only the list was recorded")]


def test_entities_are_refused() -> None:
    bomb = "".join(f'<!ENTITY a{n} "{f"&a{n - 1};" * 10}">' for n in range(1, 9))
    for declared in (f'<!ENTITY a0 "ha">{bomb}', '<!ENTITY a8 SYSTEM "file:///etc/passwd">'):
        with pytest.raises(ParseError, match="entity"):
            parse_xml(f'<?xml version="1.0"?><!DOCTYPE x [{declared}]><nvidia_smi_log>&a8;</nvidia_smi_log>')


@pytest.mark.parametrize("text", [
    "", "\0", "<nvidia_smi_log>", "</nvidia_smi_log>", "</nvidia_smi_log><?xml", ONE[: len(ONE) // 2], "<" * 9999,
    ONE.replace("</gpu>", ""), ONE.replace('version="1.0"', 'version="1.0" encoding="none"'),
    "<nvidia_smi_log>\ud800\x01</nvidia_smi_log>",
])
def test_what_is_no_whole_report_is_an_error(text: str) -> None:
    for parse in (parse_xml, parse_text, parse_list):
        with pytest.raises(ParseError):
            parse(text)


def test_depth_and_repetition_are_survived() -> None:
    deep = "<a>" * 5000 + "</a>" * 5000
    assert parse_xml(f"<nvidia_smi_log><gpu id='x'>{deep}</gpu></nvidia_smi_log>").devices[0].address is None
    many = parse_xml("<nvidia_smi_log>" + "<gpu/>" * 300 + "</nvidia_smi_log>")
    gpus, _ = combine({}, read_report({XML: Result(0, b"")}, ""))
    assert (len(many.devices), gpus) == (300, {})


def test_versions() -> None:
    told = "NVIDIA-SMI version  : 610.1\nNVML version : 610.1\nDRIVER version : Deprecated\nCUDA UMD version: 13.3\n"
    assert parse_versions(told) == {"smi": "610.1", "nvml": "610.1", "cuda": "13.3"}
    assert parse_versions("NVML version : N/A\n\0") == {}


@given(st.text())
def test_any_text_is_survived(text: str) -> None:
    for parse in (parse_xml, parse_text, parse_list):
        for dressed in (text, f"<nvidia_smi_log>{text}</nvidia_smi_log>", f"NVSMI LOG\nGPU 0000:01:00.0\n    {text}"):
            try:
                log = parse(dressed)
            except ParseError:
                continue
            for device in log.devices:
                state_of(device.values, device.mig)
    parse_versions(text)
    parse_lost(text)
    parse_corrupted(text)
    failure(Result(1, text.encode("utf-8", "replace")))


@given(st.dictionaries(st.sampled_from([n for _, _, names in FIELDS for n in names]), st.text(max_size=30)))
def test_any_value_is_survived(values: dict[str, str]) -> None:
    state_of(values, [values])


@pytest.mark.parametrize(("kind", "argv", "parse"), [
    ("nvidia-smi-xml", XML, parse_xml), ("nvidia-smi-q", TEXT, parse_text), ("nvidia-smi-L", LIST, parse_list),
])
def test_every_report_of_the_corpus(
    corpus: Path, kind: str, argv: tuple[str, ...], parse: Callable[[str], Log]
) -> None:
    names = []
    for path in sorted((corpus / kind).iterdir()):
        if path.name == "p3200-failed.txt":
            with pytest.raises(ParseError):
                parse(path.read_text())
            continue
        gpus, _ = combine({}, read_report({argv: Result(0, path.read_bytes())}, ""))
        assert gpus and all(gpu.answers and gpu.name for gpu in gpus.values()), path
        names.append(path.name)
        assert kind == "nvidia-smi-L" or all(gpu.state and gpu.state.memory_bytes for gpu in gpus.values()), path
    assert names


def test_key_facts_of_the_corpus(corpus: Path) -> None:
    def of(name: str) -> dict[str, Any]:
        path = corpus / name
        return state(parse_xml(path.read_text()) if name.endswith("xml") else parse_text(path.read_text())).table()

    a100, t4 = of("nvidia-smi-xml/telegraf-a100-sxm4-v12.xml"), of("nvidia-smi-xml/telegraf-tesla-t4.xml")
    assert (a100["mig"], len(a100["mig_devices"])) == (True, 4)
    assert t4["pcie"] == {"max_generation": 3, "generation": 3, "max_width": 16, "width": 8}
    rtx = of("nvidia-smi-xml/telegraf-rtx-3080-v13.xml")
    assert rtx["power"] == {"limit_mw": 320_000, "requested_mw": 320_000, "default_mw": 320_000, "min_mw": 100_000,
                            "max_mw": 336_000}
    assert (rtx["bar1_bytes"], rtx["memory_bytes"], rtx["addressing_mode"]) == (16384 * MIB, 10240 * MIB, "HMM")
    h100 = of("nvidia-smi-q/h100-mig__590.48.01.idle.txt")
    assert (h100["fabric"], sorted(h100["mig_devices"])) == (
        {"state": "Completed", "status": "Success"}, ["10/0", "2/0", "3/0", "9/0"])
    old = of("nvidia-smi-q/xeon-e3-510.73.08.txt")
    assert (old["power"], old["persistence"]) == ({"limit_mw": 39_500, "requested_mw": 39_500, "default_mw": 39_500,
                                                    "min_mw": 30_000, "max_mw": 39_500}, True)


def test_versions_of_the_corpus(corpus: Path) -> None:
    told = {path.name: parse_versions(path.read_text()) for path in sorted((corpus / "nvidia-smi-version").iterdir())}
    assert told["rtx-2080-super__610.57.04.txt"] == {"smi": "610.57.04", "nvml": "610.57", "cuda": "13.3"}
    assert all(set(found) == {"smi", "nvml", "cuda"} for found in told.values())
