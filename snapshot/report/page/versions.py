"""What is installed and what starts: machine, firmware, system, kernels, the next boot, drivers and their libraries."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ...document import Snapshot
from .figures import few, on, origin, said, size, times
from .sheet import Sheet

Table = Mapping[str, Any]


def versions(sheet: Sheet, snapshot: Snapshot) -> None:
    """The chapter of versions."""
    sheet.chapter("VERSIONS")
    _machine(sheet, snapshot.table("firmware"))
    _system(sheet, snapshot)
    _boot(sheet, snapshot)
    _nvidia(sheet, snapshot)
    amd = snapshot.table("amdgpu")
    sheet.facts("amdgpu", (said(amd, "version", "module "), said(amd, "rocm", "ROCm "), on(amd, "kfd")))
    _packages(sheet, snapshot)


def _machine(sheet: Sheet, table: Table) -> None:
    board, bios = table.get("board", {}), table.get("bios", {})
    sheet.facts("machine", (board.get("system_vendor"), board.get("product"), said(board, "name", "board ")))
    release = " ".join(filter(None, (bios.get("version"), said(bios, "release", "release "))))
    bmc = table.get("bmc", {})
    sheet.facts("firmware", (
        f"BIOS {release}" if release else None, said(bios, "date", "of "), said(bmc, "version", "BMC "),
        said(table, "mode"), on(table, "secure_boot", "Secure Boot"),
        *(f"TPM {version}" for version in table.get("tpm", {}).values()),
    ))
    dimms = table.get("dimms", {}).values()
    sheet.facts("memory slots", (
        f"{len(dimms)} of {table['dimm_slots']} filled" if "dimm_slots" in table else None, *times(map(_dimm, dimms)),
    ))


def _dimm(dimm: Table) -> str:
    words = (size(dimm["size_bytes"]) if "size_bytes" in dimm else None, dimm.get("type"),
             said(dimm, "configured_mts", "at ", " MT/s"))
    slower = dimm.get("configured_mts", 0) < dimm.get("speed_mts", 0) and "configured_mts" in dimm
    return " ".join([*filter(None, words), *([f"(can {dimm['speed_mts']})"] if slower else [])])


def _system(sheet: Sheet, snapshot: Snapshot) -> None:
    table, kernel = snapshot.table("os"), snapshot.table("kernel")
    sheet.facts("system", (
        table.get("pretty_name", table.get("id")), said(table, "proxmox_ve", "Proxmox VE "),
        said(table, "systemd", "systemd "), said(table, "lxc", "LXC "), said(table, "pve_container", "pve-container "),
    ))
    sheet.facts("kernel", (
        kernel.get("release", snapshot.meta.kernel), kernel.get("machine"), said(kernel, "preempt", "preemption "),
        said(kernel, "clocksource", "clocksource "),
        said(kernel, "lockdown", "lockdown ") if kernel.get("lockdown") != "none" else None,
        f"tainted {' '.join(kernel['taints'])}" if kernel.get("taints") else None,
    ))
    sheet.facts("command line", [" ".join(snapshot.table("cmdline").get("tokens", []))])


def _boot(sheet: Sheet, snapshot: Snapshot) -> None:
    kernel, boot = snapshot.table("kernel"), snapshot.table("boot")
    lacks = {release: [what for what in ("image", "initrd", "modules") if not found[what]]
             for release, found in kernel.get("installed", {}).items()}
    sheet.facts("installed", (f"{release} (no {', no '.join(lost)})" if lost else release
                              for release, lost in lacks.items()))
    proxmox, coming, after = boot.get("proxmox", {}), boot.get("next"), boot.get("default")
    sheet.facts("next boot", (
        _choice(coming), said(proxmox, "pin", "pinned "), said(proxmox, "next_boot_pin", "pinned once "),
        f"{'then' if coming else 'by default'} {_choice(after)}" if after and after != coming else None,
        boot.get("loader_info", boot.get("loader")),
    ))
    running = snapshot.table("cmdline").get("tokens", [])
    for name, found in boot.get("configured", {}).items():
        new = [word for word in found["words"] if word not in running]
        if found.get("used") and new:
            where = {f"{o['file']}:{o['line']}" for o in found["origins"]}
            sheet.facts("configured", [f"{', '.join(sorted(where)) or name} also says {' '.join(new)}"])


def _choice(choice: Table | None) -> str | None:
    name = (choice or {}).get("kernel") or (choice or {}).get("entry")
    return f"{name or 'unknown'} ({choice['by']})" if choice else None


def _nvidia(sheet: Sheet, snapshot: Snapshot) -> None:
    table = snapshot.table("nvidia")
    driver, user = table.get("driver", {}), table.get("user_space", {})
    libraries = user.get("libraries")
    sheet.facts("NVIDIA", (
        said(driver, "version", "driver "), driver.get("flavour"),
        "module not loaded" if table.get("loaded") is False else None, said(user, "smi", "nvidia-smi "),
        f"libraries {' and '.join(sorted(set(libraries.values())))}" if libraries else None,
        said(user, "cuda", "CUDA up to "), said(user, "fabric_manager", "fabric manager "),
    ))
    _modules(sheet, snapshot)


def _modules(sheet: Sheet, snapshot: Snapshot) -> None:
    """Of each driver that lies outside the kernel package, which version each installed kernel has."""
    kernels = snapshot.table("modules").get("kernels", {})
    for name in ("nvidia", "zfs", "amdgpu", "mlx5_core"):
        by: dict[str, list[str]] = {}
        for release, found in kernels.items():
            file = found["files"].get(name, {})
            words = " ".join(filter(None, (file.get("version"), file.get("flavour"))))
            by.setdefault(words if file else "none", []).append(release)
        if any(version not in ("", "none") for version in by):
            sheet.facts(f"{name}.ko", (f"{version or 'of the kernel'} for {', '.join(releases)}"
                                       for version, releases in by.items()), "; ")
    for release, found in kernels.items():
        sheet.facts("lacking", [f"{release}: {', '.join(found['missing'])}"] if found["missing"] else [])
        stale = found.get("initramfs", {}).get("stale")
        sheet.facts("initramfs", [f"{release} is older than {', '.join(few(stale, 4))}"] if stale else [])
    _dkms(sheet, snapshot.table("dkms").get("modules", {}))


def _dkms(sheet: Sheet, modules: Table) -> None:
    for name, module in modules.items():
        for version, found in module["versions"].items():
            builds = [f"{build['state']} for {release}" for release, by in found.get("builds", {}).items()
                      for build in by.values()]
            states = ("source missing" if found.get("broken") else None, said(found, "failed_for", "build failed for "),
                      "no autoinstall" if found.get("autoinstall") is False else None)
            sheet.facts("DKMS", (f"{name} {version}", *states, *(builds or ["not built"])))


def _packages(sheet: Sheet, snapshot: Snapshot) -> None:
    table = snapshot.table("packages")
    installed = table.get("installed", {})
    sheet.facts("held packages", (f"{name} {p['version']}" for name, p in installed.items() if p.get("held")))
    sheet.facts("broken packages", (f"{name} {p['state']}" for name, p in installed.items() if "state" in p))
    sheet.facts("pinned", [*_pins(table)], "; ")
    firmware = {d["firmware"] for d in snapshot.table("rdma").get("devices", {}).values() if "firmware" in d}
    sheet.facts("NIC firmware", sorted(firmware))


def _pins(table: Table) -> Iterator[str]:
    for pin in table.get("pins", ()):
        yield f"{pin['packages']} {pin['pin']} ({pin.get('priority', 'no priority')}) {origin(pin)}"
