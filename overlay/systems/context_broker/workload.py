"""The workload: providers and consumers, their brokers and start times. Pure; shared by live and simulated runs.

Counterparts: each client in ``overlay.systems.context_broker.clients`` executes one ``ClientPlan``;
``overlay.runtime.load_generator`` and ``overlay.sim`` drive the clients.

::

    0        LEAD_S                         ramp_s                    ramp_s + duration_s
    |-- providers, one per stagger_ms --->     |                             |
    |          |-- consumers, likewise ------> |                             |
    |<------------- warming ------------------>|<-------- measuring -------->|<- draining ->

The data is that of the thesis (section 5.1): all providers send the same payload and all consumers request the same
entity, unless ``entities`` is above 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from overlay.core.chance import Chance, Stream, derive_seed
from overlay.core.errors import InvalidSetting
from overlay.core.settings import check, setting
from overlay.load.assignment import ASSIGNMENTS, Demand, Positions
from overlay.load.expectations import FLEET_SIZE
from overlay.load.popularity import POPULARITIES

LEAD_S = 1.0
"""Consumers start this much later than providers, so that the network has data when the first request arrives."""


@dataclass(frozen=True, slots=True)
class Workload:
    """The load of a run. The defaults are the thesis'; its payload of "1 kB" is read as 1024 bytes."""

    providers: int = setting(
        50, low=0, high=100_000, help="Clients that update data. More providers load the brokers they are attached to."
    )
    consumers: int = setting(50, low=0, high=100_000, help="Clients that request data. More consumers, more requests.")
    update_interval_s: float = setting(
        30.0,
        unit="s",
        low=0.01,
        high=86_400,
        help="Time between a provider's updates. Shorter intervals give fresher data and cost more.",
    )
    request_interval_s: float = setting(
        30.0,
        unit="s",
        low=0.01,
        high=86_400,
        help="Time between one consumer's requests, kept even if earlier requests are late or fail.",
    )
    acknowledgements: bool = setting(
        True,
        help="Whether brokers acknowledge a consumer's request before and after its answer, three datagrams in all. "
        "Without, consumers send QuietRequests, and only the answer returns, which is cheaper for brokers and clients.",
    )
    payload_bytes: int = setting(
        1024, unit="bytes", low=3, high=60_000, help="Size of the data. Above about 1,300 bytes datagrams fragment."
    )
    duration_s: float = setting(
        60.0, unit="s", low=1, high=86_400, help="Duration of measuring, from the start of the last client."
    )
    stagger_ms: float = setting(
        200.0, unit="ms", low=0, high=60_000, help="Time between the starts of clients, which determines the ramp."
    )
    entities: int = setting(
        1, low=1, high=1_000_000, help="Number of entities; provider i updates entity i modulo this number."
    )
    holders: int = setting(
        0,
        low=0,
        high=100_000,
        zero="all",
        help="Brokers that providers are attached to; 0 or “all” means all that the assignment uses.",
    )
    popularity: str = setting(
        "uniform",
        choices=POPULARITIES,
        help="Which entities are requested: all with equal probability, or the k-th in proportion to 1/k.",
    )
    valid_ms: int = setting(
        120_000,
        unit="ms",
        low=1,
        high=31_536_000_000,
        help="How long data is valid. If this is shorter than the update interval, there are gaps without valid data.",
    )
    assignment: str = setting(
        "machines",
        choices=tuple(ASSIGNMENTS),
        help="How clients are assigned to brokers: by five machines of each kind, as in the thesis; at random; round "
        "robin; to the broker that expects the fewest messages so far; or to the nearest one in the drawing. An even "
        "load hides the cost of an uneven one.",
    )
    churn: str = setting(
        "none",
        choices=("none", "exponential", "weibull", "file"),
        help="Whether brokers leave and return during measuring: after sessions drawn from a distribution, or as in "
        "churn_schedule. Data that only they stored is lost, and their clients wait.",
    )
    session_mean_s: float = setting(
        60.0,
        unit="s",
        low=1,
        high=31_536_000,
        help="With drawn churn: mean duration of a broker's session. Shorter sessions lose more data and neighbours.",
    )
    session_shape: float = setting(
        0.6,
        low=0.2,
        high=20,
        help="With weibull: shape of the distribution of sessions. Below 1 many are short and a few very long, as "
        "measured for peers; 1 is exponential; above 1 they are of similar length.",
    )
    downtime_mean_s: float = setting(
        10.0,
        unit="s",
        low=0.1,
        high=31_536_000,
        help="With drawn churn: mean time that a broker is away (exponential). An absence shorter than the detection "
        "of a death may go unnoticed.",
    )
    churn_leave_share: float = setting(
        0.5,
        unit="fraction",
        low=0,
        high=1,
        help="With drawn churn: share of departures that are graceful, with a leave to all neighbours; the rest are "
        "crashes.",
    )
    churn_brokers_kept: int = setting(
        1,
        unit="brokers",
        low=0,
        high=100_000,
        help="With drawn churn: the first so many brokers never leave. With 0 all brokers may be away at once.",
    )
    churn_schedule: str = setting(
        "",
        help="With file: “seconds broker up|leave|crash”, separated by semicolons, such as “5 3 crash; 12.5 3 up”. "
        "Seconds are counted from the start of measuring.",
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
    """One client: its role, its broker and its start time."""

    role: str
    """``provider`` or ``consumer``."""
    client: int
    """Number within the role, from 0."""
    broker: int
    """Index of its broker."""
    start_us: int
    """Microseconds after the start of the workload."""
    entity: int
    """The entity that a provider updates; -1 for a consumer, which draws one for each request."""


def plan_clients(workload: Workload, brokers: int, seed: int, positions: Positions | None = None) -> list[ClientPlan]:
    """All clients of a run over ``brokers`` brokers, providers first. Equal arguments give equal plans.

    ``positions`` is each broker's position in the unit square, for assignments that use it. Raises
    ``InvalidSetting``. Each client starts at a random instant within its slot of the stagger. Otherwise, if the
    interval is a multiple of the stagger, many clients would send at the same instants throughout the run.
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
    """Raise the errors of ``plan_clients`` in a tenth of its time, without drawing start times."""
    _assign(workload, brokers, positions, Stream(derive_seed(0, "workload")))


def _start_us(workload: Workload, slot: int, lead_s: float, chance: Chance) -> int:
    # Round down: a client that starts after the ramp would be measured although measuring began without it.
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
