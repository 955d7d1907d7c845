"""A host on which scripts really run: a temporary root, and programs that note how they are called.

The script's absolute paths are moved below the root as text; PATH begins with the programs.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from snapshot.document import Snapshot

from ..pairs import snapshot

MOVED = re.compile(r"(?<![\w.])/(?:etc|var/lib|proc/sys|sys|usr/local)/")
PROGRAMS = {  # what they do besides noting the call
    "uname": "echo pve1", "id": "echo 0", "systemctl": "", "proxmox-boot-tool": "", "update-grub": "", "nvidia-smi": "",
    "lxc-stop": "", "lxc-start": "", "lxc-info": "echo State: RUNNING", "nvidia-modprobe": "", "ip": "", "reboot": "",
    "pct": """case $1 in
    status) cat "$HOST/status" 2> /dev/null || echo 'status: running' ;;
    exec) [ ! -e "$HOST/shut" ] ;;
    set)
        [ ! -e "$HOST/broken" ] || exit 9
        conf=$HOST/etc/pve/lxc/$2.conf; shift 2
        while [ $# -gt 1 ]; do
            sed -i "/^${1#-}:/d" "$conf"; printf '%s: %s\\n' "${1#-}" "$2" >> "$conf"; shift 2
        done ;;
    esac""",
    "sysctl": """case $1 in
    -w) printf '%s\\n' "${2#*=}" > "$HOST/sysctl.${2%%=*}" ;;
    *) cat "$HOST/sysctl.$2" 2> /dev/null ;;
    esac""",
    "setpci": """case $3 in
    *=*) [ -e "$HOST/locked" ] || echo 5930 > "$HOST/register.$2" ;;
    *) cat "$HOST/register.$2" 2> /dev/null || echo 2930 ;;
    esac""",
}
QUIET = ("uname", "id")


@dataclass(frozen=True)
class Ran:
    """How a script ended."""

    code: int
    out: str
    calls: list[str]


@dataclass(frozen=True)
class Machine:
    """The temporary root."""

    root: Path

    @classmethod
    def made(cls, root: Path) -> Machine:
        """A machine with the programs and no files."""
        programs = root / "bin"
        programs.mkdir(parents=True)
        for name, body in PROGRAMS.items():
            noted = "" if name in QUIET else 'echo "${0##*/} $*" >> "$HOST/calls"\n'
            (programs / name).write_text(f"#!/bin/sh\n{noted}{body}\n")
            (programs / name).chmod(0o755)
        return cls(root)

    def path(self, name: str) -> Path:
        """Where the file NAME of the host is."""
        return self.root / name.lstrip("/")

    def write(self, name: str, text: str) -> str:
        """Writes a file of the host, and returns its checksum."""
        self.path(name).parent.mkdir(parents=True, exist_ok=True)
        data = text.encode("utf-8", "surrogateescape")
        self.path(name).write_bytes(data)
        return hashlib.sha256(data).hexdigest()

    def read(self, name: str) -> str:
        """A file of the host."""
        return self.path(name).read_bytes().decode("utf-8", "surrogateescape")

    def files(self) -> dict[str, str]:
        """Every file but what the script notes for itself."""
        found = (p for p in self.root.rglob("*") if p.is_file())
        kept = {name: self.read(name) for name in (str(p.relative_to(self.root)) for p in found)}
        return {name: text for name, text in kept.items() if not name.startswith(("bin/", "var/lib/hostsnap", "calls"))}

    def run(self, script: str, *options: str) -> Ran:
        """Runs SCRIPT, and tells what it called."""
        moved = MOVED.sub(lambda found: f"{self.root}{found[0]}", script)
        self.path("script.sh").write_bytes(moved.encode("utf-8", "surrogateescape"))
        self.path("calls").write_text("")
        env = {**os.environ, "PATH": f"{self.root}/bin:{os.environ['PATH']}", "HOST": str(self.root)}
        done = subprocess.run(["sh", "script.sh", *options], cwd=self.root, env=env, capture_output=True)
        self.path("script.sh").unlink()
        said = (done.stdout + done.stderr).decode(errors="replace")
        return Ran(done.returncode, said, self.read("calls").splitlines())


def shellcheck(script: str, folder: Path) -> str:
    """What sh -n, and shellcheck where it is installed, have against SCRIPT."""
    (folder / "checked.sh").write_bytes(script.encode("utf-8", "surrogateescape"))
    said = subprocess.run(["sh", "-n", "checked.sh"], cwd=folder, capture_output=True, text=True).stderr
    if shutil.which("shellcheck"):
        command = ["shellcheck", "-S", "warning", "-f", "gcc", "checked.sh"]
        said += subprocess.run(command, cwd=folder, capture_output=True, text=True).stdout
    return said


def seen(sums: Mapping[str, str], lines: Mapping[tuple[str, int], str], **meta: object) -> Snapshot:
    """A snapshot that saw files with these checksums, and these lines of the configuration of container 101."""
    rules = [{"key": "lxc.cgroup2.devices.allow", "value": "c 508:* rwm",
              "origin": {"file": file, "line": line, "text": text}} for (file, line), text in lines.items()]
    container = {"manager": "pve", "config_file": "/etc/pve/lxc/101.conf", "hostname": "llm", "privileged": True,
                 "running": True, "live": {"device_rules": rules}}
    return snapshot({"lxc": {"containers": {"101": container}}}, files=sums, meta=meta)
