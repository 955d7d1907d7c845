"""The errors that a user can meet: one line each, saying what, where and what to do."""


class SnapError(Exception):
    """Something the user can act on. The command line prints it as one line and exits 2."""


class FormatError(SnapError):
    """A snapshot, rule pack or configuration file cannot be read; the text names file, line and key."""


class StoreError(SnapError):
    """A snapshot reference (path, id, label, @N) names no snapshot, or more than one."""


class ParseError(SnapError):
    """Raw text from the machine does not have the form its collector expects; quotes the bad text."""


class AbsentError(SnapError):
    """Positive evidence that this host has no such hardware, driver or software; the text is the evidence."""
