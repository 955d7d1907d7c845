"""Defaults of a kernel's build configuration."""

from __future__ import annotations

import pytest

from snapshot.collectors import kernel
from snapshot.collectors.kernel_config import parse

from .fake import MemoryHost, gather
from .test_kernel import DENIED, HOST

DEBIAN = b"""\
CONFIG_X86_64=y
CONFIG_HZ_250=y
CONFIG_HZ=250
# CONFIG_PREEMPT_NONE is not set
CONFIG_PREEMPT_VOLUNTARY_BUILD=y
CONFIG_PREEMPT_VOLUNTARY=y
CONFIG_PREEMPT_DYNAMIC=y
CONFIG_NUMA_BALANCING=y
# CONFIG_NUMA_BALANCING_DEFAULT_ENABLED is not set
CONFIG_CPU_FREQ_DEFAULT_GOV_SCHEDUTIL=y
CONFIG_X86_AMD_PSTATE_DEFAULT_MODE=3
# CONFIG_IOMMU_DEFAULT_DMA_STRICT is not set
CONFIG_IOMMU_DEFAULT_DMA_LAZY=y
CONFIG_TRANSPARENT_HUGEPAGE=y
# CONFIG_TRANSPARENT_HUGEPAGE_ALWAYS is not set
CONFIG_TRANSPARENT_HUGEPAGE_MADVISE=y
CONFIG_PCIEASPM=y
CONFIG_PCIEASPM_DEFAULT=y
"""


def test_a_configuration() -> None:
    assert parse(DEBIAN) == {
        "amd_pstate": "3", "aspm": "default", "governor": "schedutil", "hz": "250", "iommu": "dma_lazy",
        "numa_balancing": "n", "preempt": "voluntary", "thp": "madvise"}


@pytest.mark.parametrize(("line", "name", "value"), [
    (b"CONFIG_HZ=1000", "hz", "1000"), (b"CONFIG_PREEMPT_LAZY=y", "preempt", "lazy"),
    (b"CONFIG_PREEMPT=y", "preempt", "full"),
    (b"CONFIG_NUMA_BALANCING_DEFAULT_ENABLED=y", "numa_balancing", "y"),
    (b"CONFIG_CPU_FREQ_DEFAULT_GOV_PERFORMANCE=y", "governor", "performance"),
    (b"CONFIG_IOMMU_DEFAULT_PASSTHROUGH=y", "iommu", "passthrough"),
])
def test_choices(line: bytes, name: str, value: str) -> None:
    assert parse(line + b"\n") == {name: value}


@pytest.mark.parametrize("data", [
    b"", b"\0\xff", b"CONFIG_HZ=", b"CONFIG_HZ=y", b" CONFIG_HZ=250", b"CONFIG_TRANSPARENT_HUGEPAGE_MAYBE=y",
    b"CONFIG_TRANSPARENT_HUGEPAGE_ALWAYS=m", b"# CONFIG_HZ=250",
])
def test_nothing_to_tell(data: bytes) -> None:
    assert parse(data) == {}


def test_each_installed_kernel_has_its_own() -> None:
    files = {**HOST, "/boot/config-6.8.12-9-pve": DEBIAN, "/boot/config-6.8.12-10-pve": b"CONFIG_HZ=1000\n"}
    installed = gather(kernel, MemoryHost(files))[0].table()["installed"]
    assert installed["6.8.12-9-pve"]["config"]["hz"] == "250"
    assert installed["6.8.12-10-pve"]["config"] == {"hz": "1000"}


def test_a_closed_file_is_unread() -> None:
    model, reading = gather(kernel, MemoryHost({**HOST, "/boot/config-6.8.12-10-pve": DENIED}))
    assert "config" not in model.table()["installed"]["6.8.12-10-pve"]
    assert [(u.path, u.why) for u in reading.unreads] == [(("installed", "6.8.12-10-pve", "config"), "EACCES")]
