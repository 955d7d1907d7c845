"""One file a section: ``collect(reading)`` reads, pure ``parse`` functions understand, the model comes out.

To add a collector: ``collectors/NAME.py`` with READS (all that it may touch) and ``collect``; the word goes into
``sections.NAMES``. ``collect`` reads files and returns the model; when it needs commands it is a generator that yields
a tuple of Commands once its files are read, receives their Results, and returns the model. It raises AbsentError on
positive evidence that there is nothing, ParseError when the text makes no sense; other trouble goes to
``reading.unread``.
"""

from __future__ import annotations

from importlib import import_module

from ..sections import NAMES
from .base import Collector


def collector(name: str) -> Collector:
    """The collector of section NAME, imported when asked for. KeyError when there is no such section."""
    if name not in NAMES:
        raise KeyError(name)
    module = import_module(f".{name}", __name__)
    return Collector(name, module.READS, module.collect)
