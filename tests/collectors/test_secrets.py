"""Secrets: what a name gives away, what only sounds like one, and that none comes through any section."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from snapshot.capture import take
from snapshot.collectors.secrets import REDACTED, is_secret, redacted

from .fake import MemoryHost

SECRET = "hunter2"


@pytest.mark.parametrize("name", [
    "password", "PASSWD", "passphrase", "client_secret", "HF_TOKEN", "my.token", "credentials", "pass", "userpass",
    "pwd", "PWD", "ROOTPW", "inst.rootpw", "bindpw", "auth", "proxy-auth", "psk", "wifi.psk", "key", "api-key",
    "apikey", "KEY_ID", "--key", "-key", "key-", "ssh.privkey", "Authorization",
])
def test_names_of_secrets(name: str) -> None:
    assert is_secret(name)
    assert redacted(f"a=1 {name}={SECRET} b=2") == f"a=1 {name}={REDACTED} b=2"


@pytest.mark.parametrize("name", [
    "KEYTABLE", "vconsole.keymap", "secretmem.enable", "monkey", "arm-smmu.disable_bypass", "compass",
    "iommu.passthrough", "net.sctp.auth_enable", "net.ipv4.ipfrag_secret_interval",
    "net.bridge.bridge-nf-pass-vlan-input-dev", "kernel.keys.maxkeys", "keyctl", "author", "--keys", "tokenizer",
    "", "-", "cwd",
])
def test_names_that_only_sound_like_it(name: str) -> None:
    assert not is_secret(name)
    assert redacted(f"{name}=us {name}: x {name} y") == f"{name}=us {name}: x {name} y"


@pytest.mark.parametrize(("text", "kept"), [
    (f"|/h --token={SECRET} http://u:{SECRET}@h/x", f"|/h --token={REDACTED} http://{REDACTED}@h/x"),
    (f"/x --token {SECRET} -v", f"/x --token {REDACTED} -v"),
    (f"/x --password '{SECRET} {SECRET}' -v", f"/x --password {REDACTED} -v"),
    (f'"token": "a\\"{SECRET}", "x": 1', f'"token": {REDACTED}, "x": 1'),
    (f"username=bob,password={SECRET},vers=3", f"username=bob,password={REDACTED},vers=3"),
    (f"x=key={SECRET}", f"x=key={REDACTED}"),
    (f'pass="a {SECRET}', f"pass={REDACTED}"),
    (f'sh -c "/x --token {SECRET}" -v', f'sh -c "/x --token {REDACTED}" -v'),
    (f'"//nas/x mnt cifs ro,pass={SECRET}"', f'"//nas/x mnt cifs ro,pass={REDACTED}"'),
    (f"\"A='x' PASSWORD='{SECRET} {SECRET}'\" y", f"\"A='x' PASSWORD={REDACTED}\" y"),
    (f'5" disk key="{SECRET} {SECRET}" x', f'5" disk key={REDACTED} x'),
    (f"pass=a'b {SECRET}'c d", f"pass={REDACTED} d"),
    (f"Authorization: Bearer {SECRET} x", f"Authorization: {REDACTED} x"),
    (f"http://u:a@{SECRET}@h/ ftp://h:80,http://{SECRET}@h", f"http://{REDACTED}@h/ ftp://h:80,http://{REDACTED}@h"),
    (f"netroot=iscsi:bob:{SECRET}@192.0.2.1::3260", f"netroot=iscsi:{REDACTED}@192.0.2.1::3260"),
    (f"//bob:{SECRET}@nas/x mnt cifs", f"//{REDACTED}@nas/x mnt cifs"),
])
def test_where_secrets_stand(text: str, kept: str) -> None:
    assert redacted(text) == kept


@pytest.mark.parametrize("text", [
    "auth=", "x password=", "http://h:8080/a@b", "/srv/token key/pass none bind,key", "token plain", "c 195:* rwm",
    "root@host:/x", "-- token", "10:229",
])
def test_what_is_no_secret_stays(text: str) -> None:
    assert redacted(text) == text


@given(st.text() | st.text("key=: '\"\\-/@a,"))
def test_any_text_and_twice_is_once(text: str) -> None:
    once = redacted(text)
    assert REDACTED in once or once == text


PVE = f"""\
arch: amd64
description: {SECRET}
env: A={SECRET}\0B={SECRET}
env = A={SECRET}
entrypoint: /sbin/init --token {SECRET}
hookscript: local:snippets/x.pl --pass={SECRET}
net0: name=eth0,secret={SECRET}
tags: a;password={SECRET}
dev0: /dev/x,token={SECRET}
features: password={SECRET}
nonsense password={SECRET}
lxc.environment: A={SECRET}
lxc.environment.runtime = A={SECRET}
lxc.include: /x/http://u:{SECRET}@h/y
lxc.idmap: password={SECRET}
lxc.mount.entry: //nas/x mnt cifs username=a,password={SECRET} 0 0
lxc.hook.start: /x --token {SECRET}
lxc.cgroup2.devices.allow: token={SECRET}
lxc.unknown: token={SECRET}
"""
PLAIN = PVE.replace(f"description: {SECRET}\n", "").replace(": ", " = ")
FILES = {
    "/proc/cmdline": f"root=/dev/sda1 pass={SECRET} pwd={SECRET} auth={SECRET} ROOTPW={SECRET} inst.rootpw={SECRET} "
    f"inst.ks=http://u:{SECRET}@h/ http://u:{SECRET}@h/ --token {SECRET} sysctl.kernel.core_pattern=|/h:token={SECRET} "
    f"systemd.setenv=A={SECRET} rd.luks.key={SECRET} ip={SECRET} x=\"--password {SECRET}\" -- --password {SECRET}\n",
    "/proc/sys/kernel/core_pattern": f"|/h --token={SECRET} http://u:{SECRET}@h/\n",
    "/proc/sys/kernel/modprobe": f"/sbin/modprobe --password {SECRET}\n",
    "/proc/sys/net/core/netdev_rss_key": f"{SECRET}\n",
    "/etc/sysctl.d/a.conf": f"kernel.core_pattern=|/h --token={SECRET} http://u:{SECRET}@h/\n"
    f"kernel.core_p*=|/h --token={SECRET}\nno equals --token {SECRET}\n-net.x.fastopen_key = {SECRET}\n"
    f"net.x.stable_secret {SECRET}\ntoken={SECRET} {SECRET}\n",
    "/etc/sysctl.conf": f"kernel.core_pattern = |/h --token {SECRET}\n",
    "/etc/os-release": f"ID=debian\nPRETTY_NAME=\"Debian token={SECRET}\"\n",
    "/etc/pve/lxc/101.conf": f"{PVE}[pve:pending]\n{PVE}delete: a\n[snap]\n{PVE}",
    "/var/lib/lxc/101/config": PLAIN, "/var/lib/lxc/box/config": f"{PLAIN}lxc.include = /etc/lxc/more.conf\n",
    "/etc/lxc/more.conf": PLAIN, "/usr/share/lxc/config/common.conf": PLAIN,
    "/etc/lxc/lxc.conf": f"lxc.lxcpath = /srv/http://u:{SECRET}@h\n",
    "/proc/devices": "Character devices:\n  1 mem\n\nBlock devices:\n",
    "/sys/fs/cgroup/cgroup.controllers": "cpu\n", "/dev/fuse": "", "/proc/sys/kernel/osrelease": "6.8.12-9-pve\n",
    "/sys/bus/pci/devices/": "",
}


def test_no_section_lets_a_secret_through() -> None:
    found = take(MemoryHost(FILES))
    text = found.dumps()
    assert {found.outcomes[n].state for n in ("os", "cmdline", "sysctl", "lxc", "devices")} <= {"ok", "partial"}
    assert SECRET not in text
    assert text.count("core_pattern") > 5 and "|/h --token=<redacted> http://<redacted>@h/" in text
    for word in ("101", "box", "snap", "pending", "generated", "common.conf", "more.conf", "entrypoint"):
        assert word in text
