"""A plain table against its model: the model, or one line that says where the file is wrong."""

from __future__ import annotations

from typing import Any, TypeVar

from .. import tomlio
from ..errors import FormatError
from ..sections.base import Model
from ..sections.fitting import MisfitError, fit
from ..tomlio import Path

M = TypeVar("M", bound=Model)
_HINT = " (was the file edited by hand?)"


def checked(model: type[M], table: Any, path: Path, name: str, text: str) -> M:
    """TABLE, which stands at PATH in TEXT of the file NAME, as MODEL. FormatError when it does not fit."""
    try:
        return fit(model, table)
    except MisfitError:
        return _judged(model, table, path, name, text)


def _judged(model: type[M], table: Any, path: Path, name: str, text: str) -> M:
    """As pydantic, which is imported only here, takes it or says what is wrong first."""
    from pydantic import ValidationError

    from ..sections.faults import worded

    try:
        return model.model_validate(table)
    except ValidationError as error:
        where, what = worded(table, error.errors(include_url=False), _newer, _HINT)
        raise fault(name, text, (*path, *where), what) from None


def _newer(*_: object) -> str:
    return "is not known to this version of hostsnap"


def fault(name: str, text: str, path: Path, what: str) -> FormatError:
    """The error "NAME:LINE: PATH: WHAT", without a line when TEXT holds nothing of PATH."""
    from ..sections.faults import short

    line = tomlio.line_of(text, path)
    return FormatError(f"{name}{f':{line}' if line else ''}: {short(tomlio.dotted(path), 200)}: {what}")
