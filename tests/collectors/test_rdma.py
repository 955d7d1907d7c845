"""RDMA devices."""

from __future__ import annotations

import errno
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fixtures import epyc
from fixtures.parts import net as net_part
from fixtures.parts import rdma as part
from snapshot.collectors import rdma
from snapshot.collectors.rdma import parse_guid, parse_naming, parse_nccl, parse_rate, parse_state
from snapshot.errors import AbsentError, ParseError

from .epyc_parts import planted
from .fake import Content, MemoryHost, gather

CLASS = "/sys/class/infiniband"
GUID = "0200:0300:0000:0100"
DENIED = PermissionError(errno.EACCES, "denied")
DEVICE: dict[str, Content] = {
    f"{CLASS}/mlx5_0/{name}": f"{text}\n" for name, text in {
        "node_guid": GUID, "sys_image_guid": GUID, "node_type": "1: CA", "fw_ver": "28.43.2566",
        "board_id": "MT_0000000834", "hca_type": "MT4129", "ports/1/state": "4: ACTIVE",
        "ports/1/phys_state": "5: LinkUp", "ports/1/rate": "400 Gb/sec (4X NDR)", "ports/1/link_layer": "InfiniBand",
    }.items()
}


def found(files: dict[str, Content]) -> tuple[dict[str, Any], dict[str, str]]:
    """The section's table, and of its unread facts the reasons."""
    model, reading = gather(rdma, MemoryHost(files))
    return model.table(), {".".join(u.path): u.why for u in reading.unreads}


def test_a_device_is_keyed_by_its_guid() -> None:
    none = OSError(errno.EINVAL, "no GID")
    assert found({**DEVICE, f"{CLASS}/mlx5_0/ports/1/gid_attrs/ndevs/0": none}) == ({"devices": {GUID: {
        "name": "mlx5_0", "node_guid": GUID, "system_guid": GUID, "type": "CA", "firmware": "28.43.2566",
        "board": "MT_0000000834", "hca_type": "MT4129", "ports": {"1": {
            "state": "ACTIVE", "phys_state": "LinkUp", "rate_gbps": 400.0, "rate": "4X NDR", "link_layer": "InfiniBand",
        }},
    }}}, {})


def test_devices_that_share_a_guid_or_have_none_are_keyed_by_name() -> None:
    second = {path.replace("mlx5_0", "mlx5_1"): content for path, content in DEVICE.items()}
    assert list(found({**DEVICE, **second})[0]["devices"]) == ["mlx5_0", "mlx5_1"]
    assert list(found({**DEVICE, f"{CLASS}/mlx5_0/node_guid": "0000:0000:0000:0000"})[0]["devices"]) == ["mlx5_0"]


def test_what_cannot_be_read_is_unknown_under_the_key_of_its_device() -> None:
    files = {**DEVICE, f"{CLASS}/mlx5_0/fw_ver": DENIED, f"{CLASS}/mlx5_0/ports/1/rate": "fast\n"}
    assert found(files)[1] == {
        f"devices.{GUID}.firmware": "EACCES", f"devices.{GUID}.ports.1.rate_gbps": "no rate: 'fast'",
        f"devices.{GUID}.ports.1.rate": "no rate: 'fast'",
    }
    assert found({**DEVICE, f"{CLASS}/mlx5_0/node_guid": DENIED})[1] == {"devices.mlx5_0.node_guid": "EACCES"}


def test_no_rdma_is_shown_and_not_guessed() -> None:
    for files in ({"/sys/class/net/lo/mtu": "1"}, {f"{CLASS}/": ""}):
        with pytest.raises(AbsentError):
            gather(rdma, MemoryHost(files))
    assert found({}) == ({"devices": {}}, {"devices": "ENOENT"})
    assert found({f"{CLASS}/": DENIED}) == ({"devices": {}}, {"devices": "EACCES"})


@pytest.mark.parametrize("junk", [b"", b"\0", b"\xff\xfe" * 3000, b"9" * 5000, b"4: \r\n"])
def test_junk_is_survived(junk: bytes) -> None:
    (device,) = found(dict.fromkeys(DEVICE, junk))[0]["devices"].values()
    assert device["name"] == "mlx5_0"
    assert not {"node_guid", "type"} & set(device)


def test_the_first_rules_file_names_devices() -> None:
    rule = "/usr/lib/udev/rules.d/60-rdma-persistent-naming.rules"
    text = '# PROGRAM="rdma_rename %k NAME_PCI"\nSUBSYSTEM=="infiniband", PROGRAM="rdma_rename %k NAME_FALLBACK"\n'
    assert found({**DEVICE, rule: text})[0]["naming"]["policy"] == "NAME_FALLBACK"
    etc = rule.replace("/usr/lib", "/etc")
    own = 'ACTION=="add", PROGRAM="rdma_rename %k NAME_KERNEL"'
    naming = found({**DEVICE, rule: text, etc: own})[0]["naming"]
    assert (naming["policy"], naming["origin"]["file"]) == ("NAME_KERNEL", etc)
    model, _ = gather(rdma, MemoryHost({**DEVICE, rule: text, "/dev/null/": ""}, {etc: "/dev/null"}))
    assert "naming" not in model.table()
    assert found({**DEVICE, rule: DENIED})[1] == {"naming": "EACCES"}


def test_the_first_line_of_nccl_conf_chooses_devices() -> None:
    text = "#NCCL_IB_HCA=no\nNCCL_DEBUG=WARN\nNCCL_IB_HCA ==no\nNCCL_IB_HCA==mlx5_0:1,mlx5_1\nNCCL_IB_HCA=late\n"
    choice = found({**DEVICE, "/etc/nccl.conf": text})[0]["nccl_hca"]
    line = "NCCL_IB_HCA==mlx5_0:1,mlx5_1"
    assert choice == {"value": "=mlx5_0:1,mlx5_1", "origin": {"file": "/etc/nccl.conf", "line": 4, "text": line}}
    assert "nccl_hca" not in found({**DEVICE, "/etc/nccl.conf": "NCCL_IB_HCA\n"})[0]
    assert found({**DEVICE, "/etc/nccl.conf": DENIED})[1] == {"nccl_hca": "EACCES"}


@given(st.text(alphabet="0123456789abcdef: ()Gb/sec.ACTIVE\n"))
def test_only_parse_errors_are_raised(text: str) -> None:
    for parse in (parse_state, parse_rate, parse_guid):
        try:
            parse(text)
        except ParseError:
            continue
    parse_naming(text, "f")
    parse_nccl(text, "f")


def test_rates() -> None:
    assert (parse_rate("2.5 Gb/sec (1X SDR)"), parse_rate("100 Gb/sec")) == ((2.5, "1X SDR"), (100.0, None))


@pytest.mark.parametrize("kernel", [epyc.BEFORE, epyc.AFTER])
def test_the_story_host(kernel: str) -> None:
    model, reading = gather(rdma, planted(net_part, kernel, part))
    table = model.table()
    assert reading.unreads == []
    assert table["naming"]["policy"] == "NAME_FALLBACK"
    assert {d["driver"] for d in table["devices"].values()} == {"mlx5_core"}
    assert {d["name"]: (d["device"], d["ports"]["1"]["state"]) for d in table["devices"].values()} == {
        "rocep34s0f0": ("0000:22:00.0", "ACTIVE"), "rocep34s0f1": ("0000:22:00.1", "DOWN"),
        "rocep162s0f0": ("0000:a2:00.0", "ACTIVE"), "rocep162s0f1": ("0000:a2:00.1", "ACTIVE"),
    }
