"""Interfaces, disks, interrupts, power zones, the clock."""

from __future__ import annotations

from typing import Any

import pytest

from ..tuned import Row, action, cmdline, host, rows, verdicts

GPU = "0000:01:00.0"


def nic() -> Row:
    return {
        "net": {
            "interfaces": {
                "02:00:03:00:00:00": {
                    "name": "eno1",
                    "kind": "physical",
                    "permanent_mac": "02:00:03:00:00:00",
                    "mtu": 9000,
                    "tx_queue_len": 1000,
                    "rings": {"rx": 8192, "rx_mini": 1},
                    "offloads": {"tcp-segmentation-offload": False},
                    "channels": {"combined": 8},
                    "coalescing": {"rx-usecs": 8},
                    "napi_threaded": True,
                }
            }
        }
    }


def test_interfaces() -> None:
    lines = [
        action("ip", "eno1", "mtu", value="9000", how="interfaces"),
        action("ethtool", "eno1", "ring", "rx", value="8192"),
        action("ethtool", "eno*", "offload", "tcp-segmentation-offload", value="off"),
        action("ethtool", "$IF", "channels", "combined", value="8"),
        action("ethtool", "eno2", "coalesce", "rx-usecs", value="8"),
        action("ethtool", "eno1", "ring", "rx_mini", value="1"),
        action("file", "/sys/class/net/eno1/threaded", value="1"),
    ]
    assert verdicts(rows(host(**nic()), *lines)) == {
        "net eno1 mtu": "kept",
        "net eno1 txqueuelen": "may",
        "net eno1 ring/rx": "kept",
        "net eno1 ring/rx_mini": "kept",
        "net eno1 offload/tcp-segmentation-offload": "kept",
        "net eno1 channels/combined": "may",
        "net eno1 coalesce/rx-usecs": "may",
        "net eno1 threaded": "kept",
    }
    row = rows(host(**nic()))["net eno1 mtu"]
    assert row["path"] == ["net", "interfaces", "02:00:03:00:00:00", "mtu"] and row["subject"] == "eno1"


def steered(*lines: Any, **facts: Any) -> Row:
    """The tunables of a physical interface with two receive queues and a transmit queue."""
    nic = {"name": "eno1", "kind": "physical", "device": "0000:02:00.0", "rx_queues": 2, "tx_queues": 1, **facts}
    return rows(host(net={"interfaces": {"02:00:03:00:00:00": nic}}), *lines)


def test_steering_of_packets_is_off_where_nothing_sets_it() -> None:
    found = steered(rps={"rx-0": "0-3", "rx-1": "0-3"}, xps={"tx-0": "1"})
    assert (found["net eno1 rps_cpus"]["live"], found["net eno1 rps_cpus"]["default"]) == ("0-3", "off")
    assert verdicts(found) == {"net eno1 rps_cpus": "reverts", "net eno1 xps_cpus": "may"}  # drivers set xps_cpus
    assert verdicts(steered())["net eno1 rps_cpus"] == "default"
    assert steered(rps={"rx-0": "0", "rx-1": "1"})["net eno1 rps_cpus"]["live"] == "0 of rx-0, 1 of rx-1"
    assert not [key for key in steered(virtual_function=True) if key.endswith("ps_cpus")]  # not recorded of these


def test_masks_that_steer_packets() -> None:
    def of(path: str, mask: str) -> Any:
        line = action("file", f"/sys/class/net/eno1/queues/{path}/rps_cpus", value=mask)
        return verdicts(steered(line, rps={"rx-0": "0-3", "rx-1": "0-3"}))["net eno1 rps_cpus"]

    assert [of("rx-*", "f"), of("rx-*", "0"), of("rx-*", "%s"), of("rx-0", "f")] == ["kept", "changes", "may", "may"]


def test_a_scheduler_that_is_set_sets_the_length_of_the_queue_anew() -> None:
    disk = {"name": "nvme0n1", "driver": "nvme", "queue": {"scheduler": "mq-deadline", "nr_requests": 256}}
    line = action("file", "/sys/block/nvme*/queue/scheduler", value="none")
    row = rows(host(storage={"blocks": {"S1": disk}}), line)["block nvme0n1 nr_requests"]
    assert (row["verdict_boot"], row["maybe"][0]["doubt"]) == ("may", "another scheduler sets this anew")


def test_disks() -> None:
    blocks = {
        "S1": {
            "name": "nvme0n1",
            "serial": "S1",
            "queue": {"scheduler": "none", "read_ahead_kb": 4096, "rotational": False},
        }
    }
    after = host(storage={"blocks": blocks})
    line = action("file", "/sys/block/nvme*/queue/read_ahead_kb", value="4096", how="udev")
    assert verdicts(rows(after, line)) == {"block nvme0n1 scheduler": "may", "block nvme0n1 read_ahead_kb": "kept"}
    before = host(storage={"blocks": {"S1": blocks["S1"] | {"name": "nvme1n1"}}})
    assert rows(after, before=before)["block nvme0n1 read_ahead_kb"]["before"] == 4096


def test_interrupts() -> None:
    actions = {
        "nvme0q*": {"affinity": {"0-3": "0", "4-7": "1"}, "queues": "0-1", "irqs": "52-53"},
        "mlx5": {"affinity": {"0-7": "0"}, "irqs": "54"},
        "kept": {"affinity": {"0": "0"}, "irqs": "55", "fixed": "0"},
    }
    after = host(irq={"default_affinity": "0-7", "devices": {GPU: actions}}, cmdline=cmdline("irqaffinity=0-7"))
    found = rows(after, action("irq", "/proc/irq/54/smp_affinity_list", value="0-7"))
    assert {key: (row["live"], row["verdict_boot"]) for key, row in found.items()} == {
        "irq default_smp_affinity": ("0-7", "kept"),
        f"irq {GPU} mlx5 smp_affinity": ("0-7", "may"),
        f"irq {GPU} nvme0q* smp_affinity": ("0-3 of queue 0, 4-7 of queue 1", "may"),
    }


def test_clock_and_preemption() -> None:
    after = host(
        kernel={"clocksource": "tsc", "preempt": "voluntary"}, cmdline=cmdline("clocksource=tsc", "preempt=none")
    )
    assert verdicts(rows(after)) == {"kernel clocksource": "kept", "kernel preempt": "changes"}


def test_power_zones_and_latency() -> None:
    zone = {"name": "package-0", "enabled": True, "limits": {"long_term": {"power_uw": 280000000, "window_us": 1}}}
    after = host(
        power={"zones": {"intel-rapl:0": zone}, "cpu_resume_latency_us": {"0": "0-3"}, "energy_perf_bias": {"6": "0-3"}}
    )
    top = "/sys/class/powercap/intel-rapl:0"
    found = rows(
        after,
        action("file", f"{top}/constraint_0_power_limit_uw", value="280000000"),
        action("file", "/sys/devices/system/cpu/cpu*/power/energy_perf_bias", value="0"),
    )
    assert verdicts(found) == {
        "power pm_qos_resume_latency_us 0-3": "may",
        "power energy_perf_bias 0-3": "changes",
        "power intel-rapl:0 enabled": "may",
        "power intel-rapl:0 long_term power_limit_uw": "kept",
    }


@pytest.mark.parametrize(
    ("mask", "word"),
    [
        ("f", "changes"),
        ("0000000f,00000000", "changes"),
        ("ff", "kept"),
        ("0xff", "kept"),
        ("all", "may"),
        (None, "may"),
    ],
)
def test_default_affinity_as_a_mask(mask: str | None, word: str) -> None:
    line = action("irq", "/proc/irq/default_smp_affinity", value=mask)
    assert verdicts(rows(host(irq={"default_affinity": "0-7"}), line)) == {"irq default_smp_affinity": word}


def test_a_daemon_may_move_interrupts() -> None:
    after = host(irq={"devices": {GPU: {"mlx5": {"affinity": {"0-7": "0"}, "irqs": "54"}}}})
    for where, count in (
        ("all", 1),
        ("eno1", 1),
        ("/proc/irq/54/smp_affinity", 1),
        ("/proc/irq/*/smp_affinity_list", 1),
        ("/proc/irq/55/smp_affinity", 0),
    ):
        row = rows(after, action("irq", where))[f"irq {GPU} mlx5 smp_affinity"]
        assert len(row.get("maybe", ())) == count
