"""The clients of a workload: their brokers and starts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from overlay.core.chance import Stream, derive_seed
from overlay.core.node import MILLISECOND
from overlay.load.assignment import ASSIGNMENTS, Demand, Positions
from overlay.load.expectations import FLEET_SIZE
from overlay.systems.federation.names import CONSUMER, PROVIDER, consumer_name, provider_name
from overlay.systems.federation.settings import NONE, Settings
from overlay.systems.federation.workload import BLOCKS, Workload, home_of
from overlay.topologies import Graph


class ClientPlan(NamedTuple):
    """One client."""

    role: str
    number: int
    """Within its role."""
    broker: int
    """Index of the broker where it begins."""
    slot: int
    """Its place in the order of starts."""

    def starts_at(self, workload: Workload) -> int:
        """ns after the start of the workload."""
        return round(self.slot * workload.stagger_ms * MILLISECOND)


def plan_clients(settings: Settings, workload: Workload, graph: Graph, seed: int) -> list[ClientPlan]:
    """In the order of their starts, providers first. Raises ``InvalidSetting``."""
    provided, consumed = _homes(workload, graph.brokers, graph.positions, seed)
    names = [*((PROVIDER, *one) for one in enumerate(provided)), *((CONSUMER, *one) for one in enumerate(consumed))]
    return [
        ClientPlan(role, number, _served(settings, broker), slot) for slot, (role, number, broker) in enumerate(names)
    ]


def fleets(plans: Iterable[ClientPlan]) -> dict[str, list[ClientPlan]]:
    """By process: ``providers-0``, ``consumers-0``, …"""
    found: dict[str, list[ClientPlan]] = {}
    for plan in plans:
        found.setdefault(f"{plan.role}s-{plan.number // FLEET_SIZE}", []).append(plan)
    return found


def _homes(
    workload: Workload, brokers: int, positions: Positions | None, seed: int
) -> tuple[Sequence[int], Sequence[int]]:
    """The brokers of providers and of consumers."""
    providers, consumers = workload.providers, workload.consumers
    if workload.assignment == BLOCKS:
        return (
            [home_of(number, providers, brokers) for number in range(providers)],
            [home_of(number, consumers, brokers) for number in range(consumers)],
        )
    each = workload.rate_per_s / providers, workload.rate_per_s / consumers
    demand = Demand(brokers, providers, consumers, *each, 0, positions)
    return ASSIGNMENTS[workload.assignment](demand, Stream(derive_seed(seed, "assignment")))


def device_clients(
    settings: Settings, workload: Workload, brokers: int, positions: Positions | None, seed: int
) -> tuple[str, ...]:
    """Names of the clients on a device without a broker: those that a mobile broker would have, if there was one.

    Empty unless the device's energy is modelled. Raises ``InvalidSetting``.
    """
    if not _is_over_radio(settings):
        return ()
    return tuple(
        name(number)
        for name, homes in zip((provider_name, consumer_name), _homes(workload, brokers, positions, seed), strict=True)
        for number, broker in enumerate(homes)
        if broker in settings.mobile_indices
    )


def _is_over_radio(settings: Settings) -> bool:
    return settings.energy_model != NONE and settings.device == NONE


def _served(settings: Settings, broker: int) -> int:
    """With a model of the device's energy and no broker on it, its clients are at broker 0, over the radio."""
    return 0 if _is_over_radio(settings) and broker in settings.mobile_indices else broker
