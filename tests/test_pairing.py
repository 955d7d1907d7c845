"""Items that moved are the same items; what cannot be told apart is not guessed."""

from __future__ import annotations

from typing import Any

from snapshot.pairing import Moves, Pairing, pair
from snapshot.sections.devices import Devices
from snapshot.sections.nvidia import Gpu, Nvidia
from snapshot.sections.pci import Function
from snapshot.sections.shape import of_model
from snapshot.sections.storage import Controller

FUNCTION = of_model(Function)


def function(**more: Any) -> dict[str, Any]:
    return {"vendor": "10de", "device": "2bb5", "subsystem_vendor": "10de", "subsystem_device": "0001"} | more


def pairs(before: dict[str, Any], after: dict[str, Any]) -> Pairing:
    found = pair(before, after, FUNCTION)
    assert pair(after, before, FUNCTION) == Pairing(found.after_of(), found.added, found.removed)
    return found


def test_nothing_moved_though_no_identity_is_unique() -> None:
    side = {address: function(path="0/1.0", serial="0") for address in ("01", "21")}
    assert pairs(side, side).before_of == {"01": "01", "21": "21"}


def test_serial_finds_every_function_of_a_renumbered_bus() -> None:
    before = {f"{bus:02x}": function(serial=str(bus)) for bus in range(8)}
    after = {f"{bus + 1:02x}": function(serial=str(bus)) for bus in range(8)}
    found = pairs(before, after)
    assert found.before_of == {f"{bus + 1:02x}": f"{bus:02x}" for bus in range(8)}
    assert not found.removed and not found.added


def test_path_finds_it_where_the_serial_is_shared_or_unknown() -> None:
    before = {"01": function(serial="0", path="a"), "02": function(serial="0", path="b"), "03": function(path="c")}
    after = {"02": function(serial="0", path="a"), "03": function(serial="0", path="b"), "04": function(path="c")}
    assert pairs(before, after).before_of == {"02": "01", "03": "02", "04": "03"}


def test_two_cards_that_changed_places() -> None:
    before = {"01": function(serial="1", path="a"), "02": function(serial="2", path="b")}
    after = {"01": function(serial="2", path="a"), "02": function(serial="1", path="b")}
    assert pairs(before, after).before_of == {"01": "02", "02": "01"}


def test_another_card_of_the_same_kind_in_the_same_slot_is_the_same_place() -> None:
    one, other = function(serial="1", path="a"), function(serial="2", path="a")
    assert pairs({"01": one}, {"01": other}).before_of == {"01": "01"}


def test_another_kind_in_the_same_slot_is_another_thing() -> None:
    found = pairs({"01": function(path="a")}, {"01": function(path="a", device="1234")})
    assert (found.removed, found.added) == (("01",), ("01",))


def test_ids_that_one_side_does_not_have_tell_nothing_apart() -> None:
    bare = {"vendor": "10de", "device": "2bb5"}
    assert pairs({"01": function(serial="1", path="a")}, {"01": bare}).before_of == {"01": "01"}


def test_shared_identities_are_not_used_for_a_guess() -> None:
    before = {"01": function(path="a"), "02": function(path="a")}
    after = {"03": function(path="a"), "04": function(path="a")}
    found = pairs(before, after)
    assert not found.before_of and found.removed == ("01", "02") and found.added == ("03", "04")


def test_a_table_without_identities_pairs_by_key() -> None:
    nodes = of_model(Devices).at(("nodes",))
    assert nodes and nodes.item
    assert pair({"/a": {}, "/b": {}}, {"/b": {}, "/c": {}}, nodes.item) == Pairing({"/b": "/b"}, ("/a",), ("/c",))


def address(bus: int) -> str:
    return f"0000:{bus:02x}:00.0"


def nothing(*buses: int) -> dict[str, dict[str, Any]]:
    return {address(bus): {} for bus in buses}


MOVED = Moves({address(2): address(1), address(3): address(2)})


def test_keys_that_are_addresses_follow_their_functions() -> None:
    affinity = of_model(Nvidia).fields["affinity"].item
    assert affinity
    found = pair(nothing(1, 2, 7), nothing(1, 2, 3, 7), affinity, MOVED)
    assert found.before_of == {address(2): address(1), address(3): address(2), address(7): address(7)}
    assert (found.added, found.removed) == ((address(1),), ()) and found.follows == {address(2), address(3)}


def test_every_address_of_a_key_follows() -> None:
    assert MOVED.before(f"{address(3)} {address(7)} 79") == f"{address(2)} {address(7)} 79"
    assert MOVED.before(f"{address(7)} {address(1)}") is None
    assert Moves().before("anything") == "anything"


def gpus(*gpus: tuple[str, int]) -> dict[str, Any]:
    return {uuid or address(bus): {"address": address(bus), **({"uuid": uuid} if uuid else {})} for uuid, bus in gpus}


def test_a_gpu_whose_uuid_is_unread_is_that_of_its_function() -> None:
    before, after = gpus(("GPU-a", 1), ("GPU-b", 2)), gpus(("", 2), ("", 3))
    there, back = pair(before, after, of_model(Gpu), MOVED), pair(after, before, of_model(Gpu), Moves(
        {old: new for new, old in MOVED.before_of.items()}))
    assert there.before_of == {address(2): "GPU-a", address(3): "GPU-b"} == back.after_of()
    assert not there.removed and not there.added and there.follows == {address(2), address(3)}
    assert pair(before, after, of_model(Gpu)).before_of == {}


def test_another_uuid_at_the_address_is_another_gpu() -> None:
    found = pair(gpus(("GPU-a", 1)), gpus(("GPU-b", 1)), of_model(Gpu), Moves())
    assert (found.removed, found.added) == (("GPU-a",), ("GPU-b",))


def drives(*drives: tuple[str, int, str]) -> dict[str, Any]:
    rows = ((serial or name, {"name": name, "device": address(bus), **({"serial": serial} if serial else {})})
            for name, bus, serial in drives)
    return dict(rows)


def test_a_drive_whose_serial_is_unread_is_that_behind_its_function() -> None:
    before, after = drives(("nvme0", 1, "S0"), ("nvme1", 2, "S1")), drives(("nvme1", 2, ""), ("nvme0", 3, "S1"))
    there = pair(before, after, of_model(Controller), MOVED)
    assert there.before_of == {"nvme1": "S0", "S1": "S1"} and there.follows == {"nvme1"}


def test_two_behind_one_function_are_not_told_apart_by_it() -> None:
    before, after = drives(("nvme0", 1, "S0"), ("nvme1", 1, "S1")), drives(("nvme0", 1, ""), ("nvme1", 1, ""))
    assert pair(before, after, of_model(Controller), Moves()).before_of == {}


def test_another_model_at_the_address_is_another_drive() -> None:
    before, after = drives(("nvme0", 1, "S0")), drives(("nvme0", 1, ""))
    before["S0"]["model"], after["nvme0"]["model"] = "one", "other"
    assert pair(before, after, of_model(Controller), Moves()).before_of == {}
