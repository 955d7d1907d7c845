"""Reads and sets tunables of a running guest: tune.py read | set NAME... | keep NAME..., by tunables.json beside it.

read prints name -> value in JSON. One that is set gets the first of its values that it does not have; a value
that does not take is told on standard error. keep writes files that set those at each boot to what they are now:
sysctl.d(5), and a unit. Runs on the guest's own python3.
"""

from __future__ import annotations

import glob
import json
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
PROC, UNIT = "/proc/sys/", "/etc/systemd/system/tuning.service"
HEAD = """[Unit]
Description=Tuning of this host
Wants=sys-subsystem-net-devices-eth0.device
After=rig-nvidia.service sys-subsystem-net-devices-eth0.device

[Service]
Type=oneshot
RemainAfterExit=yes
"""
TAIL = """
[Install]
WantedBy=multi-user.target
"""


def get(tunable: dict[str, list[str]]) -> str:
    """The value of all its files, or what its command prints, in one line."""
    if tunable["files"]:
        return ",".join(filter(None, map(content, paths(tunable))))
    return " ".join(shell(tunable["read"][0]).split())


def paths(tunable: dict[str, list[str]]) -> list[str]:
    return sorted(path for pattern in tunable["files"] for path in glob.glob(pattern))


def content(path: str) -> str:
    """What a file says; of a choice the word in brackets; empty where it cannot be read."""
    try:
        with open(path) as file:
            text = " ".join(file.read().split())
    except OSError:
        return ""
    return text[text.index("[") + 1 : text.index("]")] if "[" in text else text


def put(tunable: dict[str, list[str]], value: str) -> None:
    for path in paths(tunable):
        with open(path, "w") as file:
            file.write(value)
    if not tunable["files"]:
        shell(tunable["write"][0], value)


def shell(line: str, value: str = "") -> str:
    done = subprocess.run(["sh", "-c", line], env={**os.environ, "VALUE": value}, capture_output=True, text=True)
    return done.stdout


def tune(tunable: dict[str, list[str]]) -> None:
    """Sets it to another value than it has. Says on standard error what went wrong."""
    before = get(tunable)
    for value in tunable["values"]:
        if value in before.split(","):
            continue
        try:
            put(tunable, value)
        except OSError as error:
            print(f"{value}: {error}", file=sys.stderr)
        if get(tunable) != before:
            return
    print(f"{tunable}: it is still {before!r}", file=sys.stderr)


def keep(tunables: dict[str, dict[str, list[str]]]) -> None:
    """Files that set TUNABLES at each boot."""
    lines, commands = [], []
    for name, tunable in tunables.items():
        if tunable["files"] and tunable["files"][0].startswith(PROC):
            lines.append(f"{name} = {get(tunable)}\n")
        elif tunable["files"]:
            commands += [f"echo {content(path)} > {path}" for path in paths(tunable)]
        else:
            commands.append(tunable["write"][0].replace("$VALUE", get(tunable)))
    with open("/etc/sysctl.d/95-tuning.conf", "w") as file:
        file.writelines(lines)
    with open(UNIT, "w") as file:
        file.write(HEAD + "".join(f"ExecStart=/bin/sh -c '{line}'\n" for line in commands) + TAIL)
    subprocess.run(["systemctl", "enable", "-q", "tuning"], check=True)


def main() -> None:
    with open(os.path.join(HERE, "tunables.json")) as file:
        known = json.load(file)
    verb, *names = sys.argv[1:]
    if verb == "read":
        json.dump({name: get(tunable) for name, tunable in known.items()}, sys.stdout, indent=1)
    elif verb == "keep":
        keep({name: known[name] for name in names})
    for name in names if verb == "set" else ():
        tune(known[name])


if __name__ == "__main__":
    main()
