"""The tree in which DKMS keeps what it builds, from /var/lib/dkms/NAME/VERSION.

dkms(8) and dkms.in (3.2.2); see ``dkms``. What is installed is compared with what was built by the size of
the files: dkms copies them, and to read both would cost hundreds of megabytes.
"""

from __future__ import annotations

import re

from ..records import field, record
from ..regexes import regex
from ..sections.dkms import Build, Module, Version
from . import dkms_conf
from .base import Reading

TREE, KERNELS = "/var/lib/dkms", "/lib/modules"
_NO_VERSIONS = ("original_module",)
_NO_KERNELS = ("build", "source", "tarball", "driver_disk", "rpm", "deb")
_KO = regex(r"(.+)\.ko(?:\.(?:xz|zst|gz|bz2))?", re.DOTALL)
PLACES = ("updates/dkms", "extra", "updates")  # where dkms installs: Debian and Arch, Fedora, SUSE
_LOG = regex(r"for kernel ([^\s()]{1,200})")
_HEAD = 400  # of a make.log: its first line names the kernel


def stem(name: str) -> str | None:
    """nvidia-uvm of nvidia-uvm.ko.zst; None when NAME is no module's."""
    found = _KO.fullmatch(name)
    return found[1] if found else None


@record()
class Tree:
    """The tree of one host."""

    reading: Reading
    dependencies: dict[str, str] = field(default_factory=dict)  # kernel -> its modules.dep

    def modules(self) -> dict[str, Module]:
        """The modules that are registered."""
        found = {}
        for name in self._folders(TREE, "modules"):
            versions = {
                version: self._version(name, version)
                for version in self._folders(f"{TREE}/{name}", "modules", name)
                if version not in _NO_VERSIONS
            }
            if versions:
                found[name] = Module(versions=versions)
        return found

    def _folders(self, path: str, *fact: str) -> list[str]:
        names = self.reading.list(path, *fact)
        stats = ((name, self.reading.stat(f"{path}/{name}", *fact, follow=False)) for name in names)
        return [name for name, stat in stats if stat and stat.type == "directory"]

    def _version(self, name: str, version: str) -> Version:
        top, fact = f"{TREE}/{name}/{version}", ("modules", name, "versions", version)
        before = len(self.reading.unreads)
        there = self.reading.stat(f"{top}/source", *fact, "broken") is not None
        broken = None if there or len(self.reading.unreads) > before else True
        text = self.reading.text(f"{top}/source/dkms.conf", *fact, "autoinstall")
        conf = dkms_conf.parse(text or "")
        limits = {key: value for key, value in sorted(conf.items()) if key.startswith("BUILD_EXCLUSIVE_")}
        return Version(
            broken=broken, source=self.reading.readlink(f"{top}/source", *fact, "source"),
            autoinstall=None if text is None else conf.get("AUTOINSTALL", "")[:1] in ("y", "Y"),
            limits=limits or None, failed_for=self._failed_for(f"{top}/build/make.log", *fact),
            builds=self._builds(name, version) or None,
        )

    def _failed_for(self, log: str, *fact: str) -> str | None:
        text = self.reading.text(log, *fact, "failed_for")
        found = _LOG.search(text[:_HEAD]) if text else None
        return found[1] if found else None

    def _builds(self, name: str, version: str) -> dict[str, dict[str, Build]]:
        top, fact = f"{TREE}/{name}/{version}", ("modules", name, "versions", version, "builds")
        builds: dict[str, dict[str, Build]] = {}
        for kernel in self._folders(top, *fact):
            if kernel in _NO_KERNELS:
                continue
            for arch in self._folders(f"{top}/{kernel}", *fact, kernel):
                if build := self._build(name, f"{version}/{kernel}/{arch}", (*fact, kernel, arch)):
                    builds.setdefault(kernel, {})[arch] = build
        return builds

    def _build(self, name: str, place: str, fact: tuple[str, ...]) -> Build | None:
        _, kernel, arch = place.split("/")
        folder = f"{TREE}/{name}/{place}/module"
        built = {module: file for file in self.reading.list(folder, *fact) if (module := stem(file))}
        if not built:
            return None
        link = self.reading.readlink(f"{TREE}/{name}/kernel-{kernel}-{arch}", *fact, "state")
        installed = link is not None and link.removeprefix(f"{TREE}/{name}/").rstrip("/") == place
        original = self.reading.stat(f"{TREE}/{name}/original_module/{kernel}/{arch}", *fact, "original_saved")
        places = self._places(kernel, fact) if installed else {}
        return Build(
            state="installed" if installed else "built", modules=sorted(built),
            original_saved=original is not None or None,
            missing=(installed and any(m not in places and self._nowhere(kernel, m, fact) for m in built)) or None,
            differs=any(
                self._size(f"{folder}/{file}", fact) != self._size(places[module], fact)
                for module, file in built.items() if module in places
            ) or None,
        )

    def _places(self, kernel: str, fact: tuple[str, ...]) -> dict[str, str]:
        """Where dkms may have put modules of KERNEL: module -> file."""
        folders = [f"{KERNELS}/{kernel}/{place}" for place in PLACES]
        files = [f"{folder}/{file}" for folder in folders for file in self.reading.list(folder, *fact, "differs")]
        return {module: file for file in reversed(files) if (module := stem(file.rpartition("/")[2]))}

    def _size(self, path: str, fact: tuple[str, ...]) -> int | None:
        stat = self.reading.stat(path, *fact, "differs")
        return stat.size if stat else None

    def _nowhere(self, kernel: str, module: str, fact: tuple[str, ...]) -> bool:
        """Whether the kernel's folder is gone, or depmod(8) saw no MODULE in it; unknown is noted, and no."""
        path = f"{KERNELS}/{kernel}/modules.dep"
        if kernel not in self.dependencies and self.reading.stat(f"{KERNELS}/{kernel}", *fact, "missing") is not None:
            self.dependencies[kernel] = self.reading.text(path, *fact, "missing") or ""
        text = self.dependencies.get(kernel)
        if text == "":
            self.reading.settle(False, path, "ENOENT", *fact, "missing")
        return text != "" and f"/{module}.ko" not in (text or "")
