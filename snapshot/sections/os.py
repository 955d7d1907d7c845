"""Which system runs on the host: distribution, Proxmox VE, systemd and LXC versions, virtualization."""

from .base import Model, field


class Os(Model):
    """The installed system, from os-release(5) and the package database."""

    id: str | None = field(default=None, description="ID of os-release: debian, ubuntu, ...")
    version_id: str | None = field(default=None, description="VERSION_ID of os-release")
    codename: str | None = field(default=None, description="VERSION_CODENAME of os-release")
    pretty_name: str | None = field(default=None, description="PRETTY_NAME of os-release")
    proxmox_ve: str | None = field(default=None, description="version of the package pve-manager")
    systemd: str | None = field(default=None, description="version of the package systemd")
    lxc: str | None = field(default=None, description="version of the package lxc-pve, else lxc, else liblxc1")
    pve_container: str | None = field(default=None, description="version of the package pve-container")
    virtualization: str | None = field(
        default=None, description="none, or what it runs in as systemd-detect-virt(1) calls it: kvm, qemu, lxc, ..."
    )
