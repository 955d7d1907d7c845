"""Names in free text: those that are known, and those that their form gives away.

RFC 4122 (UUID), IEEE 802 (MAC, EUI-64), RFC 4291 (IPv6), machine-id(5), md(4) and lvm(8) for their UUIDs,
udev's /dev/disk/by-*, systemd.net-naming-scheme(7) for enx and MAC.

Everything begins where a word begins, and one pass replaces all, so that no pseudonym is replaced again. A dotted quad
that a path, a word like "version" or a suffix shows to be a version stays; so do PCI addresses, EFI's own GUIDs and
the domains of distributions and vendors.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from ..regexes import regex
from .known import SYSTEM, Known, is_generic, is_public
from .pseudonyms import Pseudonyms

_H = "[0-9A-Fa-f]"
_FORMS = {
    "home": r"(?<=/home/)[^\s/\"'`:;,|<>&()=\\]+(?:/[^\s\"'`:;,|<>&()=\\]*)?",
    "guest": r"(?:^(?:host)?name: |lxc\.(?:uts\.name|utsname)\s*=\s*|(?<=/var/lib/lxc/))[A-Za-z][\w.-]*",
    "node": r"(?:(?<=/etc/pve/nodes/)|(?<=,node=)|(?<= node=))[A-Za-z][\w-]*",
    "uuid": rf"{_H}{{8}}-{_H}{{4}}-{_H}{{4}}-{_H}{{4}}-{_H}{{12}}",
    "infiniband": rf"{_H}{{2}}(?::{_H}{{2}}){{19}}",
    "wide": rf"{_H}{{2}}(?P<_w>[:-]){_H}{{2}}(?:(?P=_w){_H}{{2}}){{6}}(?!(?P=_w){_H})"
            rf"|{_H}{{4}}(?::{_H}{{4}}){{3}}(?![:.]{_H}|::)|{_H}{{8}}(?::{_H}{{8}}){{3}}",
    "mac": rf"{_H}{{2}}(?P<_m>[:-]){_H}{{2}}(?:(?P=_m){_H}{{2}}){{4}}(?!(?P=_m){_H})"
           rf"|{_H}{{4}}\.{_H}{{4}}\.{_H}{{4}}(?!\.{_H})|(?<=MACAddress=){_H}{{12}}",
    "named": r"(?:en|wl|ww|ib|sl)x[0-9a-f]{12}",
    "lvm": r"[0-9A-Za-z]{6}(?:-[0-9A-Za-z]{4}){5}-[0-9A-Za-z]{6}|(?<=LVM-)[0-9A-Za-z]{32,64}",
    "machine": "[0-9a-f]{32}",
    "ipv6": rf"(?:[23]{_H}{{3}}|[fF][cCdD]{_H}{{2}}|[fF][eE][89abAB]{_H})(?::{_H}{{0,4}}){{2,7}}",
    "ipv4": r"(?:\d{1,3}\.){3}\d{1,3}(?!\.\d)",
    "wwn": r"(?:eui\.|naa\.|wwn-0x|scsi-3)[0-9a-f]{16,32}",
    "volume": r"(?:(?<=by-uuid/)|(?<=by-partuuid/)|(?<=UUID=)|(?<=UUID=[\"']))[0-9A-Fa-f][0-9A-Fa-f-]{7,}",
    "byid": r"(?<=by-id/)(?:ata|nvme|scsi|usb|mmc|md-name|virtio)-[^\s/\"',:]+?(?=-part\d|[\s/\"',:]|$)",
    "login": r"[A-Za-z][\w.+-]{0,63}@(?=[A-Za-z])[\w-]{1,63}(?:\.[\w-]{1,63}){1,8}",
    "url": r"(?:(?<=://)|(?<=<redacted>@))[A-Za-z][\w-]*(?:\.[\w-]+)*",
    "user": r"(?:(?<=OWNER=\")|(?<=User=)|(?<=username=)|(?<=user=)|(?<=sudo -u )|(?<=runuser -u )|(?<=--user )"
            r"|(?<=--user=))[A-Za-z_][\w-]*",
}
_END = "(?![0-9A-Za-z])"
_LABELS = r"(?:\.[A-Za-z0-9-]+)*"
_UNITS = ("service", "socket", "target", "timer", "mount", "automount", "slice", "scope", "path", "device", "swap")
_LOCAL = ("local", "lan", "home", "internal", "intra", "corp", "localdomain", "localnet", "test", "example", "invalid")
WELL_KNOWN = frozenset((  # vendors of EFI variables: LoaderInfo, and those of the specification
    "4a67b082-0a4c-41cf-b6c7-440b29bb8c4f", "8be4df61-93ca-11d2-aa0d-00e098032b8c",
))
_OLD = regex(r"(?i:version|rev|release|[<>=~][=<>])\W{0,3}\Z|[A-Za-z]-(?<!\bip-)\Z|(?<!/)/\Z")
_ESCAPED = regex(r"[^\s\"'=/,]*\\x[0-9a-f]{2}[^\s\"'=/,]*")  # a word of systemd.unit(5), "String Escaping"
_VERSIONED = ("/lib/", "/usr/", "/var/lib/dkms/", "/opt/", "/boot/")
_VERSION = regex(r"\d\.\d[\w.+~:-]*[-+~.]\Z")
_SIGNATURE = 1 << 16  # bytes, more than any has
_NOTHING = regex("(?!)")
_SUFFIXED = regex(r"[+~_]|-(?!\d+\.\d+\.\d+\.)")


class Text:
    """Replaces names in text: call it."""

    def __init__(self, names: Pseudonyms, known: Known) -> None:
        self._names, self._known = names, known
        self._hosts = {name.lower(): made for name, made in known.hosts.items()}
        forms = [f"(?P<{name}>{form}){_END}" for name, form in _FORMS.items()]
        literals = {
            f"(?P<serial>{_any(known.serials)}){_END}": known.serials,
            f"(?P<host>(?:{_any_host(known.hosts)}){_END}{_LABELS})": known.hosts,
            f"(?P<domain>(?:[A-Za-z0-9-]{{1,63}}\\.){{0,4}}(?i:{_any(known.domains)})){_END}": known.domains,
            f"(?P<account>{_any(known.users)}){_END}": known.users,
        }
        present = [form for form, found in literals.items() if found]
        self._pattern = re.compile(rf"(?m)(?<![0-9A-Za-z])(?:{'|'.join((*forms[:3], *present, *forms[3:]))})")
        self._literal = re.compile(rf"(?<![0-9A-Za-z])(?:{'|'.join(present)})") if present else _NOTHING
        self._how: dict[str, Callable[[str], str]] = {
            "uuid": lambda text: text if text.lower() in WELL_KNOWN else names.uuid(text),
            "infiniband": lambda text: text[:36] + names.wide(text[36:]),
            "wide": names.wide, "mac": names.mac, "machine": names.machine_id,
            "lvm": names.serial, "volume": names.serial, "home": self._home, "login": self._login, "url": self._url,
            "ipv4": self._ipv4, "named": lambda text: text[:3] + names.mac(text[3:]), "ipv6": self._ipv6,
            "wwn": self._wwn, "byid": self._by_id, "user": lambda text: text if text in SYSTEM else names.user(text),
            "guest": self._guest, "node": self.host, "host": self._host, "domain": self._domain,
            "serial": known.serials.__getitem__, "account": known.users.__getitem__,
        }

    def __call__(self, text: str, addresses: bool | None = True) -> str:
        """TEXT with pseudonyms. Where ADDRESSES is false, a text that is nothing but a dotted quad is a version, and
        where it is None each dotted quad is."""
        if "\\x" in text:
            text = _ESCAPED.sub(lambda found: self._unit(found[0]), text)
        return self._pattern.sub(lambda found: self._one(found, addresses), text)

    def _unit(self, word: str) -> str:
        """A word that systemd escaped: what it stands for is a path, of which it bears the names."""
        path = f"/{_unescaped(word)}"
        made = self._pattern.sub(lambda found: self._one(found, True), path)
        return word if made == path else _escaped(made[1:])

    def host(self, name: str) -> str:
        """The pseudonym of a whole host name."""
        return self._known.whole.get(name) or (self._names.fqdn(name) if name else name)

    def knows_in(self, program: bytes) -> bool:
        """Whether a known name stands in a program or module: at its end, where a signature names its maker, or as
        the home that it was built in. Elsewhere in it names are words of its own."""
        end = program[-_SIGNATURE:].decode("utf-8", "surrogateescape")
        homes = (f"/home/{user}".encode() for user in self._known.users)
        return any(self._one(found, True) != found[0] for found in self._literal.finditer(end)) or any(
            home in program for home in homes)

    def finds(self, text: str) -> bool:
        """Whether there is something to replace."""
        return self(text) != text

    def _one(self, found: re.Match[str], addresses: bool | None) -> str:
        kind = found.lastgroup or ""
        if (kind == "ipv4" and _is_version(found, addresses)) or (kind == "host" and _ends_version(found)):
            return found[0]
        return self._how[kind](found[kind])

    def _ipv4(self, text: str) -> str:
        try:
            return self._names.ipv4(text)
        except ValueError:  # 999.1.1.1, or a leading zero
            return text

    def _ipv6(self, text: str) -> str:
        try:
            return self._names.ipv6(text)
        except ValueError:
            return text

    def _home(self, text: str) -> str:
        user, *rest = text.split("/")
        return "/".join((self._names.user(user), *(self._names.component(part) if part else "" for part in rest)))

    def _host(self, text: str) -> str:
        """A known host, with its domain where one follows."""
        name, dot, rest = text.partition(".")
        if name.lower() not in self._hosts:  # a name with its domain, which is too short without
            return self._names.fqdn(text)
        last = rest.rpartition(".")[2]
        if rest.lower() in _LOCAL or ("." in rest and last.isalpha() and last not in _UNITS):
            return self._names.fqdn(text)
        return f"{self._hosts[name.lower()]}{dot}{rest}"

    def _domain(self, text: str) -> str:
        """A known domain, or a host in it."""
        return self._known.domains.get(text.lower()) or self._names.fqdn(text)

    def _guest(self, text: str) -> str:
        name = re.split(r"[\s=]", text)[-1]
        return text.removesuffix(name) + self._known.whole.get(name, name)

    def _url(self, text: str) -> str:
        if is_generic(text) or is_public(text.lower()):
            return text
        return self._names.fqdn(text)

    def _login(self, text: str) -> str:
        user, _, host = text.partition("@")
        last = host.rpartition(".")[2]
        if last in _UNITS or not last.isalpha() or len(last) < 2:
            return text
        return f"{user if user in SYSTEM else self._names.user(user)}@{self._url(host)}"

    def _wwn(self, text: str) -> str:
        start = len("eui.") if text[3] == "." else len("wwn-0x")
        return text[:start] + self._names.serial(text[start:])

    def _by_id(self, text: str) -> str:
        """BUS-MODEL_SERIAL, with _NAMESPACE behind it on NVMe; else a name, a WWID or, on virtio, a serial alone."""
        at = re.fullmatch(r"(.*_)([^_]{4,})(_\d)?", text) or re.fullmatch(r"(.*_)([^_]+)()", text)
        serial = at and (self._known.serials.get(at[2]) or self._names.serial(at[2]))
        if at:
            return f"{at[1]}{serial}{at[3] or ''}"
        bus, _, rest = text.removeprefix("md-").partition("-")
        start = text.removesuffix(rest)
        if rest.startswith("nvme.") and bus == "nvme":
            return f"{start}nvme.{self._names.serial(rest.removeprefix('nvme.'))}"
        return start + (self._names.serial(rest) if bus == "virtio" else self(rest))


def _any(words: Iterable[str]) -> str:
    """An expression for any of WORDS, the longest first."""
    return "|".join(map(re.escape, sorted(words, key=lambda word: (-len(word), word))))


def _any_host(hosts: Iterable[str]) -> str:
    """An expression for any of HOSTS; in letters of any case if it cannot be a word of its own, as GPU1 of gpu1."""
    texts = sorted(hosts, key=lambda name: (-len(name), name))
    return "|".join(f"(?i:{re.escape(t)})" if len(t) > 7 or {*"-."} & {*t} else re.escape(t) for t in texts)


def _unescaped(word: str) -> str:
    """What systemd-escape(1) --unescape --path gives, without the / at its beginning."""
    return re.sub(r"\\x([0-9a-f]{2})", lambda found: chr(int(found[1], 16)), word.replace("-", "/"))


def _escaped(path: str) -> str:
    """What systemd-escape(1) --path makes of it."""
    return re.sub(r"[^A-Za-z0-9:_./]", lambda found: f"\\x{ord(found[0]):02x}", path).replace("/", "-")


def _ends_version(found: re.Match[str]) -> bool:
    """Whether a host's name is the end of a version, as pve1 is of 2.3.4-pve1."""
    return bool(_VERSION.search(found.string[max(0, found.start() - 100) : found.start()]))


def _is_version(found: re.Match[str], addresses: bool | None) -> bool:
    """Whether a dotted quad is no address."""
    text, start, end = found.string, found.start(), found.end()
    if addresses is None or (not addresses and (start, end) == (0, len(text.rstrip()))):
        return True
    before = text[max(0, start - 200) : start]
    old = _OLD.search(before)
    if old and old[0] == "/":
        return (before.split() or [""])[-1].lstrip("\"'=").startswith(_VERSIONED)
    return bool(old or _SUFFIXED.match(text, end))
