"""What DKMS says of its modules, from the output of ``dkms status``.

dkms(8); do_status, do_status_weak and module_status_built_extra in dkms.in (3.2.2, 2.8.4 to 2.8.7, 3.0). A
line is ``NAME/VERSION, KERNEL, ARCH: STATE`` (up to 2.8.5, and for weak modules even today, a comma for the
slash), or ``NAME/VERSION: added`` or ``broken`` when nothing is built; then remarks in brackets, whose words
have changed over time. Warnings, which some versions print among them, are no such lines.
"""

from __future__ import annotations

import re

from ..errors import ParseError
from ..regexes import regex
from ..sections.dkms import Build, Module, Version

_LINE = regex(
    r"([^/,:\s]+)(?:/|, ?)([^,:/\s]+)(?:, ([^,\s]+), ([^,:\s]+))?"
    r": (added|broken|built|installed-weak from (\S+)|installed)((?: ?\([^()]*\))*)\s*"
)


def parse(text: str) -> dict[str, Module]:
    """The modules by name. ParseError when there is text and no line of it is a status."""
    found: dict[str, dict[str, Version]] = {}
    lines = [line for line in text.split("\n") if line.strip()]
    matches = [match for line in lines if (match := _LINE.fullmatch(line))]
    if lines and not matches:
        raise ParseError(f"no line of dkms status: {lines[0][:80]!r}")
    for match in matches:
        versions = found.setdefault(match[1], {})
        versions[match[2]] = _with(versions.get(match[2], Version()), match)
    return {name: Module(versions=versions) for name, versions in sorted(found.items())}


def _with(version: Version, match: re.Match[str]) -> Version:
    """VERSION with what one line says."""
    if match[5] == "broken":
        return version.copy(broken=True)
    if match[3] is None or match[5] == "added":
        return version
    builds = {kernel: dict(by_arch) for kernel, by_arch in (version.builds or {}).items()}
    builds.setdefault(match[3], {})[match[4]] = _build(match[5], match[6], match[7].lower())
    return version.copy(builds=builds)


def _build(state: str, weak_from: str | None, remarks: str) -> Build:
    return Build(
        state="installed-weak" if weak_from else "built" if state == "built" else "installed",
        weak_from=weak_from,
        original_saved="original" in remarks or None,
        missing="missing" in remarks or None,
        differs="diff" in remarks or None,
    )
