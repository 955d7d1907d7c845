"""Secrets: what a name gives away, what only sounds like one, and that none comes through any section."""

from __future__ import annotations

import itertools
import re
from fnmatch import fnmatchcase

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fixtures import epyc, whole
from snapshot.capture import take
from snapshot.collectors import secrets
from snapshot.collectors.secrets import REDACTED, is_secret, redacted, redacted_line, redacted_words
from snapshot.sections import NAMES

from .fake import Content, MemoryHost

SECRET = "hunter2"


@pytest.mark.parametrize("name", [
    "password", "PASSWD", "passphrase", "client_secret", "HF_TOKEN", "my.token", "credentials", "pass", "userpass",
    "pwd", "PWD", "ROOTPW", "inst.rootpw", "bindpw", "auth", "proxy-auth", "psk", "wifi.psk", "key", "api-key",
    "apikey", "KEY_ID", "--key", "-key", "key-", "ssh.privkey", "Authorization", "PresharedKey", "EncryptionKey",
    "AccountKey", "wep_key0", "KEY1", "rd.zfskey", "cookie", "--cookie", "rocommunity",
])
def test_names_of_secrets(name: str) -> None:
    assert is_secret(name)
    assert redacted(f"a=1 {name}={SECRET} b=2") == f"a=1 {name}={REDACTED} b=2"


@pytest.mark.parametrize("name", [
    "KEYTABLE", "vconsole.keymap", "secretmem.enable", "monkey", "arm-smmu.disable_bypass", "compass",
    "iommu.passthrough", "net.sctp.auth_enable", "net.ipv4.ipfrag_secret_interval",
    "net.bridge.bridge-nf-pass-vlan-input-dev", "kernel.keys.maxkeys", "keyctl", "author", "--keys", "tokenizer",
    "", "-", "cwd", "net.ipv4.tcp_syncookies", "net.sctp.cookie_hmac_alg", "hotkey", "communities",
])
def test_names_that_only_sound_like_it(name: str) -> None:
    assert not is_secret(name)
    assert redacted(f"{name}=us {name}: x {name} y") == f"{name}=us {name}: x {name} y"


WORDS = st.sampled_from([
    "pw", "KEY", "--token", "passWord", "psk", "auth", "Credential", "monkey", "a", "7", "iscsi:", "//", "@", ":", "=",
    " ", "'", '"', "-", "_", ".", "\u212aEY", "pa\u017f\u017f",
])


@given(st.lists(WORDS, max_size=9).map("".join))
def test_what_has_no_sign_of_a_secret_is_not_looked_at_and_has_none(text: str) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(secrets, "HINTS", ("",))  # every text is looked at
        whole = redacted(text)
    assert redacted(text) == whole


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
    (f'ExecStart=/usr/bin/env "TOKEN=a {SECRET}" /x', f'ExecStart=/usr/bin/env "TOKEN={REDACTED}" /x'),
    (f"'token: a {SECRET}' b \"PW=\" c", f"'token: {REDACTED}' b \"PW=\" c"),
    (f"bob:{SECRET}@nas:/x a#eve:{SECRET}@h, x@sha256:1 py:3@sha256:ab",
     f"bob:{REDACTED}@nas:/x a#eve:{REDACTED}@h, x@sha256:1 py:3@sha256:ab"),
    (f'["--token", "{SECRET}", "-v"]', f'["--token", {REDACTED}, "-v"]'),
    (f"rw,username=bob%{SECRET},vers=3", f"rw,username=bob%{REDACTED},vers=3"),
    (f"curl -u bob:{SECRET} -b {SECRET} x; redis-cli -a {SECRET} x",
     f"curl -u bob:{REDACTED} -b {REDACTED} x; redis-cli -a {REDACTED} x"),
    (f"curl --proxy-user u:{SECRET} --cookie {SECRET} -H 'Cookie: {SECRET}'",
     f"curl --proxy-user u:{REDACTED} --cookie {REDACTED} -H 'Cookie: {REDACTED}'"),
    (f"sshpass -p {SECRET} x; mysql -u a -p{SECRET}; ipmitool -P {SECRET} y; snmpset -v2c -c {SECRET} h",
     f"sshpass -p {REDACTED} x; mysql -u a -p{REDACTED}; ipmitool -P {REDACTED} y; snmpset -v2c -c {REDACTED} h"),
    (f"echo {SECRET} | sudo -S x; printf '{SECRET}' | cryptsetup open y; wc <<< {SECRET}",
     f"echo {REDACTED} | sudo -S x; echo {REDACTED} | cryptsetup open y; wc <<< {REDACTED}"),
])
def test_where_secrets_stand(text: str, kept: str) -> None:
    assert redacted(text) == kept


@pytest.mark.parametrize(("line", "kept"), [
    (f"db_password = a {SECRET}", f"db_password = {REDACTED}"),
    (f"  - password: 'a {SECRET}'", f"  - password: {REDACTED}"),
    (f"export 'A_TOKEN'= {SECRET}", f"export 'A_TOKEN'= {REDACTED}"), ("password =", "password ="), ("a = b", "a = b"),
    (f"x = --token {SECRET} y", f"x = --token {REDACTED} y"),
])
def test_a_setting_goes_whole(line: str, kept: str) -> None:
    assert redacted_line(line) == kept


def test_the_word_behind_an_option_goes_in_a_list_too() -> None:
    words = ["--token", SECRET, "-v", "--key", "-x", "--password=a", "b"]
    assert redacted_words(words) == ["--token", REDACTED, "-v", "--key", "-x", f"--password={REDACTED}", "b"]


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


# What can stand in files of a kind, by pattern of the path; added at the end and behind each [section]. Each line has
# its own number behind the secret, so that a leak names it.
UNIT = f"""\
Environment=API_TOKEN={SECRET} "DB_PASSWORD={SECRET} {SECRET}"
ExecStart=/usr/bin/nvidia-smi -pm 1 --token={SECRET}
ExecStartPre=/bin/sh -c 'API_KEY={SECRET} setpci -s 01:00.0 CAP_EXP+8.w'
ExecStartPost=/usr/bin/env PASSWORD={SECRET} nvidia-smi -pl 400
ConditionKernelCommandLine=password={SECRET}
ConditionEnvironment=TOKEN=a {SECRET}
ExecStart=/usr/bin/env "A_TOKEN=a {SECRET}" nvidia-smi -pm 1
ExecStart=/usr/bin/nvidia-smi --password \\
 {SECRET}
"""
SCRIPT = f"""\
export API_TOKEN={SECRET}
PASSWORD={SECRET} nvidia-smi -pm 1 --token {SECRET}
curl -H 'Authorization: Bearer {SECRET}' http://u:{SECRET}@h/ && setpci -s 01:00.0 CAP_EXP+8.w=5000
echo {SECRET}
curl -u a:{SECRET} x; sshpass -p {SECRET} nvidia-smi -pm 1
echo {SECRET} | sudo -S nvidia-smi -pm 1 <<< {SECRET}
"""
QEMU = f"""\
description: {SECRET}
#{SECRET}
args: -device x,password={SECRET}
cipassword: {SECRET}
sshkeys: {SECRET}
vmgenid: {SECRET}
hostpci0: 0000:01:00.0,password={SECRET}
net0: virtio=02:00:00:00:09:01,bridge=vmbr0,password={SECRET}
"""
KINDS = {
    "*.service": UNIT, "*.mount": f"Options=rw,username=a,password={SECRET}\nOptions=username=bob%{SECRET}\n",
    "*.timer": f"Environment=A_TOKEN={SECRET}\n",
    "/usr/local/sbin/*": SCRIPT, "/usr/sbin/*": SCRIPT, "/etc/rc.local": SCRIPT,
    "/etc/sysctl*": f"net.x.stable_secret = {SECRET}\nkernel.core_pattern = |/h --token={SECRET}\n",
    "*/modprobe.d/*": f"options nvidia NVreg_password={SECRET}\ninstall nvidia /sbin/modprobe --token {SECRET}\n"
    f"remove nvidia /x password={SECRET}\npassword={SECRET}\n--password {SECRET}\n# {SECRET}\n"
    f'options nvidia NVreg_auth="a {SECRET}"\ninstall nvidia curl -u a:{SECRET} x\n',
    "/etc/modules": f"# password {SECRET}\nfoo password={SECRET}\n",
    "*/modules-load.d/*": f"# password {SECRET}\nfoo password={SECRET}\n",
    "/etc/default/grub*":
    f'GRUB_CMDLINE_LINUX="quiet password={SECRET} rd.luks.key={SECRET} --password {SECRET}"\nGRUB_PASSWORD={SECRET}\n'
    f'GRUB_X_PASSWORD="a {SECRET}"\n',
    "*/grub.cfg": f"password_pbkdf2 root {SECRET}\n"
    f"menuentry 'x' {{\n linux /boot/vmlinuz-6.8.12-9-pve password={SECRET}\n}}\n",
    "*/loader/entries/*": f"title x\nlinux /vmlinuz-6.8.12-9-pve\noptions quiet password={SECRET} --token {SECRET}\n",
    "/etc/pve/nodes/*/qemu-server/*": QEMU, "/etc/pve/nodes/*/lxc/*": PVE, "/var/lib/lxc/*": PLAIN,
    "/etc/pve/mapping/*": f"\tmap password={SECRET},id=10de:2bb5,node=pve1,path=0000:01:00.0\n",
    "/etc/fstab": f"//nas/x /mnt/x cifs username=a,password={SECRET} 0 0\n//u:{SECRET}@nas/y /mnt/y cifs ro 0 0\n"
    f'//nas/z /mnt/z cifs username=a,password="a,{SECRET}" 0 0\nx#b:{SECRET}@nas /f fuse ro 0 0\n'
    f"b:{SECRET}@nas:/x /g fuse.sshfs ro 0 0\n",
    "/etc/network/*": f"  wpa-psk {SECRET}\n  up ethtool -G eno1 rx 1 --password {SECRET}\n  password {SECRET}\n"
    f"  up curl -u b:{SECRET} x; ethtool -K eno1 tso off\n",
    "*/netplan/*": f"network:\n  ethernets:\n    eno9:\n      mtu: 9000\n      auth:\n        password: {SECRET}\n",
    "*/systemd/network/*": f"Password={SECRET}\nPrivateKey={SECRET}\nApiToken={SECRET}\n",
    "*/udev/rules.d/*": f'KERNEL=="nvidia*", RUN+="/usr/bin/nvidia-smi --token {SECRET}", ENV{{API_TOKEN}}="{SECRET}"\n'
    f'KERNEL=="nvidia0", MODE="0666", OPTIONS+="password={SECRET}"\n'
    f'KERNEL=="nvidia0", ENV{{API_TOKEN}}=="{SECRET}", MODE="0600"\n',
    "*/tmpfiles.d/*": f"w /sys/kernel/mm/x - - - - --token={SECRET}\n"
    f"w /sys/module/foo/parameters/password - - - - {SECRET}\n",
    "*/apt/preferences.d/*": f'\nPackage: x\nPin: origin "http://u:{SECRET}@h/"\nPin-Priority: 1\n',
    "*/apt.conf.d/*": f'Acquire::http::Proxy "http://u:{SECRET}@h/";\nAPT::Password "{SECRET}";\n'
    f'Unattended-Upgrade::Origins-Pattern {{ "x,token={SECRET}"; }};\n',
    "/etc/nvidia-container-runtime/*": f'\n[x]\npassword = "{SECRET}"\nenvironment = ["A_TOKEN={SECRET}"]\n',
    "/etc/containerd/*": f'\n[x.auth]\npassword = "{SECRET}"\nidentitytoken = "{SECRET}"\n',
    "/etc/docker/*": f'{{"proxies": {{"http-proxy": "http://u:{SECRET}@h"}}, "log-opts": {{"token": "{SECRET}"}},'
    f' "runtimes": {{"x": {{"path": "/x", "runtimeArgs": ["--token", "{SECRET}"]}}}}}}',
    "/etc/cdi/*": "cdiVersion: 0.6.0\nkind: nvidia.com/gpu\ndevices: []\ncontainerEdits:\n  env:\n"
    f"  - A_TOKEN={SECRET}\n  hooks:\n  - hookName: createContainer\n    path: /x\n    args: [--token, {SECRET}]\n",
    "/etc/cron*": f"@reboot root API_TOKEN={SECRET} nvidia-smi -pm 1 --password {SECRET}\nMAILTO={SECRET}\n",
    "/etc/tuned/*/tuned.conf":
    f"[sysfs]\n/sys/kernel/mm/x=1 --token={SECRET}\n[script]\nscript=x.sh --password={SECRET}\n"
    f"[variables]\ndb_password = a {SECRET}\n",
    "/etc/kernel/cmdline": f" password={SECRET} rd.luks.key={SECRET} --password {SECRET}\n",
    "/proc/cmdline": f" password={SECRET} --token {SECRET} x=\"--password {SECRET}\"\n",
    "/etc/exports": f"/x password={SECRET}\n",
}
MORE = (
    "/etc/rc.local", "/boot/grub/grub.cfg", "/boot/loader/entries/x.conf", "/etc/netplan/50.yaml",
    "/etc/systemd/network/wg.network", "/etc/udev/rules.d/x.rules", "/etc/tmpfiles.d/x.conf",
    "/etc/containerd/config.toml", "/etc/docker/daemon.json", "/etc/cdi/nvidia.yaml", "/etc/cron.d/x",
    "/etc/tuned/x/tuned.conf",
    "/etc/systemd/system/mnt-x.mount", "/etc/sysctl.d/z.conf", "/etc/modprobe.d/z.conf", "/etc/network/interfaces.d/x",
)
SAID = f"\nx password={SECRET} --token {SECRET} http://u:{SECRET}@h/\n"


def planted() -> MemoryHost:
    """The synthetic host with every part, a secret in each place of each file that can hold one."""
    host = whole.host(epyc.BEFORE)
    files: dict[str, Content] = {**dict.fromkeys(MORE, ""), **host.files}
    files |= {"/etc/rc.local": "#!/bin/sh\n", "/etc/tuned/active_profile": "x\n"}
    files |= {path: _with_secrets(path, text) for path, text in files.items()}
    folders = {f"{path}/": "" for path in host.children if path and path not in files}
    results = dict(host.results)
    for command, said in results.items():
        if not isinstance(said, str) or command.startswith(("nvidia-smi -q", "ip -j", "systemctl is-system")):
            continue
        results[command] = said.rstrip("\n") + SAID
    return MemoryHost({**folders, **files}, host.links, host.nodes, results, host.session)


def _with_secrets(path: str, content: Content) -> Content:
    lines = next((lines for pattern, lines in KINDS.items() if fnmatchcase(path, pattern)), "")
    if not lines or isinstance(content, OSError):
        return content
    text = content if isinstance(content, str) else content.decode()
    inside = re.sub(r"^\[[A-Za-z]+\]$", lambda head: f"{head[0]}\n{lines}", text, flags=re.MULTILINE)
    number = itertools.count()
    whole = inside.rstrip("\n") + ("" if path.endswith("cmdline") else "\n") + lines
    return re.sub(SECRET, lambda _: f"{SECRET}-{next(number)}", whole)


def test_no_section_lets_a_secret_through_whatever_it_reads() -> None:
    found = take(planted())
    assert {n: found.outcomes[n].state for n in NAMES if found.outcomes[n].state not in ("ok", "partial")} == {
        "amdgpu": "absent"}
    text = found.dumps()
    assert [line for line in text.splitlines() if SECRET in line or "token=secret" in line] == []
    for word in ("NVreg_password", "core_pattern", "setpci", "/mnt/x", "nvidia-smi -pm 1", "cifs"):
        assert word in text, word
    assert text.count("<redacted>") > 40
