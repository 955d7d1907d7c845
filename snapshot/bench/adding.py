"""Reports into the ``bench`` section of a snapshot.

A report is added once: the section keeps the SHA-256 of each file that was read, and the same bytes a second time are
refused, whatever the file is called, because they would count one run as two. What ``bench run`` measures comes from
no file and is not asked.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping, Sequence

from .. import sections
from ..document import Outcome, Snapshot
from ..errors import SnapError
from ..records import field, record, replace
from ..sections.bench import Bench
from ..sections.nvidia import Nvidia
from .importers import read
from .merging import Addition
from .report import Report, Workload

LIMIT_BYTES = 64 << 20


@record(frozen=True)
class File:
    """A report that was read: its path as it was given, and the hash of its bytes."""

    path: str
    sha256: str
    report: Report


def load(path: str, form: str | None = None) -> File:
    """The report in PATH, - for standard input, by importer FORM or the one that recognises it.

    SnapError when it cannot be read, is larger than 64 MiB or none that is known; KeyError when there is no importer
    FORM.
    """
    name = "standard input" if path == "-" else path
    try:
        with open(0 if path == "-" else path, "rb", closefd=path != "-") as file:
            data = file.read(LIMIT_BYTES + 1)
    except OSError as error:
        raise SnapError(f"{name}: cannot be read: {error.strerror}") from None
    if len(data) > LIMIT_BYTES:
        raise SnapError(f"{name}: larger than {LIMIT_BYTES >> 20} MiB")
    return File(name, hashlib.sha256(data).hexdigest(), read(text(data), name, form))


def text(data: bytes) -> str:
    """What a benchmark printed, as text: a byte that is no UTF-8 becomes U+FFFD, line ends and a mark go."""
    return data.decode("utf-8", "replace").removeprefix("\ufeff").replace("\r\n", "\n")


@record(frozen=True, kw_only=True)
class Extra:
    """What a user says of reports."""

    workload: Workload = field(default_factory=dict)  # joins the fingerprint
    label: str | None = None


def with_files(snapshot: Snapshot, files: Sequence[File], extra: Extra) -> Snapshot:
    """SNAPSHOT with the reports in FILES, all or none. SnapError, which names the file, when one cannot be added."""
    bench, gpus = section(snapshot), gpus_of(snapshot)
    for file in files:
        known = dict(bench.reports or {})
        name = os.path.basename(file.path)
        if file.sha256 in known:
            raise SnapError(f"{file.path}: these very bytes were added already, as {known[file.sha256]}")
        try:
            report = with_workload(file.report, extra.workload)
            bench = Addition(report=report, file=name, label=extra.label, gpus=gpus).merged(bench)
        except SnapError as error:
            raise SnapError(f"{file.path}: {error}") from None
        bench = bench.copy(reports={**known, file.sha256: name})
    return with_bench(snapshot, bench)


def with_reports(snapshot: Snapshot, reports: Sequence[Report], extra: Extra) -> Snapshot:
    """SNAPSHOT with REPORTS of runs, which no file holds. SnapError when one cannot be added."""
    bench, gpus = section(snapshot), gpus_of(snapshot)
    for report in reports:
        one = with_workload(report, extra.workload)
        bench = Addition(report=one, label=extra.label, gpus=gpus).merged(bench)
    return with_bench(snapshot, bench)


def section(snapshot: Snapshot) -> Bench:
    """The bench section, empty where there is none. SnapError of a redacted snapshot, which would hold real names."""
    if snapshot.meta.redacted:
        raise SnapError(f"{snapshot.name}: is redacted: add to the original, and redact that again")
    found = snapshot.section("bench")
    return found if isinstance(found, Bench) else Bench(measurements={})


def gpus_of(snapshot: Snapshot) -> dict[str, str]:
    """PCI address -> UUID of each GPU of which the snapshot knows both."""
    found = snapshot.section("nvidia")
    gpus = (found.gpus or {}).values() if isinstance(found, Nvidia) else ()
    return {gpu.address: gpu.uuid for gpu in gpus if gpu.address and gpu.uuid}


def with_workload(report: Report, extra: Mapping[str, str], unnamed: Mapping[str, str] | None = None) -> Report:
    """REPORT with EXTRA in each workload, and UNNAMED in one that says nothing by itself.

    SnapError where it has another value under a key of EXTRA.
    """
    def joined(own: Workload) -> Workload:
        workload = dict(own or unnamed or {})
        for key, value in extra.items():
            if workload.setdefault(key, value) != value:
                raise SnapError(f"its {key} is {workload[key]!r}, and cannot be {value!r}")
        return workload

    if not (extra or unnamed):
        return report
    return replace(report, values=[replace(value, workload=joined(value.workload)) for value in report.values],
                   tables=[replace(table, workload=joined(table.workload)) for table in report.tables])


def with_bench(snapshot: Snapshot, bench: Bench) -> Snapshot:
    """SNAPSHOT with another bench section, whose facts are counted anew; all else is as it was."""
    models = {name: found for name in sections.NAMES if (found := snapshot.section(name)) is not None}
    outcomes = {**snapshot.outcomes, "bench": Outcome(state="ok", facts=0)}
    return Snapshot.build(snapshot.meta, outcomes, snapshot.files, {**models, "bench": bench})
