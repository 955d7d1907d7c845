#!/bin/sh
# The yardstick for a take: what an operator does without a tool, one text file a topic into a folder.
# Needs pciutils, procps, kmod, util-linux; what is missing is left out.
mkdir -p "${1:?usage: by_hand.sh DIR}" && cd "$1" || exit 1
keep() { out=$1; shift; "$@" >"$out" 2>/dev/null; }
keep uname uname -a; keep sysctl sysctl -a; keep lspci lspci -vvv -xxxx; keep lsmod lsmod; keep lscpu lscpu; keep lscpu-e lscpu -e
keep link ip -d link; keep lsblk lsblk -O; keep mount mount; keep dmi dmidecode; keep dpkg dpkg -l; keep env env; keep dev ls -l /dev
for file in cmdline devices interrupts meminfo; do keep "$file" cat "/proc/$file"; done
keep sysfs grep -rs '' /sys/devices/system/cpu /sys/devices/system/node /sys/module/*/parameters
keep fstab cat /etc/fstab; keep modprobe ls /etc/modprobe.d
exit 0
