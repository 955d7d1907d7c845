"""Virtual machines of a Proxmox VE node and PCI resource mappings."""

from __future__ import annotations

import errno
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fixtures import epyc
from fixtures.parts import qemu as part
from snapshot.collectors import pve_mapping, qemu, qemu_conf
from snapshot.errors import AbsentError

from .epyc_parts import planted
from .fake import Content, MemoryHost, gather

DENIED = PermissionError(errno.EACCES, "denied")
NODE = "/etc/pve/nodes/pve1/qemu-server"
CONF = """\
#notes
affinity: 0-15
args: -object secret,id=s0,data=hunter2 -fw_cfg name=opt/x,string=hunter2 -smbios type=11,value=hunter2 -cpu host
cipassword: hunter2
ciuser: alice
hostpci0: 0000:41:00,pcie=1,x-vga=1
hostpci1: mapping=gpu
hugepages: 1024
ipconfig0: ip=192.0.2.7/24
memory: 4096
memory: 8192
name: ai
sshkeys: ssh-ed25519%20AAAA%20alice%40example.org
 cores: 9

[PENDING]
delete: hugepages
memory: 16384

[special:cloudinit]
name: old

[before]
memory: 2048
"""
MAPPING = """\
gpu
\tmap id=10de:2bb5,iommugroup=7,node=pve1,path=0000:41:00.0;0000:42:00.0,subsystem-id=10de:204e
\tmap id=10de:2bb5,node=pve2,path=0000:01:00.0
\tmdev 1
\tdescription text

bad
    map node=pve1,path=../../etc/passwd
    map nonsense
  stray line here
"""
FILES: dict[str, Content] = {
    f"{NODE}/100.conf": CONF, "/etc/pve/nodes/pve2/qemu-server/200.conf": CONF, f"{NODE}/notes.txt": "x",
    "/etc/pve/mapping/pci.cfg": MAPPING,
    "/sys/fs/cgroup/cgroup.controllers": "cpu\n",
    "/sys/fs/cgroup/qemu.slice/100.scope/cgroup.events": "populated 1\nfrozen 0\n",
}
LINKS = {"/etc/pve/qemu-server": "nodes/pve1/qemu-server", "/etc/pve/local": "nodes/pve1"}


def found(files: dict[str, Content], links: dict[str, str] = LINKS) -> tuple[dict[str, Any], dict[str, str]]:
    """The section's table, and of its unread facts the reasons."""
    model, reading = gather(qemu, MemoryHost(files, links))
    return model.table(), {".".join(u.path): u.why for u in reading.unreads}


def test_a_machine_and_its_parts() -> None:
    table, unread = found(FILES)
    assert unread == {} and list(table["machines"]) == ["100"]
    machine = table["machines"]["100"]
    assert (machine["name"], machine["running"]) == ("ai", True)
    live = machine["live"]
    assert live["hostpci"]["hostpci0"]["host"] == ["0000:41:00"]
    assert live["hostpci"]["hostpci0"]["options"] == {"pcie": "1", "x-vga": "1"}
    assert live["hostpci"]["hostpci1"]["mapping"] == "gpu"
    assert live["options"]["hugepages"]["value"] == "1024"
    assert live["options"]["affinity"]["origin"] == {
        "file": "/etc/pve/qemu-server/100.conf", "line": 2, "text": "affinity: 0-15"}
    assert live["options"]["memory"]["value"] == "8192"
    assert [line["origin"]["line"] for line in live["ignored"]] == [10, 14]
    assert machine["pending"]["deleted"] == ["hugepages"]
    assert machine["pending"]["options"]["memory"]["value"] == "16384"
    assert machine["snapshots"]["before"]["options"]["memory"]["value"] == "2048"
    assert list(machine["snapshots"]) == ["before"]


def test_no_secret_user_or_address_is_kept() -> None:
    text = str(found(FILES)[0])
    assert not [word for word in ("hunter2", "alice", "192.0.2.7", "AAAA") if word in text]
    assert "-cpu host" in text


@pytest.mark.parametrize("value", ["pcie=1", "0000:01:00,mapping=x", "0000:01:00,nosuch=1", "host=,pcie=1"])
def test_a_device_that_proxmox_refuses_is_named(value: str) -> None:
    table, _ = found({**FILES, f"{NODE}/100.conf": f"hostpci0: {value}\n"})
    live = table["machines"]["100"]["live"]
    assert "hostpci" not in live and "the start fails" in live["ignored"][0]["why"]
    assert live["options"]["hostpci0"]["value"] == value


def test_mappings_of_this_node() -> None:
    table, _ = found(FILES)
    gpu = table["mappings"]["gpu"]
    assert (gpu["mdev"], gpu["other_nodes"]) == (True, 1)
    (device,) = gpu["devices"]
    assert device.pop("origin")["line"] == 2
    assert device == {"paths": ["0000:41:00.0", "0000:42:00.0"], "id": "10de:2bb5", "subsystem_id": "10de:204e",
                      "iommu_group": 7}
    assert table["mappings"]["bad"] == {}
    assert [line["origin"]["line"] for line in table["ignored"]] == [8, 9]


def test_a_stopped_machine_and_an_old_cgroup() -> None:
    files = {path: content for path, content in FILES.items() if "qemu.slice" not in path}
    assert found(files)[0]["machines"]["100"]["running"] is False
    del files["/sys/fs/cgroup/cgroup.controllers"]
    table, unread = found(files)
    assert "running" not in table["machines"]["100"]
    assert unread == {"machines.100.running": "no cgroup2 alone is mounted here"}


def test_a_host_without_proxmox_is_absent() -> None:
    with pytest.raises(AbsentError):
        found({"/etc/hostname": "a"}, {})
    assert found({"/proc/cmdline": ""}, {})[1]["machines"] == "not there, nor anything beside it"


def test_a_cluster_that_is_down_or_closed_is_unread() -> None:
    table, unread = found({"/etc/pve/": ""}, {})
    assert table == {} and set(unread) == {"machines", "mappings"}
    assert "pve-cluster is not running" in unread["machines"]
    for path in ("/etc/pve/", f"{NODE}/"):
        files: dict[str, Content] = {**{p: c for p, c in FILES.items() if not p.startswith(path)}, path: DENIED}
        links = LINKS if path != "/etc/pve/" else {}
        assert found(files, links) == ({}, {"machines": "EACCES", "mappings": "EACCES"})


def test_one_closed_file_costs_one_machine() -> None:
    table, unread = found({**FILES, f"{NODE}/101.conf": DENIED})
    assert list(table["machines"]) == ["100"] and unread == {"machines.101": "EACCES"}


@pytest.mark.parametrize("junk", [
    b"", b"\0" * 100, b"\xff\xfe" * 3000, b"[" * 9000, CONF.replace("\n", "\r\n").encode(), CONF[:77].encode(),
    b"a: b\n" * 9_000,
])
def test_junk_is_survived(junk: bytes) -> None:
    table, _ = found({**FILES, f"{NODE}/100.conf": junk, "/etc/pve/mapping/pci.cfg": junk})
    assert list(table["machines"]) == ["100"]


@given(st.text(max_size=200) | st.text(alphabet="hostpci0:mapgargs= ,;\n\t[]#PENDI\r", max_size=200))
def test_any_text_is_survived(text: str) -> None:
    conf = qemu_conf.parse(text, "/etc/pve/qemu-server/1.conf")
    for section in (conf.live, *conf.snapshots.values(), *filter(None, [conf.pending])):
        qemu_conf.part(section)
    pve_mapping.parse(text, "pve1")


@pytest.mark.parametrize("kernel", [epyc.BEFORE, epyc.AFTER])
def test_the_story_s_host(kernel: str) -> None:
    model, reading = gather(qemu, planted(part, kernel))
    table = model.table()
    assert reading.unreads == [] and list(table["machines"]) == ["110"]
    assert table["machines"]["110"]["running"] is False
    assert table["machines"]["110"]["live"]["hostpci"]["hostpci0"]["mapping"] == "fabric-vf"
    assert table["mappings"]["fabric-vf"]["devices"][0]["paths"] == ["0000:22:04.1"]
