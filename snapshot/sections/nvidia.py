"""The NVIDIA driver, its GPUs, how they are connected, and what the kernel log says of them.

A GPU's table holds what the kernel module tells; its ``state`` what nvidia-smi tells, and is unread as a whole when
that did not answer. A fact that nvidia-smi calls N/A is none that this GPU has, and is missing; one that it answers
with an error, or no longer tells, is unread with that text.
"""

from typing import Annotated, Literal

from .base import IDENTITY, VOLATILE, Matrix, Model, Origin, Private, field


class Setting(Model):
    """A setting of a configuration file."""

    value: str = field(description="the value as written")
    origin: Origin = field(description="where it stands")


class Capability(Model):
    """A device node that stands for a right, below /proc/driver/nvidia/capabilities."""

    minor: int = field(description="minor number of its node; the major is that of nvidia-caps")
    mode: str | None = field(default=None, description="permission bits that the node gets, octal")


class Driver(Model):
    """The kernel module nvidia."""

    version: str | None = field(default=None, description="version of the loaded module")
    flavour: Literal["open", "proprietary"] | None = field(
        default=None, description="which of NVIDIA's two kernel modules it is; Blackwell and later run with open alone"
    )
    modules: list[str] | None = field(default=None, description="loaded modules of the driver, sorted")
    parameters: dict[str, int | str] | None = field(
        default=None, description="/proc/driver/nvidia/params: module options without NVreg_; 4294967295 is not set"
    )
    uvm_disable_hmm: bool | None = field(default=None, description="option of nvidia_uvm; missing when that is not loaded")
    drm_modeset: bool | None = field(default=None, description="option modeset of nvidia_drm; missing when not loaded")
    capabilities: dict[str, Capability] | None = field(
        default=None, description="by path below /proc/driver/nvidia/capabilities: mig/config, fabric-imex-mgmt, gpu0/..."
    )


class UserSpace(Model):
    """The driver's libraries and tools, which have to be of the module's version."""

    libraries: dict[str, str] | None = field(default=None, description="path of the soname link -> version that it leads to")
    smi: str | None = field(default=None, description="version of nvidia-smi")
    nvml: str | None = field(default=None, description="version of libnvidia-ml that nvidia-smi found, maybe without its end")
    cuda: str | None = field(default=None, description="highest CUDA version that the driver's libraries offer")
    persistenced: bool | None = field(default=None, description="nvidia-persistenced runs: its socket is there")
    fabric_manager: str | None = field(default=None, description="version of nv-fabricmanager; missing when not installed")
    fabric_settings: dict[str, Setting] | None = field(
        default=None, description="mode and failure settings of fabricmanager.cfg, by key"
    )


class Clocks(Model):
    """Clocks of one kind."""

    graphics_mhz: int | None = field(default=None, description="graphics clock, MHz")
    memory_mhz: int | None = field(default=None, description="memory clock, MHz")


class Power(Model):
    """Power limits of the GPU."""

    limit_mw: int | None = field(default=None, description="limit in force, mW")
    requested_mw: int | None = field(default=None, description="limit that was asked for (nvidia-smi -pl), mW")
    default_mw: int | None = field(default=None, description="limit after the driver is loaded, mW")
    min_mw: int | None = field(default=None, description="lowest limit that can be asked for, mW")
    max_mw: int | None = field(default=None, description="highest limit that can be asked for, mW")


class Pcie(Model):
    """The PCI Express link as the driver sees it; section pci has the registers."""

    max_generation: int | None = field(default=None, description="highest generation that the GPU and its port share")
    device_max_generation: int | None = field(default=None, description="highest generation of the GPU")
    host_max_generation: int | None = field(default=None, description="highest generation of the port above it")
    generation: Annotated[int | None, VOLATILE] = field(default=None, description="generation now; idle GPUs lower it")
    max_width: int | None = field(default=None, description="widest link, lanes")
    width: int | None = field(default=None, description="lanes in use")


class Health(Model):
    """Repairs that wait for a reset or a reboot."""

    recovery_action: str | None = field(default=None, description="what the driver asks for: None, Reset, Reboot, ...")
    reset_required: bool | None = field(default=None, description="the GPU waits for a reset (drivers 535 to 550)")
    drain_and_reset_recommended: bool | None = field(default=None, description="as reset_required, after the work on it ends")
    remapped_rows_pending: bool | None = field(default=None, description="a memory row is remapped at the next reset")
    remapped_rows_failed: bool | None = field(default=None, description="a memory row could not be remapped")
    retired_pages_pending: bool | None = field(default=None, description="a memory page is retired at the next reset")
    channel_repair_pending: bool | None = field(default=None, description="a memory channel is repaired at the next reset")
    tpc_repair_pending: bool | None = field(default=None, description="a TPC is repaired at the next reset")
    unrepairable_memory: bool | None = field(default=None, description="memory is broken beyond repair")


class Fabric(Model):
    """The GPU's place in an NVSwitch fabric; missing on a GPU that has none."""

    state: str | None = field(default=None, description="Completed, In Progress, Not Started, ...")
    status: str | None = field(default=None, description="Success, or why registering failed")
    health: str | None = field(default=None, description="summary of the fabric's health")


class MigDevice(Model):
    """A part of a GPU that is its own CUDA device."""

    multiprocessors: int | None = field(default=None, description="number of multiprocessors")
    memory_bytes: int | None = field(default=None, description="size of its memory")


class State(Model):
    """What nvidia-smi tells of a GPU."""

    architecture: str | None = field(default=None, description="Ampere, Hopper, Blackwell, ...")
    serial: Annotated[str | None, Private("serial")] = field(default=None, description="serial number of the board")
    part_number: str | None = field(default=None, description="GPU part number; only GPUs of one number share a VBIOS")
    inforom: str | None = field(default=None, description="InfoROM image version")
    inforom_corrupted: bool | None = field(default=None, description="nvidia-smi warns that the InfoROM is corrupted")
    persistence: bool | None = field(default=None, description="persistence mode: settings outlive the last client")
    addressing_mode: str | None = field(default=None, description="HMM, ATS or None")
    compute_mode: str | None = field(default=None, description="Default, Exclusive_Process or Prohibited")
    virtualization: str | None = field(default=None, description="None, Pass-Through, VGPU, ...")
    ecc: bool | None = field(default=None, description="ECC is on")
    ecc_pending: bool | None = field(default=None, description="ECC will be on after the next reset")
    mig: bool | None = field(default=None, description="MIG mode is on")
    mig_pending: bool | None = field(default=None, description="MIG mode will be on after the next reset")
    mig_devices: dict[str, MigDevice] | None = field(default=None, description="by GPU instance and compute instance: 3/0")
    memory_bytes: int | None = field(default=None, description="size of the GPU's memory")
    bar1_bytes: int | None = field(default=None, description="size of the window into that memory; small without resizable BAR")
    power: Power | None = field(default=None, description="power limits")
    application_clocks: Clocks | None = field(default=None, description="clocks for compute work; newer drivers lack them")
    default_clocks: Clocks | None = field(default=None, description="application clocks after the driver is loaded")
    max_clocks: Clocks | None = field(default=None, description="highest clocks")
    max_boost_mhz: int | None = field(default=None, description="highest graphics clock that a customer can set, MHz")
    pcie: Pcie | None = field(default=None, description="link")
    health: Health | None = field(default=None, description="pending repairs")
    fabric: Fabric | None = field(default=None, description="NVSwitch fabric")
    performance_state: Annotated[str | None, VOLATILE] = field(default=None, description="P0 (fastest) to P15")
    throttle_reasons: Annotated[list[str] | None, VOLATILE] = field(
        default=None, description="what holds the clocks down now, sorted; gpu_idle is none"
    )


class Gpu(Model):
    """A GPU that the driver has bound."""

    uuid: Annotated[str | None, IDENTITY] = field(default=None, description="unread until the driver has initialised the GPU")
    address: str | None = field(default=None, description="PCI address, as in section pci")
    minor: int | None = field(default=None, description="N of /dev/nvidiaN")
    name: str | None = field(default=None, description="product name")
    vbios: str | None = field(default=None, description="video BIOS version, lower case")
    firmware: str | None = field(default=None, description="GSP firmware version; missing when the GPU runs without")
    excluded: bool | None = field(default=None, description="kept from use by the option ExcludedGpus")
    runtime_d3: str | None = field(default=None, description="runtime power management: Disabled by default, Enabled, ...")
    answers: bool | None = field(
        default=None, description="nvidia-smi reports on it; false when it is lost, or left out of the report"
    )
    state: State | None = field(default=None, description="what nvidia-smi tells of it")


class Nvlink(Model):
    """The NVLinks of a GPU, by number."""

    active: str = field(description="links that are up: 0-17; empty when there is none")
    inactive: str | None = field(default=None, description="links that are there and down")
    speeds_gbs: list[float] = field(description="speeds of the links that are up, GB/s each way, sorted")


class Affinity(Model):
    """Where the driver sees a GPU."""

    cpus: str | None = field(default=None, description="nearby CPUs, of those that the take may use")
    nodes: str | None = field(default=None, description="NUMA node")


class Events(Model):
    """What the kernel log of this boot says of a PCI function; counts grow, and start again at a boot."""

    xid: Annotated[dict[str, int] | None, VOLATILE] = field(default=None, description="NVRM errors by Xid code")
    off_bus: Annotated[int | None, VOLATILE] = field(default=None, description="times that the GPU had fallen off the bus")
    init_failed: Annotated[int | None, VOLATILE] = field(default=None, description="times that RmInitAdapter failed")
    aer_correctable: Annotated[int | None, VOLATILE] = field(default=None, description="correctable PCIe errors reported")
    aer_nonfatal: Annotated[int | None, VOLATILE] = field(default=None, description="non-fatal PCIe errors reported")
    aer_fatal: Annotated[int | None, VOLATILE] = field(default=None, description="fatal PCIe errors reported")


class Nvidia(Model):
    """The NVIDIA driver and its GPUs."""

    loaded: bool | None = field(default=None, description="the kernel module nvidia is loaded")
    driver: Driver | None = field(default=None, description="kernel side; missing when it is not loaded")
    user_space: UserSpace | None = field(default=None, description="libraries and tools")
    attached: int | None = field(default=None, description="GPUs that nvidia-smi counts")
    gpus: dict[str, Gpu] | None = field(
        default=None, description="by UUID; by PCI address while the driver has not read that, or two share one"
    )
    topology: Matrix | None = field(
        default=None, description="nvidia-smi topo -m: PIX, PXB, PHB, NODE, SYS, NV#; GPUs and NICs by PCI address"
    )
    affinity: dict[str, Affinity] | None = field(default=None, description="nvidia-smi topo -m: by PCI address")
    p2p_read: Matrix | None = field(
        default=None, description="nvidia-smi topo -p2p r: OK, or why a GPU cannot read another's memory: CNS, GNS, TNS, NS, DR"
    )
    nvlink: dict[str, Nvlink] | None = field(default=None, description="by GPU UUID; GPUs without NVLink are left out")
    events: dict[str, Events] | None = field(default=None, description="by PCI address, from the kernel log")
