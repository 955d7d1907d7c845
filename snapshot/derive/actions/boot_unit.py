"""The commands that install a oneshot unit, which sets something anew at each boot.

systemd.service(5), systemd.unit(5): in ExecStart= % and $ are special, and a failed command stops those behind it.
"""

from __future__ import annotations

from collections.abc import Iterable

FOLDER = "/etc/systemd/system"


def install(name: str, description: str, commands: Iterable[str], after: str) -> list[str]:
    """Commands that write NAME.service, which runs COMMANDS behind the units AFTER, and start it now and at each boot.

    COMMANDS have nothing in them that systemd expands.
    """
    lines = "".join(f"ExecStart={command}\n" for command in commands)
    unit = (
        f"[Unit]\nDescription={description}\nAfter={after}\nBefore=pve-guests.service\n\n"
        f"[Service]\nType=oneshot\nRemainAfterExit=yes\n{lines}\n"
        "[Install]\nWantedBy=multi-user.target\n"
    )
    return [
        f"cat > {FOLDER}/{name}.service <<'EOF'\n{unit}EOF",
        "systemctl daemon-reload",
        f"systemctl enable --now {name}.service",
    ]
