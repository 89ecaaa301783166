"""A second story of some seeds: a provider whose broker is gone, and a mobile broker that comes by (section 16).

The provider stores what it publishes; the mobile broker carries it while it is offline. Once that is back, each
consumer gets all that it subscribed to before, in the order of publication. Other stories cannot tell: their oracle
knows of no way without an edge.
"""

from __future__ import annotations

from random import Random

from overlay.core.node import SECOND
from overlay.systems.federation.language.text import parse
from overlay.systems.federation.settings import Settings
from tests.federation.village.ledger import is_satisfied
from tests.federation.village.plan import TEXTS
from tests.federation.village.village import Village
from tests.federation.village.villager import ENTITIES, NUMBERS, State

EVERY = 10
"""One seed in so many."""
LIFE_MS = 600_000
"""Of notifications and subscriptions: none expires."""


def has_nomad(seed):
    return seed % EVERY == 3


def nomad_story(seed):
    """The village at the end. Raises ``AssertionError`` if a consumer has not got what was carried for it."""
    random = Random(f"nomad {seed}")
    fixed = random.choice([2, 3, 4])
    village = Village(fixed + 1, _links(random, fixed), _settings(random, fixed), seed=seed)
    home, nomad = 1, fixed
    village.terms.group = village.addresses[home], village.addresses[nomad]
    village.pass_ms(500)
    village.join("p0", home, ("climate",))
    consumers = [f"c{i}" for i in range(random.randint(1, 3))]
    for name in consumers:
        village.join(name, 0)
    village.pass_ms(1_000)
    wanted = [village.subscribe(name, ("climate",), parse(random.choice(TEXTS)), LIFE_MS) for name in consumers]
    village.pass_ms(1_000)

    village.crash_broker(home)
    village.crash_broker(nomad)
    notes = _publish(village, random)
    village.start_broker(nomad)
    village.go_offline(nomad)
    _wait_for(village, lambda: village.villagers["p0"].state is State.IN, "the provider finds no mobile broker")
    notes += _publish(village, random)
    village.pass_ms(random.choice([0, 5_000, 40_000]))
    village.go_online(nomad)
    village.pass_ms(20_000)
    for one in wanted:
        told = village.ledger.subscribed[one.id]
        expected = [note.id for note in notes if is_satisfied(one, note)]
        assert list(told.received) == expected, f"carried for {one.id}: {list(told.received)} instead of {expected}"
    return village


def _links(random, fixed):
    """The provider's broker has one link, so that the others stay connected without it."""
    others = [0, *range(2, fixed)]
    links = [(random.choice(others[:place]), number) for place, number in enumerate(others) if place]
    return [*links, (random.choice(others), 1), (random.choice(others), fixed)]


def _settings(random, mobile):
    return Settings(
        keepalive_s=2,
        broker_keepalive_s=5,
        exchange_s=random.choice([0.5, 1]),
        give_up_s=1,
        cache_cap=0,
        covering=random.choice(["off", "covering", "merging"]),
        encoding=random.choice(["msgpack", "msgpack", "contextml"]),
        discovery="multicast",
        mobile_brokers=str(mobile),
    )


def _publish(village, random):
    notes = []
    for _ in range(random.randint(1, 6)):
        entity, number = random.choice(ENTITIES), random.choice(NUMBERS)
        notes.append(village.publish("p0", "climate", entity, number, LIFE_MS))
        village.pass_ms(random.choice([0, 100, 700]))
    return notes


def _wait_for(village, is_so, otherwise):
    end = village.now + 60 * SECOND
    while not is_so():
        assert village.now < end, otherwise
        village.pass_ms(500)
