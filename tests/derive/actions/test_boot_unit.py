from __future__ import annotations

from snapshot.derive.actions.boot_unit import escaped, install


def test_the_commands_run_one_after_the_other_behind_a_unit() -> None:
    write, *rest = install("hostsnap-x", "X", ["/bin/a 1", "/bin/b"], "y.service")
    assert write.splitlines() == [
        "cat > /etc/systemd/system/hostsnap-x.service <<'EOF'",
        "[Unit]", "Description=X", "After=y.service", "Before=pve-guests.service", "",
        "[Service]", "Type=oneshot", "RemainAfterExit=yes", "ExecStart=/bin/a 1", "ExecStart=/bin/b", "",
        "[Install]", "WantedBy=multi-user.target", "EOF",
    ]
    assert rest == ["systemctl daemon-reload", "systemctl enable --now hostsnap-x.service"]


def test_a_unit_about_a_device_waits_for_it() -> None:
    write = install("hostsnap-net", "NICs", ["/bin/a"], "y.service", ["/sys/subsystem/net/devices/br-0"])[0]
    device = "sys-subsystem-net-devices-br\\x2d0.device"
    assert f"\nWants={device}\nAfter={device}\nAfter=y.service\n" in write


def test_paths_as_units_are_named() -> None:
    assert escaped("/dev/nvme0n1") == "dev-nvme0n1" and escaped("/dev/a b/c") == "dev-a\\x20b-c"
