from __future__ import annotations

from typing import Any

import pytest

from snapshot.derive.guests.lxc_libraries import lxc_libraries

from ...pairs import snapshot
from ...recordings import taken

CONF, LIB = "/etc/pve/lxc/101.conf", "/usr/lib/x86_64-linux-gnu/libcuda.so"


def host(source: str, here: list[str], options: str = "bind,optional", **more: Any) -> dict[str, Any]:
    origin = {"file": CONF, "line": 9, "text": f"lxc.mount.entry: {source} {source[1:]} none {options} 0 0"}
    entry = {"source": source, "target": source[1:], "fstype": "none", "options": options.split(","), "origin": origin}
    container = {"manager": "pve", "config_file": CONF, "hostname": "llm", "live": {"mount_entries": [entry]}} | more
    libraries = {f"/usr/lib{n}/libcuda.so.1": version for n, version in enumerate(here)}
    return {"nvidia": {"driver": {"version": "580.95.05"}, "user_space": {"libraries": libraries}},
            "lxc": {"containers": {"101": container}}}


def row(tables: dict[str, Any]) -> dict[str, Any]:
    found = lxc_libraries(snapshot(tables), None)
    assert not found.unknown
    return found.rows["101"]


def test_the_host_has_another_version() -> None:
    found = row(host(f"{LIB}.570.86.15", ["580.95.05"]))
    assert found["other_versions"] == ["570.86.15"] and found["optional"] and found["entries"][0]["line"] == 9
    assert found["now"] == [f"sed -i '9s/570\\.86\\.15/580.95.05/g' {CONF}", "pct reboot 101"]


def test_plain_lxc_and_hostile_names() -> None:
    tables = host(f"{LIB}.570.86.15", ["580.95.05"], manager="lxc")
    tables["lxc"]["containers"] = {"a b": tables["lxc"]["containers"]["101"]}
    assert lxc_libraries(snapshot(tables), None).rows["a b"]["now"][1:] == ["lxc-stop -n 'a b'", "lxc-start -n 'a b'"]


def test_what_to_put_there_is_known_when_the_host_has_one_version() -> None:
    found = row(host(f"{LIB}.570.86.15", ["580.95.05", "590.10.01"], "bind"))
    assert "now" not in found and found["optional"] is False


@pytest.mark.parametrize("here", [["570.86.15"], ["570.86.15", "580.95.05"], []])
def test_nothing_to_say(here: list[str]) -> None:
    found = row(host(f"{LIB}.570.86.15", here))
    assert "other_versions" not in found and "entries" not in found and "now" not in found


@pytest.mark.parametrize("source", ["/dev/nvidia0", f"{LIB}.1", "/srv/models", "/usr/lib/libssl.so.300.1"])
def test_other_mounts(source: str) -> None:
    assert lxc_libraries(snapshot(host(source, ["580.95.05"])), None).rows == {}


def test_libraries_that_are_unread() -> None:
    tables = host(f"{LIB}.570.86.15", [])
    found = lxc_libraries(snapshot(tables, unread={"nvidia": [["user_space", "libraries"]]}), None)
    assert not found.rows and found.unknown[0]["subject"] == "101"


def test_hosts_without_such_containers() -> None:
    assert lxc_libraries(taken("pve-epyc-after.tar.xz"), None).rows == {}
    assert lxc_libraries(snapshot({}, states={"lxc": "absent"}), None).rows == {}
