from __future__ import annotations

from typing import Any

from snapshot.derive.access.render_nodes import render_nodes

from ...pairs import snapshot

A, B = "0000:01:00.0", "0000:81:00.0"
CONF = "/etc/pve/lxc/101.conf"


def gpus(a: str, b: str | None = None, card: str = "card1") -> dict[str, Any]:
    found = {"a": {"unique_id": "a", "address": A, "render": a, "card": card}}
    found |= {"b": {"unique_id": "b", "address": B, "render": b, "card": "card2"}} if b else {}
    return {"amdgpu": {"gpus": found}}


def rows(now: dict[str, Any], then: dict[str, Any]) -> dict[str, Any]:
    found = render_nodes(snapshot(now), snapshot(then))
    assert not found.unknown
    return found.rows


def test_two_that_changed_places() -> None:
    found = rows(gpus("renderD129", "renderD128"), gpus("renderD128", "renderD129"))
    assert found["a"] == {"old_node": "/dev/dri/renderD128", "new_node": "/dev/dri/renderD129", "taken_by": B,
                          "by_path": f"/dev/dri/by-path/pci-{A}-render"}
    assert found["b"]["taken_by"] == A


def test_the_display_node_alone() -> None:
    found = rows(gpus("renderD128", card="card0"), gpus("renderD128"))["a"]
    assert (found["old_node"], found["by_path"]) == ("/dev/dri/card1", f"/dev/dri/by-path/pci-{A}-card")


def test_who_uses_the_old_name() -> None:
    origin = {"file": CONF, "line": 3, "text": "dev0: /dev/dri/renderD128"}
    container = {"manager": "pve", "config_file": CONF, "privileged": True,
                 "live": {"devices": {"dev0": {"path": "/dev/dri/renderD128", "origin": origin}}}}
    nodes = {"nodes": {"/dev/dri/renderD128": {"type": "c"}}}
    cdi = {"/etc/cdi/amd.yaml": {"devices": {"all": nodes}, "common": {}}}
    more = {"lxc": {"containers": {"101": container}}, "runtimes": {"cdi": cdi}}
    found = rows(gpus("renderD129") | more, gpus("renderD128"))["a"]
    assert found["used_by"] == ["/etc/cdi/amd.yaml", "101"]
    assert origin in found["lines"] and {"file": "/etc/cdi/amd.yaml"} in found["lines"]


def test_the_same_names_have_no_row() -> None:
    assert rows(gpus("renderD128", "renderD129"), gpus("renderD128", "renderD129")) == {}
    assert render_nodes(snapshot(gpus("renderD128")), None).rows == {}


def test_a_name_that_is_not_known_on_a_side_tells_nothing() -> None:
    blind = {"amdgpu": {"gpus": {"a": {"unique_id": "a", "address": A}}}}
    assert rows(blind, gpus("renderD128")) == {} and rows(gpus("renderD128"), blind) == {}
