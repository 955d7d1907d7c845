"""Unit files: folders, precedence, enablement, drop-ins, presets, and systemd's form of a file."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from snapshot.collectors import units
from snapshot.collectors.base import Reading
from snapshot.collectors.units_conf import effective, parse
from snapshot.collectors.units_files import (
    Catalogue,
    drop_in_names,
    look,
    preset_of,
    preset_rules,
    presets,
    template,
    text_of,
)

from .fake import Content, MemoryHost, node

ETC, RUN, VENDOR = "/etc/systemd/system", "/run/systemd/system", "/usr/lib/systemd/system"


def catalogue(files: dict[str, Content], links: dict[str, str] | None = None) -> tuple[Catalogue, Reading]:
    reading = Reading(MemoryHost(files, links), units.READS)
    return look(reading), reading


def state(unit: str, files: dict[str, Content], links: dict[str, str] | None = None, text: str = "") -> str:
    found, _ = catalogue(files, links)
    file = found.fragment(unit)
    assert file
    return found.state(unit, file, parse(text, file))


INSTALL = "[Install]\nWantedBy=multi-user.target\n"


@pytest.mark.parametrize(("folder", "links", "text", "expected"), [
    (VENDOR, {}, INSTALL, "disabled"), (VENDOR, {}, "", "static"),
    (VENDOR, {}, "[Install]\nAlso=b.service\n", "indirect"),
    (VENDOR, {f"{ETC}/m.target.wants/a.service": f"{VENDOR}/a.service"}, INSTALL, "enabled"),
    (VENDOR, {f"{ETC}/m.target.requires/a.service": f"{VENDOR}/a.service"}, INSTALL, "enabled"),
    (VENDOR, {f"{RUN}/m.target.wants/a.service": f"{VENDOR}/a.service"}, INSTALL, "enabled-runtime"),
    (VENDOR, {f"{VENDOR}/m.target.wants/a.service": "../a.service"}, "", "static"),
    (VENDOR, {f"{ETC}/b.service": f"{VENDOR}/a.service"}, f"{INSTALL}Alias=c.service b.service\n", "enabled"),
    (VENDOR, {f"{ETC}/b.service": f"{VENDOR}/a.service"}, INSTALL, "indirect"),
    (VENDOR, {f"{ETC}/m.target.wants/b.service": f"{VENDOR}/a.service"}, INSTALL, "disabled"),
    (VENDOR, {f"{ETC}/a.service": "/dev/null"}, INSTALL, "masked"),
    (VENDOR, {f"{RUN}/a.service": "../../../dev/null"}, INSTALL, "masked-runtime"),
    ("/opt/x", {f"{ETC}/a.service": "/opt/x/a.service"}, INSTALL, "linked"),
    ("/run/systemd/generator", {}, "", "generated"), ("/run/systemd/transient", {}, "", "transient"),
])
def test_states(folder: str, links: dict[str, str], text: str, expected: str) -> None:
    assert state("a.service", {f"{folder}/a.service": "x"}, links, text) == expected


@pytest.mark.parametrize(("links", "more", "expected"), [
    ({f"{ETC}/m.target.wants/t@x.service": "../t@.service"}, "DefaultInstance=x\n", ("enabled", "enabled")),
    ({f"{ETC}/m.target.wants/t@x.service": "../t@.service"}, "DefaultInstance=y\n", ("indirect", "enabled")),
    ({f"{RUN}/m.target.wants/t@x.service": "../t@.service"}, "", ("indirect", "enabled-runtime")),
    ({f"{VENDOR}/m.target.wants/t@x.service": "../t@.service"}, "", ("disabled", "static")),
    ({f"{ETC}/t@x.service": f"{VENDOR}/t@.service"}, "", ("indirect", "enabled")),
    ({f"{ETC}/m.target.wants/t@y.service": "../t@.service"}, "", ("indirect", "disabled")),
])
def test_states_of_a_template_and_its_instance(links: dict[str, str], more: str, expected: tuple[str, str]) -> None:
    files: dict[str, Content] = {f"{VENDOR}/t@.service": "x"}
    assert tuple(state(unit, files, links, INSTALL + more) for unit in ("t@.service", "t@x.service")) == expected
    assert "t@x.service" not in catalogue(files, links)[0].aliases


def test_what_is_no_link_starts_nothing() -> None:
    files: dict[str, Content] = {f"{VENDOR}/a.service": "x", f"{ETC}/m.target.wants/a.service": "y"}
    assert (state("a.service", files, text=INSTALL), catalogue(files)[0].wanted) == ("disabled", {})


def test_the_first_folder_counts() -> None:
    found, _ = catalogue({f"{VENDOR}/a.service": "", f"{ETC}/a.service": "", f"{RUN}/a.service": ""})
    assert found.files == {"a.service": f"{ETC}/a.service"}


def test_lib_is_read_where_it_is_no_link() -> None:
    assert catalogue({"/lib/systemd/system/a.service": ""})[0].files
    found, _ = catalogue({f"{VENDOR}/a.service": ""}, {"/lib": "usr/lib"})
    assert found.files == {"a.service": f"{VENDOR}/a.service"}


def test_drop_ins_of_all_kinds_in_reading_order() -> None:
    found, _ = catalogue({
        f"{ETC}/a-b@.service.d/20.conf": "", f"{RUN}/a-b@.service.d/20.conf": "", f"{VENDOR}/service.d/10.conf": "",
        f"{ETC}/a-.service.d/15.conf": "", f"{ETC}/a-b@x.service.d/30.conf": "", f"{ETC}/a-b@x.service.d/readme": "",
    })
    assert found.parts("a-b@x.service") == [
        f"{VENDOR}/service.d/10.conf", f"{ETC}/a-.service.d/15.conf", f"{ETC}/a-b@.service.d/20.conf",
        f"{ETC}/a-b@x.service.d/30.conf",
    ]
    assert found.parts("a-b@.service")[:2] == [f"{VENDOR}/service.d/10.conf", f"{ETC}/a-.service.d/15.conf"]
    assert drop_in_names("a-b-c.service") == [
        "a-b-c.service.d", "a-b-.service.d", "a-.service.d", "service.d"]
    assert [template(name) for name in ("a@b.service", "a@.service", "a.b@c.d.service", "a.service")] == [
        "a@.service", "a@.service", "a.b@.service", "a.service"]


def test_drop_ins_of_aliases_and_the_better_folder_before_the_closer_name() -> None:
    found, _ = catalogue({
        f"{VENDOR}/a-b.service": "x", f"{VENDOR}/a-b.service.d/1.conf": "", f"{ETC}/a-.service.d/1.conf": "",
        f"{ETC}/al.service.d/1.conf": "", f"{ETC}/al.service.d/2.conf": "", f"{ETC}/service.d/2.conf": "",
    }, {f"{ETC}/al.service": f"{VENDOR}/a-b.service"})
    assert found.parts("a-b.service") == [f"{ETC}/a-.service.d/1.conf", f"{ETC}/al.service.d/2.conf"]


def test_presets() -> None:
    reading = Reading(MemoryHost({
        "/etc/systemd/system-preset/10-own.preset": "enable gpu*\n# x\ndisable\n",
        "/usr/lib/systemd/system-preset/10-own.preset": "disable gpu*\n",
        "/usr/lib/systemd/system-preset/99.preset": "disable *\n",
    }), units.READS)
    rules = presets(reading)
    assert [preset_of(name, rules) for name in ("gpu.service", "x.service")] == ["enable", "disable"]
    assert preset_of("x.service", []) == "enable"


def test_what_is_no_file_has_no_text() -> None:
    null = {"/etc/tmpfiles.d/a.conf": node("char", 1, 3)}
    reading = Reading(MemoryHost({"/etc/tmpfiles.d/b.conf": b"x" * ((1 << 20) + 1)}, nodes=null), units.READS)
    assert [text_of(reading, f"/etc/tmpfiles.d/{name}.conf", "tmpfiles") for name in "abc"] == ["", "", ""]
    assert [(u.source, u.why) for u in reading.unreads] == [("/etc/tmpfiles.d/b.conf", "EFBIG")]


def test_the_form_of_a_file() -> None:
    text = ("\ufeffA=before\n[S]\nB = 1 \n# c\n;d\nE=a \\\n# within\n   b\\\\\nF\n[bad\nG=1\n[T]\nH=x=y\nI=z\\")
    assert [(line.section, line.key, line.value, line.number) for line in parse(text, "f")] == [
        ("S", "B", "1", 3), ("S", "E", "a b\\\\", 6), ("T", "H", "x=y", 13), ("T", "I", "z", 14)]


def test_an_empty_value_forgets() -> None:
    text = ("[Unit]\nAfter=a\nAfter=\nConditionPathExists=/a\nAssertPathExists=/b\nConditionPathExists=\n[Service]\n"
            "ExecStartPre=/p\nExecStart=/a\nExecStart=\nExecStart=/b\n")
    assert [f"{line.key}={line.value}" for line in effective(parse(text, "f"))] == [
        "After=a", "ExecStartPre=/p", "ExecStart=/b"]


@given(st.text())
def test_any_text_is_survived(text: str) -> None:
    effective(parse(text, "f"))
    list(preset_rules(text))
