"""What the next boot makes of a host: each status, its evidence, and what stands in no row."""

from __future__ import annotations

from typing import Any

import pytest

from snapshot.derive import derived
from snapshot.derive.forecasts.forecast import forecast, outlook
from snapshot.derive.forecasts.forecast_evidence import why_no_baseline
from snapshot.document import Snapshot
from snapshot.errors import SnapError
from tests.recordings import pair

from ..tuned import assign, cmdline, host, origin

SWAPPINESS, MRRS = "sysctl vm.swappiness", "pci 0000:01:00.0 MaxReadReq"
NOW, BOOT = {"boot_id": "one", "machine": "m", "taken": "2026-01-01T02:00:00Z"}, "2026-01-01T00:05:00Z"


def sysctl(values: dict[str, Any], **settings: Any) -> dict[str, Any]:
    return {"values": values, **({"settings": {"vm.swappiness": settings}} if settings else {})}


def function(size: int, driver: str = "mlx5_core", **more: Any) -> dict[str, Any]:
    express = {"type": "endpoint", "max_read_request_bytes": size}
    return {"vendor": "15b3", "device": "1021", "class_code": "020000", "driver": driver, "source": "config",
            "express": express} | more


def baseline(meta: dict[str, Any] | None = None, **tables: Any) -> Snapshot:
    return host({**NOW, "taken": BOOT, "uptime_s": 60, **(meta or {})}, **tables)


def booting(kernel: str, *words: str, **more: Any) -> dict[str, Any]:
    """Section boot of a host whose next boot, of KERNEL, has WORDS."""
    line = {"words": [*words], "used": True, "origins": [origin("/etc/kernel/cmdline", 1, " ".join(words))]}
    return {"loader": "systemd-boot", "configured": {"kernel-cmdline": line},
            "next": {"kernel": kernel, "by": "newest kernel in /boot"}} | more


def one(found: Snapshot, key: str, base: Snapshot | None = None) -> dict[str, Any]:
    return forecast(found, base).rows[key]


def test_reverts_to_the_default_of_the_kernel() -> None:
    row = one(host(sysctl=sysctl({"vm.swappiness": 10})), SWAPPINESS)
    assert (row["status"], row["now"], row["next"], row["lost"]) == ("reverts", 10, 60, True)
    assert row["why"].startswith("nothing sets it at boot") and "swappiness" in row["evidence"]


def test_kept_and_changed_by_a_file() -> None:
    kept = one(host(sysctl=sysctl({"vm.swappiness": 10}, systemd=assign("10"))), SWAPPINESS)
    assert (kept["status"], kept["next"], kept["lost"]) == ("kept", 10, False)
    assert kept["why"] == "/etc/sysctl.d/90-gpu.conf:1" and kept["source"] == origin()
    row = one(host(sysctl=sysctl({"vm.swappiness": 60}, systemd=assign("10"))), SWAPPINESS)
    assert (row["status"], row["next"], row["why"]) == ("changes", 10, "/etc/sysctl.d/90-gpu.conf:1")


def test_what_nothing_sets_and_nobody_touched_has_no_row() -> None:
    found = outlook(host(sysctl=sysctl({"vm.swappiness": 60, "kernel.unheard_of": 3})))
    assert not [key for key in found.table().rows if key.startswith("sysctl")]
    plain = {one.key: one.status for one in found.predictions if one.plain}
    assert plain == {SWAPPINESS: "kept", "sysctl kernel.unheard_of": "may"}


def test_without_evidence_nothing_reverts() -> None:
    found = outlook(host(pci={"functions": {"0000:01:00.0": function(4096)}}))
    assert {one.status for one in found.predictions if one.key == MRRS} == {"may"}


def test_a_baseline_is_the_evidence() -> None:
    now = host(NOW, pci={"functions": {"0000:01:00.0": function(4096)}})
    row = one(now, MRRS, baseline(pci={"functions": {"0000:01:00.0": function(1024)}}))
    assert (row["status"], row["next"], row["evidence"]) == ("reverts", 1024, "the baseline of this boot")
    same = outlook(now, baseline(pci={"functions": {"0000:01:00.0": function(4096)}}))
    assert [(one.status, one.plain) for one in same.predictions if one.key == MRRS] == [("kept", True)]


def test_a_baseline_counts_more_than_the_default() -> None:
    now = host(NOW, sysctl=sysctl({"vm.swappiness": 10}))
    assert one(now, SWAPPINESS, baseline(sysctl=sysctl({"vm.swappiness": 1})))["next"] == 1
    kept = outlook(now, baseline(sysctl=sysctl({"vm.swappiness": 10})))
    assert [one.status for one in kept.predictions if one.key == SWAPPINESS] == ["kept"]


def test_a_baseline_of_another_kernel_is_none_of_what_kernels_do_differently() -> None:
    name, boot = "kernel.sched_autogroup_enabled", booting("6.12.95+deb12-amd64")
    now, base = host(NOW, sysctl=sysctl({name: 1}), boot=boot), baseline(sysctl=sysctl({name: 0}))
    assert [found.status for found in outlook(now, base).predictions if found.name == name] == ["may"]
    now = host(NOW, sysctl=sysctl({name: 1}))
    assert one(now, f"sysctl {name}", base)["status"] == "reverts"


def test_a_baseline_tells_nothing_of_what_a_word_set_that_is_gone() -> None:
    def told(*words: str) -> list[tuple[str, int]]:
        base = baseline(sysctl=sysctl(pages), cmdline=cmdline("quiet", "hugepages=16"))
        now = host(NOW, sysctl=sysctl({**pages, "kernel.unheard_of": 4}), cmdline=cmdline("quiet", "hugepages=16"),
                   boot=booting("6.8.12-9-pve", *words))
        rows = {found.key: (found.status, found.next) for found in outlook(now, base).predictions}
        return [rows["sysctl vm.nr_hugepages"], rows["sysctl kernel.unheard_of"]]

    pages = {"vm.nr_hugepages": 16, "kernel.unheard_of": 3}
    assert told("quiet") == [("reverts", 0), ("reverts", 3)]  # to the default of the kernel
    assert told("quiet", "hugepages=16") == [("kept", 16), ("reverts", 3)]


@pytest.mark.parametrize(("meta", "said"), [
    ({}, ""),
    ({"machine": "other"}, "it is of another machine"),
    ({"taken": "2026-01-01T03:00:00Z"}, "it was taken later in the same boot"),
    ({"boot_id": "zero"}, ""),
    ({"boot_id": "zero", "kernel": "6.1.0"}, "it is of another boot, and of kernel 6.1.0, not of 6.8.12-9-pve"),
])
def test_what_is_no_baseline(meta: dict[str, Any], said: str) -> None:
    now, base = host(NOW, sysctl=sysctl({"vm.swappiness": 10})), baseline(meta, sysctl=sysctl({"vm.swappiness": 1}))
    assert why_no_baseline(now, base, "6.8.12-9-pve") == said
    assert one(now, SWAPPINESS, base)["next"] == (60 if said else 1)


def test_an_untouched_sibling_shows_that_the_driver_does_not_set_it() -> None:
    functions = {"0000:01:00.0": function(4096), "0000:02:00.0": function(512)}
    assert one(host(pci={"functions": functions}), MRRS)["next"] == 512
    for other in (function(512, device="9999"), function(512, "other"), function(256)):
        found = outlook(host(pci={"functions": functions | {"0000:02:00.0": other}}))
        assert {one.status for one in found.predictions if one.key == MRRS} == {"may"}


@pytest.mark.parametrize("driver", ["vfio-pci", None])
def test_what_a_guest_or_nobody_drives_is_no_sibling(driver: str | None) -> None:
    functions = {address: function(size) | ({"driver": driver} if driver else {})
                 for address, size in (("0000:01:00.0", 4096), ("0000:02:00.0", 512))}
    if driver is None:
        functions = {address: {k: v for k, v in one.items() if k != "driver"} for address, one in functions.items()}
    found = outlook(host(pci={"functions": functions}))
    assert {one.status for one in found.predictions if one.key == MRRS} == {"may"}


def test_what_the_next_kernel_is_built_with() -> None:
    kernel = {"installed": {"6.8.12-9-pve": {"image": True, "initrd": True, "modules": True,
                                             "config": {"thp": "madvise"}}}}
    thp, key = {"thp": {"enabled": "never"}}, "thp transparent_hugepage/enabled"
    row = one(host(memory={**thp, "total_bytes": 1 << 34}, kernel=kernel), key)
    assert (row["status"], row["next"], row["evidence"]) == ("reverts", "madvise", "built into kernel 6.8.12-9-pve")
    assert key not in forecast(host(memory={**thp, "total_bytes": 1 << 28}, kernel=kernel)).rows


def test_unknown_says_what_was_not_read() -> None:
    found = host(unread={"units": [["cron"]]}, sysctl=sysctl({"vm.swappiness": 10}))
    row = one(found, SWAPPINESS)
    assert (row["status"], row["boot"], row["why"]) == ("unknown", 60, "/src was not read (EACCES)")
    assert row["unknown"]["lost"] == {"source": "/src", "why": "/src was not read (EACCES)"} and "lost" not in row


def test_a_value_that_was_not_read_is_a_row_without_a_value() -> None:
    rows = forecast(host(unread={"sysctl": [["values", "vm.swappiness"]]}, sysctl={"values": {}})).rows
    assert rows[SWAPPINESS]["name"] == "vm.swappiness" and "now" in rows[SWAPPINESS]["unknown"]


def test_words_of_the_next_command_line_and_what_follows() -> None:
    found = host(
        cmdline=cmdline("quiet", "iommu=pt"), cpu={"vendor": "AuthenticAMD"},
        cpufreq={"driver": "acpi-cpufreq", "governor": {"performance": "0-3"}},
        boot=booting("6.8.12-9-pve", "quiet", "amd_pstate=active"))
    rows = forecast(found).rows
    word = rows["cmdline amd_pstate"]
    assert (word["status"], word["now"], word["next"]) == ("changes", "", "amd_pstate=active")
    assert word["why"] == "/etc/kernel/cmdline:1, the loader's entries are made anew from this file"
    assert (rows["cmdline iommu"]["next"], rows["cmdline iommu"]["lost"]) == ("", True)
    assert "cmdline quiet" not in rows
    assert (rows["cpufreq driver"]["now"], rows["cpufreq driver"]["next"]) == ("acpi-cpufreq", "amd-pstate-epp")
    governor = rows["cpufreq scaling_governor 0-3"]
    assert (governor["status"], governor["why"]) == (
        "may", "amd-pstate-epp starts with its own (/etc/kernel/cmdline:1)")


@pytest.mark.parametrize(("kernel", "mode", "status"), [
    ("6.1.0-30-amd64", "active", "may"), ("6.1.0-30-amd64", "passive", "changes"), ("6.3.1", "guided", "may"),
    ("6.4.0", "guided", "changes"), ("6.8.12-9-pve", "disable", "may"), ("6.8.12-9-pve", "nonsense", "may"),
])
def test_a_mode_that_the_kernel_may_not_know(kernel: str, mode: str, status: str) -> None:
    found = host(cmdline=cmdline(), cpu={"vendor": "AuthenticAMD"}, cpufreq={"driver": "acpi-cpufreq"},
                 boot=booting(kernel, f"amd_pstate={mode}"))
    assert one(found, "cpufreq driver")["status"] == status


@pytest.mark.parametrize("cpu", [{"vendor": "GenuineIntel"}, {}])
def test_another_vendor_has_no_amd_pstate(cpu: dict[str, Any]) -> None:
    found = host(cmdline=cmdline(), cpu=cpu, cpufreq={"driver": "acpi-cpufreq"},
                 boot=booting("6.8.12-9-pve", "amd_pstate=active"))
    assert one(found, "cpufreq driver")["status"] == "may"


def test_another_kernel() -> None:
    installed = {name: {"image": True, "initrd": True, "modules": True, "config": {"hz": hz}}
                 for name, hz in (("6.8.12-9-pve", "1000"), ("6.14.11-1-pve", "250"))}
    found = host(kernel={"release": "6.8.12-9-pve", "installed": installed}, boot=booting("6.8.12-9-pve", "quiet"))
    assert "config hz" not in forecast(found).rows
    row = forecast(found, kernel="6.14.11-1-pve").rows["config hz"]
    assert (row["now"], row["next"], row["status"]) == ("1000", "250", "changes")
    with pytest.raises(SnapError, match=r"kernel 5\.0 is not installed; there is 6\.14\.11-1-pve, 6\.8"):
        forecast(found, kernel="5.0")
    with pytest.raises(SnapError, match="not in the snapshot"):
        forecast(host(kernel={}), kernel="5.0")


def test_the_entry_of_that_kernel_is_the_one_of_its_menu() -> None:
    entries = {name: {"kernel": kernel, "linux": "/x", "words": [word], "origin": origin("/boot/grub/grub.cfg", line)}
               for line, (name, kernel, word) in enumerate((("a", "1", "a=1"), ("b", "2", "b=1")), 1)}
    boot = {"loader": "grub", "menus": {"/boot/grub/grub.cfg": {"entries": entries}},
            "next": {"kernel": "1", "entry": "a", "menu": "/boot/grub/grub.cfg", "by": "default of grub.cfg"}}
    installed = {name: {"image": True, "initrd": True, "modules": True} for name in "12"}
    found = host(kernel={"installed": installed}, boot=boot, cmdline=cmdline("a=1"))
    assert forecast(found).rows["cmdline a"]["status"] == "kept"
    rows = forecast(found, kernel="2").rows
    assert (rows["cmdline a"]["lost"], rows["cmdline b"]["next"]) == (True, "b=1")


def test_the_unit_that_keeps_what_reverts() -> None:
    functions = {f"0000:0{n}:00.0": function(4096, "nvidia", vendor="10de", class_code="030200") for n in (1, 2)}
    durable = one(host(pci={"functions": functions}), MRRS)["durable"]
    assert durable[0].count("setpci -s 0000:0") == 2 and "CAP_EXP+8.w=5000:7000" in durable[0]
    assert durable[-1] == "systemctl enable --now hostsnap-pci.service" and "Wants=" not in durable[0]


def test_a_name_that_a_shell_would_obey_makes_no_command() -> None:
    gpu = {"address": "0000:01:00.0", "state": {"power": {"limit_mw": 450000, "default_mw": 600000}}}
    for key, made in (("GPU-1", True), ("$(reboot)", False), ("a'b", False), ("%n", False)):
        row = one(host(nvidia={"gpus": {key: gpu}}), f"nvidia {key} power-limit")
        assert ("durable" in row, row["now_mw"], row["next_mw"]) == (made, 450000, 600000)


def test_the_table_takes_before_as_its_baseline() -> None:
    now, base = host(NOW, sysctl=sysctl({"vm.swappiness": 10})), baseline(sysctl=sysctl({"vm.swappiness": 1}))
    assert derived("forecast", now, base).rows == forecast(now, base).rows


def test_nothing_reverts_on_a_host_that_persists_all() -> None:
    found = outlook(pair("healthy-reboot")[0])
    assert {one.status for one in found.predictions if not one.plain} == {"kept", "may"}


def test_all_that_was_set_by_hand_reverts() -> None:
    found = forecast(pair("tuning-reverted")[0]).rows
    lost = {key for key, row in found.items() if row.get("lost")}
    assert {"sysctl kernel.numa_balancing", "sysctl vm.swappiness", MRRS} <= lost


def test_an_empty_snapshot() -> None:
    found = outlook(host())
    assert found.predictions == []  # nor does it show a loader


def test_a_command_line_that_cannot_be_seen() -> None:
    for found in (host(boot={"loader": "grub"}), host(unread={"boot": [["menus"]]})):
        row = one(found, "cmdline")
        assert (row["status"], "lost" in row) == ("unknown", False)


def test_a_command_line_of_which_nothing_tells_that_it_comes_again_decides_nothing() -> None:
    words, values = cmdline("sysctl.vm.swappiness=10"), sysctl({"vm.swappiness": 10})
    row = one(host(cmdline=words, sysctl=values), SWAPPINESS)
    assert row["status"] == "may" and row["why"].endswith("if the next boot has this boot's command line")
    loader = booting("6.8.12-9-pve", "sysctl.vm.swappiness=10")
    assert one(host(cmdline=words, sysctl=values, boot=loader), SWAPPINESS)["status"] == "kept"


def test_what_is_not_read_of_a_device_is_a_row_of_that_device() -> None:
    gpu = {"uuid": "GPU-1", "address": "0000:01:00.0", "state": {}}
    found = forecast(host(NOW, unread={"nvidia": [["gpus", "GPU-1", "state", "application_clocks"]]},
                          nvidia={"loaded": True, "gpus": {"GPU-1": gpu}}))
    row = found.rows["nvidia GPU-1 applications-clocks"]
    assert (row["device"], row["name"], row["unknown"]["status"]["why"]) == ("GPU-1", "applications-clocks", "EACCES")


def test_what_a_pci_function_is() -> None:
    acs = dict.fromkeys(("source_validation", "translation_blocking", "request_redirect", "completion_redirect",
                         "upstream_forwarding", "egress_control", "direct_translated"), False)
    port = {"vendor": "1022", "device": "14a5", "class_code": "060400", "driver": "pcieport", "source": "config",
            "acs": acs, "express": {"type": "root port"}}
    ports = dict.fromkeys(("0000:00:01.1", "0000:00:03.1"), port)
    boot = {address: {**port, "acs": {**acs, "request_redirect": True}} for address in ports}
    gpu = function(4096, "nvidia", vendor="10de", class_code="030200", bridges=["0000:00:01.1"])
    now, then = ({"functions": {**functions, "0000:01:00.0": gpu}} for functions in (ports, boot))
    rows = forecast(host(NOW, pci=now), baseline(pci=then)).rows
    told = {(row["device"], row["name"]): [row.get(key) for key in ("noun", "vendor", "type", "gpus")]
            for row in rows.values() if row["kind"] == "pci" and row["status"] == "reverts"}
    assert told == {
        ("0000:00:01.1", "ACSCtl.ReqRedir"): [None, "1022", "root port", ["0000:01:00.0"]],
        ("0000:00:03.1", "ACSCtl.ReqRedir"): [None, "1022", "root port", None],
    }
    gpus = forecast(host(NOW, pci=now), baseline(pci={"functions": {**boot, "0000:01:00.0": {
        **gpu, "express": {**gpu["express"], "max_read_request_bytes": 512}}}})).rows[MRRS]
    assert [gpus.get(key) for key in ("noun", "vendor", "type", "gpus")] == ["GPU", "10de", "endpoint", None]


def test_without_the_functions_it_is_not_known_what_they_are() -> None:
    found = host(unread={"pci": [["functions"]]}, pci={"functions": {}})
    assert one(found, "pci ")["unknown"].keys() >= {"lost", "noun", "type", "gpus"}
