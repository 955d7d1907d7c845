"""The kernel command line."""

from collections.abc import Mapping
from typing import Annotated, Literal

from .base import EVIDENCE, Model, field

VOLATILE_KEYS: Mapping[str, tuple[str, ...]] = {"parameters": ("BOOT_IMAGE", "initrd")}
"""Field -> patterns (fnmatch) of its keys that change though nobody changed a setting, for the diff to
leave out: the boot loader writes the paths of the kernel and the initrd that it loaded."""


class Cmdline(Model):
    """The tokens of /proc/cmdline, in order and by name."""

    tokens: Annotated[list[str], EVIDENCE] = field(
        description="every token in order as it stands in /proc/cmdline, quotes kept, secret values replaced"
    )
    parameters: dict[str, list[str | Literal[True]]] = field(
        description="name with - as _ -> its values in order, without quotes; true for a flag without ="
    )
    init_arguments: list[str] | None = field(
        default=None, description="what stands behind --, for PID 1; kmod and systemd look there too"
    )
