"""What NVIDIA's driver means by an Xid code, and what it asks for.

Xid Catalog, https://docs.nvidia.com/deploy/xid-errors/analyzing-xid-catalog.html: descriptions, and the column
"Resolution Bucket (Immediate Action)"; of 48 and 74, which have a workflow there, "a GPU reset or node reboot is needed
to clear this error". 45 is what the driver writes when it takes an application down, for whatever reason; 154 repeats
what another Xid asks for. A code that is not here has no entry of use.
"""

from __future__ import annotations

from typing import Literal

# none: the GPU is healthy. support: it goes on, and NVIDIA asks to report it. nvlink: the code alone does not tell
Action = Literal["none", "application", "reset", "reboot", "power-cable", "nvlink", "support"]
MEANINGS: dict[Action, dict[int, str]] = {
    "none": {
        14: "injected error", 37: "driver firmware error", 38: "driver firmware error",
        43: "the application was stopped", 44: "graphics engine fault during a context switch",
        45: "the driver took an application down", 63: "memory is remapped at the next reset",
        66: "illegal access by the driver", 67: "illegal access by the driver",
        93: "InfoROM wear limit", 106: "SMBPBI test message", 107: "SMBPBI test message", 121: "corrected C2C errors",
        137: "NVLink privilege error", 141: "CUDA fast path error", 154: "the recovery action changed",
        160: "a memory channel is retired",
    },
    "application": {
        8: "the GPU stopped processing", 11: "invalid push buffer stream", 13: "graphics engine exception",
        25: "invalid push buffer stream", 31: "GPU memory page fault", 32: "invalid push buffer stream",
        39: "copy engine exception", 40: "copy engine exception", 41: "copy engine exception",
        60: "video processor exception", 68: "video decoder exception", 69: "graphics engine class error",
        80: "corrupted data sent to the GPU", 94: "contained memory error",
    },
    "reset": {
        46: "the GPU stopped processing", 48: "uncorrectable memory error", 62: "internal micro-controller halt",
        64: "memory could not be remapped", 74: "NVLink error", 95: "uncontained memory error",
        109: "context switch timeout", 110: "security fault", 119: "GSP does not answer", 120: "GSP error",
        136: "NVLink training failed", 140: "unrecovered ECC error", 143: "the GPU could not be initialised",
        155: "NVLink went down", 156: "a resource was retired", 158: "fatal GPU timeout",
    },
    "reboot": {79: "the GPU has fallen off the bus"},
    "power-cable": {54: "auxiliary power is not connected"},
    "nvlink": dict.fromkeys(range(144, 151), "NVLink error"),
    "support": {92: "high rate of single-bit ECC errors", 157: "a resource could not be retired",
                161: "a memory channel could not be retired"},
}
XIDS: dict[int, tuple[str, Action]] = {
    code: (meaning, action) for action, meanings in MEANINGS.items() for code, meaning in meanings.items()
}
