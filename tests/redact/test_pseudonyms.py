"""Pseudonyms: same name and key, same pseudonym; the form stays; two names never meet."""

from __future__ import annotations

import itertools
import re
import string
import uuid

import pytest
from hypothesis import given
from hypothesis import strategies as st

from snapshot.redact.pseudonyms import Pseudonyms

KEY = b"a key of these tests only"
NAMES = Pseudonyms(KEY)
OTHER = Pseudonyms(b"another key of these tests")


@pytest.mark.parametrize(("kind", "text", "form"), [
    ("serial", "S5GXNX0T104242", "[A-Z][0-9][A-Z]{4}[0-9][A-Z][0-9]{6}"),
    ("serial", "1320923012345", "[0-9]{13}"),
    ("serial", "5000c500a1b2c3d4", "[0-9]{4}[a-f][0-9]{3}[a-f][0-9][a-f][0-9][a-f][0-9][a-f][0-9]"),
    ("serial", "2f0a11Bc", "[0-9][a-f][0-9][a-f][0-9]{2}[A-F][a-f]"),
    ("serial", "A1B2-C3D4", "[A-F][0-9][A-F][0-9]-[A-F][0-9][A-F][0-9]"),
    ("mac", "b8:3f:d2:aa:bb:cc", "[0-9a-f][26ae](:[0-9a-f]{2}){5}"),
    ("mac", "B8-3F-D2-AA-BB-CC", "[0-9A-F][26AE](-[0-9A-F]{2}){5}"),
    ("wide", "b8-3f-d2-ff-ff-aa-bb-cc", "[0-9a-f]{2}(-[0-9a-f]{2}){7}"),
    ("wide", "b83f:d203:00aa:bbcc", "[0-9a-f]{4}(:[0-9a-f]{4}){3}"),
    ("uuid", "3c1d5e6f-1a2b-4c3d-8e4f-5a6b7c8d9e0f", "[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-8[0-9a-f]{3}-[0-9a-f]{12}"),
    ("ipv4", "192.0.2.17", r"2[45][0-9](\.[0-9]{1,3}){3}"),
    ("ipv6", "2a01:4f8::1", "2001:db8:[0-9a-f:]+"),
    ("fqdn", "Falcon.corp.example", "host-[0-9a-f]{8}[.]domain-[0-9a-f]{8}"),
    ("user", "alice", "user-[0-9a-f]{8}"),
    ("component", "tune.sh", r"path-[0-9a-f]{8}\.sh"),
    ("component", ".config", "path-[0-9a-f]{8}"),
    ("machine_id", "0123456789abcdef0123456789abcdef", "[0-9a-f]{32}"),
])
def test_the_form_stays_and_the_key_decides(kind: str, text: str, form: str) -> None:
    made = getattr(NAMES, kind)(text)
    assert re.fullmatch(form, made)
    assert made != text and made != getattr(OTHER, kind)(text)
    assert made == getattr(Pseudonyms(KEY), kind)(text)


@pytest.mark.parametrize(("kind", "text"), [
    ("mac", "00:00:00:00:00:00"), ("mac", "ff:ff:ff:ff:ff:ff"), ("mac", "01:80:c2:00:00:0e"),
    ("wide", "0000:0000:0000:0000"), ("uuid", "00000000-0000-0000-0000-000000000000"),
    ("ipv4", "127.0.0.1"), ("ipv4", "0.0.0.0"), ("ipv4", "255.255.255.0"), ("ipv4", "255.255.255.255"),
    ("ipv4", "224.0.0.251"), ("serial", ""), ("serial", "-"),
])
def test_what_names_nobody_stays(kind: str, text: str) -> None:
    assert getattr(NAMES, kind)(text) == text


def test_one_number_in_several_spellings_is_one_pseudonym() -> None:
    bare = {re.sub("[:-]", "", NAMES.wide(t)).lower() for t in ("b83f:d203:00aa:bbcc", "B8-3F-D2-03-00-AA-BB-CC")}
    assert len(bare) == 1
    assert NAMES.mac("B8-3F-D2-AA-BB-CC").lower().replace("-", ":") == NAMES.mac("b8:3f:d2:aa:bb:cc")
    assert NAMES.serial("ab12").upper() == NAMES.serial("AB12")
    assert NAMES.ipv6("2A01:4F8:0::1") == NAMES.ipv6("2a01:4f8::1")
    assert NAMES.host("FALCON") == NAMES.host("falcon")


@pytest.mark.parametrize("alphabet", ["0123456789", "abcdef", "xyz0"])
@pytest.mark.parametrize("length", [1, 2, 3])
def test_short_serials_never_meet(alphabet: str, length: int) -> None:
    texts = ["".join(one) for one in itertools.product(alphabet, repeat=length)]
    hex_only = [t for t in texts if not set(t) & set("xyz")]
    for some in (hex_only, [t for t in texts if t not in hex_only]):
        assert len({NAMES.serial(text) for text in some}) == len(some)


@given(st.text())
def test_any_serial_keeps_its_length_and_the_kind_of_each_sign(text: str) -> None:
    made = NAMES.serial(text)
    assert len(made) == len(text)
    for before, after in zip(text, made, strict=True):
        if before.isascii() and before.isalnum():
            assert (before.isdigit(), before.isupper()) == (after.isdigit(), after.isupper())
        elif before.lower() not in string.ascii_lowercase:
            assert before == after


@given(st.uuids())
def test_a_uuid_stays_one_of_its_version(one: uuid.UUID) -> None:
    made = uuid.UUID(NAMES.uuid(str(one)))
    assert (made.version, str(made)[19]) == (one.version, str(one)[19])


def test_the_hash_of_a_machine_follows_its_id() -> None:
    from snapshot.document import machine_hash

    machine_id = "0123456789abcdef0123456789abcdef"
    assert machine_hash(NAMES.machine_id(machine_id)) == NAMES.machine(machine_hash(machine_id))
