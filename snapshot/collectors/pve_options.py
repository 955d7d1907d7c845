"""The options of a Proxmox VE container that hold properties, from a line such as dev0: /dev/kfd,gid=44.

pct.conf(5); parse_property_string in PVE/JSONSchema.pm of pve-common, dev_desc and features_desc in
src/PVE/LXC/Config.pm of pve-container. A string that does not fit makes the start fail.
"""

from __future__ import annotations

import re
from collections.abc import Collection

from ..sections.lxc import Option, PassedDevice

FEATURES = ("force_rw_sys", "fuse", "keyctl", "mknod", "mount", "nesting")
_TRUE, _FALSE = ("1", "on", "yes", "true"), ("0", "off", "no", "false")


def boolean(text: str) -> bool:
    """A boolean as Proxmox VE reads it. ValueError when it is none."""
    if text.lower() not in _TRUE + _FALSE:
        raise ValueError(f"{text!r} is neither 1 nor 0")
    return text.lower() in _TRUE


def properties(text: str, names: Collection[str], default: str | None = None) -> dict[str, str]:
    """A string "a=1,b=2" as a table; a word without = is for DEFAULT. ValueError says what is wrong."""
    found: dict[str, str] = {}
    for word in filter(str.strip, text.split(",")):
        name, separator, value = word.partition("=")
        if not separator and default is not None:
            name, value = default, word
        if not value or name not in names:
            raise ValueError(f"{word!r} is no property of it")
        if name in found:
            raise ValueError(f"{name} stands twice")
        found[name] = value
    return found


def features(option: Option) -> dict[str, Option]:
    """The features option by name. ValueError says what is wrong."""
    words = properties(option.value, FEATURES)
    return {name: Option(value=value, origin=option.origin) for name, value in words.items()}


def device(option: Option) -> PassedDevice:
    """An option devN. ValueError says what is wrong."""
    words = properties(option.value, ("path", "mode", "uid", "gid", "deny-write"), default="path")
    path, mode, deny = words.get("path", ""), words.get("mode"), words.get("deny-write")
    if not path.startswith("/dev/") or re.search(r"/\.\.?(?:/|$)", path):
        raise ValueError(f"{path!r} is no path of a device")
    if mode is not None and not re.fullmatch(r"0[0-7]{3}", mode):
        raise ValueError(f"mode {mode!r} is not 0 and three octal digits")
    return PassedDevice(
        path=path, mode=mode, uid=_id(words.get("uid")), gid=_id(words.get("gid")),
        deny_write=None if deny is None else boolean(deny), origin=option.origin,
    )


def _id(text: str | None) -> int | None:
    if text is not None and not re.fullmatch(r"[0-9]{1,10}", text):
        raise ValueError(f"{text!r} is no id")
    return None if text is None else int(text)
