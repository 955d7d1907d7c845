"""PCI trees for the tests of derived facts; addresses and names are invented."""

from __future__ import annotations

from typing import Any

ROOT, UP, DOWN1, DOWN2 = "0000:40:01.1", "0000:41:00.0", "0000:42:00.0", "0000:42:01.0"
GPU1, GPU2, NIC = "0000:43:00.0", "0000:44:00.0", "0000:61:00.0"


def express(kind: str, width: int | None = 16, widest: int = 16, **more: Any) -> dict[str, Any]:
    """A capability with a link of WIDTH of WIDEST lanes at 32 GT/s; MORE goes into the link, payload_* beside it."""
    link = {"max_width": widest, "max_speed_gts": 32.0, "autonomous_speed_disabled": False, "target_speed_gts": 32.0}
    link |= {"width": width, "speed_gts": 32.0} if width else {}
    found = {"type": kind, "max_payload_bytes": 256, "max_payload_supported_bytes": 512}
    found |= {key: value for key, value in more.items() if key.startswith("max_payload")}
    return found | {"link": link | {key: value for key, value in more.items() if not key.startswith("max_payload")}}


def function(kind: str, bridges: list[str], code: str = "060400", **more: Any) -> dict[str, Any]:
    """A function of KIND below BRIDGES; MORE are its fields, and link= those of its link."""
    link = more.pop("link", {})
    devices = {"030200": ("10de", "2bb5", "nvidia"), "020000": ("15b3", "1021", "mlx5_core"),
               "010802": ("144d", "a80a", "nvme")}
    vendor, device, driver = devices.get(code, ("1022", "14ab", "pcieport"))
    return {"vendor": vendor, "device": device, "class_code": code, "driver": driver, "bridges": bridges,
            "source": "config", "express": express(kind, **link)} | more


def gpu(bridges: list[str], **more: Any) -> dict[str, Any]:
    return function("endpoint", bridges, "030200", **more)


def plain(**more: Any) -> dict[str, Any]:
    """Section pci: a root port and a GPU below it; MORE is of the GPU."""
    return {"functions": {ROOT: function("root port", []), GPU1: gpu([ROOT], **more)}}


def switched() -> dict[str, Any]:
    """Section pci: two GPUs below a switch, and a NIC below a root port of its own."""
    path = "\\_SB_.S0D1"
    return {"functions": {
        ROOT: function("root port", [], path=f"{path}/01.1", numa_node=1),
        UP: function("upstream port", [ROOT], path=f"{path}/01.1/00.0"),
        DOWN1: function("downstream port", [ROOT, UP], path=f"{path}/01.1/00.0/00.0"),
        DOWN2: function("downstream port", [ROOT, UP], path=f"{path}/01.1/00.0/01.0"),
        GPU1: gpu([ROOT, UP, DOWN1], path=f"{path}/01.1/00.0/00.0/00.0", numa_node=1, iommu_group=7),
        GPU2: gpu([ROOT, UP, DOWN2], path=f"{path}/01.1/00.0/01.0/00.0", numa_node=1, iommu_group=8),
        "0000:60:01.1": function("root port", []),
        NIC: function("endpoint", ["0000:60:01.1"], "020000", numa_node=-1),
    }}
