from __future__ import annotations

from typing import Any

from snapshot.derive.pci.iommu_groups import iommu_groups

from ...pairs import snapshot

GPU, AUDIO, NIC, PORT = "0000:41:00.0", "0000:41:00.1", "0000:42:00.0", "0000:40:01.1"
CODES = {GPU: "030000", AUDIO: "040300", NIC: "020000", PORT: "060400"}


def host(*groups: tuple[str, ...], **more: dict[str, Any]) -> dict[str, Any]:
    """A host with these groups; MORE are fields of functions, by the names above."""
    fields = {globals()[name]: told for name, told in more.items()}
    members = [member for group in groups for member in group]
    functions = {a: {"vendor": "10de", "device": "1", "class_code": CODES.get(a, "020000"), "source": "config"}
                 | fields.get(a, {}) for a in members}
    shared = {first: rest for first, *rest in groups if rest}
    types = {group[0]: "DMA" for group in groups}
    return {"iommu": {"groups": types, "shared": shared}, "pci": {"functions": functions}}


def rows(now: dict[str, Any], then: dict[str, Any] | None = None) -> dict[str, Any]:
    found = iommu_groups(snapshot(now), snapshot(then) if then else None)
    assert not found.unknown
    return found.rows


def test_a_group_that_took_another_in() -> None:
    found = rows(host((GPU, AUDIO, NIC)), host((GPU, AUDIO), (NIC,)))
    assert found == {GPU: {"functions": [GPU, AUDIO, NIC], "before": [GPU, AUDIO], "joined": [NIC]}}


def test_a_group_that_was_split() -> None:
    assert rows(host((GPU, AUDIO), (NIC,)), host((GPU, AUDIO, NIC)))[GPU]["joined"] == []


def test_a_new_function_joins_and_a_new_virtual_one_does_not() -> None:
    then = host((GPU, AUDIO))
    assert rows(host((GPU, AUDIO, NIC)), then)[GPU]["joined"] == [NIC]
    virtual = host((GPU, AUDIO, NIC), NIC={"physical_function": GPU})
    assert rows(virtual, then)[GPU]["joined"] == []


def test_a_new_function_with_the_lowest_address_is_what_joined() -> None:
    new = "0000:3f:00.0"
    found = rows(host((new, GPU, AUDIO)), host((GPU, AUDIO)))[new]
    assert (found["before"], found["joined"]) == ([GPU, AUDIO], [new])


def test_bridges_count_for_nothing() -> None:
    assert rows(host((PORT, GPU)), host((PORT,), (GPU,))) == {}


def test_without_groups_before_nothing_joined() -> None:
    found = rows(host((GPU, AUDIO)), {"iommu": {"enabled": False}, "pci": {"functions": {}}})
    assert found == {GPU: {"functions": [GPU, AUDIO]}}


def test_what_guests_have() -> None:
    assert rows(host((GPU, AUDIO), GPU={"driver": "vfio-pci"}))[GPU]["guests"] == [GPU]
    origin = {"file": "/etc/pve/qemu-server/105.conf", "line": 1, "text": "hostpci0: 41:00.1"}
    live = {"hostpci": {"hostpci0": {"host": ["41:00.1"], "origin": origin}}}
    given = host((GPU, AUDIO)) | {"qemu": {"machines": {"105": {"config_file": origin["file"], "live": live}}}}
    assert rows(given)[GPU]["guests"] == [AUDIO]


def test_what_was_not_read() -> None:
    for section, name in (("iommu", "groups"), ("iommu", "shared"), ("pci", "functions")):
        found = iommu_groups(snapshot(host((GPU, AUDIO)), unread={section: [[name]]}), None)
        assert not found.rows and [gap["subject"] for gap in found.unknown] == [""]
