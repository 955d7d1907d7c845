"""Containers and their devices, virtual machines and what they are given, container engines."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ...document import Snapshot
from ...regexes import regex
from ..paper import plural
from .figures import few, numbered, origin, said
from .sheet import Sheet

Table = Mapping[str, Any]
RUNNING = {True: "running", False: "stopped", None: "running or not is unknown"}
PRIVILEGE = {True: "privileged", False: "unprivileged", None: "privileged or not is unknown"}
_RULE = regex(r"([bc]) ([0-9]{1,10}):")


def guests(sheet: Sheet, snapshot: Snapshot) -> None:
    """The chapter of containers and virtual machines."""
    sheet.chapter("GUESTS: device numbers are those of the host's nodes now")
    devices = snapshot.table("devices")
    for identifier, found in snapshot.table("lxc").get("containers", {}).items():
        _container(sheet, identifier, found, devices)
    functions = snapshot.table("pci").get("functions", {})
    qemu = snapshot.table("qemu")
    for identifier, found in qemu.get("machines", {}).items():
        _machine(sheet, identifier, found, qemu.get("mappings", {}), functions)
    _runtimes(sheet, snapshot.table("runtimes"))
    _majors(sheet, devices)


def _container(sheet: Sheet, identifier: str, found: Table, devices: Table) -> None:
    live = found["live"]
    options = live.get("options", {})
    sheet.facts(f"CT {identifier}", (
        found.get("hostname"), RUNNING[found.get("running")], PRIVILEGE[found.get("privileged")],
        *(f"{name} {options[name]['value']}" for name in ("cores", "memory", "onboot") if name in options),
        *(f"feature {name}" for name in live.get("features", {})), "changes pending" if "pending" in found else None,
        found["config_file"],
    ))
    for name, device in live.get("devices", {}).items():
        extra = "".join(said(device, key, f" {key} ") or "" for key in ("mode", "uid", "gid"))
        sheet.sourced(name, f"{_node(device['path'], devices)}{extra}", [origin(device)], 4)
    for rule in live.get("device_rules", ()):
        verb = "allow" if rule["key"].endswith("allow") else "deny"
        sheet.sourced(f"rule {verb}", f"{rule['value']}{_meaning(rule['value'], devices)}", [origin(rule)], 4)
    nodes = [entry["source"] for entry in live.get("mount_entries", ()) if entry["source"].startswith("/dev/")]
    numbers: dict[str, list[str]] = {}
    for node in nodes:
        numbers.setdefault(_number(node, devices), []).append(node)
    sheet.facts("mounts", (f"{' '.join(numbered(names))} ({number})" for number, names in numbers.items()), indent=4)
    for ignored in live.get("ignored", ()):
        sheet.facts("ignored line", [f"{origin(ignored)} {ignored['origin']['text']}: {ignored['why']}"], indent=4)


def _node(path: str, devices: Table) -> str:
    node = devices.get("nodes", {}).get(path, {})
    return f"{path} {node['major']}:{node['minor']}" if "major" in node and "minor" in node else (
        f"{path} ({_number(path, devices)})")


def _number(path: str, devices: Table) -> str:
    """The major number behind a path; of other things what they are."""
    nodes = devices.get("nodes", {})
    if path in nodes:
        return f"major {nodes[path]['major']}" if "major" in nodes[path] else str(nodes[path]["type"])
    below = {str(node["major"]) for name, node in nodes.items() if name.startswith(f"{path}/") and "major" in node}
    return f"directory, major {' '.join(sorted(below))}" if below else "no node recorded"


def _meaning(rule: str, devices: Table) -> str:
    """Which driver of the host has the major of a rule now."""
    found = _RULE.match(rule)
    kinds = {"c": devices.get("character"), "b": devices.get("block")}
    if not found or kinds[found[1]] is None:
        return ""
    names = [name for name, majors in (kinds[found[1]] or {}).items() if int(found[2]) in majors]
    return f" ({', '.join(few(names, 3))} now)" if names else f" (no driver has major {found[2]} now)"


def _machine(sheet: Sheet, identifier: str, found: Table, mappings: Table, functions: Table) -> None:
    options = found["live"].get("options", {})
    sheet.facts(f"VM {identifier}", (
        found.get("name"), RUNNING[found.get("running")],
        *(f"{name} {options[name]['value']}" for name in ("cores", "sockets", "memory", "cpu", "affinity", "hugepages",
                                                          "numa", "onboot") if name in options),
        "changes pending" if "pending" in found else None, found["config_file"],
    ))
    for name, given in found["live"].get("hostpci", {}).items():
        mapped = mappings.get(given.get("mapping", ""), {}).get("devices", ())
        hosts = given.get("host") or [path for device in mapped for path in device["paths"]]
        by = f"mapping {given['mapping']}: " if "mapping" in given else ""
        words = "".join(f" {key}={value}" for key, value in given.get("options", {}).items())
        where = ", ".join(_function(host, functions) for host in hosts) or "no device on this node"
        sheet.sourced(name, f"{by}{where}{words}", [origin(given)], 4)


def _function(address: str, functions: Table) -> str:
    full = address if address.count(":") > 1 else f"0000:{address}"
    own = [f.get("driver", "no driver") for a, f in functions.items() if a == full or a.startswith(f"{full}.")]
    return f"{address} ({', '.join(own) or 'no such function'})"


def _runtimes(sheet: Sheet, table: Table) -> None:
    for path, cdi in table.get("cdi", {}).items():
        edits = [cdi["common"], *cdi["devices"].values()]
        majors = sorted({str(node["major"]) for e in edits for node in e.get("nodes", {}).values() if "major" in node})
        sheet.facts("CDI", (cdi.get("kind"), plural(len(cdi["devices"]), "device"),
                            f"majors {' '.join(majors)}" if majors else None, path))
    for title, settings in (("docker", table.get("docker")), ("NVIDIA runtime", table.get("nvidia")), *(
            (f"containerd {path}", part.get("settings")) for path, part in table.get("containerd", {}).items())):
        sheet.facts(title, _settings(settings or {}))
    if table.get("char_links"):
        sheet.facts("/dev/char links", few([f"{key} {to}" for key, to in table["char_links"].items()], 6))


def _settings(settings: Table) -> Iterator[str]:
    for name, setting in settings.items():
        value = setting["value"]
        word = str(value).lower() if isinstance(value, bool) else value
        yield f"{name} {' '.join(value) if isinstance(value, list) else word}"


def _majors(sheet: Sheet, devices: Table) -> None:
    """The majors of accelerators, which device rules name."""
    sheet.facts("device majors", (f"{name} {' '.join(map(str, numbers))}" for name, numbers in
                                  devices.get("character", {}).items()
                                  if name.startswith(("nvidia", "kfd", "drm", "vfio", "infiniband", "accel"))))
    nodes = [path for path, node in devices.get("nodes", {}).items() if "major" in node]
    sheet.facts("device nodes", numbered(nodes), " ")
