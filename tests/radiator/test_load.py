"""Who the clients of a workload are, when they call, and what they say."""

from __future__ import annotations

import itertools
import json
from statistics import fmean

import pytest

from overlay.core.chance import Stream
from overlay.core.node import SECOND
from overlay.systems.radiator.context import parse_context
from overlay.systems.radiator.language.aggregability import aggregability
from overlay.systems.radiator.language.scenarios import SCENARIOS
from overlay.systems.radiator.load.contents import Contents
from overlay.systems.radiator.load.population import SPOTS, Population
from overlay.systems.radiator.load.turns import Turns
from overlay.systems.radiator.workload import Workload


def people(scenario="custom", seed=1, **fields):
    return Population(Workload(**fields), scenario, seed)


def test_friendships_are_symmetric_and_as_many_as_asked():
    everyone = people(clients=100, friends=6)
    friends = {f"client-{number:05d}": everyone.friends(number) for number in range(100)}
    assert fmean(map(len, friends.values())) == 6
    assert all(name in friends[other] and other != name for name, others in friends.items() for other in others)
    assert people(clients=3, friends=1_000).friends(0) == ["client-00001", "client-00002"]


def test_nobody_is_drawn_as_a_friend_of_oneself():
    everyone = people(clients=4, friends=9, moving=True)
    for client in range(4):
        others = [f"client-{number:05d}" for number in range(4) if number != client]
        assert everyone.draw_friends(client, Stream(client)) == others


def test_attributes_depend_on_the_seed_alone():
    first, again, other = people(), people(), people(seed=2)
    assert first.attributes(3) == again.attributes(3) != other.attributes(3)
    place = first.attributes(3)["location"]
    assert 38.6 <= place["latitude"] <= 38.9 and -9.3 <= place["longitude"] <= -9.0
    assert people("3").attributes(3)["location"] in SPOTS


def test_a_share_accepts_pushes_from_others():
    assert all(people().is_p2p(number) for number in range(200))
    assert sum(people(p2p_share=0.25).is_p2p(number) for number in range(200)) == 50


# ---- turns


def calls(**fields):
    """All calls of an open loop: (client, seconds), in order of time."""
    workload = Workload(**fields)
    turns, found = Turns(workload, 7), []
    for client in range(workload.clients):
        turn = 0
        while (at := turns.due(client, turn)) is not None:
            found.append((client, at / SECOND))
            turn += 1
    return sorted(found, key=lambda one: one[1])


def test_even_messages_are_at_equal_distances_and_everyone_calls_once_a_round():
    found = calls(clients=5, messages_per_s=2, duration_s=10)
    assert [at for _, at in found] == [number / 2 for number in range(20)]
    rounds = [[client for client, _ in found[at : at + 5]] for at in range(0, 20, 5)]
    assert all(sorted(one) == list(range(5)) for one in rounds)
    assert len({tuple(one) for one in rounds}) > 1


def test_poisson_messages_come_at_random_at_the_same_rate():
    found = [at for _, at in calls(clients=5, messages_per_s=50, duration_s=60, arrivals="poisson")]
    assert len(found) == pytest.approx(3_000, rel=0.06)
    assert found == sorted(found) and found[-1] < 60
    gaps = [later - earlier for earlier, later in itertools.pairwise(found)]
    assert max(gaps) > 4 * fmean(gaps) and min(gaps) < fmean(gaps) / 20


def test_the_sender_of_a_message_is_the_client_whose_turn_it_is():
    turns = Turns(Workload(clients=7, messages_per_s=10), 7)
    for message in range(30):
        assert turns.due(turns.sender(message), message // 7) == message * SECOND // 10


# ---- contents


def messages(scenario="custom", count=100, **fields):
    workload = Workload(**fields)
    contents = Contents(workload, scenario, Population(workload, scenario, 1), 1)
    return [contents.message(number % 9, number // 9, 1_700_000_000_000 + number) for number in range(count)]


@pytest.mark.parametrize("content", ["random", "constant"])
def test_random_and_constant_messages_have_exactly_their_length(content):
    assert {len(one) for one in messages(content=content, bytes_low=400, bytes_high=400)} == {400}


def test_hazards_come_nearest_to_their_length():
    found = messages(count=1_000, bytes_low=300, bytes_high=500)
    assert fmean(map(len, found)) == pytest.approx(400, abs=6)
    assert all(270 <= len(one) <= 530 for one in found)
    attributes = json.loads(found[0])["a"]
    assert attributes["hazards"] == len(attributes["events"]) > 0
    centre, event = attributes["location"], attributes["events"][0]
    assert abs(event["latitude"] - centre["latitude"]) <= 0.0101


def test_a_message_says_who_when_and_where():
    context = parse_context(messages()[4])
    assert (context.people, context.start, context.end, context.n) == (
        ("client-00004",),
        1_700_000_000_004,
        1_700_000_000_004,
        1,
    )
    assert 0 <= context.attributes["speed"] <= 120


def test_moving_changes_the_location_of_a_client():
    still, moving = (set(map(_place, messages(moving=flag)[::9])) for flag in (False, True))
    assert (len(still), len(moving)) == (1, 12)


def _place(message):
    return json.dumps(json.loads(message)["a"]["location"])


@pytest.mark.parametrize("name", SCENARIOS)
@pytest.mark.parametrize("moving", [False, True])
def test_messages_have_what_their_scenario_reads(name, moving):
    function = aggregability(SCENARIOS[name].aggregability, "{people: 999}")
    recipient = people(name).attributes(3)
    for message in messages(name, 20, moving=moving, bytes_low=2_000, bytes_high=2_000):
        context = parse_context(message)
        assert function.evaluate(context.attributes, context.people, recipient, "client-00003") != ("people", 999)
    assert function.errors == 0
