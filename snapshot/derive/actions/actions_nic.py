"""ethtool and ip link: rings, offloads, channels, coalescing, MTU and queue length of an interface.

ethtool(8), ip-link(8). Names are those that ethtool shows (rx_mini, generic-receive-offload, rx-usecs), which are the
keys of section net; -K also takes the short ones of off_flag_def in ethtool.c.
"""

from __future__ import annotations

from collections.abc import Iterator

from ...records import replace
from .action import Effect
from .actions_words import Word

GROUPS = {
    "-G": "ring", "--set-ring": "ring", "-K": "offload", "--features": "offload", "--offload": "offload",
    "-C": "coalesce", "--coalesce": "coalesce", "-L": "channels", "--set-channels": "channels",
    "-s": "link", "--change": "link", "-A": "pause", "--pause": "pause",
}
_SHORT = {
    "rx": "rx-checksumming", "tx": "tx-checksumming", "sg": "scatter-gather", "tso": "tcp-segmentation-offload",
    "ufo": "udp-fragmentation-offload", "gso": "generic-segmentation-offload", "gro": "generic-receive-offload",
    "lro": "large-receive-offload", "rxvlan": "rx-vlan-offload", "txvlan": "tx-vlan-offload",
    "ntuple": "ntuple-filters", "rxhash": "receive-hashing",
}
_READS = ("-g", "-k", "-c", "-l", "-a", "-i", "-S", "-d", "-e", "-T", "-m", "-P", "-n", "-x", "-h", "-t", "-p",
          "--show-ring", "--show-features", "--show-offload", "--show-coalesce", "--show-channels", "--show-pause",
          "--driver", "--statistics", "--show-permaddr", "--module-info", "--version", "--help", "--test", "--identify")


def key_of(group: str, key: str) -> str:
    """KEY of GROUP as ethtool shows it and section net records it."""
    if group == "offload":
        return _SHORT.get(key, key)
    return key.replace("-", "_") if group in ("ring", "channels") else key


def pairs(nic: str, group: str, words: list[Word]) -> list[Effect]:
    """KEY VALUE KEY VALUE as effects on NIC."""
    found = zip(words[::2], words[1::2], strict=False)
    return [Effect("ethtool", (nic, group, key_of(group, key.text)), value.value) for key, value in found]


def ethtool(words: list[Word]) -> list[Effect] | None:
    """What the arguments WORDS of ethtool set; None when they are not understood."""
    texts = [word.text for word in words]
    if not texts or texts[0] in _READS or (len(texts) == 1 and texts[0][0] != "-"):
        return []
    if texts[0] not in GROUPS or len(texts) < 2:
        return None
    found = pairs(texts[1], GROUPS[texts[0]], words[2:])
    return found if words[1].known else [replace(effect, doubt=f"the interface {texts[1]}") for effect in found]


def ip(words: list[Word]) -> list[Effect] | None:
    """What the arguments WORDS of ip set of links."""
    texts = [word.text for word in words]
    while texts and texts[0].startswith("-"):
        texts, words = texts[1:], words[1:]
    if len(texts) < 3 or not ("link".startswith(texts[0]) and texts[1] in ("set", "change", "s")):
        return []
    nic, found = "", list[tuple[str, Word]]()
    rest: Iterator[Word] = iter(words[2:])
    for word in rest:
        if word.text == "dev":
            nic = next(rest, word).text
        elif word.text in ("mtu", "txqueuelen", "txqlen"):
            found.append(("mtu" if word.text == "mtu" else "txqueuelen", next(rest, word)))
        elif not nic:
            nic = word.text
    doubt = f"the interface {nic}" if "$" in nic else ""
    return [Effect("ip", (nic, key), value.value, doubt) for key, value in found]
