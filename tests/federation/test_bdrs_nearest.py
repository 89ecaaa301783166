"""The brokers nearest to a position, compared with sorting them all; and the quota of messages."""

from __future__ import annotations

from math import hypot

from hypothesis import given, settings
from hypothesis import strategies as st

from overlay.core.node import SECOND
from overlay.systems.federation.bdrs.nearest import Nearest
from overlay.systems.federation.bdrs.quota import BURST, RATE, Quota
from overlay.systems.federation.wire.values import BrokerAdvertisement
from tests.thorough import examples

ids = st.sampled_from([f"b{i}" for i in range(14)])
coordinates = st.integers(-3, 3).map(float) | st.floats(allow_nan=False, allow_infinity=False)
positions = st.none() | st.tuples(coordinates, coordinates)
steps = st.lists(st.tuples(ids, positions | st.just("remove")), max_size=40)


@given(steps, positions, st.integers(1, 6), st.sets(ids, max_size=5))
@settings(max_examples=examples(160))
def test_the_nearest_are_those_of_all(steps, position, most, unfit):
    nearest, held = Nearest(), {}
    for broker, where in steps:
        if where == "remove":
            if held.pop(broker, None):
                nearest.remove(broker)
        else:
            held[broker] = BrokerAdvertisement(broker, "10.0.0.1:1", position=where)
            nearest.put(held[broker])
        nearest.check_invariants(held)

    def distance(broker):
        where = held[broker].position
        if position is None:
            return 0, 0, broker
        if where is None:
            return 1, 0, broker
        return 0, hypot(where[0] - position[0], where[1] - position[1]), broker

    expected = sorted(held.keys() - unfit, key=distance)[:most]
    assert nearest.find(position, most, lambda broker: broker not in unfit) == expected


def test_a_peer_is_served_so_many_messages_at_once_and_in_a_second():
    quota, now = Quota(), 5 * SECOND
    assert [quota.admits("b0", now) for _ in range(BURST + 1)] == BURST * [True] + [False]
    assert quota.admits("b1", now), "each has its own"
    assert not quota.admits("b0", now + SECOND // RATE - 1)
    now += SECOND
    assert sum(quota.admits("b0", now) for _ in range(BURST)) == RATE
    now += 1_000 * SECOND
    assert sum(quota.admits("b0", now) for _ in range(2 * BURST)) == BURST, "nothing is saved up"
    quota.forget("b0")
    quota.forget("b0")
    assert len(quota) == 1
