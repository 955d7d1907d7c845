"""Module files: sections, compressions, signatures, and files that are none."""

from __future__ import annotations

import gzip
import lzma
import struct
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fixtures.parts.modules import module, signed
from snapshot.collectors.modinfo import parse, section, signer
from snapshot.errors import ParseError

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

PLAIN = module(version="580.95.05", license="NVIDIA", parm="a:b", vermagic="6.8 SMP ")


@pytest.mark.parametrize(
    ("suffix", "data"),
    [("", PLAIN), (".xz", lzma.compress(PLAIN)), (".gz", gzip.compress(PLAIN)), (".zst", zstd.compress(PLAIN))],
)
def test_every_compression(suffix: str, data: bytes) -> None:
    info = parse(data, f"nvidia.ko{suffix}")
    assert (info.fields["version"], info.fields["license"], info.signer) == ("580.95.05", "NVIDIA", None)


@pytest.mark.parametrize("suffix", [".xz", ".gz", ".zst"])
@pytest.mark.parametrize("data", [b"", b"junk" * 99, PLAIN])
def test_what_is_not_packed_so_is_an_error(suffix: str, data: bytes) -> None:
    with pytest.raises(ParseError):
        parse(data, f"nvidia.ko{suffix}")


def test_a_packed_file_that_is_cut_short_is_an_error() -> None:
    for suffix, data in ((".xz", lzma.compress(PLAIN)), (".gz", gzip.compress(PLAIN)), (".zst", zstd.compress(PLAIN))):
        with pytest.raises(ParseError):
            parse(data[:-20], f"nvidia.ko{suffix}")


def test_the_first_value_of_a_key_counts() -> None:
    assert section(PLAIN, b".modinfo").endswith(b"vermagic=6.8 SMP \0")
    with pytest.raises(ParseError, match=r"no section \.text"):
        section(PLAIN, b".text")


def test_big_endian_and_32_bit_files() -> None:
    names, info = b"\0.modinfo\0", b"version=1\0"
    head = b"\x7fELF\1\2\1" + bytes(9) + struct.pack(">HHIIIIIHHHHHH", 1, 8, 1, 0, 0, 64, 0, 52, 0, 0, 40, 2, 1)
    rows = ((1, 1, 0, 0, 200, len(info), 0, 0, 1, 0), (0, 3, 0, 0, 300, len(names), 0, 0, 1, 0))
    data = head.ljust(64, b"\0") + b"".join(struct.pack(">10I", *row) for row in rows)
    data = data.ljust(200, b"\0") + info
    assert parse(data.ljust(300, b"\0") + names, "a.ko").fields == {"version": "1"}


def test_signers() -> None:
    assert parse(signed(PLAIN), "a.ko").signer == "DKMS module signing key"
    assert signer(PLAIN) is None
    nameless = b"\x30\x80" + bytes(30)
    assert signer(PLAIN + nameless + bytes(8) + struct.pack(">I", 32) + b"~Module signature appended~\n") == "(unnamed)"
    with pytest.raises(ParseError, match="signature"):
        signer(b"\xff" * 12 + b"~Module signature appended~\n")


@given(st.binary(max_size=200), st.integers(0, 400), st.sampled_from(["", ".xz", ".gz", ".zst"]))
def test_any_file_is_survived(noise: bytes, at: int, suffix: str) -> None:
    data = signed(PLAIN)
    for spoiled in (noise, data[:at] + noise + data[at:], data[: at + 1], data[:at] + noise):
        try:
            parse(spoiled, f"a.ko{suffix}")
        except ParseError:
            continue
