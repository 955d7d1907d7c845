"""Pseudonyms: the same for the same name under one key, in the form of the name, and no way back without the key.

What has a fixed form (serials, MACs, UUIDs, addresses) goes through a Feistel network with HMAC-SHA-256 as its round
function, over the characters that may vary: a permutation, so that two serials never meet, however short (the idea of
NIST SP 800-38G; whoever holds the key could turn it round). Names of hosts, domains, users and paths become a word and
eight hex digits of an HMAC.
"""

from __future__ import annotations

import hashlib
import hmac
import ipaddress
import math
import string
from collections.abc import Sequence

from ..document import machine_hash

_ROUNDS = 8
_HEX = "0123456789abcdef"
_CLASS_E = 240 << 24  # 240.0.0.0/4 is used by nobody: a pseudonym is never somebody's address
_DOCUMENTATION = 0x20010DB8 << 96  # 2001:db8::/32, RFC 3849


class Pseudonyms:
    """The pseudonyms of one KEY."""

    def __init__(self, key: bytes) -> None:
        self._key = key

    def serial(self, text: str) -> str:
        """A serial number or world wide id: digits stay digits and letters letters; hex stays hex, case stays."""
        lower = text.lower()
        letters = string.ascii_lowercase[: 6 if all(c in "abcdef" or not c.isalpha() for c in lower) else 26]
        at = [(place, string.digits if c in string.digits else letters) for place, c in enumerate(lower)
              if c in string.digits or c in letters]
        made = self._permuted("serial", [alphabet.index(lower[place]) for place, alphabet in at],
                              [len(alphabet) for _, alphabet in at])
        chars = [*text]
        for (place, alphabet), value in zip(at, made, strict=True):
            chars[place] = alphabet[value].upper() if text[place].isupper() else alphabet[value]
        return "".join(chars)

    def mac(self, text: str) -> str:
        """A MAC, any separators, as a locally administered one; a multicast or empty one stays."""
        digits = _digits(text)
        first = int(digits[:2], 16)
        if first & 1 or not int(digits, 16):
            return text
        made = self._hex("mac", digits)
        return _formed(text, f"{int(made[:2], 16) & 0xFC | 2:02x}{made[2:]}")

    def wide(self, text: str) -> str:
        """A hex number with separators: EUI-64, GUID, Device Serial Number; zero stays."""
        digits = _digits(text)
        return _formed(text, self._hex("wide", digits)) if int(digits, 16) else text

    def uuid(self, text: str) -> str:
        """A UUID of the same version and variant; one of zeros or ones stays."""
        digits = _digits(text)
        if len({*digits}) == 1:
            return text
        free = [place for place in range(32) if place not in (12, 16)]
        made = [*digits]
        for place, digit in zip(free, self._hex("uuid", "".join(digits[p] for p in free)), strict=True):
            made[place] = digit
        return _formed(text, "".join(made))

    def ipv4(self, text: str) -> str:
        """An address of 240.0.0.0/4; what names no host (loopback, any, multicast, a netmask) stays."""
        number = int(ipaddress.IPv4Address(text))
        ones = f"{number:032b}"
        if number >> 24 in (0, 127) or 224 <= number >> 24 < 240 or "01" not in ones:
            return text
        return str(ipaddress.IPv4Address(_CLASS_E | self._number("ipv4", text) >> 228))

    def ipv6(self, text: str) -> str:
        """An address of 2001:db8::/32."""
        whole = str(ipaddress.IPv6Address(text))
        return str(ipaddress.IPv6Address(_DOCUMENTATION | self._number("ipv6", whole) >> 160))

    def host(self, name: str) -> str:
        """host- and eight hex digits."""
        return self._word("host", name.lower())

    def fqdn(self, name: str) -> str:
        """A host name with or without its domain."""
        host, dot, domain = name.partition(".")
        return self.host(host) + (f".{self.domain(domain)}" if dot else "")

    def domain(self, name: str) -> str:
        """domain- and eight hex digits."""
        return self._word("domain", name.lower())

    def user(self, name: str) -> str:
        """user- and eight hex digits."""
        return self._word("user", name)

    def component(self, name: str) -> str:
        """One component of a path, whose suffix stays."""
        stem, dot, suffix = name.rpartition(".")
        return f"{self._word('path', stem)}.{suffix}" if dot and stem and len(suffix) < 5 else self._word("path", name)

    def machine(self, machine: str) -> str:
        """What a snapshot calls the machine whose machine-id has become ``machine_id`` of it."""
        return machine_hash(self._hex("machine", machine) if len(machine) == 32 else machine)

    def machine_id(self, machine_id: str) -> str:
        """A machine-id, 32 hex digits; made from its hash, which is all that a snapshot has."""
        return self._hex("machine", machine_hash(machine_id))

    def digest(self, sha256: str) -> str:
        """A checksum that tells equal contents, and nothing else."""
        return f"{self._number('digest', sha256):064x}"

    def _word(self, kind: str, name: str) -> str:
        return f"{kind}-{self._number(kind, name) >> 224:08x}"

    def _number(self, kind: str, text: str) -> int:
        message = f"{kind}\0{text}".encode("utf-8", "surrogateescape")
        return int.from_bytes(hmac.new(self._key, message, hashlib.sha256).digest(), "big")

    def _hex(self, kind: str, digits: str) -> str:
        made = self._permuted(kind, [int(digit, 16) for digit in digits], [16] * len(digits))
        return "".join(_HEX[value] for value in made)

    def _permuted(self, kind: str, values: Sequence[int], sizes: Sequence[int]) -> list[int]:
        """The values of a permutation of all such lists, where the value at each place is below its size."""
        half = len(sizes) // 2
        left, right = _packed(values[:half], sizes[:half]), _packed(values[half:], sizes[half:])
        most_left, most_right = math.prod(sizes[:half]), math.prod(sizes[half:])
        form = f"{kind} {','.join(map(str, sizes))}"
        for turn in range(_ROUNDS):
            left = (left + self._number(f"{form} {turn} left", str(right))) % most_left
            right = (right + self._number(f"{form} {turn} right", str(left))) % most_right
        return [*_unpacked(left, sizes[:half]), *_unpacked(right, sizes[half:])]


def _packed(values: Sequence[int], sizes: Sequence[int]) -> int:
    number = 0
    for value, size in zip(values, sizes, strict=True):
        number = number * size + value
    return number


def _unpacked(number: int, sizes: Sequence[int]) -> list[int]:
    values = []
    for size in reversed(sizes):
        number, value = divmod(number, size)
        values.append(value)
    return values[::-1]


def _digits(text: str) -> str:
    return "".join(c for c in text.lower() if c in _HEX)


def _formed(text: str, digits: str) -> str:
    """DIGITS in the place of those of TEXT, in upper case where TEXT has upper case."""
    rest = iter(digits.upper() if any(c in "ABCDEF" for c in text) else digits)
    return "".join(next(rest) if c.lower() in _HEX else c for c in text)
