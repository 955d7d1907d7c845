"""Devices, interfaces, id maps, included files and hooks of containers."""

from __future__ import annotations

from typing import Any

import pytest

from snapshot.derive import Derived, derived
from snapshot.derive.access.remedy import LOAD_FIRST

from ..made import COMMON, COMMON_PART, INCLUDES, USERNS, dev, devices, lxc, origin, part, rule, snapshot


def option(name: str, value: str) -> dict[str, Any]:
    return {name: {"value": value, "origin": origin(6, f"{name}: {value}")}}


def passed(path: str, drop: tuple[str, ...] = (), **more: Any) -> Derived:
    """devN of PATH on a host without the nodes of DROP."""
    options = more.pop("options", {})
    section = lxc(part(devices={"dev0": dev(3, path)}, options=options), **more) | {"nodes": {}}
    return derived("container_devices", snapshot(devices=devices(drop=drop), lxc=section), None)


def test_a_device_that_is_there() -> None:
    row = passed("/dev/nvidia-uvm").rows["101 dev0"]
    assert (row["state"], row["driver"], row["onboot"]) == ("there", "nvidia-uvm", False)
    assert not {"effect", "now", "durable"} & row.keys()


@pytest.mark.parametrize(("path", "now"), [
    ("/dev/nvidia-uvm", ["nvidia-modprobe -c0 -u"]), ("/dev/nvidia0", ["nvidia-modprobe -c0"]), ("/dev/ttyACM0", None),
])
def test_a_device_that_is_missing(path: str, now: list[str] | None) -> None:
    row = passed(path, drop=(path,), running=True, options=option("onboot", "1")).rows["101 dev0"]
    assert (row["state"], row["effect"], row["onboot"]) == ("missing", "will not start again", True)
    assert row.get("now") == now and ("durable" in row) is (path == "/dev/nvidia-uvm")


def test_nodes_of_a_driver_that_is_not_loaded() -> None:
    section = lxc(part(devices={"dev0": dev(3, "/dev/nvidiactl"), "dev1": dev(4, "/dev/ttyACM0")})) | {"nodes": {}}
    host = snapshot(devices={"character": {}, "block": {}, "nodes": {}}, lxc=section)
    rows = derived("container_devices", host, None).rows
    assert rows["101 dev0"]["now"] == [LOAD_FIRST, "nvidia-modprobe -c255"] and rows["101 dev0"]["lacks_driver"]
    assert "now" not in rows["101 dev1"]


def test_a_node_of_a_minor_number_that_no_gpu_has() -> None:
    def side(**gpus: int) -> Any:
        section = lxc(part(devices={"dev0": dev(3, "/dev/nvidia1")})) | {"nodes": {}}
        told = {name: {"uuid": name, "address": f"0000:0{name}:00.0", "minor": minor} for name, minor in gpus.items()}
        return snapshot(devices=devices(drop=("/dev/nvidia1",)), lxc=section, nvidia={"loaded": True, "gpus": told})

    row = derived("container_devices", side(b=0), side(a=0, b=1)).rows["101 dev0"]
    assert row["gpus_gone"] == ["0000:0a:00.0"] and row["now"][0].startswith("# no GPU has the minor number 1")
    row = derived("container_devices", side(a=0, b=1), None).rows["101 dev0"]
    assert row["now"] == ["nvidia-modprobe -c1"] and "gpus_gone" not in row


def test_a_file_in_the_place_of_a_device() -> None:
    nodes = devices()
    nodes["nodes"]["/dev/kfd"] = {"type": "file", "mode": "0644", "uid": 0, "gid": 0}
    section = lxc(part(devices={"dev0": dev(3, "/dev/kfd")}))
    row = derived("container_devices", snapshot(devices=nodes, lxc=section), None).rows["101 dev0"]
    assert (row["state"], row["effect"]) == ("file", "does not start")


def test_the_pending_part_is_merged_and_a_template_never_starts() -> None:
    pending = part(devices={"dev1": dev(20, "/dev/nvidia0")}, deleted=["dev0"])
    assert list(passed("/dev/kfd", pending=pending).rows) == ["101 dev1"]
    assert passed("/dev/kfd", options=option("template", "1")).rows == {}


def test_a_device_that_was_not_recorded_is_unknown() -> None:
    section = lxc(part(devices={"dev0": dev(3, "/dev/ttyACM0")}))
    found = derived("container_devices", snapshot(devices=devices(), lxc=section), None)
    assert [gap["subject"] for gap in found.unknown] == ["101 dev0"] and found.rows == {}
    found = derived("container_devices", snapshot({"devices": ["nodes"]}, devices={"character": {}, "block": {}},
                                                  lxc=section), None)
    assert [gap["subject"] for gap in found.unknown] == ["101 dev0"]


def interface(value: str, mtu: int | None = 1500, **more: Any) -> Derived:
    bridge = {"vmbr0": {"name": "vmbr0", "kind": "bridge"} | ({"mtu": mtu} if mtu else {})}
    section = lxc(part(options=option("net0", value)), **more)
    return derived("container_nets", snapshot(lxc=section, net={"interfaces": bridge}), None)


@pytest.mark.parametrize(("value", "too_large"), [
    ("name=eth0,bridge=vmbr0,mtu=9000", True), ("bridge=vmbr0,mtu=1500", False), ("mtu=1400,bridge=vmbr0", False),
    ("name=eth0,bridge=vmbr0", None), ("name=eth0,bridge=vmbr9,mtu=9000", None), ("bridge=vmbr0,mtu=many", None),
    ("", None),
])
def test_the_mtu_of_an_interface_against_its_bridge(value: str, too_large: bool | None) -> None:
    assert interface(value).rows["101 net0"].get("too_large") is too_large


def test_an_mtu_that_is_too_large_stops_the_start() -> None:
    row = interface("name=eth0,bridge=vmbr0,mtu=9000", running=True).rows["101 net0"]
    assert (row["mtu"], row["bridge_mtu"], row["effect"]) == (9000, 1500, "will not start again")
    assert row["now"] == ["sed -i 6s/mtu=9000/mtu=1500/ /etc/pve/lxc/101.conf"]
    pending = part(options=option("net0", "bridge=vmbr0,mtu=1500"))
    assert interface("bridge=vmbr0,mtu=9000", pending=pending).rows["101 net0"]["too_large"] is False


def test_interfaces_that_could_not_be_read_are_unknown() -> None:
    section = lxc(part(options=option("net0", "bridge=vmbr0,mtu=9000")))
    found = derived("container_nets", snapshot({"net": ["interfaces"]}, lxc=section, net={"interfaces": {}}), None)
    assert [gap["subject"] for gap in found.unknown] == [""]


def idmap(*lines: tuple[str, int, int, int]) -> dict[str, Any]:
    return part(idmap=[
        {"kind": k, "container_id": c, "host_id": h, "count": n, "origin": origin(at, f"lxc.idmap: {k} {c} {h} {n}")}
        for at, (k, c, h, n) in enumerate(lines, 7)
    ])


def given(*ranges: tuple[int, int], who: str = "root") -> dict[str, Any]:
    return {"ranges": {who: [{"start": start, "count": count} for start, count in ranges]}}


def maps(live: dict[str, Any], uids: dict[str, Any] | None, gids: dict[str, Any] | None = None) -> Derived:
    found = {"subuid": uids, "subgid": gids or given((100000, 65536))} if uids else {}
    return derived("container_idmaps", snapshot(lxc=lxc(live, privileged=False), runtimes=found), None)


@pytest.mark.parametrize(("uids", "covered"), [
    (given((100000, 65536)), True), (given((100000, 65536), who="0"), True), (given((0, 1000000)), True),
    (given((100000, 1000), (101000, 64536)), True), (given((101000, 64536), (100000, 1000)), True),
    (given((100000, 65535)), False), (given((100001, 65536)), False), (given((100000, 1000), (101001, 64536)), False),
    (given((100000, 65536), who="1000"), False), ({"others": 3}, False),
])
def test_the_ids_that_proxmox_ve_takes_by_itself(uids: dict[str, Any], covered: bool) -> None:
    row = maps(part(), uids).rows["101 u"]
    assert ("uncovered" not in row) is covered and "lines" not in row


def test_ids_of_lines_that_root_was_not_given() -> None:
    found = maps(idmap(("u", 0, 100000, 65536), ("g", 0, 100000, 44), ("g", 44, 44, 1)), given((100000, 65536)))
    row = found.rows["101 g"]
    assert (row["uncovered"], row["effect"], row["file"]) == ("44:1", "does not start", "/etc/subgid")
    assert row["lines"] == [origin(9, "lxc.idmap: g 44 44 1")]
    assert row["durable"] == ["grep -qxF root:44:1 /etc/subgid || echo root:44:1 >> /etc/subgid"]
    assert "uncovered" not in found.rows["101 u"]


def test_the_hosts_root_needs_nothing() -> None:
    found = maps(idmap(("u", 0, 0, 65536), ("g", 0, 0, 65536)), given((1, 1)))
    assert not any("uncovered" in row for row in found.rows.values())


def test_without_the_file_only_lines_of_its_own_are_unknown() -> None:
    assert maps(part(), None) == Derived()
    found = maps(idmap(("u", 0, 100000, 65536)), None)
    assert [(gap["subject"], gap["why"]) for gap in found.unknown] == [
        ("101 u", "it is not there"), ("101 g", "it is not there"),
    ]
    privileged = derived("container_idmaps", snapshot(lxc=lxc(part()), runtimes={}), None)
    assert privileged == Derived()


def includes(known: dict[str, Any], live: dict[str, Any] | None = None, **more: Any) -> dict[str, dict[str, Any]]:
    section = lxc(live or part(), includes=known, **more)
    return derived("container_includes", snapshot(lxc=section, devices=devices()), None).rows


def test_the_files_that_proxmox_ve_includes() -> None:
    assert {key: row["state"] for key, row in includes(INCLUDES).items()} == {f"101 {COMMON}": "there"}
    rows = includes(INCLUDES, privileged=False)
    assert rows[f"101 {USERNS}"]["state"] == "there" and rows[f"101 {USERNS}"]["shuts_out"] is False
    rows = includes({COMMON: COMMON_PART}, privileged=False)
    assert (rows[f"101 {USERNS}"]["state"], rows[f"101 {USERNS}"]["effect"]) == ("missing", "does not start")
    special = COMMON.replace("common", "debian.common")
    assert list(includes({special: COMMON_PART}, part(options=option("ostype", "debian")))) == [f"101 {special}"]


def test_one_allow_line_shuts_out_the_rest_when_nothing_opens_the_list() -> None:
    bare = INCLUDES | {USERNS: part(rule(1, "", file=USERNS), rule(2, "", "lxc.cgroup2.devices.deny", USERNS))}
    one = part(rule(9, "c 195:* rwm"))
    assert includes(bare, one, privileged=False)[f"101 {USERNS}"]["shuts_out"] is True
    assert includes(bare, part(), privileged=False)[f"101 {USERNS}"]["shuts_out"] is False
    assert includes(INCLUDES, one, privileged=False)[f"101 {USERNS}"]["shuts_out"] is False


def test_a_file_of_which_not_all_is_read_shuts_nobody_out() -> None:
    bare = INCLUDES | {USERNS: part(rule(1, "", file=USERNS), rule(2, "", "lxc.cgroup2.devices.deny", USERNS))}
    section = lxc(part(rule(9, "c 195:* rwm")), includes=bare, privileged=False)
    half = snapshot({"lxc": ["includes", USERNS]}, lxc=section, devices=devices())
    found = derived("container_includes", half, None)
    assert [*found.rows] == [f"101 {COMMON}"] and [gap["subject"] for gap in found.unknown] == [f"101 {USERNS}"]


def test_the_file_of_an_ostype_that_is_unread_is_not_replaced_by_the_common_one() -> None:
    special = USERNS.replace("userns", "debian.userns")
    section = lxc(part(options=option("ostype", "debian")), privileged=False)
    half = snapshot({"lxc": ["includes", special]}, lxc=section, devices=devices())
    assert [gap["subject"] for gap in derived("container_includes", half, None).unknown] == [f"101 {special}"]


def test_a_line_that_includes_what_is_not_there() -> None:
    line = {"value": "/etc/lxc/x.conf", "origin": origin(9, "lxc.include: /etc/lxc/x.conf")}
    for word, state in (("is not there", "missing"), ("includes itself", "loop"), ("is no directory", "missing")):
        ignored = {"why": f"LXC: /etc/lxc/x.conf {word}; the start fails", "origin": line["origin"]}
        live = part(includes=[line], ignored=[ignored])
        row = includes(INCLUDES, live)["101 /etc/lxc/x.conf"]
        assert (row["state"], row["packaged"]) == (state, False)
        assert row["now"] == ["sed -i '9{/lxc.include/d}' /etc/pve/lxc/101.conf"]
    assert includes(INCLUDES, part(includes=[line]))["101 /etc/lxc/x.conf"]["state"] == "there"


def test_an_include_that_was_not_read_is_unknown() -> None:
    line = {"value": "/src", "origin": origin(9, "lxc.include: /src")}
    section = lxc(part(includes=[line]))
    found = derived("container_includes", snapshot({"lxc": ["containers", "101", "live"]}, lxc=section), None)
    assert [gap["subject"] for gap in found.unknown] == ["101 /src"] and list(found.rows) == [f"101 {COMMON}"]
    found = derived("container_includes", snapshot({"lxc": ["includes"]}, lxc=lxc(part(), None)), None)
    assert [gap["subject"] for gap in found.unknown] == [f"101 {COMMON}"] and found.rows == {}


SCRIPT = "/usr/local/sbin/nodes"


def hooked(text: str, unread: dict[str, list[str]] | None = None, called: bool = True) -> Derived:
    """A hook of this line, or that calls a script with this line; nvidia-uvm has 511 now, and 508 before."""
    value = SCRIPT if called else text
    hook = {"key": "lxc.hook.autodev", "value": value, "origin": origin(11, f"lxc.hook.autodev: {value}")}
    script = {"called_by": ["/etc/pve/lxc/101.conf"],
              "lines": [{"text": text, "tools": ["mknod"], "origin": origin(4, text, SCRIPT)}]}
    more = {"hooks": {"/etc/pve/lxc/101.conf": [SCRIPT]}, "scripts": {SCRIPT: script}} if called else {}
    now = snapshot(unread, devices=devices(511), runtimes={}, units={"units": {}} | more, lxc=lxc(part(hooks=[hook])))
    return derived("container_hooks", now, snapshot(devices=devices(508)))


@pytest.mark.parametrize("called", [True, False])
def test_a_hook_that_makes_a_node_with_an_old_number(called: bool) -> None:
    [row] = hooked("mknod ${LXC_ROOTFS_MOUNT}/dev/nvidia-uvm c 508 0", called=called).rows.values()
    assert (row["device"], row["major"], row["now"], row["wrong"]) == ("/dev/nvidia-uvm", 508, [511], True)
    assert row["place"] == (f"{SCRIPT}:4" if called else "/etc/pve/lxc/101.conf:11")
    assert (row["who"], row["option"]) == ("container 101 (llm)", "dev0")


def test_a_hook_with_the_right_number_or_a_variable() -> None:
    [row] = hooked("mknod ${LXC_ROOTFS_MOUNT}/dev/nvidia-uvm c 511 0").rows.values()
    assert "wrong" not in row
    assert hooked("mknod ${LXC_ROOTFS_MOUNT}/dev/nvidia-uvm c $MAJOR 0").rows == {}


def test_scripts_that_could_not_be_read_are_unknown_for_containers_with_hooks() -> None:
    found = hooked("mknod /dev/kfd c 240 0", {"units": ["scripts"]})
    assert [gap["subject"] for gap in found.unknown] == ["101 script "]
    now = snapshot({"units": ["scripts"]}, devices=devices(), units={"units": {}}, lxc=lxc(part()), runtimes={})
    assert derived("container_hooks", now, None) == Derived()
