from __future__ import annotations

import os
from pathlib import Path

import pytest

from snapshot.derive.tunables.boot_defaults import Facts, load, lookup, shipped, version
from snapshot.derive.tunables.tunable import Default
from snapshot.errors import FormatError

ENTRY = """[[default]]
kind = "sysctl"
name = "x"
value = 1
source = "a file"
"""


def of(text: str, folder: Path, kernel: str = "6.8.12-9-pve", facts: Facts | None = None) -> object:
    path = folder / "defaults.toml"
    path.write_text(text)
    return next(
        (entry.value for entry in load(str(path))["sysctl", "x"] if entry.fits(version(kernel), facts or {})), None
    )


@pytest.mark.parametrize(
    ("release", "found"),
    [
        ("6.14.11-1-pve", (6, 14, 11)),
        ("6.8.0-60-generic", (6, 8, 0)),
        ("7", (7,)),
        ("", ()),
        ("pve", ()),
    ],
)
def test_versions(release: str, found: tuple[int, ...]) -> None:
    assert version(release) == found


@pytest.mark.parametrize(
    ("bounds", "kernel", "fits"),
    [
        (">=6.8", "6.8.12-9-pve", True),
        (">=6.8", "6.1.0-57", False),
        (">=6.6,<6.13", "6.12.95+deb12", True),
        (">=6.6,<6.13", "6.13.0", False),
        ("<=6.8", "6.8", True),
        (">6.8", "6.8.1", True),
        (">=6.8", "", False),
    ],
)
def test_kernel_ranges(bounds: str, kernel: str, fits: bool, tmp_path: Path) -> None:
    assert of(ENTRY + f'kernel = "{bounds}"\n', tmp_path, kernel) == (1 if fits else None)


@pytest.mark.parametrize(
    ("when", "facts", "fits"),
    [
        ('numa_nodes = ">1"', {"numa_nodes": 2}, True),
        ('numa_nodes = ">1"', {"numa_nodes": 1}, False),
        ('numa_nodes = ">1"', {}, False),
        ("numa_nodes = 1", {"numa_nodes": 1}, True),
        ("numa_nodes = 1", {"numa_nodes": True}, False),
        ('class = "03*"', {"class": "030200"}, True),
        ('class = "03*"', {"class": "020000"}, False),
        ('class = ">1"', {"class": "2"}, False),
        ("a = true", {"a": True}, True),
        ('a = "x"', {"a": "x", "b": 1}, True),
    ],
)
def test_conditions(when: str, facts: Facts, fits: bool, tmp_path: Path) -> None:
    assert of(ENTRY + f"when = {{ {when} }}\n", tmp_path, facts=facts) == (1 if fits else None)


def test_the_first_that_fits_counts(tmp_path: Path) -> None:
    other = ENTRY.replace("value = 1", "value = 2")
    assert of(ENTRY + 'kernel = ">=7"\n' + other + ENTRY, tmp_path) == 2


@pytest.mark.parametrize(
    ("text", "what"),
    [
        (ENTRY.replace('source = "a file"', ""), "source: is missing"),
        (ENTRY.replace('"a file"', '" "'), "needs a source"),
        (ENTRY + 'kernel = "6.8+"\n', "not bounds of a version"),
        (ENTRY + 'kernal = ">=6.8"\n', "kernal: is not known"),
        (ENTRY.replace("value = 1", "value = [1]"), "value"),
        ("[[defaults]]\nkind = 'x'\n", "every table is a"),
        ("default = 3\n", "expected a table"),
        ("default = [", "not valid TOML"),
    ],
)
def test_a_faulty_file_is_an_error_with_its_place(text: str, what: str, tmp_path: Path) -> None:
    with pytest.raises(FormatError, match=r"defaults\.toml:\d+: .*" + what.replace("[", r"\[")):
        of(text, tmp_path)


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match="cannot be read"):
        load(os.fspath(tmp_path / "none.toml"))


def test_shipped_defaults() -> None:
    assert lookup("sysctl", "vm.swappiness", "6.8.12-9-pve", {}) == Default(
        60, "Linux: Documentation/admin-guide/sysctl/vm.rst, swappiness"
    )
    optmem = [lookup("sysctl", "net.core.optmem_max", kernel, {}) for kernel in ("6.14.11-1-pve", "6.1.0-57", "")]
    assert [found and found.value for found in optmem] == [131072, 20480, None]
    numa = [lookup("sysctl", "kernel.numa_balancing", "6.8", {"numa_nodes": count}) for count in (1, 2, 8)]
    assert [found and found.value for found in numa] == [0, 1, 1]
    reads = [lookup("pci", "MaxReadReq", "6.8", {"class": word}) for word in ("030200", "030000", "020000", "")]
    assert [found and found.value for found in reads] == [512, 512, None, None]
    assert lookup("sysctl", "vm.min_free_kbytes", "6.8", {}) is None


def test_no_default_is_one_that_the_kernel_works_out() -> None:
    from snapshot.sections.sysctl import COMPUTED_KEYS, VOLATILE_KEYS

    names = {name for kind, name in shipped() if kind == "sysctl"}
    assert names and not names & {*COMPUTED_KEYS, *VOLATILE_KEYS["values"]}
