"""One seed from its start to its end."""

from __future__ import annotations

from random import Random

from overlay.core.node import SECOND
from overlay.systems.radiator.chains.propagation import Outcome
from overlay.systems.radiator.middleware.calls import Result
from overlay.systems.radiator.middleware.membership import State
from tests.radiator.swarm import whole
from tests.radiator.swarm.plan import draw
from tests.radiator.swarm.storm import BEFORE_S, STORM_S, Storm, draw_attributes
from tests.radiator.swarm.world import World
from tests.soak.subject import Told

CALM_S = 140.0
LAST_S = 15.0
"""For the last messages, after the calm."""
MOST_PADDING = 1_500
"""Bytes of data with which a message fits in any blob."""
TWICE_EVERY = 20
"""One seed in so many is run twice."""


def run(seed: int) -> Told:
    """Raises ``AssertionError`` where an invariant does not hold."""
    if whole.is_whole(seed):
        return whole.run(seed)
    told = lived(seed)
    if seed % TWICE_EVERY == 0:
        assert lived(seed) == told, "equal seeds give different journals"
    return told


def lived(seed: int) -> Told:
    world = story(seed)
    simulator = world.simulator
    return Told(simulator.digest + world.journal(), simulator.delivered, simulator.now / SECOND)


def story(seed: int) -> World:
    """The world at the end of its story."""
    plan, random = draw(seed), Random(f"story {seed}")
    world = World(plan)
    for number in range(plan.clients):
        key = (f"10.0.1.{0 if plan.is_one_host else number}", f"client-{number:05d}")
        attributes = draw_attributes(random, ["Ann", "Bob", "Cid", "Dan"][number % 4])
        world.join(key, 4_000 + number, attributes, is_p2p=random.random() < plan.p2p_share)
    world.run(BEFORE_S)
    storm = Storm(world, random)
    world.run(STORM_S)
    world.run(CALM_S)
    world.check_end()
    last_messages(world, storm)
    world.check_end()
    return world


def last_messages(world: World, storm: Storm) -> None:
    """With nothing in the way, calls are accepted, and no recipient misses what leaves."""
    for person in [one for one in world.alive() if one.state is State.REGISTERED][:2]:
        server = world.life.server
        if server.no_room(server.clients.get(person.key), world.now) is None:
            first = len(world.life.ledger.propagations)
            call = storm.say(person)
            world.run(LAST_S)
            assert call.result in right_results(world), f"in the calm a call ended {call.result}"
            check_outcomes(world, first)


def right_results(world: World) -> set[Result]:
    """Of a call with nothing in the way. At a slow uplink the answer may wait for a push too long for the caller."""
    found = {Result.ACCEPTED}
    if max(world.plan.paddings) > MOST_PADDING:
        found.add(Result.TOO_LARGE)
    if world.settings.uplink_bytes_per_s:
        found.add(Result.NO_ANSWER)
    return found


def check_outcomes(world: World, first: int) -> None:
    ledger = world.life.ledger
    there = {person.key for person in world.alive()}
    too_large = {number for number, (_, body, _) in ledger.propagations.items() if not body}
    for number, outcomes in ledger.outcomes.items():
        if number > first and number not in too_large:
            missed = {
                key: outcome for key, outcome in outcomes.items() if key in there and outcome != Outcome.DELIVERED
            }
            assert not missed, f"in the calm {missed} of propagation {number}"
