"""Container engines that give GPUs, and whether systemd manages the cgroups of their containers: from section runtimes.

dockerd(8), native.cgroupdriver; containerd's docs/cri/config.md, SystemdCgroup; NVIDIA Container Toolkit,
Troubleshooting. NVIDIA's hook gives a container its GPUs behind the engine's back, and systemd writes the cgroup anew
without them. Of containerd a runtime counts whose name or program is NVIDIA's; its .cdi one gives by CDI alone. Files
that the main one imports go over it, in order. Of docker: the driver that daemon.json names.

Row keys, by "docker" or "ENGINE RUNTIME"; a key without a value is missing:
    engine    docker, containerd, k3s or rke2
    runtime   name of the runtime; missing of docker
    file      main configuration file
    systemd   systemd manages the cgroups
    option    the setting, as it is written
    origin    {file, line, text} of it
    cdi       its runtime gives GPUs by CDI: told by nvidia-container-runtime.mode, of auto by the toolkit's version
    unknown   {cdi: {source, why}} where the toolkit's file or version was not read
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any

from ...regexes import regex
from ...sections.debversion import order
from ..facts import Derived

if TYPE_CHECKING:
    from ...document import Snapshot

Row = dict[str, Any]
Settings = dict[str, dict[str, Any]]
ENGINES = {"/etc/containerd/config.toml": "containerd"}
PACKAGES = ("nvidia-container-toolkit-base", "nvidia-container-toolkit")
JIT_CDI = "1.18.0"  # first version of the toolkit whose mode auto is CDI
_RUNTIME = regex(r"(?:.*\.)?runtimes\.([^.]+)\.(options\.SystemdCgroup|options\.BinaryName)")
_DRIVER = "native.cgroupdriver="


def engine_cgroups(after: Snapshot, before: Snapshot | None) -> Derived:
    """A row for each engine, or runtime of it, whose setting tells who manages the cgroups. BEFORE adds nothing."""
    del before
    found, section = Derived(), after.table("runtimes")
    for part in ("docker", "containerd"):
        if fact := after.unread("runtimes", (part,)):
            found.unknown.append(_unknown(part, fact.source, fact.why))
    found.rows.update(_docker(section.get("docker", {})))
    files = section.get("containerd", {})
    for file in (one for one in files if one not in _drop_ins(files)):
        for name, row in _runtimes(file, _merged(files, file)):
            found.rows[f"{row['engine']} {name}"] = row | _by_cdi(after)
    return found


def _unknown(subject: str, source: str, why: str) -> Row:
    return {"subject": subject, "what": "who manages the cgroups of containers", "source": source, "why": why}


def _docker(settings: Settings) -> dict[str, Row]:
    options = settings.get("exec-opts", {})
    drivers = [word for word in options.get("value", ()) if word.startswith(_DRIVER)]
    if not drivers:
        return {}
    row = {"engine": "docker", "file": options["origin"]["file"], "option": drivers[-1], "origin": options["origin"]}
    return {"docker": row | {"systemd": drivers[-1] == f"{_DRIVER}systemd"}}


def _drop_ins(files: dict[str, Row]) -> set[str]:
    return {file for file in files if re.search(r"/conf(ig)?\.d/", file)}


def _merged(files: dict[str, Row], main: str) -> Settings:
    """The settings of MAIN and over them those of the drop-ins that it imports."""
    patterns = files[main].get("imports", ())
    imported = [name for name in sorted(_drop_ins(files)) if any(fnmatchcase(name, one) for one in patterns)]
    settings: Settings = {}
    for file in (main, *imported):
        settings |= files[file].get("settings", {})
    return settings


def _runtimes(file: str, settings: Settings) -> Iterator[tuple[str, Row]]:
    """NVIDIA's runtimes with the setting, by name."""
    runtimes: dict[str, Settings] = {}
    for key, setting in settings.items():
        if found := _RUNTIME.fullmatch(key):
            runtimes.setdefault(found[1], {})[found[2].removeprefix("options.")] = setting
    engine = ENGINES.get(file) or next((one for one in ("k3s", "rke2") if f"/{one}/" in file), "containerd")
    for name, told in runtimes.items():
        program = str(told.get("BinaryName", {}).get("value", ""))
        ours = "nvidia" in name or "nvidia-container-runtime" in program
        if ours and "SystemdCgroup" in told and not (program.endswith(".cdi") or name == "nvidia-cdi"):
            setting = told["SystemdCgroup"]
            yield name, {
                "engine": engine, "runtime": name, "file": file, "systemd": setting["value"] is True,
                "option": f"SystemdCgroup = {str(setting['value']).lower()}", "origin": setting["origin"],
            }


def _by_cdi(after: Snapshot) -> Row:
    mode = after.table("runtimes").get("nvidia", {}).get("nvidia-container-runtime.mode", {}).get("value")
    if mode not in (None, "auto"):
        return {"cdi": mode in ("cdi", "jit-cdi")}
    installed = after.table("packages").get("installed", {})
    versions = [installed[name]["version"] for name in PACKAGES if name in installed]
    fact = after.unread("runtimes", ("nvidia",)) or (None if versions else after.unread("packages", ("installed",)))
    if fact:
        return {"unknown": {"cdi": {"source": fact.source, "why": fact.why}}}
    return {"cdi": any(order(version) >= order(JIT_CDI) for version in versions)}
