"""The commands that install a oneshot unit, which sets something anew at each boot.

systemd.service(5), systemd.unit(5): in ExecStart= % and $ are special, and a failed command stops those behind it.
systemd.device(5): a unit that is about a disk or an interface has to want its device unit, which comes when udev has
loaded the driver: units of the boot do not wait for that.
"""

from __future__ import annotations

from collections.abc import Iterable

from ...regexes import regex

FOLDER = "/etc/systemd/system"
_PLAIN = regex(r"[A-Za-z0-9:_.]")


def escaped(path: str) -> str:
    """PATH as units are named by, systemd-escape --path: /dev/sda3 -> dev-sda3."""
    parts = ("".join(c if _PLAIN.match(c) else "".join(f"\\x{b:02x}" for b in c.encode(errors="surrogateescape"))
                     for c in part) for part in path.strip("/").split("/"))
    return "-".join(parts)


def install(
    name: str, description: str, commands: Iterable[str], after: str, devices: Iterable[str] = (),
) -> list[str]:
    """Commands that write NAME.service, which runs COMMANDS behind the units AFTER, and start it now and at each boot.

    COMMANDS have nothing in them that systemd expands. DEVICES are paths of /dev and /sys that it waits for.
    """
    lines = "".join(f"ExecStart={command}\n" for command in commands)
    wanted = " ".join(f"{escaped(path)}.device" for path in devices)
    waits = f"Wants={wanted}\nAfter={wanted}\n" if wanted else ""
    unit = (
        f"[Unit]\nDescription={description}\n{waits}After={after}\nBefore=pve-guests.service\n\n"
        f"[Service]\nType=oneshot\nRemainAfterExit=yes\n{lines}\n"
        "[Install]\nWantedBy=multi-user.target\n"
    )
    return [
        f"cat > {FOLDER}/{name}.service <<'EOF'\n{unit}EOF",
        "systemctl daemon-reload",
        f"systemctl enable --now {name}.service",
    ]
