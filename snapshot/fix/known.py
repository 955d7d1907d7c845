"""The commands that a script may run, by their first word, each with the form that the rest of it must have.

systemctl(1), pct(1), nvidia-smi(1), setpci(8), proxmox-boot-tool and the others of these names. A command that is in no
table is left to the reader: packages, reboots, resets and disks are in none on purpose.
"""

from __future__ import annotations

from ..regexes import regex

_NODE = r"/dev/(?!.*\.\.)[\w/.:-]+"
DOES = {
    "systemctl": r"(enable|disable|start|stop|restart|reload|mask|unmask|daemon-reload)\b",
    "pct": r"start \d+$", "chcpu": r"-[ed] \S+$", "tuned-adm": "profile ", "rdma": "(dev|system) set ",
    "nvidia-smi": r"(-i \S+ )?-(pm|pl|lgc|lmc|rgc|rmc|c|e|mig|ac|rac)\b", "nvidia-modprobe": "-", "modprobe": "",
    "rm": _NODE + "$", "mknod": rf"(-m \d+ )?{_NODE} [bc] \d+ \d+$", "chgrp": rf"\S+ {_NODE}$",
    "chmod": rf"\d+ {_NODE}$",
    "cpupower": r".*\b(idle-set|frequency-set)\b", "swapoff": "/", "swapon": "/", "mount": "", "zfs": "mount ",
    "zpool": "(import|set) ", "ip": r"(link|addr) (set|add|replace)\b", "ethtool": "-[KGLCAr] ",
    "grub-editenv": r"- (unset|set) \w+", "grubby": "--update-kernel=", "dkms": "(install|autoinstall) ",
    "proxmox-boot-tool": "(clean$|kernel (pin|unpin))", "apt-mark": "(un)?hold ", "nvme": "reset ",
    "nvidia-ctk": "(cdi generate|runtime configure|system create)", "timedatectl": "set-ntp ", "sysctl": "-w ",
    "setpci": r"-s \S+ \S+=",
}
APPLIES = {
    "systemctl": "(daemon-reload$|re(start|load) )", "proxmox-boot-tool": "refresh$", "update-grub": "$",
    "update-initramfs": "-u", "dracut": "--force", "grub2-mkconfig": "-o ", "kernel-install": "add ",
    "ifreload": "-a$", "netplan": "apply$", "networkctl": "re(load|configure)", "udevadm": "(control|trigger) ",
}
LOOKS = {
    "ls": "", "cat": "", "grep": "", "journalctl": "(?!.*--(vacuum|rotate|flush))",
    "dmesg": "(?!.*(-[cC]|--clear))", "lspci": "", "lsmod": "", "find": "(?!.*-(exec|delete|fprint|ok))",
    "findmnt": "", "modinfo": "", "uname": "", "lsblk": "", "stat": "", "sort": "(?!.*-o)", "uniq": "", "cut": "",
    "head": "", "tail": "", "numactl": "--hardware", "dmidecode": "-t", "swapon": "--show", "nvme": "list",
    "setpci": r"-s \S+ [^=]+$", "nvidia-smi": r"($|-L|-q|--query|topo|--version|(-i \S+ )(-q|--query))",
    "mokutil": "--(sb-state|list)", "ip": r"(-\w+ )*(link|addr)?( show.*)?$",
    "systemctl": "(status|show|cat|--failed|list-|is-)", "rdma": r"\w+ show",
    "pct": "(status|config|pending|cpusets)", "ethtool": "(-[gklcm] )?[^- ]+$", "sysctl": "(?!-)[^=]*$",
    "dkms": "status",
    "systemd-analyze": "cat-config", "tuned-adm": "(active|verify)", "timedatectl": "(show|timesync-status)",
    "proxmox-boot-tool": "(status|kernel list)", "docker": "info", "nvidia-ctk": "cdi list", "mount": "$",
    "apt-mark": "showhold", "chronyc": "sources", "modprobe": "--show-depends", "cpupower": "(idle|frequency)-info",
    "iblinkinfo": "", "sminfo": "", "apt-cache": "policy",
}
TELLS = regex(r"systemctl is-(active|enabled) |findmnt /")  # verifying commands whose exit status is the answer
