"""Every recorded root, taken: the file itself as golden for the small ones, the readable page for all."""

from __future__ import annotations

from pathlib import Path

import pytest
from syrupy.assertion import SnapshotAssertion
from syrupy.extensions.single_file import SingleFileSnapshotExtension, WriteMode

from snapshot.capture import take
from snapshot.document import Snapshot
from snapshot.host.recorded import open_host
from snapshot.host.recorder import Recorder
from snapshot.redact import Redaction
from snapshot.report import page
from snapshot.sections import NAMES

from .recordings import FIXTURES, HOSTS, taken


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


@pytest.mark.parametrize("host", HOSTS)
def test_a_recording_of_it_is_the_same_host(host: str, tmp_path: Path) -> None:
    made = str(tmp_path / ("r.tar" if ".tar" in host else "r"))
    recorder = Recorder(open_host(str(FIXTURES / "hosts" / host)), made)
    first = take(recorder).dumps()
    recorder.close()
    assert first == taken(host).dumps()
    assert take(open_host(made)).dumps() == first


@pytest.mark.parametrize("host", ["pve-small", "vm-tuned.tar.xz"])
def test_a_redacted_recording_of_it_is_the_redacted_host(host: str, tmp_path: Path) -> None:
    redaction = Redaction(b"a key of these tests only", taken(host))
    recorder = Recorder(open_host(str(FIXTURES / "hosts" / host)), f"{tmp_path}/r.tar", held=True)
    take(recorder)
    recorder.revise(redaction.recording)
    recorder.close()
    again, wanted = take(open_host(f"{tmp_path}/r.tar")), redaction.snapshot
    assert again.outcomes == wanted.outcomes
    assert [again.table(name) for name in NAMES] == [wanted.table(name) for name in NAMES]


@pytest.mark.parametrize(("host", "section", "state"), [
    ("nvidia-smi-hangs.tar.xz", "nvidia", "timeout"), ("pve-bare.tar.xz", "nvidia", "absent"),
    ("amd-gpu.tar.xz", "amdgpu", "ok"), ("amd-gpu.tar.xz", "nvidia", "absent"), ("rdma-ib.tar.xz", "rdma", "ok"),
    ("ubuntu-gpu.tar.xz", "runtimes", "ok"), ("ubuntu-gpu.tar.xz", "lxc", "absent"),
])
def test_a_host_shows_what_it_was_made_for(host: str, section: str, state: str) -> None:
    assert taken(host).outcomes[section].state == state


def test_what_hangs_costs_its_own_section_alone() -> None:
    whole, hung = taken("pve-epyc-after.tar.xz"), taken("nvidia-smi-hangs.tar.xz")
    assert [n for n in NAMES if n != "nvidia" and whole.section(n) != hung.section(n)] == []


def test_a_lost_gpu_is_unread_and_still_there() -> None:
    lost = taken("gpu-lost.tar.xz")
    unread = {tuple(u.path[:2]) for u in lost.outcomes["pci"].unread or ()}
    assert unread == {("functions", "0000:a1:00.0")}
    assert lost.table("pci")["functions"]["0000:a1:00.0"]["vendor"] == "10de"
