"""One boot of the guest in QEMU: GRUB, kernel, systemd, a hook that runs as root, and `systemctl reboot`.

qemu-system-x86_64(1). The guest's reboot ends QEMU (-no-reboot); the next boot is another run of it on the same disk.
A boot reads its job, a folder with hook.sh, from a second disk, and leaves there what the hook wrote to $RIG_RESULT.

The accelerator is always TCG: it is there everywhere, and gives the same machine everywhere. -cx16: QEMU 7.2 computes
wrong flags for cmpxchg16b without a lock prefix, on which kernel 6.12 dies; without the feature it has another way.
Even so about one of ten boots of 6.12 dies before the hook. Such a boot is tried again, on the disk as it was before
it; one whose hook ran never is.
"""

from __future__ import annotations

import subprocess
import time
from dataclasses import dataclass, field
from pathlib import Path
from shutil import copytree, rmtree

from .disk import job_disk, read_back

TRIES = 3
LIMIT_S = 1200
QEMU = [word for line in (
    "-machine q35 -accel tcg,thread=multi -cpu Nehalem,-cx16 -m 1024 -smp 2 -nodefaults -no-user-config",
    "-object memory-backend-ram,id=m0,size=512M -object memory-backend-ram,id=m1,size=512M",
    "-numa node,memdev=m0,cpus=0 -numa node,memdev=m1,cpus=1 -display none -no-reboot",
    "-device pcie-root-port,id=rp1,chassis=1,slot=1 -device pcie-root-port,id=rp2,chassis=2,slot=2",
    "-device pcie-root-port,id=rp3,chassis=3,slot=3",
    "-device nvme,drive=root,serial=rig,bus=rp1,bootindex=0 -device virtio-blk-pci,drive=job,bus=rp3,bootindex=-1",
    "-device virtio-net-pci,bus=rp2,romfile=",
) for word in line.split()]


@dataclass(slots=True)
class Boot:
    """What a boot left: FOLDER has stdout, stderr and what the hook wrote, the one above it console.log."""

    folder: Path
    code: int
    began_s: float  # from power-on to the hook, by the guest's clock
    ended_s: float
    took_s: float

    def text(self, name: str) -> str:
        """A file that the boot left. OSError when it left none."""
        return (self.folder / name).read_text(errors="replace")


class DiedError(RuntimeError):
    """A boot that never came to its hook."""


@dataclass(slots=True)
class Machine:
    """A guest that is booted again and again: its DISK changes from boot to boot.

    WORK holds its disks, RESULTS a folder for each boot.
    """

    work: Path
    results: Path
    disk: Path
    died: list[str] = field(default_factory=list)
    boots: list[Boot] = field(default_factory=list)

    def boot(self, name: str, job: Path) -> Boot:
        """Boot with JOB. DiedError when the hook does not run in TRIES boots."""
        for number in range(1, TRIES + 1):
            disk = self.work / f"{name}-{number}.qcow2"
            found = self._once(name, job, disk)
            if found is not None:
                self.disk = disk
                self.boots.append(found)
                return found
            self.died.append(name)
            disk.unlink()
        raise DiedError(f"{name}: {TRIES} boots never came to the hook; the last one's console:\n"
                   + (self.results / name / "console.log").read_text(errors="replace")[-2000:])

    def _once(self, name: str, job: Path, disk: Path) -> Boot | None:
        form = "raw" if self.disk.suffix == ".img" else "qcow2"
        overlay = ["qemu-img", "create", "-q", "-f", "qcow2", "-F", form, "-b", str(self.disk), str(disk)]
        subprocess.run(overlay, check=True)
        folder, carrier, tree = self.results / name, self.work / "job.img", self.work / "tree"
        rmtree(folder, ignore_errors=True)
        rmtree(tree, ignore_errors=True)
        copytree(job, tree / "job")
        job_disk(tree, carrier)
        folder.mkdir()
        began = time.monotonic()
        _run(disk, carrier, folder)
        read_back(carrier, "result", folder)
        done = folder / "result/done"
        if not done.exists():
            return None
        code, start, end = done.read_text().split()
        return Boot(folder / "result", int(code), float(start), float(end), time.monotonic() - began)


def _run(disk: Path, carrier: Path, folder: Path) -> None:
    """QEMU until the guest's reboot, or LIMIT_S."""
    drives = [f"file={disk},if=none,id=root,format=qcow2,cache=unsafe",
              f"file={carrier},if=none,id=job,format=raw,cache=unsafe"]
    command = ["qemu-system-x86_64", *QEMU, "-serial", f"file:{folder / 'console.log'}",
               *(word for drive in drives for word in ("-drive", drive))]
    with open(folder / "qemu.log", "wb") as log:
        try:
            subprocess.run(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, timeout=LIMIT_S, check=False)
        except subprocess.TimeoutExpired:
            log.write(b"stopped after the time limit\n")
