"""Brokers and clients that know a bootstrap list only: they find their way in, and on when brokers die. Simulated."""

import pytest

from overlay.core.chance import Stream
from overlay.core.node import SECOND
from overlay.sim.world import server_address
from tests.discovery.village import Application, Village

LIMIT = 10 * SECOND
DEAD = [server_address(1000 + n) for n in range(3)]


def settled(village, seed, entities):
    """All clients begin within the first second, those whose entities are asked for first; when the last one works."""
    chance = Stream(seed)
    applications = [Application(village, n, chance.randrange(entities)) for n in range(len(village.residents))]
    for one in applications:
        village.simulator.at(one.number * SECOND // len(applications), one.begin)
    village.simulator.run_while(lambda: any(one.working_at is None for one in applications), 3 * LIMIT)
    assert [one.number for one in applications if one.working_at is None] == []
    return max(one.working_at for one in applications)


@pytest.mark.parametrize(
    "listed",
    [[server_address(0)], [*map(server_address, range(6)), *DEAD]],
    ids=["one entry", "a third of the list is dead"],
)
def test_50_brokers_and_500_clients_work_within_ten_seconds(listed):
    village = Village(1, 50, 500, listed)
    assert settled(village, 1, 20) <= LIMIT
    assert village.parts() == 1
    assert all(len(actor.node.neighbours) >= village.config.neighbours_least for actor in village.brokers.values())


def test_a_network_survives_the_death_of_its_whole_list():
    listed = [server_address(0), server_address(1)]
    village = Village(2, 9, 10, listed, gone_ttl=2)
    settled(village, 2, 5)
    village.simulator.run_for(40 * SECOND)  # the next rounds teach everyone more brokers than the list has
    for index in (0, 1):
        village.kill(index)
    village.simulator.run_for(60 * SECOND)
    assert village.parts() == 1
    alive = {server_address(index) for index in village.brokers}
    for one in village.residents:
        assert one.broker in alive
        assert all(entry.at in alive for entry in one.provided.values())
