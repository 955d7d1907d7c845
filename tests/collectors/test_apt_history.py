"""What unattended-upgrade changed, from apt's history."""

from __future__ import annotations

from typing import Any

import pytest

from snapshot.collectors import packages
from snapshot.collectors.apt_history import LOG, parse

from .fake import MemoryHost, gather

RUN = "Start-Date: 2026-11-02  06:31:05\nCommandline: /usr/bin/unattended-upgrade\n{}\nEnd-Date: 2026-11-02  06:32:00\n"


def changed(*runs: str) -> dict[str, tuple[str | None, str]]:
    return {name: (change.before, change.version) for name, change in parse("\n".join(runs)).items()}


def test_a_driver_that_was_upgraded_by_itself() -> None:
    found = parse(RUN.format(
        "Upgrade: libnvidia-compute-580:amd64 (580.95.05-0ubuntu1, 580.105.08-0ubuntu1), vim:amd64 (9, 10)"))
    assert [*found] == ["libnvidia-compute-580"]
    assert found["libnvidia-compute-580"].table() == {
        "version": "580.105.08-0ubuntu1", "before": "580.95.05-0ubuntu1", "at": "2026-11-02 06:31:05"}


def test_a_kernel_that_came_with_its_metapackage() -> None:
    run = RUN.format("Install: linux-image-6.8.0-61-generic:amd64 (6.8.0-61.64, automatic)\n"
                     "Upgrade: linux-generic:amd64 (6.8.0-60.63, 6.8.0-61.64)")
    assert changed(run) == {
        "linux-generic": ("6.8.0-60.63", "6.8.0-61.64"), "linux-image-6.8.0-61-generic": (None, "6.8.0-61.64")}


def test_the_last_change_counts_whoever_made_it() -> None:
    own = RUN.format("Upgrade: linux-generic:amd64 (1, 2)")
    by_hand = own.replace("/usr/bin/unattended-upgrade", "apt full-upgrade").replace("(1, 2)", "(2, 3)")
    assert changed(own, by_hand) == {} and changed(by_hand, own) == {"linux-generic": ("1", "2")}
    removed = own.replace("Upgrade:", "Remove:").replace("(1, 2)", "(2)")
    assert changed(own, removed) == {}


@pytest.mark.parametrize("command", ["/usr/bin/unattended-upgrade -d", "/usr/bin/unattended-upgrade --debug"])
def test_options_of_the_run(command: str) -> None:
    run = RUN.format("Upgrade: dkms:all (3.0, 3.1)").replace("/usr/bin/unattended-upgrade", command)
    assert changed(run) == {"dkms": ("3.0", "3.1")}


@pytest.mark.parametrize("command", ["apt install unattended-upgrades", "apt-get -y upgrade", ""])
def test_runs_of_people(command: str) -> None:
    assert changed(RUN.format("Upgrade: dkms:all (3.0, 3.1)").replace("/usr/bin/unattended-upgrade", command)) == {}


@pytest.mark.parametrize("name", ["systemd", "grub-pc", "libnvidia", "linux-libc-dev", "python3-zfs", "openssl"])
def test_packages_that_decide_nothing_here(name: str) -> None:
    assert changed(RUN.format(f"Upgrade: {name}:amd64 (1, 2)")) == {}


@pytest.mark.parametrize("text", ["", "\n\n\n", "no colon", "Commandline: unattended-upgrade", "Upgrade: dkms (1, 2)"])
def test_nothing_to_tell(text: str) -> None:
    assert parse(text) == {}


def section(*installed: str) -> dict[str, Any]:
    log = RUN.format("Requested-By: alice (1000)\nUpgrade: dkms:all (3.0, 3.1)")
    status = "".join(f"Package: {name}\nStatus: install ok installed\nVersion: 3.1\n\n" for name in installed)
    model, reading = gather(packages, MemoryHost({"/var/lib/dpkg/status": status, LOG: log}))
    assert not reading.unreads
    return model.table()


def test_the_section_has_it_and_no_name_of_a_user() -> None:
    table = section("dkms", "unattended-upgrades")
    assert table["unattended"] == {"dkms": {"version": "3.1", "before": "3.0", "at": "2026-11-02 06:31:05"}}
    assert "alice" not in str(table)


def test_where_it_is_not_installed_nobody_looks() -> None:
    assert "unattended" not in section("dkms")
