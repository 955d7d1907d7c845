"""Modules that DKMS builds, from /var/lib/dkms.

dkms(8); is_module_added, is_module_built and _is_module_installed in dkms.in (3.2.2). A version is a folder
NAME/VERSION with a link ``source``; without the link, or with one that leads nowhere, it is broken. What was
built for a kernel lies in NAME/VERSION/KERNEL/ARCH/module, and counts as installed when the link
NAME/kernel-KERNEL-ARCH leads there: at most one version for each kernel. NAME/original_module holds modules
of the kernel package that were set aside. NAME/VERSION/build/make.log stays behind when a build fails.

Files come first: ``dkms status`` is a shell script that compares whole modules and writes temporary files. It
is run where the tree alone does not tell: framework.conf moves it, or there are weak modules (links in
weak-updates to modules built for another kernel), which only dkms joins with its tree.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping

from ..errors import AbsentError, ParseError
from ..host.base import Command, Result
from ..sections.dkms import Dkms, Module
from .base import Reading, Reads, decode
from .dkms_tree import KERNELS, PLACES, TREE, Tree

FRAMEWORK, FRAMEWORK_D = "/etc/dkms/framework.conf", "/etc/dkms/framework.conf.d"
STATUS = Command(("dkms", "status"), timeout_s=30)
READS = Reads(
    paths=(
        "/var/lib", TREE, f"{TREE}/**", FRAMEWORK, FRAMEWORK_D, f"{FRAMEWORK_D}/*.conf", KERNELS,
        *(f"{KERNELS}/*{name}" for name in ("", "/modules.dep", "/weak-updates")),
        *(f"{KERNELS}/*/{place}" for place in PLACES), *(f"{KERNELS}/*/{place}/*" for place in PLACES),
    ),
    commands=(STATUS.argv,),
)


def collect(reading: Reading) -> Generator[tuple[Command, ...], Mapping[Command, Result], Dkms]:
    """The section. AbsentError when DKMS has no tree."""
    moved = _moved(reading)
    if not moved and reading.stat(TREE, "modules") is None:
        _nothing(reading)
        return Dkms(modules=None)
    found = {} if moved else Tree(reading).modules()
    if moved or _weak(reading):
        results = yield (STATUS,)
        found = merged(found, _said(reading, results[STATUS]))
    unknown = any(u.path == ("modules",) for u in reading.unreads)
    return Dkms(modules=None if unknown and not found else found)


def merged(ours: Mapping[str, Module], said: Mapping[str, Module]) -> dict[str, Module]:
    """What the tree shows, with the builds that only dkms status names."""
    found = dict(ours)
    for name, module in said.items():
        versions = dict(found[name].versions) if name in found else {}
        for number, version in module.versions.items():
            if mine := versions.get(number):
                builds = {kernel: dict(by_arch) for kernel, by_arch in (mine.builds or {}).items()}
                for kernel, by_arch in (version.builds or {}).items():
                    builds[kernel] = by_arch | builds.get(kernel, {})
                version = mine.copy(builds=builds or None)
            versions[number] = version
        found[name] = Module(versions=versions)
    return found


def _moved(reading: Reading) -> bool:
    """Whether the framework's configuration names another tree."""
    names = reading.list(FRAMEWORK_D, "modules")
    files = [FRAMEWORK, *(f"{FRAMEWORK_D}/{name}" for name in names if name.endswith(".conf"))]
    texts = [text for file in files if (text := reading.config(file, "modules"))]
    if not texts:
        return False
    from . import dkms_conf

    trees = [tree for text in texts if (tree := dkms_conf.parse(text).get("dkms_tree"))]
    return bool(trees) and trees[-1].rstrip("/") != TREE


def _nothing(reading: Reading) -> None:
    """AbsentError when the folder where the tree would lie can be listed and has other things in it."""
    if reading.list("/var/lib", "modules") and not reading.unreads:
        raise AbsentError(f"{TREE} is not there")
    reading.settle(False, TREE, "not there, nor anything beside it", "modules")


def _weak(reading: Reading) -> bool:
    return any(
        reading.list(f"{KERNELS}/{kernel}/weak-updates", "modules") for kernel in reading.list(KERNELS, "modules")
    )


def _said(reading: Reading, result: Result) -> dict[str, Module]:
    from . import dkms_status

    reason = result.why or (f"exit code {result.exit_code}" if result.exit_code else "")
    try:
        found = dkms_status.parse(decode(result.stdout))
    except ParseError as error:
        found, reason = {}, reason or str(error)
    if reason:
        reading.unread(("modules",), " ".join(STATUS.argv), reason)
    return found
