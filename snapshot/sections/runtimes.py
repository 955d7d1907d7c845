"""What container engines are told about devices: CDI files, their configuration, links and id ranges."""

from typing import Annotated, Literal

from .base import EVIDENCE, Model, Origin, field


class Setting(Model):
    """One option of a configuration file."""

    value: str | int | bool | list[str] = field(description="value as written")
    origin: Annotated[Origin, EVIDENCE] = field(description="where it stands")


class CdiNode(Model):
    """A device node that a CDI file puts into containers."""

    host_path: str | None = field(default=None, description="node on the host; when missing, the same path")
    type: Literal["b", "c", "u", "p"] | None = field(default=None, description="kind; when missing, that of the host's node")
    major: int | None = field(default=None, description="major number, written down when the file was made; else looked up")
    minor: int | None = field(default=None, description="minor number, likewise")
    mode: str | None = field(default=None, description='mode of the node in the container, octal, "0666"')
    permissions: str | None = field(default=None, description="r, w, m; when missing, rwm")


class CdiEdits(Model):
    """What a CDI file changes in a container; environment variables are left out."""

    nodes: dict[str, CdiNode] | None = field(default=None, description="device nodes by path in the container")
    mounts: dict[str, str] | None = field(default=None, description="path in the container -> path on the host")
    hooks: list[str] | None = field(default=None, description="programs that it runs, sorted, without arguments")


class Cdi(Model):
    """One file of the Container Device Interface."""

    version: str | None = field(default=None, description="cdiVersion")
    kind: str | None = field(default=None, description="vendor/class, nvidia.com/gpu for example")
    devices: dict[str, CdiEdits] = field(description="what each device brings, by name")
    common: CdiEdits = field(description="what each container gets that asks for any of them")


class Containerd(Model):
    """One configuration file of containerd."""

    version: int | None = field(default=None, description="version of the format")
    imports: list[str] | None = field(default=None, description="files that it takes in, as written")
    settings: dict[str, Setting] | None = field(
        default=None, description="CDI, default runtime and cgroup options, by path from the plugin down, parts joined by a dot"
    )


class IdRange(Model):
    """One line of /etc/subuid or /etc/subgid."""

    start: int = field(description="first id on the host")
    count: int = field(description="how many")


class SubIds(Model):
    """Who may map which ids. User names other than root are private and only counted."""

    ranges: dict[str, list[IdRange]] | None = field(default=None, description="of root and of users by number, in order")
    others: int | None = field(default=None, description="lines of users by name")


class Runtimes(Model):
    """Container engines of the host."""

    cdi: dict[str, Cdi] | None = field(default=None, description="by file; /var/run/cdi goes before /etc/cdi")
    docker: dict[str, Setting] | None = field(
        default=None, description="/etc/docker/daemon.json: cgroup driver, runtimes, CDI, storage and limits, by dotted key"
    )
    containerd: dict[str, Containerd] | None = field(default=None, description="by file")
    nvidia: dict[str, Setting] | None = field(
        default=None, description="/etc/nvidia-container-runtime/config.toml by dotted key; environment left out"
    )
    char_links: dict[str, str] | None = field(
        default=None, description="/dev/char links to accelerators: major:minor -> target; runc under systemd needs them"
    )
    subuid: SubIds | None = field(default=None, description="/etc/subuid")
    subgid: SubIds | None = field(default=None, description="/etc/subgid")
