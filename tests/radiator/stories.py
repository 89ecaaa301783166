"""Random stories: each seed draws settings, links and events; then there is calm, and everything is accounted."""

from __future__ import annotations

from random import Random

from overlay.core.links import LinkShape
from overlay.systems.radiator.aggregation.choice import FORMS
from overlay.systems.radiator.config import Transport
from tests.radiator.world import SERVER, World

STORM_S, CALM_S = 20.0, 140.0
FUNCTIONS = (
    "{time: 1}",
    "{people: 2} if r.x else {volume: 2}",
    "{volume: 2} if r.id < 'client-00005' else {time: 2}",
    "{volume: 1 + len(s.data) // 100} if len(r.data) > 100 else {volume: 2}",
)


def settings(random):
    return Transport(
        codec=random.choice(["none", "gzip", "dictionary"]),
        chain_percent=random.choice([0, 10, 30, 50, 100, 100]),
        chain_base=random.choice(["clients", "recipients"]),
        report_every=random.choice([0, 1, 2, 3, 64]),
        chain_wait_s=random.choice([1.0, 3.0]),
        chain_attempts=random.choice([1, 2]),
        rto_ms=random.choice([50, 200]),
        tries=random.choice([2, 4]),
        segment_bytes=random.choice([200, 1_200]),
        max_blob_bytes=random.choice([2_048, 100_000]),
        alive_s=5,
        silence_s=20,
        forget_after_s=random.choice([2, 30, 600]),
        seen_s=random.choice([8, 20, 120]),
        uplink_bytes_per_s=random.choice([0, 0, 20_000, 100_000]),
        uplink_queue_bytes=random.choice([5_000, 1_000_000]),
    )


def retention(random):
    return {
        "volume": random.choice([1, 1, 3]),
        "text": random.choice(["", "", *FUNCTIONS]),
        "wait_ms": random.choice([300, 500]),
        "aggregation": random.choice(["join", "join", "concat", "list(name) by r.id"]),
        "index": random.choice([*FORMS]),
        "echo": random.random() < 0.5,
    }


def links(random):
    return LinkShape(
        delay_ms=random.choice([1, 20]),
        jitter_ms=random.choice([0, 1]),
        loss=random.choice([0, 0.02, 0.1, 0.3]),
        duplication=random.choice([0, 0.1]),
        reordering=random.choice([0, 0.2]),
        reordering_ms=30,
    )


def happen(world, random, number):
    """One thing."""
    alive = [person for person in world.people if person.actor is not None]
    dead = [person for person in world.people if person.actor is None]
    what = random.random()
    if what < 0.7 and alive:
        person = random.choice(alive)
        if person.middleware.state in ("registering", "registered", "outside"):
            world.call(person, f"m{number}", random.choice([0, 50, 400, 1_500]))
    elif what < 0.80 and alive:
        world.kill(random.choice(alive))
    elif what < 0.90 and dead:
        world.start(random.choice(dead))
    elif what < 0.95 and alive:
        person = random.choice(alive)
        if person.middleware.state in ("registering", "registered"):
            world.unregister(person)
    elif what < 0.97 and len(world.servers) < 3:
        world.stop_server()
        world.run(random.choice([0, 2]))
        world.start_server()


def story(seed, storm_s=STORM_S):
    """Raises ``AssertionError`` if something does not hold. Returns the world at its end."""
    random = Random(seed)
    shape = links(random)
    world = World(seed, settings(random), shape, **retention(random))
    for number in range(random.randint(2, 14)):
        world.add(number, is_p2p=random.random() < 0.8)
    world.run(2)
    for number in range(random.randint(5, 40)):
        happen(world, random, number)
        world.run(random.choice([0, 0, 0.01, 0.3]))
    calm(world)
    world.check_end()
    return world


def calm(world):
    clear = LinkShape(delay_ms=1)
    addresses = [SERVER, *(person.address for person in world.people)]
    for at, one in enumerate(addresses):
        for other in addresses[at:]:
            world.simulator.network.lay(one, other, clear)
    world.run(CALM_S)
