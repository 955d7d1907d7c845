from __future__ import annotations

from typing import Any

import pytest

from snapshot.derive import Derived
from snapshot.derive.guests.engine_cgroups import engine_cgroups

from ..made import origin, snapshot

MAIN, DROP_IN = "/etc/containerd/config.toml", "/etc/containerd/conf.d/99-nvidia.toml"
K3S = "/var/lib/rancher/k3s/agent/etc/containerd/config.toml"
CRI = "io.containerd.cri.v1.runtime.containerd.runtimes"
TOOLKIT = {"installed": {"nvidia-container-toolkit-base": {"version": "1.17.8-1"}}}


def setting(value: Any) -> dict[str, Any]:
    return {"value": value, "origin": origin(3, "x", MAIN)}


def runtime(name: str = "nvidia", systemd: bool = True, program: str = "", **more: Any) -> dict[str, Any]:
    settings = {f"{CRI}.{name}.options.SystemdCgroup": setting(systemd)}
    settings |= {f"{CRI}.{name}.options.BinaryName": setting(program)} if program else {}
    return {"settings": settings} | more


def found(packages: dict[str, Any] | None = TOOLKIT, unread: Any = None, **runtimes: Any) -> Derived:
    sections = {"runtimes": runtimes} | ({"packages": packages} if packages is not None else {})
    return engine_cgroups(snapshot(unread, "EACCES", **sections), None)


def test_docker_names_its_driver() -> None:
    for word, systemd in (("systemd", True), ("cgroupfs", False)):
        rows = found(docker={"exec-opts": setting(["a=b", f"native.cgroupdriver={word}"])}).rows
        assert (rows["docker"]["systemd"], rows["docker"]["option"]) == (systemd, f"native.cgroupdriver={word}")
    for other in ({"exec-opts": setting(["a=b"])}, {"features.cdi": setting(True)}):
        assert found(docker=other).rows == {}


@pytest.mark.parametrize(("file", "table", "key"), [
    (MAIN, runtime(), "containerd nvidia"),
    (MAIN, runtime("runc", program="/usr/bin/nvidia-container-runtime"), "containerd runc"),
    (K3S, runtime(), "k3s nvidia"),
    (MAIN, runtime("runc"), ""),
    (MAIN, runtime("nvidia-cdi"), ""),
    (MAIN, runtime("x", program="/usr/bin/nvidia-container-runtime.cdi"), ""),
    (MAIN, {"settings": {f"{CRI}.nvidia.options.BinaryName": setting("/usr/bin/nvidia-container-runtime")}}, ""),
    (MAIN, {}, ""),
])
def test_runtimes_of_nvidia_with_the_setting(file: str, table: dict[str, Any], key: str) -> None:
    assert [*found(containerd={file: table}).rows] == ([key] if key else [])


def test_what_the_main_file_imports_goes_over_it() -> None:
    files = {MAIN: runtime(imports=["/etc/containerd/conf.d/*.toml"]), DROP_IN: runtime(systemd=False)}
    (row,) = found(containerd=files).rows.values()
    assert (row["systemd"], row["option"], row["file"]) == (False, "SystemdCgroup = false", MAIN)
    files[MAIN] = runtime()
    (row,) = found(containerd=files).rows.values()
    assert row["systemd"], "nobody imports it"


@pytest.mark.parametrize(("mode", "packages", "cdi"), [
    ("cdi", TOOLKIT, True), ("legacy", {"installed": {"nvidia-container-toolkit": {"version": "1.18.0-1"}}}, False),
    ("auto", TOOLKIT, False), ("auto", {"installed": {"nvidia-container-toolkit": {"version": "1.18.1-1"}}}, True),
    (None, {"installed": {}}, False), (None, None, None),
])
def test_whether_it_gives_by_cdi(mode: str | None, packages: dict[str, Any] | None, cdi: bool | None) -> None:
    toolkit = {"nvidia": {"nvidia-container-runtime.mode": setting(mode)}} if mode else {}
    (row,) = found(packages, containerd={MAIN: runtime()}, **toolkit).rows.values()
    assert row.get("cdi") is cdi and ("cdi" in row.get("unknown", {})) is (cdi is None)


def test_unread_is_unknown() -> None:
    for part in ("docker", "containerd"):
        (gap,) = found(unread={"runtimes": [part]}).unknown
        assert (gap["subject"], gap["why"]) == (part, "EACCES")
    (row,) = found(unread={"runtimes": ["nvidia"]}, containerd={MAIN: runtime()}).rows.values()
    assert row["unknown"]["cdi"]["why"] == "EACCES"
    assert [gap["subject"] for gap in engine_cgroups(snapshot(), None).unknown] == ["docker", "containerd"]
