"""Who provides and asks what, when, of which broker. Pure: the load generator and the simulator follow the same plan.

Counterparts: ``overlay.systems.context_broker.clients`` keeps one ``ClientPlan``; ``overlay.runtime.load_generator``
and ``overlay.sim`` drive them.

::

    0        LEAD_S                         ramp_s                    ramp_s + duration_s
    |-- providers, one per stagger_ms --->     |                             |
    |          |-- consumers, likewise ------> |                             |
    |<------------- warming ------------------>|<-------- measuring -------->|<- draining ->

The data are those of the thesis (its section 5.1): all providers send the same payload, all consumers ask for the same
entity, unless ``entities`` says that there are more.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate

from overlay.core.chance import Chance, Stream, derive_seed
from overlay.core.errors import InvalidSetting
from overlay.core.settings import check, setting
from overlay.load.assignment import ASSIGNMENTS, Demand, Positions
from overlay.load.expectations import FLEET_SIZE

LEAD_S = 1.0
"""Consumers begin this much after providers, so that nobody asks a network that was told nothing yet."""


@dataclass(frozen=True, slots=True)
class Workload:
    """What the clients of a run do. The defaults are the thesis'; its payload of "1 kB" is taken as 1024 bytes."""

    providers: int = setting(
        50, low=0, high=100_000, help="Clients that keep data up to date. More of them load the brokers they are on."
    )
    consumers: int = setting(50, low=0, high=100_000, help="Clients that ask. More of them ask more often in all.")
    update_interval_s: float = setting(
        30.0,
        unit="s",
        low=0.01,
        high=86_400,
        help="Between a provider's updates. Shorter is fresher, and costs more.",
    )
    request_interval_s: float = setting(
        30.0,
        unit="s",
        low=0.01,
        high=86_400,
        help="Between one consumer's requests, kept whatever happened to earlier ones.",
    )
    acknowledgements: bool = setting(
        True,
        help="Whether a consumer's request is acknowledged before and after its answer: three datagrams come back. "
        "Without, it is a QuietRequest, and only the answer comes: cheaper for brokers and for the load generator.",
    )
    payload_bytes: int = setting(
        1024, unit="bytes", low=3, high=60_000, help="Size of the data. Above about 1,300 bytes datagrams fragment."
    )
    duration_s: float = setting(
        60.0, unit="s", low=1, high=86_400, help="How long is measured, from the last client's start."
    )
    stagger_ms: float = setting(
        200.0, unit="ms", low=0, high=60_000, help="Between the starts of clients. The ramp grows with their number."
    )
    entities: int = setting(
        1, low=1, high=1_000_000, help="Entities there are data of; provider i describes entity i modulo this."
    )
    holders: int = setting(
        0,
        low=0,
        high=100_000,
        zero="all",
        help="Brokers that providers are attached to; 0 or “all” is all that the assignment uses.",
    )
    popularity: str = setting(
        "uniform",
        choices=("uniform", "zipf"),
        help="Which entities are asked for: all alike, or the k-th in proportion to 1/k.",
    )
    valid_ms: int = setting(
        120_000,
        unit="ms",
        low=1,
        high=31_536_000_000,
        help="How long data are valid. Below the update interval there are gaps in which nothing is found.",
    )
    assignment: str = setting(
        "machines",
        choices=tuple(ASSIGNMENTS),
        help="Clients to brokers: by five machines of each kind, as in the thesis; each client at random; in turn; to "
        "the broker that expects the fewest messages so far; or to the one drawn nearest. An even load hides the cost "
        "of an uneven one.",
    )
    churn: str = setting(
        "none",
        choices=("none", "exponential", "weibull", "file"),
        help="Whether brokers go and come back while measuring: after sessions drawn from a distribution, or as "
        "churn_schedule says. What only they held is lost, and their clients wait.",
    )
    session_mean_s: float = setting(
        60.0,
        unit="s",
        low=1,
        high=31_536_000,
        help="With drawn churn: how long a broker stays, on average. Shorter loses more data and neighbours.",
    )
    session_shape: float = setting(
        0.6,
        low=0.2,
        high=20,
        help="With weibull: shape of the sessions. Below 1 many are short and a few very long, as measured of peers; "
        "1 is exponential; above, all are about alike.",
    )
    downtime_mean_s: float = setting(
        10.0,
        unit="s",
        low=0.1,
        high=31_536_000,
        help="With drawn churn: how long a broker is away, on average (exponential). Shorter than the detection of "
        "a death, nobody may notice.",
    )
    churn_leave_share: float = setting(
        0.5,
        unit="fraction",
        low=0,
        high=1,
        help="With drawn churn: share of departures that say farewell to their neighbours; the rest crash without one.",
    )
    churn_brokers_kept: int = setting(
        1,
        unit="brokers",
        low=0,
        high=100_000,
        help="With drawn churn: the first so many brokers never go. 0 lets the whole network vanish for a while.",
    )
    churn_schedule: str = setting(
        "",
        help="With file: “seconds broker up|leave|crash”, separated by semicolons, such as “5 3 crash; 12.5 3 up”. "
        "Seconds count from the beginning of measuring.",
    )

    def __post_init__(self) -> None:
        check(self)
        if not self.providers + self.consumers:
            raise InvalidSetting("consumers", "a workload needs at least one provider or consumer")
        if self.providers and self.entities > self.providers:
            raise InvalidSetting("entities", f"{self.entities} entities need as many providers, not {self.providers}")

    def ramp_s(self) -> float:
        """Seconds from the start of the workload until its last client has started."""
        stagger_s = self.stagger_ms / 1e3
        consumers = LEAD_S + self.consumers * stagger_s if self.consumers else 0.0
        return max(self.providers * stagger_s, consumers)


@dataclass(frozen=True, slots=True)
class ClientPlan:
    """One client: what it is, whom it talks to, when it starts."""

    role: str
    """``provider`` or ``consumer``."""
    client: int
    """Number within the role, from 0."""
    broker: int
    """Index of its broker."""
    start_us: int
    """Microseconds after the start of the workload."""
    entity: int
    """The entity a provider describes. A consumer draws one for each request; for it this is -1."""


def plan_clients(workload: Workload, brokers: int, seed: int, positions: Positions | None = None) -> list[ClientPlan]:
    """All clients of a run over ``brokers`` brokers, providers first. Equal arguments give equal plans.

    ``positions`` is where each broker is in the unit square, for assignments that ask. Raises ``InvalidSetting``.
    Within its slot of the stagger each client starts at a random instant: an interval that is a multiple of the
    stagger would otherwise make many clients send at the same instant for the whole run.
    """
    assigning, provider, consumer = (
        Stream(derive_seed(seed, "workload", purpose)) for purpose in ("assignment", "providers", "consumers")
    )
    provider_brokers, consumer_brokers = _assign(workload, brokers, positions, assigning)
    providers = [
        ClientPlan("provider", i, provider_brokers[i], _start_us(workload, i, 0.0, provider), i % workload.entities)
        for i in range(workload.providers)
    ]
    consumers = [
        ClientPlan("consumer", i, consumer_brokers[i], _start_us(workload, i, LEAD_S, consumer), -1)
        for i in range(workload.consumers)
    ]
    return providers + consumers


def check_clients(workload: Workload, brokers: int, positions: Positions | None = None) -> None:
    """Raise what ``plan_clients`` would, in a tenth of its time: nobody's start is drawn."""
    _assign(workload, brokers, positions, Stream(derive_seed(0, "workload")))


def _start_us(workload: Workload, slot: int, lead_s: float, chance: Chance) -> int:
    # Down, never up: a client that starts after the ramp would count in a window that has begun without it.
    return int(lead_s * 1e6 + (slot + chance.random()) * workload.stagger_ms * 1e3)


def _assign(
    workload: Workload, brokers: int, positions: Positions | None, chance: Chance
) -> tuple[list[int], list[int]]:
    """The broker of each provider and of each consumer."""
    if brokers < 1:
        raise InvalidSetting("brokers", "a workload needs at least one broker")
    demand = Demand(
        brokers=brokers,
        providers=workload.providers,
        consumers=workload.consumers,
        updates_per_s=1 / workload.update_interval_s,
        requests_per_s=1 / workload.request_interval_s,
        holders=workload.holders,
        positions=positions,
    )
    return ASSIGNMENTS[workload.assignment](demand, chance)


def fleets(plans: Sequence[ClientPlan]) -> dict[str, list[ClientPlan]]:
    """The plans by process (``providers-0``, ``consumers-0``, ``consumers-1``), at most ``FLEET_SIZE`` in each."""
    processes: dict[str, list[ClientPlan]] = {}
    for plan in plans:
        processes.setdefault(fleet_of(plan), []).append(plan)
    return processes


def fleet_of(plan: ClientPlan) -> str:
    """The process of a client."""
    return f"{plan.role}s-{plan.client // FLEET_SIZE}"


def entity_name(entity: int) -> tuple[str, str, str]:
    """Type, identifier and scope of the ``entity``-th entity."""
    return "room", f"r{entity}", "climate"


def make_payload(size: int) -> str:
    """A payload of exactly ``size`` bytes (at least 3) in the usual form ``K=V;K=V``."""
    pairs = [f"k{i}={i:026d}" for i in range(size // 30 + 1)]
    text = ";".join(pairs)[:size]
    cut = text.rfind(";")
    if cut < 0:
        return text if size > 3 else "k=0"
    has_value = "=" in text[cut + 1 : -1]
    return text if has_value else text[:cut] + "0" * (size - cut)


class Popularity:
    """Which entity is asked for next, drawn from a chance of the asker's own."""

    def __init__(self, workload: Workload) -> None:
        self._entities = workload.entities
        weights = (1 / (k + 1) for k in range(workload.entities))
        self._cumulative = tuple(accumulate(weights)) if workload.popularity == "zipf" else ()

    def draw(self, chance: Chance) -> int:
        """An entity's number, from 0; under ``zipf`` with exponent 1, 0 is the most wanted."""
        if not self._cumulative:
            return chance.randrange(self._entities) if self._entities > 1 else 0
        wanted = chance.random() * self._cumulative[-1]
        return min(bisect_right(self._cumulative, wanted), self._entities - 1)
