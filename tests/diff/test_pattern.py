"""Patterns of facts: what they mean, what they cannot, and what an error says then."""

from __future__ import annotations

from fnmatch import fnmatchcase

import pytest
from hypothesis import given, reject
from hypothesis import strategies as st

from snapshot.diff.pattern import Pattern, written

DRIVER = ("pci", "functions", "0000:01:00.0", "driver")
RMEM = ("sysctl", "values", "net.core.rmem_max")


@pytest.mark.parametrize(("text", "path"), [
    ("pci", DRIVER), ("pci.functions", DRIVER), ("pci.functions.0000:01:00.0", DRIVER), ("p*", DRIVER),
    ("pci.functions.0000:01:00.0.driver", DRIVER), ("pci.functions.*.driver", DRIVER), ("**.driver", DRIVER),
    ("pci.**.driver", DRIVER), ("pci.functions.**", DRIVER), ("**", DRIVER), ("pci.functions.0000:0?:*.driver", DRIVER),
    ("pci.functions.0000:[!1-9]1:00.0.d*", DRIVER), ('pci.functions."0000:01:00.0".driver', DRIVER), (" +pci ", DRIVER),
    ("sysctl.values.net.core.rmem_max", RMEM), ("sysctl.values.net.*", RMEM), ("sysctl.*.net.core.*", RMEM),
    ("sysctl.values.*.rmem_max", RMEM), ('sysctl.values."net.core.rmem_max"', RMEM),
    ("**.rmem_max", (*RMEM[:2], "rmem_max")),
    ("/etc/sysctl.d/*.conf", ("files", "/etc/sysctl.d/9 0.conf")), ("files./etc/fstab", ("files", "/etc/fstab")),
    ("-/etc", ("files", "/etc")), ("meta.kernel", ("meta", "kernel")),
    (r'storage.mounts."/a\"b\\*\u00e9\n".options', ("storage", "mounts", '/a"b\\*é\n', "options")),
    ("storage.mounts./mnt/a b.options", ("storage", "mounts", "/mnt/a b", "options")),
    ('modules.softdeps."nvidia*"', ("modules", "softdeps", "nvidia*")),
    ("storage.mounts./x[1.root", ("storage", "mounts", "/x[1", "root")),
    ("irq.devices.*.*.effective", ("irq", "devices", "0000:01:00.0", "nvme0q*", "effective")),
    ("nvidia.topology.0000:01:00.0", ("nvidia", "topology", "0000:01:00.0", "0000:02:00.0")),
    ("lxc.containers.*.live.device_rules.0.value", ("lxc", "containers", "101", "live", "device_rules", "0", "value")),
])
def test_what_a_pattern_covers(text: str, path: tuple[str, ...]) -> None:
    assert Pattern.parse(text).covers(path)


@pytest.mark.parametrize(("text", "path"), [
    ("pci.functions.*.driver", DRIVER[:3]), ("pci.functions.0000:01:00", DRIVER), ("pci.functions.*.dev*", DRIVER),
    ("sysctl.values.net", RMEM), ("sysctl.values.net.*", ("sysctl", "values", "netx")), ("rdma", ("rdmax",)),
    ('sysctl.values."net.*"', RMEM), ("sysctl.values.NET.*", RMEM), ("**.core", ("cpu", "core1")),
    ('modules.softdeps."nvidia*"', ("modules", "softdeps", "nvidia_drm")), ("*.functions.[!0]*", DRIVER),
    ("/etc", ("files", "/etc/fstab")),
    ("irq.devices.*.[!x-z0]", ("irq", "devices", "0000:01:00.0", "ab")),
])
def test_what_it_does_not(text: str, path: tuple[str, ...]) -> None:
    assert not Pattern.parse(text).covers(path)


@pytest.mark.parametrize(("text", "path", "answer"), [
    ("pci.functions.*.driver", ("pci",), True), ("pci.functions.*.driver", DRIVER[:3], True),
    ("pci.functions.*.driver", DRIVER, False), ("pci.functions.*.driver", ("net",), False),
    ("**.driver", ("net",), True),
    ("pci.functions.0000:01:00.0.driver", ("pci", "functions", "0000:01:00.1"), False), ("pci", ("pci",), False),
    ("sysctl.values.net.*", ("sysctl", "values"), True), ("pci.**.driver", ("pci", "functions"), True),
])
def test_whether_it_reaches_below(text: str, path: tuple[str, ...], answer: bool) -> None:
    assert Pattern.parse(text).reaches(path) is answer


@pytest.mark.parametrize(("text", "direction"), [
    ("pci", None), ("+pci", "added"), ("-pci", "removed"), (" -/etc", "removed"),
])
def test_a_sign_is_a_direction(text: str, direction: str | None) -> None:
    assert Pattern.parse(text).direction == direction


@pytest.mark.parametrize(("text", "words"), [
    ("pcie", "no section 'pcie': pci?"), ("sysctl2.values", "sysctl?"), ("zzz", "one of os, firmware"),
    ("x*", "no section 'x*'"),
    ("pci.function", "no fact 'function': functions?"), ("+pci.functions.*.drvier", "'drvier': driver"),
    ("pci.functions.*.express.link.sped_gts", "speed_gts"), ("meta.kernle", "kernel?"),
    ("memory.nodes.*.totl_bytes", "total_bytes"),
    ("kernel.release.x", "nothing stands below"), ("cpufreq.max_khz.1000", "nothing stands below"),
    ("", "a key is missing"), ("+", "a key is missing"), ("pci..driver", "missing at '.driver'"),
    ("pci.", "missing at 'pci.'"),
    ('pci."a', "missing"), ('pci."a"b', "missing"), (r'sysctl.values."a\xb"', "as JSON"), ("..", "missing"),
    ('pci.functions."0000:01:00".0.driver', "'0'"),
])
def test_an_error_says_what_was_meant(text: str, words: str) -> None:
    with pytest.raises(ValueError) as caught:
        Pattern.parse(text)
    assert words in str(caught.value)


@pytest.mark.parametrize("text", ["[z-a]", "[--b]", "[a&&b]", "[[b]", "[!]b]", "[a~~b]", "[\\\\d]"])
def test_an_odd_range_of_characters_is_what_fnmatch_makes_of_it(text: str) -> None:
    pattern = Pattern.parse(f"sysctl.values.{text}")
    for key in ("a", "b", "]", "&", "1", "d", "\\"):
        assert pattern.covers(("sysctl", "values", key)) == fnmatchcase(key, text)


KEYS = st.text(st.sampled_from("ab.*?[]!\"\\-+/é\x7f\udcff\n "), max_size=6)


@given(KEYS, KEYS)
def test_a_written_path_is_ascii_and_covers_itself_alone(key: str, other: str) -> None:
    text = written(("sysctl", "values", key))
    assert text.isascii() and text.isprintable()
    assert Pattern.parse(text).covers(("sysctl", "values", key))
    assert Pattern.parse(text).covers(("sysctl", "values", other)) == (key == other)


def naive(pieces: list[str], path: list[str]) -> bool:
    """Every way to take the dots of a pattern, tried."""
    if not pieces:
        return True
    if pieces[0] == "**":
        return naive(pieces[1:], path) or (bool(path) and naive(pieces, path[1:]))
    ends = range(1, next((at for at, piece in enumerate(pieces) if piece == "**"), len(pieces)) + 1)
    return bool(path) and any(
        fnmatchcase(path[0], ".".join(pieces[:end])) and naive(pieces[end:], path[1:]) for end in ends
    )


PIECES = st.lists(st.sampled_from(["a", "b", "*", "**", "a*", "?"]), max_size=5)
PATHS = st.lists(st.sampled_from(["a", "b", "a.b", "b.a.b", "ab", "a."]), max_size=4)


@given(PIECES, PATHS)
def test_the_expression_agrees_with_trying_every_reading(pieces: list[str], path: list[str]) -> None:
    try:
        pattern = Pattern.parse(".".join(["irq", "devices", *pieces]))
    except ValueError:
        reject()  # no interrupt has such a fact
    assert pattern.covers(("irq", "devices", *path)) == naive(pieces, path)
