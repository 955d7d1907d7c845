"""A file as a git repository has it, from git cat-file: REV:PATH, as gitrevisions(7) has it.

PATH is counted from the top of the repository that the current directory is in, ./PATH from that directory; without REV
it is the index. The plumbing command is asked, because git show obeys textconv and prints a directory as a list.
"""

from __future__ import annotations

import os

from .errors import StoreError


def meant(reference: str) -> bool:
    """Whether a reference is of this form, and no file has that very name: a file goes before."""
    return ":" in reference and not os.path.lexists(reference)


def read(reference: str) -> bytes:
    """The file's bytes. StoreError, in git's words, when there is no such file, revision, repository, or no git."""
    import subprocess

    if reference.startswith("-"):
        raise StoreError(f"{reference!r} is no REV:PATH: a revision does not begin with -")
    try:
        done = subprocess.run(
            ["git", "cat-file", "blob", reference],  # noqa: S607 - the git of whoever calls us
            stdin=subprocess.DEVNULL, capture_output=True, check=False, env={**os.environ, "LC_ALL": "C"},
        )
    except (OSError, ValueError) as error:  # ValueError: a NUL in the reference
        raise StoreError(f"{reference}: no such file, and git cannot be run: {_why(error)}") from None
    if done.returncode:
        raise StoreError(f"{reference}: no such file, nor in git: {_said(done.stderr)}")
    return done.stdout


def _why(error: OSError | ValueError) -> str:
    return (error.strerror if isinstance(error, OSError) else "") or str(error)


def _said(output: bytes) -> str:
    """The first line that git said, without its own name for a fault."""
    lines = output.decode(errors="replace").strip().splitlines() or ["it did not say why"]
    return lines[0].removeprefix("fatal: ").removeprefix("error: ")
