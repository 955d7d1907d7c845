"""Every table of snap.toml: what it holds, and what is said of a file that does not hold what it may."""

from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import Any

import pytest
import tomli_w
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from snapshot import tomlio
from snapshot.config import Config, load, tables
from snapshot.config.schema import schema
from snapshot.config.tables import Bench, Expect, Tables
from snapshot.engine import settings as engine_settings
from snapshot.engine.settings import Override, Waiver
from snapshot.errors import FormatError
from snapshot.sections.base import Model

WHOLE = """\
[[waiver]]
rule = "lxc.device-major-stale"
subject = "101 *"
before = 508
after = 511
reason = "moved on purpose"
expires = 2030-01-31
by = "ops"

[[waiver]]
path = "sysctl.values.vm.swappiness"
before = [1, 2.5, true, "x"]
reason = "tuned"
expires = "2030-02-28"

[rules]
disable = ["net.*", "units.failed"]
packs = ["/etc/hostsnap/rules"]

[rules."sysctl.swappiness"]
severity = "low"
limits = { most = 20, share = 0.5, word = "x" }
title = "t"
message = ["{a}", "b"]
group = "g"
why = ["w"]
disabled = true

[volatile]
add = ["irq.*"]
keep = ["net.*"]
file = []

[[tolerance]]
path = "memory.total_bytes"
amount = "64 MiB"

[[tolerance]]
path = "nvidia.gpus.*.power_limit_mw"
amount = 5000

[expect]
gpus = ["GPU-0", "GPU-1"]
nics = 2
nvme = 4
dimms = 24
cpus = 256
numa_nodes = 2
memory_gib = 1511
mounts = ["/models"]

[[bench]]
name = "decode-1"
command = ["/opt/bench/run", "--n", "1 2; rm"]
parser = "sglang"
repeat = 5
warmup = 1
timeout_s = 600
workload = { parallel = "8" }

[[roofline]]
metric = "output_throughput"
value = 309
unit = "tok/s"
source = "memory bandwidth / weights"
workload = { concurrency = "1" }

[noise]
"*_throughput" = 5
busbw = 1.5

[redact]
keep_hosts = ["bastion"]
keep_domains = ["example.org"]
keep_users = ["app"]

[store]
directory = "/srv/snaps"
keep = 50

[diff]
only = ["pci"]
ignore = ["+sysctl.values.*"]
fail_on = "medium"
fail_on_existing = true
allow_unknown = ["nvidia"]
"""
BENCH = '[[bench]]\nname = "n"\ncommand = ["c"]\nparser = "p"\n'
WAIVER = '[[waiver]]\nrule = "a.b"\nreason = "r"\n'
ROOFLINE = '[[roofline]]\nmetric = "m"\nunit = "u"\nsource = "s"\n'


def read(text: str, folder: Path) -> Config:
    path = folder / "snap.toml"
    path.write_text(text)
    return load(str(path))


def refused(text: str, folder: Path) -> str:
    with pytest.raises(FormatError) as error:
        read(text, folder)
    said = str(error.value)
    assert "\n" not in said
    return said.removeprefix(f"{folder}/snap.toml:")


def test_every_table(tmp_path: Path) -> None:
    found = read(WHOLE, tmp_path)
    first, second = found.waiver
    assert (first.until, first.note) == (date(2030, 1, 31), "moved on purpose (by ops, until 2030-01-31)")
    assert (second.until, second.before, second.by) == (date(2030, 2, 28), [1, 2.5, True, "x"], None)
    assert [type(value) for value in second.before] == [int, float, bool, str]  # type: ignore[union-attr]
    assert found.rules.override == {"sysctl.swappiness": Override(
        severity="low", limits={"most": 20, "share": 0.5, "word": "x"}, title="t", message=["{a}", "b"], group="g",
        why=["w"], disabled=True)}
    assert [tolerance.amount for tolerance in found.tolerance] == ["64 MiB", 5000]
    assert found.expect.table()["gpus"] == ["GPU-0", "GPU-1"] and found.expect.memory_gib == 1511
    assert found.bench[0].command == ["/opt/bench/run", "--n", "1 2; rm"]
    assert (found.roofline[0].value, found.noise) == (309.0, {"*_throughput": 5.0, "busbw": 1.5})


def test_every_key_of_every_table_is_read(tmp_path: Path) -> None:
    """WHOLE has all of them, so that none can be left out of the tests of this file."""
    found, table = read(WHOLE, tmp_path), tomlio.loads(WHOLE, "f")
    assert table.keys() == Tables.fields.keys()
    parts: list[tuple[Model, dict[str, Any]]] = [
        (value, table[name]) for name in Tables.fields if isinstance(value := getattr(found, name), Model)]
    parts += [(value, table[name][0]) for name in ("bench", "roofline", "tolerance")
              for value in getattr(found, name)[:1]]
    parts.append((found.rules.override["sysctl.swappiness"], table["rules"]["sysctl.swappiness"]))
    for model, written in parts:
        assert set(model.fields) - {"override"} == set(written) - {"sysctl.swappiness"}
    assert set(Waiver.fields) == {key for waiver in table["waiver"] for key in waiver}


KEYS = "there is no such key: keys here are"
MEANT = "there is no such key: did you mean"
NO_DATE = "is no date of the form YYYY-MM-DD"
NOTHING = "is nothing that can be expected"
NO_COMMAND = "1: bench[0]: command needs a program, and no NUL can stand in it"
NO_COUNT = "1: bench[0]: repeat has to be at least 1, warmup at least 0, and timeout_s above 0"
NO_LIMIT = "1: roofline[0]: value has to be a number above 0, and source to say where it comes from"


@pytest.mark.parametrize(("text", "said"), [
    ("[[waivers]]\n", f"1: waivers: {MEANT} waiver?"),
    ("[xyz]\n", f"1: xyz: {KEYS} {', '.join(Tables.fields)}"),
    (f'{WAIVER}\n[[waiver]]\nrule = "a.b"\nreson = "r"\n', f"7: waiver[1].reson: {MEANT} reason?"),
    ('[rules]\ndisabled = ["a.b"]\n', f"2: rules.disabled: {MEANT} disable?"),
    ('[rules]\nxyz = ["a.b"]\n', f"2: rules.xyz: {KEYS} disable, packs"),
    ("[rules.pci.x]\n", '1: rules.pci: there is no such key: the id of a rule is quoted, as in [rules."pci.x"]'),
    ("[rules.override]\n", '1: rules.override: there is no such key: a rule\'s own table is [rules."ID"]'),
    ('[rules."a.b"]\nseverty = "low"\n', f'2: rules."a.b".severty: {MEANT} severity?'),
    (f"{BENCH}env = {{}}\n", f"5: bench[0].env: {KEYS} name, command, parser, repeat, warmup, timeout_s, workload"),
    ("[expect]\ngpu = 8\n", f"2: expect.gpu: {MEANT} gpus?"),
    ("[diff]\nfail-on = 'low'\n", f"2: diff.fail-on: {MEANT} fail_on?"),
    ('[diff]\n"a\\nb\\u001b" = 1\n', f'2: diff."a\\nb\\u001b": {KEYS} {", ".join(tables.Diff.fields)}'),
])
def test_an_unknown_key(text: str, said: str, tmp_path: Path) -> None:
    assert refused(text, tmp_path) == said


@pytest.mark.parametrize(("text", "said"), [
    ("waiver = 1\n", "1: waiver: expected an array, found 1"),
    ("[waiver]\nrule = 'a.b'\n", "1: waiver: expected an array, found a table"),
    ("waiver = [1]\n", "1: waiver[0]: expected a table, found 1"),
    ('[[waiver]]\nrule = "a.b"\n', "1: waiver[0].reason: is missing"),
    (f"{WAIVER}by = 1\n", "4: waiver[0].by: expected a string, found 1"),
    (f"{WAIVER}subject = {{}}\n", "4: waiver[0].subject: expected a string, found a table"),
    ('rules = ["a"]\n', "1: rules: expected a table, found an array"),
    ('[rules]\ndisable = "a.b"\n', '2: rules.disable: expected an array, found "a.b"'),
    ('[rules]\n"a.b" = false\n', '2: rules."a.b": expected a table, found false'),
    ('[rules."a.b".limits]\nx = true\n', ('2: rules."a.b".limits.x: '
                                          "expected an integer or a number or a string, found true")),
    ("[[tolerance]]\npath = 'pci'\n", "1: tolerance[0].amount: is missing"),
    ("[expect]\ngpus = true\n", "2: expect.gpus: expected an integer or an array, found true"),
    ("[expect]\ngpus = 8.0\n", "2: expect.gpus: expected an integer or an array, found 8.0"),
    (f"{BENCH}timeout_s = '9'\n", '5: bench[0].timeout_s: expected a number, found "9"'),
    (BENCH.replace('["c"]', '"rm -rf /"'), '3: bench[0].command: expected an array, found "rm -rf /"'),
    ("[noise]\nx = '5%'\n", '2: noise.x: expected a number, found "5%"'),
    ("[store]\nkeep = 1979-05-27\n", "2: store.keep: expected an integer, found 1979-05-27"),
    ("[diff]\nfail_on_existing = 1\n", "2: diff.fail_on_existing: expected true or false, found 1"),
    ("[diff]\nfail_on = 'all'\n", ("2: diff.fail_on: expected 'critical', 'high', 'medium', 'low' or 'info', "
                                   'found "all"')),
    (f"[store]\nkeep = '{'x' * 99}'\n", f'2: store.keep: expected an integer, found "{"x" * 55} ...'),
])
def test_a_wrong_type(text: str, said: str, tmp_path: Path) -> None:
    assert refused(text, tmp_path) == said


@pytest.mark.parametrize(("text", "said"), [
    ("[[waiver]]\nrule = 'a.b'\nreason = ' '\n", "1: waiver[0]: reason is empty: say why it is accepted"),
    ("[[waiver]]\nreason = 'r'\n", "1: waiver[0]: needs a rule or a path"),
    ("[[waiver]]\nrule = ''\nreason = 'r'\n", "1: waiver[0]: needs a rule or a path"),
    (f"{WAIVER}expires = 'soon'\n", f"1: waiver[0]: expires: 'soon' {NO_DATE}"),
    (f"{WAIVER}expires = '2030-02-30'\n", f"1: waiver[0]: expires: '2030-02-30' {NO_DATE}"),
    (f"{WAIVER}expires = '2030-W01-1'\n", f"1: waiver[0]: expires: '2030-W01-1' {NO_DATE}"),
    (f"{WAIVER}expires = 2030-01-31T12:00:00\n", f"1: waiver[0]: expires: '2030-01-31T12:00:00' {NO_DATE}"),
    ("[expect]\ngpus = -1\n", f"1: expect: gpus: -1 {NOTHING}"),
    ("[expect]\nmounts = []\n", f"1: expect: mounts: [] {NOTHING}"),
    ("[expect]\nmounts = ['/a', 'b']\n", "1: expect: mounts: 'b' is no directory from the root, as in /models"),
    (BENCH.replace('["c"]', "[]"), NO_COMMAND),
    (BENCH.replace('["c"]', '[""]'), NO_COMMAND),
    (BENCH.replace('["c"]', '["c", "\\u0000"]'), NO_COMMAND),
    (BENCH.replace('"n"', '"../n"'), "1: bench[0]: '../n' cannot be its name: use letters, digits and . _ -"),
    (f"{BENCH}repeat = 0\n", NO_COUNT),
    (f"{BENCH}warmup = -1\n", NO_COUNT),
    (f"{BENCH}timeout_s = inf\n", NO_COUNT),
    (f"{BENCH}\n{BENCH}", "7: bench[1].name: another bench has this name"),
    (f"{ROOFLINE}value = 0\n", NO_LIMIT),
    (f"{ROOFLINE}value = nan\n", NO_LIMIT),
    ('[noise]\na = 1\n"b.*" = -1\n', '3: noise."b.*": -1.0 is no percentage'),
    ("[noise]\na = nan\n", "2: noise.a: nan is no percentage"),
    ("[store]\nkeep = 0\n", "1: store: directory must not be empty, and keep has to be at least 1"),
])
def test_a_value_that_cannot_be(text: str, said: str, tmp_path: Path) -> None:
    assert refused(text, tmp_path) == said


def test_both_forms_of_a_date(tmp_path: Path) -> None:
    found = [read(f"{WAIVER}expires = {written}\n", tmp_path).waiver[0] for written in ("2030-01-31", "'2030-01-31'")]
    assert found[0] == found[1] and found[0].until == date(2030, 1, 31)


def test_a_note_is_one_line() -> None:
    waiver = Waiver(rule="a.b", reason=" planned,\n see\tCHG-1 ")
    assert waiver.note == "planned, see CHG-1"


_VALUES = st.recursive(
    st.booleans() | st.integers(-9, 9) | st.floats() | st.sampled_from(["", "a", "2030-01-31", "\n\0"]) | st.dates(),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=3), inner, max_size=2), max_leaves=4)
_NAMES = st.sampled_from([*Tables.fields, *Waiver.fields, *Override.fields, *Expect.fields, *Bench.fields, "a.b", "*"])
_TABLES = st.dictionaries(_NAMES, _VALUES)


@settings(deadline=None)
@given(st.dictionaries(_NAMES, st.dictionaries(_NAMES, _TABLES) | _TABLES | st.lists(_TABLES, max_size=2) | _VALUES))
def test_it_is_read_or_refused(tmp_path_factory: pytest.TempPathFactory, table: dict[str, Any]) -> None:
    path = tmp_path_factory.getbasetemp() / "any.toml"
    path.write_text(tomli_w.dumps(table))
    try:
        assert isinstance(load(str(path)), Config)
    except FormatError as error:
        assert str(error).startswith(f"{path}:") and "\n" not in str(error)


SCHEMA = schema()


def test_the_schema_takes_what_is_taken() -> None:
    Draft202012Validator.check_schema(SCHEMA)
    table = tomlio.loads(WHOLE, "f")
    table["waiver"][0]["expires"] = "2030-01-31"
    assert list(Draft202012Validator(SCHEMA).iter_errors(table)) == []
    assert list(Draft202012Validator(SCHEMA).iter_errors({})) == []


@pytest.mark.parametrize("table", [
    {"waivers": []}, {"waiver": [{"rule": "a.b"}]}, {"rules": {"override": {}}}, {"rules": {"sysctl": {}}},
    {"rules": {"a.b": {"severity": "worst"}}}, {"store": {"keep": "5"}}, {"diff": {"fail_on": None}},
])
def test_the_schema_refuses_what_is_refused(table: dict[str, Any]) -> None:
    assert list(Draft202012Validator(SCHEMA).iter_errors(table))


def test_every_table_and_every_key_is_described() -> None:
    for module in (tables, engine_settings):
        for found in vars(module).values():
            if isinstance(found, type) and issubclass(found, Model) and found is not Model:
                assert found.__doc__
                assert all(info.description for info in found.fields.values()), found
    for name, model in SCHEMA["$defs"].items():
        assert model["description"] and model["additionalProperties"] is False, name
