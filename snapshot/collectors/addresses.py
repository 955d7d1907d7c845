"""Leaves IP addresses out of a line: they are private, and no fact of a snapshot."""

from __future__ import annotations

from ..regexes import regex

REDACTED = "<address>"
_HEX = "[0-9A-Fa-f]{1,4}"
_SOME = f"(?:{_HEX}(?::{_HEX}){{0,6}})?"
_V4 = r"[0-9]{1,3}(?:\.[0-9]{1,3}){3}(?![\w.])"
_ADDRESS = regex(
    rf"(?<![\w.:]){_V4}|(?<![\w:])(?:{_SOME}::(?:{_HEX}:){{0,5}}{_V4}"
    rf"|(?:{_HEX}(?::{_HEX}){{7}}|{_SOME}::{_SOME})(?![\w:]))|(?<![\w.]){_V4}"
)


def without_addresses(text: str) -> str:
    """TEXT with <address> for each IPv4 and IPv6 address; MAC, PCI and other addresses stay."""
    return _ADDRESS.sub(REDACTED, text)
