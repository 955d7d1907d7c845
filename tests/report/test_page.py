"""The page for people: the story's host, hosts of other kinds, and whatever may be missing."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from importlib import import_module
from typing import Any

import pytest

from fixtures import epyc, whole
from snapshot import capture, sections
from snapshot.document import ALWAYS, Meta, Outcome, Snapshot, UnreadFact
from snapshot.report import page
from snapshot.sections.base import Model

META = Meta(format=1, tool="0", host="h", source="live", uid=0)
FIRST = "0000:00:01.0"


@cache
def taken(kernel: str) -> Snapshot:
    return capture.take(whole.host(kernel))


@cache
def lines(kernel: str) -> list[str]:
    return page.render(taken(kernel)).splitlines()


def chapter(text: list[str], name: str) -> list[str]:
    """The lines of a chapter, without its title."""
    at = next(n for n, line in enumerate(text) if line.startswith(name))
    end = next((n for n, line in enumerate(text[at:], at) if not line), len(text))
    return text[at + 1:end]


def made(tables: dict[str, dict[str, Any]], outcomes: dict[str, Outcome] | None = None) -> list[str]:
    """The page of sections made from tables."""
    models = {name: sections.model(name).model_validate(table) for name, table in tables.items()}
    states = {name: Outcome(state="ok", facts=0) for name in models} | (outcomes or {})
    return page.render(Snapshot.build(META, states, {}, models)).splitlines()


def row(text: list[str], label: str) -> str:
    return next(line for line in text if line.split("  ")[1:2] == [label]).split(maxsplit=len(label.split()))[-1]


def test_the_gpus_stand_under_their_sockets_nodes_and_ports(golden: object) -> None:
    assert chapter(lines(epyc.BEFORE), "TOPOLOGY") == golden


def test_equal_gpus_are_one_paragraph() -> None:
    found = chapter(lines(epyc.BEFORE), "GPUS")
    assert found[0].startswith("  nvidia[0-7]     8 x NVIDIA RTX PRO 6000")
    assert "limit 450 W (default 600 W)" in found[1]


def test_the_tuning_says_where_it_comes_from() -> None:
    before, after = (chapter(lines(kernel), "TUNING") for kernel in (epyc.BEFORE, epyc.AFTER))
    assert row(before, "governor") == "schedutil"
    assert row(before, "GPU MaxReadReq") == "8 x 4096"
    assert row(after, "GPU MaxReadReq") == "8 x 512"
    assert any(line.split() == ["vm.swappiness", "10", "<-", "/etc/sysctl.d/90-gpu.conf:4"] for line in before)
    limit = next(n for n, line in enumerate(before) if "GPU power limit" in line)
    assert before[limit + 1].endswith(
        '<- /usr/local/sbin/gpu-power:5 nvidia-smi -pl "$1" (gpu-power.service enabled, active)')
    assert any("<- command line processor.max_cstate=1" in line for line in after)


def test_the_next_boot_and_what_its_command_line_adds() -> None:
    found = chapter(lines(epyc.BEFORE), "VERSIONS")
    assert row(found, "next boot").startswith("6.14.11-1-pve (newest kernel in /boot)")
    assert row(found, "configured") == "/etc/kernel/cmdline:1 also says amd_pstate=active processor.max_cstate=1"


def test_a_rule_is_shown_with_the_driver_that_has_its_major_now() -> None:
    before, after = (chapter(lines(kernel), "GUESTS") for kernel in (epyc.BEFORE, epyc.AFTER))
    assert "    rule allow      c 508:* rwm (nvidia-uvm now) <- /etc/pve/lxc/101.conf:14" in before
    assert "    rule allow      c 508:* rwm (no driver has major 508 now) <- /etc/pve/lxc/101.conf:14" in after
    assert any("/dev/nvidiactl /dev/nvidia[0-7] (major 195)" in line for line in after)
    assert any("mapping fabric-vf: 0000:22:04.1 (mlx5_core) pcie=1" in line for line in after)


def test_a_switch_and_a_narrow_link() -> None:
    link = {"max_speed_gts": 32.0, "max_width": 16, "speed_gts": 16.0, "width": 8}
    gpu = {"vendor": "10de", "device": "2bb5", "class_code": "030200", "source": "config", "driver": "nvidia",
           "bridges": [FIRST, "0000:01:00.0", "0000:02:00.0"], "express": {"type": "endpoint", "link": link}}
    bridge = {"source": "config", "class_code": "060400", "express": {"type": "root port", "link": link}}
    functions = {FIRST: bridge, "0000:01:00.0": bridge, "0000:03:00.0": gpu}
    found = chapter(made({"pci": {"functions": functions}}), "TOPOLOGY")
    assert found[0] == "    no NUMA node named"
    assert found[1] == "      switch 00:01.0 x8/x16 at 16/32 GT/s > 01:00.0 x8/x16 at 16/32 GT/s"
    assert found[3].split() == ["02:00.0", "GPU", "03:00.0", "x8/x16", "16/32", "nvidia", "10de:2bb5"]


def test_one_cpu_that_differs_is_seen_and_the_others_are_one_range() -> None:
    found = made({"cpufreq": {"governor": {"performance": "0-254", "powersave": "255"}}})
    assert row(found, "governor") == "performance on 0-254; powersave on 255"


def test_a_fact_that_could_not_be_read_is_unknown_and_not_left_out() -> None:
    unread = [UnreadFact(path=["governor"], source="/sys/x", why="EACCES")]
    found = made({"cpufreq": {"driver": "acpi-cpufreq"}}, {"cpufreq": Outcome(state="partial", facts=1, unread=unread)})
    assert "  partial  cpufreq  governor: /sys/x: EACCES" in found
    assert row(found, "governor") == "unknown (/sys/x: EACCES)"


def test_sources_are_not_denied_where_they_were_not_read() -> None:
    assert row(made({"cpufreq": {"driver": "x"}}), "what sets it") == (
        "may be missing above: cmdline, modules, sysctl, units not recorded")
    assert not any("may be missing" in line for line in lines(epyc.BEFORE))


@pytest.mark.parametrize(("name", "state"), [
    (name, state) for name in sections.NAMES
    for state in ("absent", "denied", "failed", "timeout", "skipped", "partial")
    if state != "absent" or name not in ALWAYS
])
def test_a_section_without_facts_is_named_once_with_its_reason(name: str, state: Any) -> None:
    models = {name: sections.model(name).model_validate({})} if state == "partial" and name not in NEED else {}
    outcome = Outcome(state=state if models or state != "partial" else "failed", facts=0, why=f"because of {state}")
    text = page.render(Snapshot.build(META, {name: outcome}, {}, models))
    assert f"because of {state}" in text
    assert [line for line in text.splitlines() if name in line.split() or f"{name}," in line.split()]


NEED = ("cmdline", "sysctl", "pci", "devices", "net", "rdma", "storage", "lxc", "units", "bench")  # required fields


def without(value: Any, name: str) -> Any:
    """VALUE without any key called NAME."""
    if isinstance(value, dict):
        return {key: without(part, name) for key, part in value.items() if key != name}
    return [without(part, name) for part in value] if isinstance(value, list) else value


def variants(name: str) -> Iterator[Model]:
    """The section of the story's host without each of the fields that may be missing."""
    table = taken(epyc.BEFORE).table(name)
    models = [m for m in vars(import_module(f"snapshot.sections.{name}")).values()
              if isinstance(m, type) and issubclass(m, Model)]
    optional = {field for model in models for field, info in model.fields.items() if not info.required}
    optional -= {field for model in models for field, info in model.fields.items() if info.required}
    for field in sorted(optional):
        cut = without(table, field)
        if cut != table:
            yield sections.model(name).model_validate(cut)


@pytest.mark.parametrize("name", [name for name in sections.NAMES if name not in ("amdgpu", "bench", "cmdline")])
def test_any_fact_may_be_missing(name: str) -> None:
    whole_host = taken(epyc.BEFORE)
    models = {n: m for n in sections.NAMES if (m := whole_host.section(n)) is not None}
    seen = 0
    for model in variants(name):
        text = page.render(Snapshot.build(whole_host.meta, whole_host.outcomes, {}, models | {name: model}))
        assert "None" not in text
        assert "SECTIONS" in text
        seen += 1
    assert seen


def test_lists_that_were_edited_by_hand_do_not_break_the_page() -> None:
    nodes = {"a": {"cpus": "?"}, "0": {"cpus": "-"}}
    packages = {"0": {"cpus": "x-", "cores": 1}}
    found = made({"cpu": {"packages": packages, "nodes": nodes}, "pci": {"functions": {}}})
    assert "    node 0: CPUs -" in found


def test_nothing_on_the_page_is_obeyed_by_a_terminal() -> None:
    tables: dict[str, dict[str, Any]] = {
        "lxc": {"containers": {"1\x1b[31m": {"manager": "lxc", "config_file": "/x\n", "live": {}}}},
        "units": {"failed": {"a\rb.service": {"active": "failed"}}, "units": {}},
        "cmdline": {"tokens": ["a\x07"], "parameters": {}},
    }
    assert all(line.isprintable() for line in made(tables))


def test_measurements_are_counted_by_benchmark() -> None:
    measured = {"metric": "busbw", "unit": "GB/s", "better": "higher", "workload": {}, "samples": [3.0, 1.0, 2.0],
                "status": "ok", "source": {"tool": "nccl-tests", "format": "text"}}
    failed = {**measured, "workload": {"size": "8"}, "status": "failed", "why": "x", "samples": []}
    grid = {**measured, "rows": ["a"], "columns": ["b"], "samples": [[[1.0]]]}
    bench = {"measurements": {"nccl/busbw": measured, "nccl/busbw/8": failed}, "grids": {"nccl/busbw": grid}}
    found = chapter(made({"bench": bench}), "MEASUREMENTS")
    assert found == ["  nccl-tests      2 measurements, 1 table, 2 workloads, 1 failed"]
