"""Disk images, made without mounting anything: the guest's, which GRUB boots from, and the one that carries a job.

GRUB's two first stages are laid out as grub-bios-setup(8) does: boot.img is the code of sector 0 and loads sector 1,
where core.img begins; what its first sector has to load, grub-mkimage(1) has written into it. ext4's features are
named: GRUB 2.06 does not know those that newer versions of mke2fs(8) turn on by themselves.
"""

from __future__ import annotations

import os
import struct
import subprocess
from pathlib import Path

SECTOR = 512
START = 2048  # sector of the first partition
CODE = 440  # bytes of sector 0 before the disk's signature
SIGNATURE = 0x5EED5EED
UUID = "5eed5eed-5eed-4eed-8eed-5eed5eed5eed"  # of the guest's file system, as GRUB's menu names it
LINUX, ACTIVE = 0x83, 0x80
ANY = b"\xfe\xff\xff"  # cylinder, head and sector of what lies beyond them
FEATURES = "none,has_journal,ext_attr,dir_index,filetype,extent,64bit,flex_bg,sparse_super,large_file,huge_file"


def root_disk(tree: Path, image: Path, mib: int = 2048) -> None:
    """An image of MIB MiB with TREE on its one partition, and GRUB before it. CalledProcessError when mke2fs fails."""
    with open(image, "wb") as file:
        os.truncate(file.fileno(), mib << 20)
    _ext4(tree, image, (mib << 10) - START * SECTOR // 1024, f",offset={START * SECTOR}", "-U", UUID)
    grub = tree / "boot/grub/i386-pc"
    boot, core = (grub / "boot.img").read_bytes(), (grub / "core.img").read_bytes()
    if len(core) > (START - 1) * SECTOR:
        raise ValueError(f"core.img of {len(core)} bytes does not fit before the partition")
    with open(image, "r+b") as file:
        file.write(boot[:CODE] + table((mib << 20) // SECTOR - START) + core)


def table(sectors: int) -> bytes:
    """The rest of sector 0: signature, and one partition of that many sectors."""
    entry = struct.pack("<B3sB3sII", ACTIVE, ANY, LINUX, ANY, START, sectors)
    return struct.pack("<IH", SIGNATURE, 0) + entry.ljust(64, b"\0") + b"\x55\xaa"


def job_disk(tree: Path, image: Path, mib: int = 128) -> None:
    """An image of a file system that holds TREE, without a partition table."""
    image.unlink(missing_ok=True)
    _ext4(tree, image, mib << 10)


def read_back(image: Path, folder: str, target: Path) -> None:
    """FOLDER of a job's disk with all that lies in it, into TARGET, which has to exist; nothing if it is not there."""
    subprocess.run(["debugfs", "-R", f"rdump /{folder} {target}", str(image)], capture_output=True, check=False)


def _ext4(tree: Path, image: Path, kib: int, extended: str = "", *more: str) -> None:
    options = ["-O", FEATURES, "-E", f"root_owner=0:0{extended}", "-d", str(tree), *more]
    subprocess.run(["mke2fs", "-q", "-F", "-t", "ext4", *options, str(image), f"{kib}k"],
                   check=True, capture_output=True, text=True)
