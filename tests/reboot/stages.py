"""The chain of boots: what the operator does in each, and which kernel comes next by which means.

Kernel 1 is the old one, kernel 2 the new. The reboot from one stage to the next is a run; what the stage after it finds
is told by its name. A FAULT is what hardware or installation do at that reboot (guest/usr/local/sbin/rig-hardware).
"""

from __future__ import annotations

from dataclasses import dataclass

# Container 101 as most guides have it: raw rules with the numbers that the driver has now.
LITERAL = """
major() { awk -v n="$1" '$2 == n { print $1 }' /proc/devices; }
uvm=$(major nvidia-uvm) caps=$(major nvidia-caps)
sed -e "s/c 508:/c $uvm:/; s/c 507:/c $caps:/%s" 101.conf > /etc/pve/lxc/101.conf
ask pct reboot 101
"""
FIX = """
ask snap fix /root/pre.snap.toml "$RIG_RESULT/boot.snap.toml" --only lxc.device-major-stale %s > "$RIG_RESULT/fix.sh"
ask sh "$RIG_RESULT/fix.sh" > "$RIG_RESULT/fix.txt" 2>&1
opens_all mended
"""
EDIT_GRUB = """
words="quiet iommu=pt transparent_hugepage=madvise"
sed -i "s/^GRUB_CMDLINE_LINUX_DEFAULT=.*/GRUB_CMDLINE_LINUX_DEFAULT=\\"$words\\"/" /etc/default/grub
ask took update-grub 2> /dev/null
"""
KEEP = """
eval "set -- $KEEP"
ask python3 tune.py keep "$@"
"""
BASELINE = """
ask snap take base --baseline > /dev/null
"""
FIX_FORESEEN = """
ask snap fix --forecast > "$RIG_RESULT/fix.sh"
ask sh "$RIG_RESULT/fix.sh" > "$RIG_RESULT/fix.txt" 2>&1
"""
REPAIR = """
module=/lib/modules/$(uname -r)/extra/fake_nvidia.ko
ask mv "$module.off" "$module"
ask modprobe fake_nvidia
ask systemctl restart rig-nvidia
for id in 101 102 103; do pct stop "$id" 2> /dev/null; ask pct start "$id"; done
python3 tune.py read > "$RIG_RESULT/untouched.json"
"""
LEGACY = """
words="systemd.unified_cgroup_hierarchy=0 SYSTEMD_CGROUP_ENABLE_LEGACY_FORCE=1"
sed -i "s/^GRUB_CMDLINE_LINUX=\\"/&$words /" /etc/default/grub
ask took update-grub 2> /dev/null
"""
# Debian 13 has no /etc/sysctl.d/99-sysctl.conf: sysctl -p reads the first file, and no boot does.
WRITTEN = """
printf '%s\\n' 'fs.inotify.max_user_instances = 8192' 'net.ipv4.tcp_keepalive_time = 600' > /etc/sysctl.conf
echo 'net.ipv4.tcp_fin_timeout = 30' > /etc/sysctl.d/80-operator.conf
ask sysctl -q -p /etc/sysctl.conf /etc/sysctl.d/80-operator.conf
"""
ONE = "; /c $caps:/d"  # no rule for nvidia-caps
STALE, LXC = ("lxc.device-major-stale",), ("lxc.*",)


@dataclass(frozen=True, slots=True)
class Stage:
    """One boot of KERNEL. NEXT is the kernel after it, and HOW it is chosen: grub-reboot(8) or its like, "" if not."""

    name: str
    kernel: int
    how: str = ""
    next: int = 0
    arrive: str = ""
    leave: str = ""
    fault: str = ""
    seed: int | None = None
    record: bool = False  # the takes keep what they read, as boot.tar and pre.tar
    says: tuple[str, ...] = ()  # rules that the reboot before has to have findings of, besides what was set by hand
    silent: tuple[str, ...] = ()  # patterns of rules that it must not have


UPGRADES = (
    Stage("start", 1, "grub-reboot", 2, seed=1, record=True),
    Stage("majors-moved", 2, "grub-set-default", 1, arrive=FIX % "--now", seed=2, says=STALE, record=True),
    Stage("majors-moved-back", 1, "grub-reboot", 2, arrive=FIX % "", seed=3, says=STALE),
    Stage("remedy-holds", 2, "", 1, fault="link", seed=4, silent=LXC),
    Stage("slow-link", 1, "grub-reboot", 2, leave=LITERAL % "", fault="same-majors", seed=5, silent=LXC,
          says=("pcie.link-width",)),
    Stage("same-majors", 2, silent=LXC),
)
VARIANTS = (
    Stage("second-start", 1, "", 1, fault="no-driver", seed=6),
    Stage("no-driver", 1, "grub-reboot", 2, arrive=REPAIR, leave=LITERAL % ONE, fault="swapped", seed=7, silent=STALE,
          says=("nvidia.module-not-loaded", "lxc.mount-entry-optional", "pve.dev-passthrough-missing",
                "systemd.failed-units")),
    Stage("majors-swapped", 2, "grub-reboot", 2, arrive=FIX % "", leave=EDIT_GRUB, seed=8, says=STALE),
    Stage("words-edited", 2, "", 1, leave=KEEP, seed=9, silent=LXC, says=("cmdline.token-lost",)),
    Stage("persisted", 1, "grub-reboot", 2, arrive=BASELINE, leave=FIX_FORESEEN, seed=10, silent=LXC),
    Stage("fixed", 2, silent=LXC),
)
STAGES = (*UPGRADES, *VARIANTS)
CGROUP_V1 = (
    Stage("cgroup-v2", 1, "", 1, leave=LEGACY, seed=11),
    Stage("cgroup-v1", 1, silent=LXC, says=("cgroup.hierarchy-changed",)),
)
DEBIAN_13 = (
    Stage("debian-13", 1, "grub-reboot", 2, leave=WRITTEN, seed=12),
    Stage("debian-13-rebooted", 2, arrive=FIX % "--now", says=STALE),
)
HOSTS: dict[str, tuple[str, tuple[tuple[Stage, ...], ...]]] = {  # name -> Debian's release, and the chains of boots
    "chain": ("bookworm", (UPGRADES, VARIANTS)),
    "cgroup-v1": ("bookworm", (CGROUP_V1,)),
    "debian-13": ("trixie", (DEBIAN_13,)),
}
