"""What a seed draws: brokers, links, settings, clients, and which faults there will be."""

from __future__ import annotations

from dataclasses import dataclass, replace
from random import Random

from overlay.core.links import LinkShape
from overlay.systems.federation.settings import COVERING, MERGING, Settings

LINK_FAULTS = ("loss", "duplication", "reordering", "jitter")
FAULTS = (
    *LINK_FAULTS,
    *("client crash", "client leave", "client move", "client hush", "client invalid"),
    *("broker crash", "broker leave", "broker move", "broker restart", "cut", "service restart", "offline"),
)
SCOPES = ("climate", "light", "noise")
TEXTS = ("true", "x > 1", "x > 2", "x in (1, 2)", "entity.id = r1", "entity.id = r1 and x > 1", "not x > 2")
MERGED_TEXTS = (
    "x = 1",
    "x = 2",
    "x = 3",
    "x in (1, 2)",
    "x > 1",
    "x between 2 and 3",
    "entity.id = r1",
    "entity.id = r2",
)
"""Those of stories with merging: many are together one."""


@dataclass
class Plan:
    seed: int
    settings: Settings
    brokers: int
    links: tuple
    providers: int
    consumers: int
    shape: LinkShape
    events: int
    """In the storm."""
    faults: frozenset

    @property
    def texts(self):
        """Of the subscriptions that it draws from."""
        return MERGED_TEXTS if self.settings.covering == MERGING else TEXTS


def draw(seed):
    random = Random(seed)
    faults = frozenset(fault for fault in FAULTS if random.random() < 0.2)
    brokers = random.choice([1, 2, 3, 3, 4, 5, 6])
    settings = draw_settings(random)
    if settings.covering == COVERING and Random(f"merging {seed}").random() < 0.5:
        settings = replace(settings, covering=MERGING)
    if "offline" in faults:
        settings = replace(settings, mobile_brokers=str(random.randrange(brokers)))
    return Plan(
        seed,
        settings,
        brokers,
        draw_links(random, brokers),
        providers=random.randint(1, 4),
        consumers=random.randint(1, 4),
        shape=draw_shape(random, faults),
        events=random.choice([20, 40, 60]),
        faults=faults,
    )


def draw_links(random, brokers):
    """A tree, and spare links."""
    links = {(random.randrange(i), i) for i in range(1, brokers)}
    spare = [(a, b) for b in range(brokers) for a in range(b) if (a, b) not in links]
    links |= set(random.sample(spare, min(len(spare), random.randint(0, 3))))
    return tuple(random.sample(sorted(links), len(links)))


def draw_shape(random, faults):
    delay_ms = random.choice([1, 5, 20])
    return LinkShape(
        delay_ms=delay_ms,
        jitter_ms=delay_ms * random.random() if "jitter" in faults else 0,
        loss=random.choice([0.02, 0.05, 0.1]) if "loss" in faults else 0,
        duplication=0.1 if "duplication" in faults else 0,
        reordering=0.2 if "reordering" in faults else 0,
        reordering_ms=30,
    )


def draw_settings(random):
    return Settings(
        keepalive_s=random.choice([1, 2, 3]),
        broker_keepalive_s=random.choice([1, 2, 3]),
        keepalive_share=random.choice([0.3, 0.5]),
        implicit_keepalive=random.random() < 0.5,
        grace_from=random.choice(["last_heard", "last_heard", "first_missed"]),
        exchange_s=random.choice([0.5, 1, 2]),
        routing=random.choice(["advertisements", "advertisements", "advertisements", "flooding", "notifications"]),
        covering=random.choice(["off", "covering"]),
        encoding=random.choice(["msgpack", "msgpack", "msgpack", "contextml"]),
        give_up_s=random.choice([1, 2, 3]),
        cache_cap=random.choice([0, 0.15, 1]),
        cache_validity_s=60,
        service_ms=random.choice([0, 0, 0, 2]),
    )
