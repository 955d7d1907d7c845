from __future__ import annotations

from typing import Any

import pytest

from snapshot.derive.pci import host_map as room
from snapshot.derive.pci.host_map import SECTIONS, host_map
from snapshot.diff import compare
from snapshot.document import Snapshot

from ...pairs import snapshot
from ..machines import DOWN1, DOWN2, GPU1, GPU2, NIC, ROOT, UP, function, plain, switched

CPU = {"nodes": {"0": {"cpus": "0-63"}, "1": {"cpus": "64-127"}, "2": {"cpus": ""}}}
IOMMU = {"enabled": True, "groups": {GPU1: "DMA-FQ", GPU2: "identity"}, "shared": {GPU1: ["0000:43:00.1"]}}


def rows(pci: dict[str, Any], **sections: Any) -> dict[str, dict[str, Any]]:
    return host_map(snapshot({"pci": pci, "cpu": CPU, "iommu": IOMMU, **sections}), None).rows


def acs(**on: bool) -> dict[str, bool]:
    names = ("source_validation", "translation_blocking", "request_redirect", "completion_redirect",
             "upstream_forwarding", "egress_control", "direct_translated")
    return {name: on.get(name, False) for name in names}


def test_a_gpu_below_a_switch() -> None:
    gpus = {"GPU-1": {"uuid": "GPU-1", "address": GPU1}}
    row = rows(switched(), nvidia={"gpus": gpus})[GPU1]
    assert row == row | {
        "noun": "GPU", "uuid": "GPU-1", "bridges": [ROOT, UP, DOWN1], "host_bridge": "pci0000:40",
        "firmware_name": "\\_SB_.S0D1", "root_port": ROOT, "switches": [UP], "switch": UP, "peers": [GPU2],
        "numa_node": 1, "numa_nodes": 2, "local_cpus": "64-127", "iommu_group": 7, "iommu_type": "DMA-FQ",
        "iommu_members": ["0000:43:00.1"], "acs_redirect": [], "path_width": 16, "full_width": 16,
    }
    assert "unknown" not in row and "before" not in row


def test_a_nic_without_a_node_below_a_root_port() -> None:
    interfaces = {"02:00:00:00:00:01": {"name": "eno1", "kind": "physical", "device": NIC}}
    rdma = {"devices": {"1": {"name": "mlx5_0", "device": NIC}}}
    row = rows(switched(), net={"interfaces": interfaces}, rdma=rdma)[NIC]
    assert (row["noun"], row["names"], row["numa_node"]) == ("NIC", ["eno1", "mlx5_0"], -1)
    assert not {"switch", "peers", "local_cpus", "iommu_type"} & row.keys()


def test_the_narrowest_and_slowest_link_of_the_way_is_named() -> None:
    pci = switched()
    pci["functions"][ROOT]["express"]["link"] |= {"max_width": 4, "width": 4, "max_speed_gts": 16.0}
    pci["functions"][UP]["express"]["link"] |= {"width": 4}
    row = rows(pci)[GPU2]
    assert (row["path_width"], row["path_width_at"], row["full_width"]) == (4, UP, 16)
    assert (row["path_max_speed_gts"], row["path_max_speed_at"]) == (16.0, UP)


def test_redirects_of_the_bridges_above() -> None:
    pci = switched()
    pci["functions"][ROOT]["acs"] = acs(completion_redirect=True)
    pci["functions"][DOWN1]["acs"] = acs(request_redirect=True)
    pci["functions"][DOWN2]["acs"] = acs(source_validation=True)
    found = rows(pci)
    assert found[GPU1]["acs_redirect"] == [ROOT, DOWN1] and found[GPU1]["acs_redirect_in_switch"] == [DOWN1]
    assert found[GPU2]["acs_redirect"] == [ROOT] and found[GPU2]["acs_redirect_in_switch"] == []


def test_what_was_not_read_is_named_and_not_guessed() -> None:
    pci = switched()
    del pci["functions"][DOWN1]["express"]
    paths = [["functions", DOWN1, name] for name in ("express", "acs")] + [["functions", GPU1, "numa_node"]]
    del pci["functions"][GPU1]["numa_node"]
    after = snapshot({"pci": pci, "cpu": CPU, "iommu": {"enabled": True}},
                     unread={"pci": paths, "iommu": [["groups"]], "cpu": []})
    row = host_map(after, None).rows[GPU1]
    assert row["unknown"].keys() == {"switches", "root_port", "acs_redirect", "path_width", "numa_node", "iommu_type"}
    assert not {"acs_redirect", "path_width", "numa_node", "iommu_type"} & row.keys()
    assert row["unknown"]["acs_redirect"] == {"source": "/src", "why": "EACCES"}


def test_without_functions_all_is_unknown() -> None:
    found = host_map(snapshot({}, states={"pci": "timeout"}), None)
    assert not found.rows and [u["subject"] for u in found.unknown] == [""]
    assert host_map(snapshot({}, states={"pci": "absent"}), None).unknown == []


def test_nodes_that_could_not_be_read() -> None:
    after = snapshot({"pci": plain(numa_node=0), "cpu": {}}, unread={"cpu": [["nodes"]]})
    row = host_map(after, None).rows[GPU1]
    assert "numa_nodes" not in row and row["unknown"]["numa_nodes"]["why"] == "EACCES"


def test_before_follows_the_function() -> None:
    then, now = plain(numa_node=1, serial="a"), plain()
    now["functions"]["0000:47:00.0"] = now["functions"].pop(GPU1) | {"numa_node": -1, "serial": "a"}
    before = snapshot({"pci": then, "cpu": CPU})
    row = host_map(snapshot({"pci": now, "cpu": CPU}), before).rows["0000:47:00.0"]
    assert row["address_before"] == GPU1 and row["numa_node"] == -1
    assert row["before"]["numa_node"] == 1 and row["before"]["local_cpus"] == "64-127"


def test_a_virtual_machine_shows_no_path() -> None:
    pci = plain()
    pci["functions"][ROOT] = function("root port", [], vendor="1b36", device="000c")
    row = rows(pci)[GPU1]
    assert row["full_width"] == 16 and not {"path_width", "unknown"} & row.keys()


def test_virtual_functions_have_no_row() -> None:
    pci = switched()
    pci["functions"]["0000:61:00.2"] = function("endpoint", ["0000:60:01.1"], "020000", physical_function=NIC)
    assert set(rows(pci)) == {GPU1, GPU2, NIC}


def _loaded(pci: dict[str, Any], **sections: Any) -> Snapshot:
    return Snapshot.loads(snapshot({"pci": pci, "cpu": CPU, "iommu": IOMMU, **sections}).dumps().encode(), "it")


def test_sections_that_say_the_same_are_looked_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    before, after, other = _loaded(switched()), _loaded(switched()), _loaded(plain())
    for one in (before, other):
        compare(one, after)
    expected = host_map(_loaded(switched()), _loaded(switched()))
    rows = room._rows.__wrapped__
    asked: list[Snapshot] = []

    def noted(one: Snapshot) -> Any:
        asked.append(one)
        return rows(one)

    monkeypatch.setattr(room, "_rows", noted)
    assert host_map(after, before) == expected
    assert asked == [after, after]
    asked.clear()
    assert host_map(after, other) != expected
    assert asked == [after, other]


def test_rows_are_made_of_no_other_sections(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: set[str] = set()

    def noting(name: str) -> None:
        method = getattr(Snapshot, name)

        def noted(self: Snapshot, section: str, *rest: Any) -> Any:
            asked.add(section)
            return method(self, section, *rest)

        monkeypatch.setattr(Snapshot, name, noted)

    host = _loaded(switched(), nvidia={"gpus": {"GPU-1": {"uuid": "GPU-1", "address": GPU1}}})
    for name in ("table", "section", "unread"):
        noting(name)
    monkeypatch.setattr(Snapshot, "meta", None, raising=False)
    del host.meta
    assert room._rows.__wrapped__(host)
    assert asked == {*SECTIONS}
