"""What a seed draws: settings, clients, links, a load, and which faults there will be."""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random
from typing import Any

from overlay.core.links import LinkShape
from overlay.systems.radiator.aggregation.choice import FORMS
from overlay.systems.radiator.settings import Settings

LINK_FAULTS = ("loss", "duplication", "reordering", "jitter", "slow clients")
FAULTS = (
    *LINK_FAULTS,
    *("crash", "crash at push", "churn", "takeover", "reused address", "attributes", "restart", "shutdown"),
    *("partition", "one way", "cut", "stranger"),
)
FUNCTIONS = (
    "{volume: 1}",
    "{volume: 3}",
    "{people: 2}",
    "{time: 1}",
    "{time: s.x}",
    "{volume: r.x}",
    "{volume: s.x + r.x}",
    "{time: 2} if friend(s, r) else {volume: 2} if friend_of_friend(s, r) else {people: 3}",
    "{volume: 2 + r.x} if s.zone == 'a' else {time: r.x}",
    "{people: 2} if r.id < 'client-00005' else {volume: 2}",
    "{volume: distance_km(s.location, r.location)}",
    "{volume: 1 + len(s.data) // 100} if len(r.data) > 100 else {time: 2}",
    "{time: 3 - r.x} if r.zone == s.zone else {people: 1 + r.x}",
)
AGGREGATIONS = (
    "join",
    "join",
    "join",
    "concat",
    "list(name) by r.id",
    "count(people) by zone; sum(x)",
    "newest(x) by zone",
)
CHAINABILITIES = (
    "none",
    "none",
    "1 if a.zone == b.zone else 0",
    "1 / (1 + distance_km(a.location, b.location))",
    "b.x",
)
PLACES = tuple({"latitude": 38.6 + n / 50, "longitude": -9.2} for n in range(4))


@dataclass
class Plan:
    seed: int
    settings: Settings
    audience: int
    clients: int
    is_one_host: bool
    """Whether all clients have one IP address."""
    p2p_share: float
    calls: int
    pace: str
    """``even``, ``bursts`` of calls at one instant, or ``closed``: the next call of a client after its last one."""
    paddings: tuple[int, ...]
    """Bytes of data in a message."""
    shape: LinkShape
    """Between everyone while the storm lasts."""
    late_ms: int = 0
    """By so much drivers are late: datagrams are read in batches, and timers fire after their time."""
    faults: frozenset[str] = field(default_factory=frozenset)

    @property
    def is_orderly(self) -> bool:
        """Whether datagrams between two addresses arrive in the order in which they were sent."""
        return not self.late_ms and not self.faults & {
            "duplication",
            "reordering",
            "jitter",
            "slow clients",
            "stranger",
        }

    @property
    def has_timers(self) -> bool:
        """Whether every retained message leaves without another one."""
        return self.settings.retain_max_s > 0


def draw(seed: int) -> Plan:
    random = Random(seed)
    faults = frozenset(fault for fault in FAULTS if random.random() < 0.25)
    return Plan(
        seed,
        draw_settings(random),
        audience=random.choice([0, 0, 0, 0, 2]),
        clients=random.choice([2, 3, 5, 8, 12, 12, 25]),
        is_one_host=random.random() < 0.2,
        p2p_share=random.choice([1, 0.7, 0.3]),
        calls=random.randint(5, 40),
        pace=random.choice(["even", "even", "bursts", "closed"]),
        paddings=random.choice([(0,), (0, 50, 400), (400, 1_500), (0, 3_000), (0, 12_000)]),
        shape=draw_shape(random, faults),
        late_ms=random.choice([0, 0, 5, 15]),
        faults=faults,
    )


def draw_shape(random: Random, faults: frozenset[str]) -> LinkShape:
    delay_ms = random.choice([1, 5, 20])
    return LinkShape(
        delay_ms=delay_ms,
        jitter_ms=delay_ms * random.random() if "jitter" in faults else 0,
        loss=random.choice([0.02, 0.1, 0.3]) if "loss" in faults else 0,
        duplication=0.1 if "duplication" in faults else 0,
        reordering=0.2 if "reordering" in faults else 0,
        reordering_ms=30,
    )


def draw_settings(random: Random) -> Settings:
    return Settings(
        aggregability=random.choice([*FUNCTIONS, "{volume: 1}", "{volume: 1}"]),
        aggregation=random.choice(AGGREGATIONS),
        on_error=random.choice(["{volume: 1}", "{people: 2}", "{time: 1}"]),
        echo=random.random() < 0.5,
        index=random.choice([*FORMS]),
        flush=random.choice(["deadline", "deadline", "arrival"]),
        retain_max_s=random.choice([0, 0.5, 2, 5, 5]),
        chainability=random.choice(CHAINABILITIES),
        **draw_transport(random),
    )


def draw_transport(random: Random) -> dict[str, Any]:
    return {
        "codec": random.choice(["none", "gzip", "dictionary"]),
        "chain_percent": random.choice([0, 10, 30, 50, 100, 100]),
        "chain_base": random.choice(["clients", "recipients"]),
        "report_every": random.choice([0, 1, 2, 3, 64]),
        "chain_wait_s": random.choice([0.3, 3.0]),
        "chain_attempts": random.choice([1, 2]),
        "rto_ms": random.choice([50, 200]),
        "tries": random.choice([2, 4]),
        "segment_bytes": random.choice([200, 200, 1_200]),
        "max_blob_bytes": random.choice([2_048, 8_192, 100_000]),
        "alive_s": 5,
        "silence_s": 20,
        "forget_after_s": random.choice([2, 30, 600]),
        "seen_s": random.choice([8, 20, 120]),
        "uplink_bytes_per_s": random.choice([0, 0, 0, 20_000, 100_000]),
        "uplink_queue_bytes": random.choice([5_000, 1_000_000]),
        "retained_max": random.choice([3, 20, 100_000, 100_000]),
        "accounting": random.choice(["datagram", "datagram", "datagram", "http"]),
    }
