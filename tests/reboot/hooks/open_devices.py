"""Opens the NVIDIA device nodes given, or the usual ones, and prints PATH and what happened: ok, or the error's name.

Needs only python3-minimal: it runs in the containers.
"""

from __future__ import annotations

import errno
import os
import stat
import sys

USUAL = ["/dev/nvidia0", "/dev/nvidiactl", "/dev/nvidia-uvm", "/dev/nvidia-uvm-tools", "/dev/nvidia-caps/nvidia-cap1"]


def tried(path: str) -> str:
    """What open() says; of a file that LXC made in place of a node that is not there, "no device"."""
    try:
        if not stat.S_ISCHR(os.stat(path).st_mode):
            return "no device"
        os.close(os.open(path, os.O_RDWR))
    except OSError as error:
        return errno.errorcode.get(error.errno or 0, str(error.errno))
    return "ok"


for name in sys.argv[1:] or USUAL:
    print(name, tried(name))
