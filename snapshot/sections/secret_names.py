"""Names of secrets: what bears one is a password, a key or a token, wherever it stands.

A name is words parted by any sign. Whether ``token`` or ``key`` within a name makes it one depends on where it stands
(``--max-tokens`` of a benchmark is none), and is known there; as the last word both do.
"""

from __future__ import annotations

from ..regexes import regex

_ANYWHERE = regex(
    r"passw|passphrase|secret(?!mem|_interval)|credential|authorization|(?:access|api|auth|private)[-_.]?key"
)
_LAST = regex(
    r"(?<![^\W_])(?:access|account|api|auth|enc(?:ryption)?|host|licen[cs]e|master|pre|priv(?:ate)?|(?:pre)?shared|sign(?:ing)?"
    r"|ssh|ssl|tls|wep|wg|zfs)?key[0-9]?\Z"
    r"|(?<![^\W_])(?:cookie|(?:r[ow])?community)\Z|(?:auth|psk|pwd|pw|token)\Z|(?<!by)(?<!com)pass\Z"
)


def is_secret(name: str) -> bool:
    """Whether this is the NAME of a secret, in letters of any case."""
    lower = name.lower()
    return bool(_ANYWHERE.search(lower) or _LAST.search(lower.rstrip("-_.")))
