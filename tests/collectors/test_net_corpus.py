"""Network, RDMA and block devices of the real machine in the public files whose /sys has them."""

from __future__ import annotations

import tarfile
from pathlib import Path

import pytest

from snapshot.collectors import net, rdma, storage
from snapshot.sections.net import Net
from snapshot.sections.rdma import Rdma
from snapshot.sections.storage import Storage

from .fake import Content, MemoryHost, gather

TREE = "cpu-sysfs-tree/hwloc-40intel64-2g2n4c+pcilocality.tar.bz2"
PARTS = ("/sys/class/net", "/sys/class/infiniband", "/sys/block", "/sys/devices/pci", "/sys/bus/pci")


@pytest.fixture(scope="module")
def host(corpus: Path) -> MemoryHost:
    """The tree, without what else is in it."""
    files: dict[str, Content] = {}
    links: dict[str, str] = {}
    with tarfile.open(corpus / TREE) as tree:
        for member in tree:
            path = f"/{member.name.partition('/')[2]}"
            if path.startswith(PARTS) and member.issym():
                links[path] = member.linkname
            elif path.startswith(PARTS) and (content := tree.extractfile(member)):
                files[path] = content.read()
    return MemoryHost(files, links)


def test_interfaces_of_the_tree(host: MemoryHost) -> None:
    model, reading = gather(net, host)
    assert isinstance(model, Net)
    assert {i.name: (i.driver, i.device, i.operstate, i.speed_mbps, i.mtu) for i in model.interfaces.values()} == {
        "eth0": ("bnx2", "0000:02:00.0", "up", 1000, 1500), "eth1": ("bnx2", "0000:02:00.1", "down", None, 1500),
        "eth2": ("bnx2", "0000:03:00.0", "down", None, 1500), "eth3": ("bnx2", "0000:03:00.1", "down", None, 1500),
        "ib0": ("ib_qib", "0000:43:00.0", "up", None, 2044),
    }
    assert all(key == interface.permanent_mac for key, interface in model.interfaces.items())
    assert {u.why for u in reading.unreads} == {"not-found"}  # ethtool
    assert len(next(i for i in model.interfaces.values() if i.name == "ib0").permanent_mac or "") == 23


def test_rdma_devices_of_the_tree(host: MemoryHost) -> None:
    model, reading = gather(rdma, host)
    assert isinstance(model, Rdma)
    (device,) = model.devices.values()
    assert (device.name, device.type, device.board, device.device) == (
        "qib0", "CA", "InfiniPath_QLE7340", "0000:43:00.0")
    port = (device.ports or {})["1"]
    assert (port.state, port.phys_state, port.rate_gbps, port.rate) == ("ACTIVE", "LinkUp", 40.0, "4X QDR")
    assert not reading.unreads


def test_block_devices_of_the_tree(host: MemoryHost) -> None:
    model, reading = gather(storage, host)
    assert isinstance(model, Storage)
    disk = next(block for block in model.blocks.values() if block.name == "sda")
    assert (disk.model, disk.driver, disk.device) == ("DELL PERC H700", "sd", "0000:01:00.0")
    assert {u.path: u.why for u in reading.unreads} == {("mounts",): "ENOENT", ("left_out",): "ENOENT"}
