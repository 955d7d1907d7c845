"""A snapshot redacted: every planted name is gone, and diff and findings are those of the original."""

from __future__ import annotations

import json
import re
from functools import partial
from typing import Any

import pytest

from fixtures import epyc, whole
from snapshot.capture import take
from snapshot.document import Snapshot
from snapshot.errors import SnapError
from snapshot.redact import Redaction
from snapshot.report.as_json import table
from snapshot.report.review import review

from ..pairs import snapshot, story
from ..recordings import PAIRS, pair

KEY = b"a key of these tests only"
UUID, MAC, MACHINE = "3c1d5e6f-1a2b-4c3d-8e4f-5a6b7c8d9e0f", "b8:3f:d2:aa:bb:cc", "0123456789abcdef0123456789abcdef"
LOOSE = ("falcon", "nas7", "alice", "SN-8R44T2", "192.0.2.17", UUID, MAC, MACHINE)  # found in any text
NAMES = (*LOOSE, "condor", "osprey", "corp.", ".corp", '"S9"', "1A2B-3C4D", "0" * 64, "ab12" * 16)


def origin(text: str) -> dict[str, Any]:
    return {"file": "/home/alice/falcon.conf", "line": 1, "text": text}


def planted() -> Snapshot:
    """Names in fields, keys, free text, paths, reasons and meta."""
    measured = {
        "metric": "speed", "unit": "tok/s", "better": "higher", "samples": [1.0], "devices": [f"GPU-{UUID}"],
        "workload": {"model": "/home/alice/tiny", "url": "http://falcon.corp:30000"}, "status": "partial",
        "why": "run 2: falcon did not answer at 192.0.2.17", "label": "of alice on falcon",
        "files": ["falcon-1.json"], "source": {"tool": "sglang", "format": "json"},
    }
    tables: dict[str, Any] = {
        "net": {"interfaces": {MAC: {"name": "eno1", "kind": "physical", "permanent_mac": MAC}}},
        "nvidia": {"gpus": {f"GPU-{UUID}": {"uuid": f"GPU-{UUID}", "state": {"serial": "SN-8R44T2"}}}},
        "storage": {
            "blocks": {"S9": {"name": "nvme0n1", "serial": "S9"}, "SN-8R44T2": {"name": "sda", "serial": "SN-8R44T2"}},
            "mounts": {"/mnt/osprey": {"source": "bob@osprey:/x", "fstype": "fuse.sshfs", "options": []},
                       "/mnt/nas7": {"source": "nas7:/export", "fstype": "nfs", "options": []}},
        },
        "boot": {"esps": {"1A2B-3C4D": {"present": True}}},
        "firmware": {"dimms": {"A1": {"serial": "S9"}}, "bios": {"version": "1.2.3.4"}},
        "lxc": {"containers": {"condor": {
            "manager": "lxc", "config_file": "/var/lib/lxc/condor/config", "hostname": "condor",
            "live": {"other": [{"key": "lxc.uts.name", "value": "condor", "origin": origin("lxc.uts.name = condor")}]},
        }}},
        "bench": {"measurements": {"sglang/speed/0badcafe": measured}, "reports": {"ab12" * 16: "alice-falcon.json"},
                  "grids": {"p2p/speed/0badcafe": measured | {
                      "rows": [f"GPU-{UUID}"], "columns": [f"GPU-{UUID}"], "samples": [[[1.0]]]}}},
        "cmdline": {"tokens": [f"x={name}" for name in LOOSE], "parameters": {}},
        "sysctl": {"values": {}, "ignored": [{"why": "no", "origin": origin("falcon.corp.example 192.0.2.17 " + MAC)}]},
    }
    meta = {"host": "falcon.corp", "machine": MACHINE, "boot_id": UUID, "unread": ["/home/alice: EACCES"]}
    return snapshot(tables, meta=meta, unread={"storage": [["blocks", "S9", "wwid"]]},
                    files={"/home/alice/falcon.conf": "0" * 64}, why=" ".join(LOOSE))


def test_every_name_is_gone_and_the_file_reads_back() -> None:
    before = planted()
    made = Redaction(KEY, before).snapshot
    text = made.dumps()
    assert [name for name in NAMES if name in text] == []
    assert "1.2.3.4" in text and made.meta.redacted is True and made.meta.host.startswith("host-")
    again = Snapshot.loads(text.encode(), "again")
    assert again.dumps() == text and Redaction(KEY, before).snapshot.dumps() == text
    assert {n: (o.state, o.facts) for n, o in again.outcomes.items()} == {
        n: (o.state, o.facts) for n, o in before.outcomes.items()}


def test_keys_fields_and_text_have_one_pseudonym() -> None:
    made = Redaction(KEY, planted()).snapshot
    storage, nvidia, net = made.table("storage"), made.table("nvidia"), made.table("net")
    for key, block in storage["blocks"].items():
        assert block["serial"] == key
    ((_, unread),) = [(n, o.unread) for n, o in made.outcomes.items() if o.unread]
    assert unread[0].path[1] in storage["blocks"] and len(unread[0].path[1]) == 2
    assert made.table("firmware")["dimms"]["A1"]["serial"] == unread[0].path[1]
    ((key, gpu),) = nvidia["gpus"].items()
    assert key == gpu["uuid"] and key.startswith("GPU-") and gpu["state"]["serial"] in storage["blocks"]
    ((mac, nic),) = net["interfaces"].items()
    assert mac == nic["permanent_mac"] and int(mac[:2], 16) & 3 == 2
    bench = made.table("bench")
    grid = bench["grids"]["p2p/speed/0badcafe"]
    assert bench["measurements"]["sglang/speed/0badcafe"]["devices"] == grid["rows"] == grid["columns"] == [key]
    tokens = [token.removeprefix("x=") for token in made.table("cmdline")["tokens"]]
    assert mac in tokens and f"GPU-{made.meta.boot_id}" == key
    ((name, container),) = made.table("lxc")["containers"].items()
    assert name == container["hostname"] == container["live"]["other"][0]["value"]
    assert container["config_file"] == f"/var/lib/lxc/{name}/config"
    place, mount = next((place, mount) for place, mount in storage["mounts"].items() if mount["fstype"] == "nfs")
    assert mount["source"] == f"{place.removeprefix('/mnt/')}:/export"
    assert next(iter(made.files)) in made.dumps().replace("[files.", "", 1)


def test_another_key_gives_other_names() -> None:
    one, other = (Redaction(key, planted()).snapshot for key in (KEY, b"another key of these tests"))
    assert one.meta.host != other.meta.host and one.meta.machine != other.meta.machine


def test_a_redacted_one_is_not_redacted_again() -> None:
    with pytest.raises(SnapError, match="redacted already"):
        Redaction(KEY, Redaction(KEY, planted()).snapshot)


def test_two_names_that_meet_are_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("snapshot.redact.pseudonyms.Pseudonyms.serial", lambda _self, _text: "X1")
    with pytest.raises(SnapError, match="storage: two names"):
        _ = Redaction(KEY, planted()).snapshot


@pytest.mark.parametrize("name", ["nvidia", "debian", "pci", "kernel"])
def test_a_host_with_a_common_word_for_a_name_costs_no_fact(name: str) -> None:
    tables: dict[str, Any] = {"os": {"id": "debian"}, "modules": {"loaded": {"nvidia": {}}}}
    made = Redaction(KEY, snapshot(tables, meta={"host": name})).snapshot
    assert made.meta.host.startswith("host-")
    assert made.table("os") == tables["os"] and made.table("modules") == tables["modules"]


def _pairs() -> list[Any]:
    recorded = [pytest.param(partial(pair, name), id=name) for name in PAIRS]
    return [pytest.param(story, id="story"), *recorded, pytest.param(_whole, id="whole")]


def _whole() -> tuple[Snapshot, Snapshot]:
    return take(whole.host(epyc.BEFORE)), take(whole.host(epyc.AFTER))


@pytest.mark.parametrize("sides", _pairs())
def test_diff_and_findings_are_the_same_before_and_after(sides: Any) -> None:
    before, after = sides()
    redactions = [Redaction(KEY, side) for side in (before, after)]
    plain = table(review(before, after, "pre", "post"))
    made = table(review(redactions[0].snapshot, redactions[1].snapshot, "pre", "post"))
    assert plain["findings"] or plain["not_comparable"]
    assert made["counts"] == plain["counts"] and made["warnings"] == plain["warnings"]
    for what in ("findings", "unknown", "changes", "not_comparable"):
        expected = _renamed(plain[what], redactions[1])
        assert _sorted(made[what]) == _sorted(expected), what
    for what in ("passed", "not_applicable", "exit_code", "same_boot"):
        assert made[what] == plain[what], what
    assert len(made["files"]) == len(plain["files"])


def _renamed(value: Any, redaction: Redaction) -> Any:
    """VALUE of a report with the pseudonyms of its snapshot; names of guests stand in its sentences as (name)."""
    if isinstance(value, dict):
        return {_renamed(key, redaction): _renamed(item, redaction) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_renamed(item, redaction) for item in value]
    if not isinstance(value, str):
        return value
    whole = redaction.known.whole
    text = re.sub(r"(?<=\()[^()]+(?=\))", lambda found: whole.get(found[0], found[0]), value)
    return whole.get(value) or redaction.text(text)


def _sorted(entries: Any) -> list[str]:
    return sorted(json.dumps(entry, sort_keys=True) for entry in entries)
