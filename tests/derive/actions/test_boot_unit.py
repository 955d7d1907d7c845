from __future__ import annotations

from snapshot.derive.actions.boot_unit import install


def test_the_commands_run_one_after_the_other_behind_a_unit() -> None:
    write, *rest = install("hostsnap-x", "X", ["/bin/a 1", "/bin/b"], "y.service")
    assert write.splitlines() == [
        "cat > /etc/systemd/system/hostsnap-x.service <<'EOF'",
        "[Unit]", "Description=X", "After=y.service", "Before=pve-guests.service", "",
        "[Service]", "Type=oneshot", "RemainAfterExit=yes", "ExecStart=/bin/a 1", "ExecStart=/bin/b", "",
        "[Install]", "WantedBy=multi-user.target", "EOF",
    ]
    assert rest == ["systemctl daemon-reload", "systemctl enable --now hostsnap-x.service"]
