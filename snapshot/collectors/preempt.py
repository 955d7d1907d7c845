"""The kernel's preemption model, from its version string, debugfs, command line and build configuration.

See Documentation/admin-guide/kernel-parameters.txt "preempt=" and kernel/Kconfig.preempt. The oddities, all
of kernel/sched/core.c, kernel/sched/debug.c and init/Makefile:

* The version string has one of the words PREEMPT, PREEMPT_DYNAMIC, PREEMPT_RT, or none (model none or
  voluntary). PREEMPT alone says little: early dynamic kernels, and lazy ones, say it too.
* sched/preempt of debugfs marks the mode of a dynamic kernel with parentheses: ``none voluntary (full)
  lazy``.
* The default of a dynamic kernel is the model that it was built with. preempt= of the command line overrides
  it, the last one counts, an unknown mode is ignored; since 7.0 none and voluntary are unknown where lazy can
  be had.
"""

from __future__ import annotations

import re
import zlib

from ..regexes import regex

_MARKED = regex(r"\((none|voluntary|full|lazy)\)")
_PARAMETER = regex(r'(?<!\S)"?preempt="?([a-z]+)"?(?!\S)')
_OPTION = regex(rb"^CONFIG_(PREEMPT\w*|ARCH_HAS_PREEMPT_LAZY|X86_64)=y$", re.MULTILINE)
_BUILT = {  # in this order: an RT kernel since 6.13 has a second one
    "PREEMPT_RT": "rt", "PREEMPT_NONE": "none", "PREEMPT_VOLUNTARY": "voluntary",
    "PREEMPT_LAZY": "lazy", "PREEMPT": "full",
}


def options(config: bytes) -> frozenset[str]:
    """Of the options that ``model`` needs, and X86_64, those that are y in CONFIG, plain or gzip."""
    if config.startswith(b"\x1f\x8b"):
        try:
            config = zlib.decompressobj(31).decompress(config, 16 << 20)
        except zlib.error:
            return frozenset()
    return frozenset(name.decode() for name in _OPTION.findall(config))


def built_mode(built: frozenset[str]) -> str | None:
    """The mode that a kernel was built with, from its ``options``; None when they do not tell."""
    return next((mode for option, mode in _BUILT.items() if option in built), None)


def running_mode(text: str) -> str | None:
    """The mode that sched/preempt of debugfs marks."""
    match = _MARKED.search(text)
    return match[1] if match else None


def model(release: str, version: str, running: str | None, cmdline: str, built: frozenset[str]) -> str | None:
    """The preemption model: none, voluntary, full, lazy or rt; None when that cannot be told.

    RUNNING is debugfs' mode; without it a dynamic kernel is said to be in the mode that it started with.
    BUILT are its ``options``, empty when not known; without them no kernel but an RT one can be told.
    """
    if "PREEMPT_RT" in version.split():
        return "rt"
    if running:
        return running
    default = built_mode(built)
    if default is None or "PREEMPT_DYNAMIC" not in built:
        return default
    modes = _modes(release, built)
    asked = [mode for mode in _PARAMETER.findall(cmdline.partition(" -- ")[0]) if mode in modes]
    return asked[-1] if asked else default


def _modes(release: str, built: frozenset[str]) -> set[str]:
    """What a dynamic kernel takes as preempt=."""
    if "ARCH_HAS_PREEMPT_LAZY" not in built:
        return {"none", "voluntary", "full"}
    major = re.match("[0-9]{1,9}", release)
    return {"full", "lazy"} if major and int(major[0]) >= 7 else {"none", "voluntary", "full", "lazy"}
