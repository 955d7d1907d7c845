"""What the next boot keeps from GPUs: nouveau and nova, by modprobe.d, the command lines and the initial RAM disk."""

from __future__ import annotations

from typing import Any

import pytest

from snapshot.derive import derived
from snapshot.document import Snapshot

from ...pairs import snapshot

Row = dict[str, Any]
GPU, FILE, RUNS, NEXT = "0000:01:00.0", "/etc/modprobe.d/nvidia.conf", "6.8.12-9-pve", "6.14.11-1-pve"
OLD, LATE = "2025-12-01T00:00:00Z", "2025-12-31T23:00:00Z"  # the host was booted half an hour before the take
IN_IMAGE = "whether the initial RAM disk, which is older than that line, loads it is not recorded"


def line(text: str, file: str = FILE) -> Row:
    return {"origin": {"file": file, "line": 1, "text": text}}


BLACK = {"blacklist": {"nouveau": line("blacklist nouveau")}}
MODESET = {"options": {"nouveau": {"modeset": {"files": {"value": "0", **line("options nouveau modeset=0")}}}}}


def host(
    modules: Row, driver: str = "nouveau", now: tuple[str, ...] = (), following: tuple[str, ...] = (),
    release: str = RUNS, image: Row | None = None, meta: Row | None = None, boot: Row | None = None,
) -> Snapshot:
    """A host whose files of modprobe.d were written on the first of January, soon after its boot."""
    function = {"vendor": "10de", "device": "2bb5", "class_code": "030200", "source": "config"}
    used = {"words": [*following], "used": True, "origins": [
        {"file": "/etc/kernel/cmdline", "line": 1, "text": " ".join(following)}]}
    kernel = {"files": {}, "missing": [], **({"initramfs": {"file": "/boot/i", **image}} if image else {})}
    tables: Row = {
        "pci": {"functions": {GPU: function | ({"driver": driver} if driver else {})}},
        "modules": {"kernels": {release: kernel}, **modules}, "cmdline": {"tokens": [*now], "parameters": {}},
        "boot": {"loader": "systemd-boot", "next": {"kernel": release, "by": "x"},
                 "configured": {"kernel-cmdline": used}} if boot is None else boot,
    }
    return snapshot(tables, meta={"taken": "2026-01-01T00:20:00Z", "uptime_s": 1800, **(meta or {})}, files={FILE: "0"})


def told(found: Snapshot) -> tuple[bool | str | None, str | None]:
    """What is said of kept_out and lost: a reason where that is unknown."""
    row = derived("nouveau_binding", found, None).rows[GPU]
    unknown = {key: gap["why"] for key, gap in row.get("unknown", {}).items()}
    return unknown.get("kept_out", row.get("kept_out")), unknown.get("lost", row.get("lost"))


@pytest.mark.parametrize(("modules", "following", "kept"), [
    ({}, (), False), (BLACK, (), True), (MODESET, (), True),
    (BLACK | {"load": {"nouveau": line("nouveau", "/etc/modules")}}, (), False),
    ({"install": {"nouveau": line("install nouveau /bin/false") | {"command": "/bin/false"}}}, (), True),
    ({"install": {"nouveau": line("install nouveau x") | {"command": "modprobe -i nouveau"}}}, (), False),
    ({}, ("modprobe.blacklist=floppy,nouveau",), True), ({}, ("module_blacklist=nouveau",), True),
    ({"load": {"nouveau": line("nouveau", "/etc/modules")}}, ("modprobe.blacklist=nouveau",), False),
    ({}, ("modprobe.blacklist=nouveau2",), False), ({}, ("nouveau.modeset=0",), True), ({}, ("nomodeset",), True),
    ({}, ("nouveau.modeset=1", "nomodeset"), False), (MODESET, ("nouveau.modeset=1",), False),
    ({"blacklist": {"nouveau": line("modprobe.blacklist=nouveau", "/proc/cmdline")}}, (), False),
])
def test_what_keeps_out_what_has_a_gpu(modules: Row, following: tuple[str, ...], kept: bool) -> None:
    assert told(host(modules, following=following)) == (kept, None)


@pytest.mark.parametrize(("image", "meta", "release", "kept"), [
    ({"changed": LATE, "stale": []}, {}, RUNS, True),
    ({"changed": LATE, "stale": [FILE]}, {}, RUNS, IN_IMAGE),
    ({"changed": OLD, "stale": [FILE]}, {"taken": "2026-02-01T00:00:00Z"}, RUNS, False),
    ({"changed": OLD, "stale": []}, {"taken": "2026-02-01T00:00:00Z"}, RUNS, "it was there at this boot, and"),
    ({"changed": OLD, "stale": [FILE]}, {"taken": "2026-02-01T00:00:00Z"}, NEXT, IN_IMAGE),
    ({"changed": OLD, "stale": []}, {"taken": "2026-02-01T00:00:00Z"}, NEXT, True),
    (None, {"taken": "2026-02-01T00:00:00Z"}, RUNS, "it was there at this boot, and"),
    ({"changed": OLD, "stale": []}, {"uptime_s": None}, RUNS, "whether this boot began with that line is not known"),
])
def test_the_initial_ram_disk(image: Row | None, meta: Row, release: str, kept: bool | str) -> None:
    found, _ = told(host(BLACK, image=image, meta=meta, release=release))
    assert found == kept if isinstance(kept, bool) else str(found).startswith(kept)


def test_the_surest_of_several_lines_counts() -> None:
    both = BLACK | {"install": {"nouveau": line("install nouveau /bin/true", "/etc/modprobe.d/late.conf") | {
        "command": "/bin/true"}}}
    image = {"changed": OLD, "stale": [FILE]}
    assert told(host(both, image=image, release=NEXT)) == (True, None)


@pytest.mark.parametrize(("modules", "now", "following", "lost"), [
    ({}, ("modprobe.blacklist=nouveau",), (), "modprobe.blacklist=nouveau"), ({}, (), (), None),
    ({}, ("nomodeset",), ("module_blacklist=nouveau",), None), (BLACK, ("nomodeset",), (), None),
])
def test_what_alone_keeps_it_out_and_is_lost(
    modules: Row, now: tuple[str, ...], following: tuple[str, ...], lost: str | None
) -> None:
    assert told(host(modules, "nvidia", now, following))[1] == lost
    assert told(host(modules, "nouveau", now, following))[1] is None


def test_what_is_not_bound_and_an_image_without_the_line() -> None:
    image = {"changed": OLD, "stale": [FILE]}
    assert told(host(BLACK, "nvidia", image=image, release=NEXT))[1] == IN_IMAGE
    tested = {"taken": "2026-02-01T00:00:00Z"}
    assert told(host(BLACK, "nvidia", image=image, meta=tested)) == (True, None)


def test_a_kernel_without_the_module_and_nova() -> None:
    kernels = {"kernels": {RUNS: {"files": {}, "missing": ["nouveau"]}}}
    assert told(host(kernels)) == (True, None)
    assert told(host(BLACK, "NovaCore")) == (False, None)
    assert told(host({"blacklist": {"nova_core": line("blacklist nova_core")}}, "nova_core")) == (True, None)


def test_what_is_not_known() -> None:
    grub = {"loader": "grub", "next": {"kernel": RUNS, "by": "x"}}
    assert "can be seen" in str(told(host({}, boot=grub))[0]) and told(host({}, "nvidia", boot=grub)) == (False, None)
    assert "can be seen" in str(told(host({}, "nvidia", ("nomodeset",), boot=grub))[1])
    assert told(host(BLACK, boot={"loader": "grub"})) == ("which kernel boots next is not known", None)
    assert told(host(BLACK, boot={})) == (True, None)  # the kernel comes from outside, and is the same again
    for section, path in (("pci", ["functions"]), ("modules", ["blacklist"])):
        hidden = snapshot({"pci": {"functions": {}}, "modules": {}}, unread={section: [path]})
        found = derived("nouveau_binding", hidden, None)
        assert (found.rows, [gap["why"] for gap in found.unknown]) == ({}, ["EACCES"])


@pytest.mark.parametrize("function", [
    {"vendor": "1002", "class_code": "030000"}, {"vendor": "10de", "class_code": "040300"},
    {"vendor": "10de", "class_code": "030200", "driver": "vfio-pci"},
])
def test_what_has_no_row(function: Row) -> None:
    found = snapshot({"pci": {"functions": {GPU: {"device": "2bb5", "source": "config", **function}}}, "modules": {}})
    assert derived("nouveau_binding", found, None).rows == {}
