"""Warnings about configurations before a launch. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from overlay.systems.federation.expectations import distance
from overlay.systems.federation.workload import ONCE

VISITS = 2
"""Of a query at its own broker, if its provider is there, too: SUBSCRIBE and PUBLISH. Each link adds two."""


def warnings(configurations: Sequence[Mapping[str, Any]]) -> Sequence[str]:
    found: dict[str, None] = {}
    for configuration in configurations:
        found.update(dict.fromkeys(_warnings(configuration["settings"], configuration["workload"], configuration)))
    return list(found)


def _warnings(
    settings: Mapping[str, Any], workload: Mapping[str, Any], configuration: Mapping[str, Any]
) -> Iterator[str]:
    busy = _utilisation(settings, workload, configuration["topology"]["brokers"])
    if busy >= 1:
        yield (
            f"At {workload['rate_per_s']:g} queries/s a modelled processor would be {busy:.0%} busy on average: queues "
            "grow as long as queries come, so times depend on the number of queries."
        )
    if workload["client_loss"] and settings["keepalive_share"] > 0.5 and not settings["implicit_keepalive"]:
        yield (
            "Datagrams of clients are lost, and a keep-alive is due shortly before a registration becomes invalid: "
            "clients will be invalid now and then. keepalive_share 0.5 or implicit_keepalive prevent it."
        )
    if workload["kind"] == ONCE and workload["queries"] and workload["expiry_s"] * 1e3 < 2 * workload["provider_ms"]:
        yield "Subscriptions expire before a provider that was asked publishes."


def _utilisation(settings: Mapping[str, Any], workload: Mapping[str, Any], brokers: int) -> float:
    """Mean over brokers, without hits of caches."""
    if workload["kind"] != ONCE or not workload["queries"]:
        return 0.0
    visits = VISITS * (1 + min(brokers - 1, distance(brokers))) / brokers
    return float(workload["rate_per_s"] * visits * settings["service_ms"] / 1e3 / settings["processors"])
