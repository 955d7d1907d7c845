from __future__ import annotations

from typing import Any

import pytest

from snapshot.derive.boot.kernel_tokens import kernel_tokens

from ...pairs import snapshot
from ...recordings import taken

ORIGIN = {"file": "/etc/sysctl.d/90-x.conf", "line": 3, "text": "x"}


def cmdline(*tokens: str) -> dict[str, Any]:
    parameters: dict[str, list[Any]] = {}
    for token in tokens:
        name, equals, value = token.partition("=")
        parameters.setdefault(name.replace("-", "_"), []).append(value if equals else True)
    return {"tokens": list(tokens), "parameters": parameters}


def rows(*tokens: str, unread: dict[str, list[list[str]]] | None = None, **sections: Any) -> dict[str, Any]:
    found = kernel_tokens(snapshot({"cmdline": cmdline(*tokens), **sections}, unread=unread), None)
    assert unread or not found.unknown, found.unknown
    return found.rows


def honoured(token: str, **sections: Any) -> bool | None:
    empty: dict[str, Any] = {name: {} for name in ("cpufreq", "cpu", "cpuidle", "iommu", "memory", "kernel", "power")}
    empty |= {"pci": {"functions": {}}, "sysctl": {"values": {}}, "modules": {}}
    row = rows(token, **empty | sections)[token]
    assert row["token"] == token and row["wants"]
    verdict: bool | None = row.get("honoured")
    return verdict


def freq(driver: str | None, status: str | None = None, **more: Any) -> dict[str, Any]:
    return ({"driver": driver} if driver else {}) | ({"amd_pstate": {"status": status}} if status else {}) | more


@pytest.mark.parametrize(
    ("token", "section", "kept"),
    [
        ("amd_pstate=active", freq("amd-pstate-epp", "active"), True),
        ("amd_pstate=active", freq("acpi-cpufreq"), False),
        ("amd_pstate=active", freq(None), False),
        ("amd_pstate=active", freq("amd-pstate", "guided"), False),
        ("amd_pstate=guided", freq("amd-pstate", "guided"), True),
        ("amd_pstate=passive", freq("amd-pstate", "guided"), False),
        ("amd_pstate=disable", freq("acpi-cpufreq"), True),
        ("amd_pstate=disable", freq("amd-pstate-epp", "active"), False),
        ("amd_pstate=activ", freq("amd-pstate-epp", "active"), False),
        ("amd-pstate=active", freq("amd-pstate-epp", "active"), True),
        ("intel_pstate=passive", freq("intel_cpufreq", intel_pstate={"status": "passive"}), True),
        ("intel_pstate=disable", freq("intel_pstate", intel_pstate={"status": "active"}), False),
        ("intel_pstate=disable", freq("acpi-cpufreq"), True),
        ("cpufreq.off=1", freq(None), True),
        ("cpufreq.default_governor=performance", freq("x", governor={"performance": "0-7"}), True),
        ("cpufreq.default_governor=performance", freq("x", governor={"performance": "0-6", "powersave": "7"}), False),
    ],
)
def test_cpufreq(token: str, section: dict[str, Any], kept: bool) -> None:
    assert honoured(token, cpufreq=section) is kept


def test_why_amd_pstate_fell_back() -> None:
    token = "amd_pstate=active"
    row = rows(token, cpufreq=freq("acpi-cpufreq", cppc=False), cpu={"vendor": "AuthenticAMD"})[token]
    assert "_CPC" in row["why"] and (row["driver"], row["effect"]) == ("acpi-cpufreq", "acpi-cpufreq")
    row = rows(token, cpufreq=freq("intel_pstate"), cpu={"vendor": "GenuineIntel"})[token]
    assert row["why"] == "the CPU is not AMD's"
    row = rows(token, cpufreq=freq("acpi-cpufreq"), cpu={"vendor": "AuthenticAMD"})[token]
    assert "why" not in row


def idle(driver: str, *names: str) -> dict[str, Any]:
    states = {name: {"latency_us": at * 10} for at, name in enumerate(names)}
    return {"cpuidle": {"driver": driver, "states": states}}


@pytest.mark.parametrize(
    ("token", "section", "kept"),
    [
        ("processor.max_cstate=1", idle("acpi_idle", "POLL", "C1"), True),
        ("processor.max_cstate=1", idle("acpi_idle", "POLL", "C1", "C2"), False),
        ("processor.max_cstate=0", idle("acpi_idle", "POLL", "C1"), True),
        ("processor.max_cstate=2", idle("acpi_idle", "POLL", "C1", "C2"), True),
        ("processor.max_cstate=1", idle("intel_idle", "POLL", "C1", "C1E", "C6"), False),
        ("processor.max_cstate=1", idle("intel_idle", "POLL", "C1", "C1E"), False),
        ("processor.max_cstate=1", idle("intel_idle", "POLL", "C1E"), True),
        ("processor.max_cstate=1", idle("none"), True),
        ("processor.max_cstate=1", idle("haltpoll", "POLL", "haltpoll"), True),
        ("processor.max_cstate=1", idle("psci_idle", "WFI", "cpu-sleep-0"), None),
        ("processor.max_cstate=9", idle("intel_idle", "POLL", "C1", "C6"), True),
        ("intel_idle.max_cstate=1", idle("intel_idle", "POLL", "C1"), True),
        ("intel_idle.max_cstate=2", idle("intel_idle", "POLL", "C1", "C1E"), True),
        ("intel_idle.max_cstate=1", idle("intel_idle", "POLL", "C1", "C6"), False),
        ("intel_idle.max_cstate=0", idle("acpi_idle", "POLL", "C1", "C2"), True),
        ("intel_idle.max_cstate=0", idle("intel_idle", "POLL", "C1"), False),
        ("intel_idle.max_cstate=1", idle("acpi_idle", "POLL", "C1", "C2"), False),
        ("cpuidle.off=1", idle("none"), True),
        ("cpuidle.off=1", idle("acpi_idle", "POLL", "C1"), False),
        ("idle=poll", idle("acpi_idle", "POLL", "C1", "C2"), None),
    ],
)
def test_idle_states(token: str, section: dict[str, Any], kept: bool | None) -> None:
    assert honoured(token, **section) is kept


def test_states_that_are_never_entered_are_no_fault() -> None:
    found = rows("processor.max_cstate=1", "idle=poll", **idle("intel_idle", "POLL", "C1", "C6"))
    row = found["processor.max_cstate=1"]
    assert "honoured" not in row and "idle=poll" in row["why"]


def test_the_driver_that_does_not_care_is_named() -> None:
    row = rows("processor.max_cstate=1", **idle("intel_idle", "POLL", "C1", "C6"))["processor.max_cstate=1"]
    assert (row["driver"], row["effect"]) == ("intel_idle", "intel_idle: C1, C6") and "intel_idle" in row["why"]


@pytest.mark.parametrize(
    ("token", "section", "kept"),
    [
        ("nosmt", {"smt": {"active": False, "control": "off"}}, True),
        ("nosmt=force", {"smt": {"active": True, "control": "on"}}, False),
        ("nosmt", {}, None),
        ("maxcpus=4", {"online": "0-3"}, True),
        ("maxcpus=4", {"online": "0-7"}, False),
        ("maxcpus=0", {"online": "0"}, True),
        ("nr_cpus=8", {"possible": "0-15"}, False),
        ("isolcpus=2-3", {"isolated": "2-3", "possible": "0-7"}, True),
        ("isolcpus=2-3", {"isolated": "", "possible": "0-7"}, False),
        ("isolcpus=2-3,200", {"isolated": "2-3", "possible": "0-7"}, True),
        ("isolcpus=domain,managed_irq,2-3", {"isolated": "2-3", "possible": "0-7"}, True),
        ("isolcpus=managed_irq,2-3", {"isolated": "", "possible": "0-7"}, None),
        ("isolcpus=all", {"isolated": "0-7", "possible": "0-7"}, None),
        ("nohz_full=2-3", {"possible": "0-7"}, False),
        ("mitigations=off", {"vulnerabilities": {"spectre_v2": "Vulnerable; IBPB: disabled"}}, True),
        ("mitigations=off", {"vulnerabilities": {"spectre_v2": "Mitigation: Enhanced IBRS"}}, False),
        ("mitigations=off", {"vulnerabilities": {"spectre_v2": "Not affected"}}, True),
        ("retbleed=off", {"vulnerabilities": {"retbleed": "Mitigation: untrained return thunk"}}, False),
        ("pti=off", {"vulnerabilities": {"meltdown": "Vulnerable"}}, True),
        ("nopti", {"vulnerabilities": {"meltdown": "Mitigation: PTI"}}, False),
    ],
)
def test_cpus(token: str, section: dict[str, Any], kept: bool | None) -> None:
    assert honoured(token, cpu=section) is kept


@pytest.mark.parametrize(
    ("token", "section", "kept"),
    [
        ("iommu=pt", {"enabled": True, "types": ["identity"]}, True),
        ("iommu=pt", {"enabled": True, "types": ["DMA", "identity"]}, True),
        ("iommu=pt", {"enabled": True, "types": ["DMA-FQ"]}, False),
        ("iommu=pt", {"enabled": False}, None),
        ("iommu=nopt", {"enabled": True, "types": ["identity"]}, False),
        ("iommu=off", {"enabled": True}, False),
        ("amd_iommu=off", {"enabled": False}, True),
        ("amd_iommu=on", {"enabled": True, "types": ["identity"]}, True),
        ("intel_iommu=on,sm_on", {"enabled": False}, False),
        ("iommu.passthrough=1", {"enabled": True, "types": ["DMA"]}, False),
        ("iommu.strict=1", {"types": ["DMA"]}, True),
        ("iommu.strict=1", {"types": ["DMA-FQ"]}, False),
        ("iommu.strict=0", {"types": ["DMA", "DMA-FQ"]}, True),
    ],
)
def test_iommu(token: str, section: dict[str, Any], kept: bool | None) -> None:
    assert honoured(token, iommu=section) is kept


def pools(**pages: int) -> dict[str, Any]:
    return {"hugepages": {f"{size[1:]}kB": {"pages": count} for size, count in pages.items()}}


@pytest.mark.parametrize(
    ("tokens", "memory", "verdicts"),
    [
        (("hugepages=16",), pools(k2048=16), {"hugepages=16": True}),
        (("hugepages=16",), pools(k2048=15), {"hugepages=16": False}),
        (("hugepagesz=1G", "hugepages=4"), pools(k1048576=4, k2048=0), {"hugepagesz=1G hugepages=4": True}),
        (("hugepagesz=1G", "hugepages=4"), pools(k2048=9), {"hugepagesz=1G hugepages=4": False}),
        (("default_hugepagesz=1G", "hugepages=4"), pools(k1048576=3), {"hugepages=4": False}),
        (("hugepagesz=1G", "hugepages=0:2,1:2"), pools(k1048576=4), {"hugepagesz=1G hugepages=0:2,1:2": True}),
        (("hugepages=4", "hugepages=8"), pools(k2048=4), {"hugepages=4": True, "hugepages=8": None}),
        (("hugepages=many",), pools(k2048=4), {"hugepages=many": None}),
    ],
)
def test_hugepages(tokens: tuple[str, ...], memory: dict[str, Any], verdicts: dict[str, bool | None]) -> None:
    found = rows(*tokens, memory=memory, kernel={"machine": "x86_64"}, sysctl={"values": {}})
    assert {token: row.get("honoured") for token, row in found.items()} == verdicts


def test_hugepages_of_an_unknown_default_size() -> None:
    row = rows("hugepages=4", memory=pools(k65536=0), kernel={"machine": "aarch64"})["hugepages=4"]
    assert "honoured" not in row and "default size" in row["wants"]


@pytest.mark.parametrize(
    ("token", "sections", "kept"),
    [
        ("transparent_hugepage=never", {"memory": {"thp": {"enabled": "never"}}}, True),
        ("transparent_hugepage=never", {"memory": {"thp": {"enabled": "always"}}}, False),
        ("clocksource=tsc", {"kernel": {"clocksource": "hpet"}}, False),
        ("preempt=none", {"kernel": {"preempt": "none"}}, True),
        ("lockdown=integrity", {"kernel": {"lockdown": "none"}}, False),
        ("pcie_aspm=off", {}, None),
        ("pcie_aspm.policy=performance", {"power": {"aspm_policy": "default"}}, False),
        ("numa_balancing=disable", {"sysctl": {"values": {"kernel.numa_balancing": 0}}}, True),
        ("numa_balancing=disable", {"sysctl": {"values": {"kernel.numa_balancing": 1}}}, False),
        ("numa_balancing=disable", {}, True),
        ("numa_balancing=enable", {"sysctl": {"values": {"kernel.numa_balancing": 2}}}, True),
        ("noautogroup", {"sysctl": {"values": {"kernel.sched_autogroup_enabled": 1}}}, False),
        ("nowatchdog", {"sysctl": {"values": {"kernel.watchdog": 0}}}, True),
        ("panic=-1", {"sysctl": {"values": {"kernel.panic": -1}}}, True),
        ("pci=noaer,pcie_bus_peer2peer", {"pci": {"functions": {
            "0000:01:00.0": {"source": "config", "express": {"type": "endpoint", "max_payload_bytes": 256}}}}}, False),
    ],
)
def test_system(token: str, sections: dict[str, Any], kept: bool | None) -> None:
    assert honoured(token, **sections) is kept


def test_a_file_that_comes_later_is_named() -> None:
    setting = {"systemd": {"value": "1", "origin": ORIGIN}}
    section = {"values": {"kernel.numa_balancing": 1}, "settings": {"kernel.numa_balancing": setting}}
    row = rows("numa_balancing=disable", sysctl=section)["numa_balancing=disable"]
    assert row["honoured"] is False and row["overruled_by"] == ORIGIN


def sysctl(key: str, value: str, live: dict[str, Any]) -> dict[str, Any]:
    word = {"value": value, "origin": {"file": "/proc/cmdline", "line": 1, "text": f"sysctl.{key}={value}"}}
    return {"values": live, "settings": {key: {"cmdline": word}}}


@pytest.mark.parametrize(
    ("value", "live", "kept"), [("10", {"vm.swappiness": 10}, True), ("0xa", {"vm.swappiness": 10}, True),
                                ("10", {"vm.swappiness": 60}, False), ("10", {}, False)])
def test_sysctl_words(value: str, live: dict[str, Any], kept: bool) -> None:
    found = rows("quiet", sysctl=sysctl("vm.swappiness", value, live))
    assert found[f"sysctl.vm.swappiness={value}"]["honoured"] is kept


def option(module: str, parameter: str, value: str | None) -> dict[str, Any]:
    text = f"{module}.{parameter}" + ("" if value is None else f"={value}")
    word = {"origin": {"file": "/proc/cmdline", "line": 1, "text": text}} | ({"value": value} if value else {})
    return {"options": {module: {parameter: {"cmdline": word}}}}


@pytest.mark.parametrize(
    ("value", "live", "kept"),
    [
        ("1", "Y", True), ("0", "Y", False), (None, "Y", True), ("0x10", "16", True), ("5", "6", False),
        ("performance", "default [performance] powersave", True),
        ("performance", "[default] performance", False), ("a", "a", True), ("a", "b", None),
    ],
)
def test_module_parameters(value: str | None, live: str, kept: bool | None) -> None:
    for part in ("loaded", "builtin"):
        section = option("mod", "par", value) | {part: {"mod": {"parameters": {"par": live}}}}
        row = next(iter(rows("quiet", modules=section).values()))
        assert row.get("honoured") is kept and (row["name"], row["module"]) == ("mod.par", "mod")


def test_parameters_that_nothing_shows() -> None:
    loaded: list[dict[str, Any]] = [{}, {"loaded": {"mod": {}}}]
    for there in loaded:
        assert "honoured" not in rows("quiet", modules=option("mod", "par", "1") | there)["mod.par=1"]


def test_nvidia_shows_its_options_without_the_prefix() -> None:
    section = option("nvidia", "NVreg_EnableStreamMemOPs", "1")
    driver = {"driver": {"parameters": {"EnableStreamMemOPs": 0}}}
    row = rows("quiet", modules=section, nvidia=driver)["nvidia.NVreg_EnableStreamMemOPs=1"]
    assert row["honoured"] is False


def test_the_last_of_a_name_counts_and_what_pid_1_gets_does_not() -> None:
    section = freq("amd-pstate", "guided")
    found = rows("amd_pstate=active", "amd_pstate=guided", "--", "nosmt", cpufreq=section)
    assert found["amd_pstate=guided"]["honoured"] is True
    assert "honoured" not in found["amd_pstate=active"] and "nosmt" not in found


def test_words_that_promise_nothing_have_no_row() -> None:
    assert rows("root=/dev/sda1", "ro", "quiet", "console=ttyS0", "foo=bar", "iommu=soft", "mitigations=auto",
                "pci=realloc", iommu={}) == {}


@pytest.mark.parametrize(
    ("token", "unread"),
    [
        ("amd_pstate=active", {"cpufreq": [["driver"]]}),
        ("processor.max_cstate=1", {"cpuidle": [["states"]]}),
        ("iommu=pt", {"iommu": [["types"]]}),
        ("hugepages=4", {"memory": [["hugepages"]]}),
        ("transparent_hugepage=never", {"memory": [["thp"]]}),
    ],
)
def test_missing_evidence_is_unknown(token: str, unread: dict[str, list[list[str]]]) -> None:
    tables: dict[str, Any] = {"cmdline": cmdline(token), "kernel": {"machine": "x86_64"}}
    tables |= {section: {} for section in unread}
    found = kernel_tokens(snapshot(tables, unread=unread), None)
    assert not found.rows and [(u["subject"], u["why"]) for u in found.unknown] == [(token, "EACCES")]


def test_without_a_command_line_all_is_unknown() -> None:
    found = kernel_tokens(snapshot({}, states={"cmdline": "denied"}), None)
    assert not found.rows and [u["subject"] for u in found.unknown] == [""]


@pytest.mark.parametrize("name", ["pve-epyc-after.tar.xz", "ubuntu-gpu.tar.xz", "vm-full-after.tar.xz"])
def test_healthy_recorded_hosts(name: str) -> None:
    found = kernel_tokens(taken(name), None)
    assert found.rows and not found.unknown and all(row.get("honoured", True) for row in found.rows.values())
