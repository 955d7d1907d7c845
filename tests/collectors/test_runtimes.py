"""Container engines: CDI, Docker, containerd, the NVIDIA runtime, links and id ranges."""

from __future__ import annotations

import errno
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fixtures import epyc
from fixtures.parts import runtimes as part
from snapshot import tomlio
from snapshot.collectors import cdi, engine_conf, runtimes, subids
from snapshot.errors import ParseError

from .epyc_parts import planted
from .fake import Content, MemoryHost, gather

DENIED = PermissionError(errno.EACCES, "denied")
YAML = """\
---
cdiVersion: 0.5.0
kind: nvidia.com/gpu
containerEdits:
  env: [TOKEN=hunter2]
  deviceNodes:
  - path: /dev/nvidia-uvm
    major: 508
    minor: 0
    fileMode: 438
    type: c
  hooks:
  - hookName: createContainer
    path: /usr/bin/nvidia-cdi-hook
    args: [a, b]
  mounts:
  - {hostPath: /usr/lib/libcuda.so.580.95.05, containerPath: /usr/lib/libcuda.so.580.95.05, options: [ro]}
devices:
- name: "0"
  containerEdits:
    deviceNodes:
    - path: /dev/nvidia0
      hostPath: /dev/nvidia0
      permissions: rw
- name: all
  containerEdits: {deviceNodes: [{path: /dev/nvidia0}, {path: /dev/nvidia1}]}
"""
DAEMON = """\
{
  "exec-opts": ["native.cgroupdriver=systemd"],
  "proxies": {"http-proxy": "http://u:hunter2@proxy"},
  "runtimes": {
    "nvidia": {"path": "nvidia-container-runtime", "args": []}
  },
  "features": {"cdi": true},
  "max-concurrent-downloads": 3
}
"""
CONTAINERD = """\
version = 3
imports = ["/etc/containerd/conf.d/*.toml"]
[plugins."io.containerd.cri.v1.runtime"]
  enable_cdi = true
[plugins."io.containerd.cri.v1.runtime".containerd.runtimes.nvidia.options]
  BinaryName = "/usr/bin/nvidia-container-runtime"
  SystemdCgroup = true
[plugins."io.containerd.grpc.v1.cri".registry.configs."r.example".auth]
  password = "hunter2"
"""
FILES: dict[str, Content] = {
    "/etc/cdi/nvidia.yaml": YAML, "/etc/cdi/README": "x", "/etc/docker/daemon.json": DAEMON,
    "/etc/containerd/config.toml": CONTAINERD, "/etc/nvidia-container-runtime/config.toml": part.NVIDIA,
    "/etc/subuid": "root:100000:65536\nalice:165536:65536\n1000:231072:65536\nroot:44:1\nbad\n",
}
LINKS = {"/dev/char/195:0": "../nvidia0", "/dev/char/508:0": "../nvidia-uvm", "/dev/char/511:3": "../hidraw3",
         "/dev/char/1:3": "../null", "/dev/char/234:0": "/dev/nvidia-caps/nvidia-cap1"}


def found(files: dict[str, Content], links: dict[str, str] = LINKS) -> tuple[dict[str, Any], dict[str, str]]:
    """The section's table, and of its unread facts the reasons."""
    model, reading = gather(runtimes, MemoryHost(files, links))
    return model.table(), {".".join(u.path): u.why for u in reading.unreads}


def test_cdi_with_majors_and_paths() -> None:
    table, unread = found(FILES)
    spec = table["cdi"]["/etc/cdi/nvidia.yaml"]
    assert unread == {} and list(table["cdi"]) == ["/etc/cdi/nvidia.yaml"]
    assert (spec["version"], spec["kind"], list(spec["devices"])) == ("0.5.0", "nvidia.com/gpu", ["0", "all"])
    assert spec["common"] == {
        "nodes": {"/dev/nvidia-uvm": {"type": "c", "major": 508, "minor": 0, "mode": "0666"}},
        "mounts": {"/usr/lib/libcuda.so.580.95.05": "/usr/lib/libcuda.so.580.95.05"},
        "hooks": ["/usr/bin/nvidia-cdi-hook"],
    }
    assert spec["devices"]["0"]["nodes"] == {"/dev/nvidia0": {"host_path": "/dev/nvidia0", "permissions": "rw"}}


def test_cdi_in_json_says_the_same() -> None:
    table = {"cdiVersion": "0.6.0", "kind": "a/b", "devices": [{"name": "x", "containerEdits": {"deviceNodes": [
        {"path": "/dev/a", "major": 508, "minor": 1, "fileMode": 432, "type": "c"}, "junk"]}}]}
    spec = cdi.parse(json.dumps(table), "a.json")
    assert spec == cdi.parse(json.dumps(table), "a.yaml")
    nodes = spec.devices["x"].nodes
    assert nodes and nodes["/dev/a"].table() == {"type": "c", "major": 508, "minor": 1, "mode": "0660"}


def test_octal_modes_of_yaml() -> None:
    for written, mode in (("0660", "0660"), ("0o660", "0660"), ("432", "0660"), ("x", None)):
        node = f"{{path: /dev/a, fileMode: {written}}}"
        spec = cdi.parse(f"devices: [{{name: a, containerEdits: {{deviceNodes: [{node}]}}}}]", "a.yaml")
        nodes = spec.devices["a"].nodes
        assert nodes and nodes["/dev/a"].mode == mode


@pytest.mark.parametrize(("text", "why"), [
    ("", "no CDI"), ("devices: 1", "no CDI"), ("[", "no YAML"), ("a: *x", "no YAML"), ("\0", "no YAML"),
    ("a: b\n c: d: e", ":2: no YAML"), ("[" * 50_000, "no YAML"), ("devices: []\n" + "#" * (5 << 20), "MiB"),
    ("e: &e {deviceNodes: [" + "{}," * 300 + "]}\ndevices: [" + "{name: a, containerEdits: *e}," * 300 + "]", "20000"),
])
def test_what_is_no_cdi(text: str, why: str) -> None:
    with pytest.raises(ParseError, match=why):
        cdi.parse(text, "a.yaml")


@pytest.mark.parametrize("text", ["", "{", "[]", "[" * 100_000, '{"devices": 1}', "9" * 5000, "\udcff"])
def test_what_is_no_cdi_in_json(text: str) -> None:
    with pytest.raises(ParseError):
        cdi.parse(text, "a.json")


def test_docker_without_proxies() -> None:
    docker = found(FILES)[0]["docker"]
    assert {name: setting["value"] for name, setting in docker.items()} == {
        "exec-opts": ["native.cgroupdriver=systemd"], "features.cdi": True,
        "runtimes.nvidia.path": "nvidia-container-runtime",
    }
    assert docker["features.cdi"]["origin"]["line"] == 7
    assert "hunter2" not in str(found(FILES))
    runtimes = engine_conf.docker('{"runtimes": {"nvidia-1.17": {"path": "/x", "options": {"a": 1}}}}', "/f")
    assert {name: setting.value for name, setting in runtimes.items()} == {"runtimes.nvidia-1.17.path": "/x"}


def test_containerd_by_file() -> None:
    files = {**FILES, "/etc/containerd/conf.d/99.toml": "version = 2\n[plugins.'io.containerd.grpc.v1.cri'."
             "containerd]\ndefault_runtime_name = 'nvidia'\n"}
    table = found(files)[0]["containerd"]
    settings = table["/etc/containerd/config.toml"]["settings"]
    assert {name.rpartition(".")[2]: s["value"] for name, s in settings.items()} == {
        "enable_cdi": True, "BinaryName": "/usr/bin/nvidia-container-runtime", "SystemdCgroup": True}
    name = "io.containerd.cri.v1.runtime.containerd.runtimes.nvidia.options.SystemdCgroup"
    assert settings[name]["origin"]["line"] == 7
    (other,) = table["/etc/containerd/conf.d/99.toml"]["settings"].values()
    assert other["value"] == "nvidia" and other["origin"]["line"] == 3


def test_the_nvidia_runtime_without_environment() -> None:
    text = part.NVIDIA.replace("environment = []", 'environment = ["TOKEN=hunter2"]')
    table = found({**FILES, "/etc/nvidia-container-runtime/config.toml": text})[0]["nvidia"]
    assert table["nvidia-container-cli.no-cgroups"]["value"] is True
    assert table["nvidia-container-runtime.mode"]["origin"]["text"] == 'mode = "auto"'
    assert "hunter2" not in str(table)


def test_links_of_accelerators_only() -> None:
    table, _ = found(FILES)
    assert table["char_links"] == {"195:0": "../nvidia0", "234:0": "/dev/nvidia-caps/nvidia-cap1",
                                   "508:0": "../nvidia-uvm"}
    assert found({"/dev/char/1:3": ""}, {})[0] == {"char_links": {}}
    assert found({"/etc/hostname": ""}, {}) == ({}, {})


def test_users_are_counted_root_is_kept() -> None:
    assert found(FILES)[0]["subuid"] == {
        "ranges": {"1000": [{"start": 231072, "count": 65536}],
                   "root": [{"start": 100000, "count": 65536}, {"start": 44, "count": 1}]},
        "others": 1,
    }
    assert subids.parse("").table() == {}


def test_without_root_what_is_closed_is_unread() -> None:
    files: dict[str, Content] = {path: DENIED for path in FILES if path.endswith((".yaml", ".json", ".toml", "subuid"))}
    table, unread = found({**files, "/dev/char/": DENIED}, {})
    assert table == {}
    assert unread == dict.fromkeys((
        "cdi./etc/cdi/nvidia.yaml", "docker", "containerd./etc/containerd/config.toml", "nvidia", "subuid",
        "char_links"), "EACCES")


@pytest.mark.parametrize("junk", [b"\0" * 99, b"\xff\xfe" * 999, b"[" * 9000, b'{"a": ' * 9000, b'a = "\\ud800"',
                                  YAML[:99].encode(), b"x" * (300 << 10)])
def test_a_file_that_makes_no_sense_costs_itself(junk: bytes) -> None:
    table, unread = found({**dict.fromkeys(FILES, junk), "/etc/subgid": "root:1:1\n"})
    assert table["subgid"] == {"ranges": {"root": [{"start": 1, "count": 1}]}}
    assert {"docker", "nvidia", "cdi./etc/cdi/nvidia.yaml", "containerd./etc/containerd/config.toml"} == set(unread)


def test_crlf_and_half_characters() -> None:
    files = {path: content.replace("\n", "\r\n") for path, content in FILES.items() if isinstance(content, str)}
    daemon = '{"storage-driver": "\\ud800", "features": {"\\udc00": 1}}'
    table, unread = found({**files, "/etc/docker/daemon.json": daemon})
    assert unread == {} and table["cdi"] == found(FILES)[0]["cdi"]
    assert table["docker"]["storage-driver"]["value"] == "?"
    tomlio.dumps(table)


@given(st.text(max_size=150) | st.text(alphabet='{}[]":,=.\n -devicsnam&*!', max_size=150))
def test_any_text_is_survived(text: str) -> None:
    for parse, file in ((cdi.parse, "a.yaml"), (cdi.parse, "a.json"), (engine_conf.docker, "a"),
                        (engine_conf.containerd, "a"), (engine_conf.nvidia, "a")):
        try:
            tomlio.dumps(parse(text, file).table() if parse in (cdi.parse, engine_conf.containerd) else {})
        except ParseError as error:
            assert len(str(error)) < 900
    subids.parse(text)


@pytest.mark.parametrize("kernel", [epyc.BEFORE, epyc.AFTER])
def test_the_story_s_host(kernel: str) -> None:
    model, reading = gather(runtimes, planted(part, kernel))
    table = model.table()
    assert reading.unreads == []
    assert table["nvidia"]["nvidia-container-cli.no-cgroups"]["value"] is True
    assert table["char_links"] == {} and "docker" not in table
    assert table["subuid"] == table["subgid"] == {"ranges": {"root": [{"start": 100000, "count": 65536}]}}
