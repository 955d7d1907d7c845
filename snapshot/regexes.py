"""Regular expressions that are compiled when they are first used.

A module's expressions stand at its top, and ``re.compile`` there takes a tenth of a millisecond each, at every start of
the program; two of three are never used in a run. A test compiles them all, so that a wrong one is not met by a user.
"""

from __future__ import annotations

import re
from typing import Any, AnyStr, cast


def regex(pattern: AnyStr, flags: re.RegexFlag | int = 0) -> re.Pattern[AnyStr]:
    """What ``re.compile(PATTERN, FLAGS)`` gives, to all that is asked of it."""
    return cast("re.Pattern[AnyStr]", Regex(pattern, flags))


class Regex:
    """An expression that may not be compiled yet; its methods are those of ``re.Pattern``."""

    def __init__(self, pattern: Any, flags: re.RegexFlag | int) -> None:
        self._source = (pattern, flags)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        compiled = re.compile(*self._source)
        value = getattr(compiled, name)
        self.__dict__[name] = value  # the next time nobody gets here
        return value
