"""Every recorded root, taken: the file itself as golden for the small ones, the readable page for all."""

from __future__ import annotations

import pytest
from syrupy.assertion import SnapshotAssertion
from syrupy.extensions.single_file import SingleFileSnapshotExtension, WriteMode

from snapshot.document import Snapshot
from snapshot.report import page
from snapshot.sections import NAMES

from .recordings import HOSTS, taken


class TomlFile(SingleFileSnapshotExtension):
    """A golden that is the snapshot file itself."""

    _write_mode = WriteMode.TEXT
    file_extension = "toml"


@pytest.mark.parametrize("host", [h for h in HOSTS if ".tar" not in h])
def test_the_snapshot_file(host: str, golden: SnapshotAssertion) -> None:
    assert taken(host).dumps() == golden(extension_class=TomlFile)


@pytest.mark.parametrize("host", HOSTS)
def test_the_page(host: str, golden: SnapshotAssertion) -> None:
    assert page.render(taken(host)) == golden


@pytest.mark.parametrize("host", HOSTS)
def test_no_collector_fails_and_the_file_reads_back_the_same(host: str) -> None:
    found = taken(host)
    assert [n for n, o in found.outcomes.items() if o.state == "failed"] == []
    text = found.dumps()
    again = Snapshot.loads(text.encode(), host)
    assert [again.section(name) for name in NAMES] == [found.section(name) for name in NAMES]
    assert again.dumps() == text
