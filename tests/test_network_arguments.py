"""Networks as arguments of commands: by id or by name, where only one has it."""

from __future__ import annotations

import pytest

from overlay.programs.networks import NoSuchNetwork, chosen

KNOWN = {"k3v9": "fleet", "p4tq": "rooms", "w8xz": "rooms", "fleet2": "", "rooms2": "k3v9"}


@pytest.mark.parametrize(
    ("wanted", "id"), [("fleet", "k3v9"), ("k3v9", "k3v9"), ("p4tq", "p4tq"), ("fleet2", "fleet2")]
)
def test_a_network_goes_by_its_id_before_names_and_by_a_name_that_only_it_has(wanted: str, id: str) -> None:
    assert chosen(KNOWN, wanted, "The log") == id


@pytest.mark.parametrize(
    ("known", "wanted", "sentence"),
    [
        (KNOWN, "rooms", "The log has 2 networks with the name rooms: p4tq, w8xz. Give the id of one."),
        ({"a": "", "b": "fleet"}, "rooms", "The log has no network rooms, but a, fleet (b)."),
        ({}, "rooms", "The log has no network rooms."),
    ],
)
def test_what_names_none_or_several_is_refused(known: dict[str, str], wanted: str, sentence: str) -> None:
    with pytest.raises(NoSuchNetwork) as refused:
        chosen(known, wanted, "The log")
    assert str(refused.value) == sentence
