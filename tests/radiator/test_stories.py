"""A server and its clients in virtual time: chains, silent members, crashes, restarts, a busy server.

What must hold is in ``world``: invariants after each step, every pair in one state, no delivery twice, what is said to
be delivered was delivered, and after a calm nothing is under way. Random stories are in ``swarm``.
"""

from __future__ import annotations

import pytest

from overlay.systems.radiator.config import Transport
from tests.radiator.world import SERVER, World


@pytest.mark.parametrize("percent", [0, 10, 50, 100])
@pytest.mark.parametrize("segment_bytes", [200, 1_200])
def test_over_good_links_everyone_receives_everything_once(percent, segment_bytes):
    world = World(config=Transport(chain_percent=percent, segment_bytes=segment_bytes, codec="none"), volume=2)
    people = [world.add(number, is_p2p=number % 3 != 0) for number in range(20)]
    world.run(1)
    for number in range(10):
        world.call(people[number], f"m{number}", padding=900)
        world.run(0.1)
    world.run(5)
    world.check_end()
    assert all(len(person.received) == 10 for person in people)
    assert not world.missed()
    assert world.server.propagations.counts["repairs"] == 0


def test_a_chain_costs_the_server_one_push():
    world = World(config=Transport(chain_percent=50))
    people = [world.add(number, is_p2p=number > 0) for number in range(9)]
    world.run(1)
    world.call(people[0], "hello")
    world.run(1)
    counts = world.server.propagations.counts
    assert (counts["recipients"], counts["chains"], counts["pushes"]) == (9, 2, 3)
    talking = sum(person.middleware.hop.counts["client_to_client_bytes"] > 0 for person in people)
    assert talking == 8, "the last of a chain acknowledges, the others also forward"


def test_a_silent_member_is_passed_over_and_left_out_until_it_shows_life():
    world = World(config=Transport(chain_percent=100, alive_s=10))
    people = [world.add(number) for number in range(6)]
    world.run(1)
    silent, others = people[3], [person for person in people if person is not people[3]]
    world.simulator.network.separate([silent.address], [SERVER, *(person.address for person in others)])
    world.call(people[0], "first")
    world.run(8)
    assert all(len(person.received) == 1 for person in others)
    assert [entry.key[1] for entry in world.server.clients if not entry.is_reachable] == [silent.id]
    assert world.missed() == {"failed": 1}
    world.simulator.network.heal()
    world.run(12)
    world.call(people[0], "second")
    world.run(1)
    assert [name for _, name in silent.received] == ["second"]
    assert all(len(person.received) == 2 for person in others)
    world.check_end()


def test_a_blob_of_six_hundred_segments_travels_along_a_chain():
    world = World(config=Transport(chain_percent=100, segment_bytes=200, codec="none"), volume=8)
    people = [world.add(number) for number in range(4)]
    world.run(1)
    for number in range(8):
        world.call(people[0], f"m{number}", padding=15_000)
    world.run(10)
    assert all(len(person.received) == 8 for person in people)
    world.check_end()


def test_a_crash_between_acknowledging_and_forwarding_is_repaired_after_silence():
    world = World(config=Transport(chain_percent=100, chain_wait_s=1, report_every=0))
    people = [world.add(number) for number in range(5)]
    world.run(1)
    world.call(people[0], "m")
    while not any(person.received for person in people):
        world.run(0.0005)
    first = next(person for person in people if person.received)
    world.kill(first)
    world.run(20)
    assert sum(len(person.received) for person in people) == 5
    world.check_end()


def test_after_a_restart_of_the_server_clients_register_again_and_open_calls_end():
    world = World(config=Transport(alive_s=2))
    people = [world.add(number) for number in range(3)]
    world.run(1)
    world.stop_server()
    call = world.call(people[0], "lost")
    world.run(1)
    world.start_server()
    world.run(10)
    assert call.result == "unknown"
    assert len(world.server.clients.reachable) == 3
    assert world.call(people[0], "found").result == "open"
    world.run(1)
    assert all(len(person.received) == 1 for person in people)


def test_a_busy_server_refuses_until_its_uplink_is_free():
    world = World(config=Transport(uplink_bytes_per_s=20_000, uplink_queue_bytes=4_000, codec="none"))
    people = [world.add(number) for number in range(10)]
    world.run(5)
    calls = [world.call(people[0], f"m{number}", padding=1_000) for number in range(4)]
    world.run(30)
    assert [call.result for call in calls].count("accepted") >= 2
    assert world.server.counts["busy"] > 0
    world.check_end()
