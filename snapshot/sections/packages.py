"""Installed packages that decide about kernel, drivers, firmware and guests, and what keeps or moves them."""

from typing import Annotated, Literal

from .base import EVIDENCE, Model, Origin, field


class Package(Model):
    """One installed package."""

    version: str = field(description="version; of several beside each other (kernels of rpm) the newest")
    older: list[str] | None = field(default=None, description="other versions installed beside it, oldest first")
    held: bool | None = field(default=None, description="true when apt-mark hold or dpkg --set-selections keeps it")
    state: str | None = field(
        default=None, description="dpkg's state when it is not whole: half-installed, unpacked, half-configured, ..."
    )


class Pin(Model):
    """One record of apt preferences."""

    packages: str = field(description="package names and patterns, as written")
    pin: str = field(description="what it selects: version, release or origin, as written")
    priority: int | None = field(
        default=None, description="priority; below 0 it never installs, from 1000 it downgrades; missing when it is no number"
    )
    origin: Annotated[Origin, EVIDENCE] = field(description="its Package line")


class AptOption(Model):
    """One option of apt's configuration."""

    value: str | None = field(default=None, description="value of a plain option; the last one counts")
    values: list[str] | None = field(default=None, description="of a list, in order")
    origins: Annotated[list[Origin], EVIDENCE] = field(description="where they stand, in order")


class Unattended(Model):
    """A change of a package that unattended-upgrade made, and nobody after it."""

    version: str = field(description="version that it put there")
    before: str | None = field(default=None, description="version that it replaced; missing when it installed the package")
    at: str | None = field(default=None, description="when, local time of the host")


class Packages(Model):
    """Packages by name, and what apt does with them by itself."""

    manager: Literal["dpkg", "rpm"] | None = field(default=None, description="whose database it is")
    installed: dict[str, Package] | None = field(
        default=None, description="by name: kernels, drivers, firmware, boot, guests and tuning; and any that is held or broken"
    )
    pins: list[Pin] | None = field(default=None, description="apt preferences, in reading order")
    automatic: dict[str, AptOption] | None = field(
        default=None, description="APT::Periodic and Unattended-Upgrade options by name, lower case; mail addresses left out"
    )
    unattended: dict[str, Unattended] | None = field(
        default=None, description="by package of kernel, driver or firmware: the last change in apt's history, where"
        " unattended-upgrade made it"
    )
    locks: list[str] | None = field(default=None, description="lines of dnf's versionlock.list, sorted")
