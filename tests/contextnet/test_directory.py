"""Where a message for a node goes, as its sender knows it."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from overlay.core.errors import WireError
from overlay.log.node import Assignment
from overlay.systems.contextnet.records import codec
from overlay.systems.contextnet.routing.directory import Directory, Route
from overlay.systems.contextnet.routing.listed import ListedGateways
from overlay.systems.contextnet.routing.settings import RoutingSettings
from tests.contextnet.records_of import gateway_list, node, presence, record
from tests.thorough import examples

ABSENT = "unsent"


def directory(*records, routing="directory"):
    made = Directory(RoutingSettings(routing=routing), "applications-0")
    made.assigned([Assignment(found.topic, found.group, 0, 0) for found in made.subscriptions])
    for found in records:
        made.read(found)
    return made


def test_a_message_goes_to_the_gateway_that_has_the_node():
    known = directory(gateway_list(1, 0, 1), presence(7, 1, epoch=3))
    assert known.route(node(7)) == Route("gateway.1", 3)
    assert known.route(node(8)) == Route(ABSENT, 0)


def test_a_node_that_is_gone_or_at_a_gateway_that_is_not_listed_is_absent():
    known = directory(gateway_list(1, 0, 1), presence(7, 1, 3), presence(8, 0, 5), presence(8, 0, 5, connected=False))
    assert known.route(node(8)) == Route(ABSENT, 5)
    known.read(gateway_list(2, 0))
    assert known.route(node(7)) == Route(ABSENT, 3)
    known.read(gateway_list(3, 0, 1))
    assert known.route(node(7)) == Route("gateway.1", 3)


def test_without_a_list_no_gateway_gets_anything():
    assert directory(presence(7, 0, 3)).route(node(7)) == Route(ABSENT, 3)


@settings(max_examples=examples(200))
@given(st.lists(st.tuples(st.integers(1, 5), st.booleans()), min_size=1), st.randoms())
def test_in_any_order_the_higher_epoch_wins_and_of_one_epoch_that_the_node_is_gone(told, chance):
    chance.shuffle(told)
    known = directory(*[presence(7, epoch, epoch, connected) for epoch, connected in told])
    found = known.where(node(7))
    newest = max(epoch for epoch, _ in told)
    assert (found.epoch, found.gateway) == (newest, f"gateway-{newest}")
    assert found.connected == all(connected for epoch, connected in told if epoch == newest)


def test_an_older_list_changes_nothing():
    known = directory(gateway_list(5, 0, 1), gateway_list(4, 0), presence(7, 1, 3))
    assert known.route(node(7)).topic == "gateway.1"


def test_it_is_ready_when_all_that_was_there_has_been_read_and_a_list_came():
    known = Directory(RoutingSettings(), "applications-0")
    assert not known.is_ready
    known.assigned([Assignment("presence", "applications-0", 0, 12), Assignment("gw_list", "applications-0", 0, 0)])
    known.read(presence(7, 0, 3)._replace(position=10))
    known.read(gateway_list(1, 0)._replace(position=1))
    assert not known.is_ready
    known.read(presence(8, 0, 3)._replace(position=11))
    assert known.is_ready


def test_what_cannot_be_read_changes_nothing_and_does_not_keep_it_waiting():
    known = Directory(RoutingSettings(), "applications-0")
    known.assigned([Assignment("presence", "a", 0, 6), Assignment("gw_list", "a", 0, 0)])
    known.read(gateway_list(1, 0)._replace(position=1))
    with pytest.raises(WireError):
        known.read(record("presence", b"\xc1", node(7), position=5))
    assert known.is_ready
    assert known.route(node(7)) == Route(ABSENT, 0)


def test_with_everyone_all_gateways_get_it_and_nothing_needs_to_be_known():
    known = directory(routing="everyone")
    assert known.is_ready
    assert not known.subscriptions
    assert known.route(node(7)) == Route("outbound", 0)


def test_it_is_known_since_when_a_gateway_is_not_listed():
    listed = ListedGateways()
    assert not listed.is_known
    assert listed.heard(gateways(1, 0, 1), 1) == {"gateway-0", "gateway-1"}
    assert listed.heard(gateways(2, 1), 5) == frozenset()
    listed.heard(gateways(3, 1), 9)
    assert listed.missing_since == {"gateway-0": 5}
    assert listed.heard(gateways(4, 0, 1), 12) == {"gateway-0"}
    assert listed.missing_since == {}


def gateways(version, *numbers):
    return codec.read("gw_list", gateway_list(version, *numbers).value)
