"""The parts of a Proxmox VE virtual machine's configuration, from /etc/pve/qemu-server/ID.conf.

qm.conf(5); parse_vm_config in src/PVE/QemuServer.pm of qemu-server. As for a container (see ``pve_conf``), but
the pending part is called [PENDING], there are no raw lines, and [special:...] parts (what cloud-init last
wrote, fleecing images) are Proxmox VE's own notes, which no start uses.

Dropped from the lines are what cloud-init gives the guest (user, password, keys, addresses), the machine's
serials, and in ``args`` all that QEMU is handed as text (secret objects, fw_cfg strings, SMBIOS values).
"""

from __future__ import annotations

import re

from ..regexes import regex
from ..sections.base import Origin
from ..sections.lxc import Ignored, Option
from ..sections.qemu import HostPci, MachinePart
from . import lxc_part, pve_conf, pve_options
from .lxc_part import Line
from .secrets import REDACTED

_SPECIAL = regex(r"\[special:[\w-]+\]\s*", re.IGNORECASE | re.ASCII)
_PRIVATE = regex(
    r"((?:ci(?:user|password|custom)|sshkeys|ipconfig[0-9]*|nameserver|searchdomain|smbios1|vmgenid):).*", re.DOTALL
)
_ARGS = regex(r"\b(data|string|value|password|secret)=(?:\"[^\"]*\"|'[^']*'|[^,\s]+)")
_HOSTPCI = regex(r"hostpci(?:[0-9]|1[0-5])")
_PROPERTIES = (
    "host", "mapping", "rombar", "romfile", "pcie", "x-vga", "legacy-igd", "mdev", "vendor-id", "device-id",
    "sub-vendor-id", "sub-device-id", "driver",
)


def parse(text: str, file: str) -> pve_conf.Conf:
    """The parts of FILE."""
    return _Parser().parse(text, file)


def part(section: pve_conf.Section) -> MachinePart:
    """The part of the model that SECTION is."""
    ignored = [entry for entry in section.entries if isinstance(entry, Ignored)]
    options, devices = dict(section.options), {}
    for name, option in section.options.items():
        if _HOSTPCI.fullmatch(name):
            try:
                devices[name] = hostpci(option)
                del options[name]
            except ValueError as error:
                why = f"Proxmox VE: refuses {name}, {error}; the start fails"
                ignored.append(Ignored(why=why, origin=option.origin))
    return MachinePart(
        options=options or None, hostpci=devices or None, deleted=section.deleted or None, ignored=ignored or None
    )


def hostpci(option: Option) -> HostPci:
    """An option hostpciN. ValueError says what is wrong."""
    words = pve_options.properties(option.value, _PROPERTIES, default="host")
    host, mapping = words.pop("host", None), words.pop("mapping", None)
    if (host is None) == (mapping is None):
        raise ValueError("it needs either host or mapping")
    return HostPci(
        host=host.split(";") if host else None, mapping=mapping, options=words or None, origin=option.origin
    )


def redacted_line(line: str) -> str:
    """LINE without what is private to a guest: passwords, users, keys, addresses, identities."""
    if private := _PRIVATE.fullmatch(line):
        return f"{private[1]} {REDACTED}"
    return lxc_part.redacted_line(_ARGS.sub(rf"\1={REDACTED}", line) if line.startswith("args:") else line)


class _Parser(pve_conf.Parser):
    pending = regex(r"\[PENDING\]\s*", re.IGNORECASE | re.ASCII)

    def redacted(self, line: str) -> str:
        return redacted_line(line)

    def line(self, text: str, origin: Origin) -> None:
        if _SPECIAL.fullmatch(text):
            self.section, self.may_delete = pve_conf.Section(), False
        else:
            super().line(text, origin)

    def _raw(self, line: Line) -> None:
        self._ignore(line.origin, "cannot parse the line")
