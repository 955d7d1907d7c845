"""The yardstick for a large host: reads every file below a folder, and does nothing with it: read_all.py FOLDER

As direct as Python can: scandir(3) for names and types, open(2) by directory, one read(2) of a page while that is
enough. It imports nothing but os and sys.
"""

import os
import sys


def read_all(folder: int) -> int:
    """How many files there are below the open directory FOLDER."""
    number, below = 0, []
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                below.append(entry.name)
            elif entry.is_file(follow_symlinks=False):
                file = os.open(entry.name, os.O_RDONLY | os.O_CLOEXEC, dir_fd=folder)
                while len(os.read(file, 4096)) == 4096:
                    pass
                os.close(file)
                number += 1
    for name in below:
        child = os.open(name, os.O_RDONLY | os.O_CLOEXEC | os.O_DIRECTORY, dir_fd=folder)
        number += read_all(child)
        os.close(child)
    return number


if __name__ == "__main__":
    print(read_all(os.open(sys.argv[1], os.O_RDONLY | os.O_DIRECTORY)), "files")
