"""Any change of a network or a server ends in a fixed point, in any ring of bridges."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.mqtt.world import Net, Server, Side, World
from tests.thorough import examples

CHANGES = ("provide", "sensor", "withdraw", "clear", "carried")


def chain(world: World, bridges: int) -> tuple[list[Net], list[Server], list[Side]]:
    """A ring of networks and servers in turn, with a bridge between each two; of two bridges: both between the same."""
    nets = [Net(world) for _ in range(bridges // 2)]
    servers = [Server(world) for _ in range(bridges // 2)]
    sides = []
    for position, net in enumerate(nets):
        sides += [Side(net, servers[position]), Side(net, servers[position - 1])]
    world.run(2)
    return nets, servers, sides


def change(kind: str, entity: str, text: str, net: Net, server: Server) -> None:
    world = net.world
    if kind == "provide":
        net.provide(entity, f"v={text}")
    elif kind == "sensor":
        server.sensor(entity, v=text, valid_ms=600_000)
    elif kind == "carried":
        server.sensor(entity, v=text, provider="other", timestamp=world.ms - 5, valid_end=world.ms + 400_000)
    elif kind == "withdraw":
        for name in [name for name in net.entries if name[0][1] == entity]:
            net.withdraw(name)
    else:
        server.sensor(entity)


@pytest.mark.parametrize("bridges", [2, 4, 6])
@pytest.mark.parametrize("kind", ["provide", "sensor", "carried"])
@pytest.mark.parametrize("seed", range(4))
def test_one_change_reaches_every_place_once(bridges: int, kind: str, seed: int) -> None:
    world = World(seed)
    nets, servers, sides = chain(world, bridges)
    change(kind, "e", "x", nets[0], servers[0])
    world.run(30)
    key = ("t", "e", "s")
    assert [net.shows() for net in nets] == [{key: b"v=x"}] * len(nets)
    assert [server.shows() for server in servers] == [{key: b"v=x"}] * len(servers)
    for side in sides:
        assert sum(side.provided.values()) <= 1
        assert sum(side.published.values()) <= 1


@pytest.mark.parametrize("end", ["withdraw", "clear", "expiry"])
@pytest.mark.parametrize("bridges", [2, 4])
def test_an_end_reaches_every_place_once(bridges: int, end: str) -> None:
    world = World(1)
    nets, servers, sides = chain(world, bridges)
    nets[0].provide("e", "v=x", valid_ms=60_000)
    world.run(20)
    before = [sum(side.published.values()) for side in sides]
    if end != "expiry":
        change(end, "e", "", nets[0], servers[0])
    world.run(30 if end != "expiry" else 90)
    assert [net.shows() for net in nets] == [{}] * len(nets)
    assert [server.retained for server in servers] == [{}] * len(servers)
    for side, published in zip(sides, before, strict=True):
        assert sum(side.published.values()) <= published + 1


def test_a_value_that_only_lasts_longer_is_passed_on() -> None:
    world = World(2)
    nets, _, sides = chain(world, 4)
    for _ in range(5):
        nets[0].provide("e", "v=x", valid_ms=10_000)
        world.run(world.now / 1e9 + 5)
    world.run(world.now / 1e9 + 1)
    (first,), (second,) = nets[0].entries.values(), nets[1].entries.values()
    assert first == second
    assert all(sum(side.published.values()) <= 5 for side in sides)


@settings(max_examples=examples(160))
@given(
    seed=st.integers(0, 2**32),
    bridges=st.sampled_from([2, 4, 6]),
    steps=st.lists(
        st.tuples(st.sampled_from(CHANGES), st.sampled_from("ab"), st.integers(0, 9), st.integers(1, 3000)),
        min_size=1,
        max_size=12,
    ),
)
def test_any_changes_at_once_end_in_a_fixed_point(
    seed: int, bridges: int, steps: list[tuple[str, str, int, int]]
) -> None:
    world = World(seed, longest_ms=300)
    nets, servers, _ = chain(world, bridges)
    at = world.now
    for kind, entity, text, pause_ms in steps:
        at += pause_ms * 1_000_000
        net, server = world.random.choice(nets), world.random.choice(servers)
        world.at(
            at,
            lambda kind=kind, entity=entity, text=text, net=net, server=server: change(
                kind, entity, str(text), net, server
            ),
        )
    world.run(120)
    sent = sum(net.stored for net in nets) + sum(server.published for server in servers)
    world.run(300)
    assert sent == sum(net.stored for net in nets) + sum(server.published for server in servers), "it does not end"
    assert sent <= 4 * bridges * len(steps), "too many messages for so few changes"
    places = [net.shows() for net in nets] + [server.shows() for server in servers]
    assert all(place == places[0] for place in places), places
    world.run(1000)
    assert not any(net.entries for net in nets) and not any(server.retained for server in servers), "all has expired"
