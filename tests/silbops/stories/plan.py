"""What a seed draws: a small network of either arm, its load, and what breaks."""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random
from typing import Any

TREES = (
    ((0, 1),),
    ((0, 1), (1, 2)),
    ((0, 1), (0, 2), (0, 3)),
    ((0, 1), (1, 2), (1, 3), (3, 4)),
    ((0, 1), (1, 2), (2, 0)),
)
"""The last one has a link that rests."""
FAULTS = ("lossy", "slow", "kill", "restart", "partition")


@dataclass
class Plan:
    brokers: int
    links: tuple[tuple[int, int], ...]
    shape: dict[str, float]
    """Of every link."""
    settings: dict[str, Any]
    workload: dict[str, Any]
    faults: list[dict[str, Any]] = field(default_factory=list)

    @property
    def ends_brokers(self) -> bool:
        """Whether a broker loses all that it knows."""
        return any(one["what"] in ("kill", "restart") for one in self.faults)

    @property
    def parts_brokers(self) -> bool:
        """Whether a broker may fail to reach the old one of a client that moves."""
        return self.ends_brokers or any(one["what"] == "partition" for one in self.faults)

    @property
    def may_lose(self) -> bool:
        """By the order in which SIENA replaces subscriptions, or as an old broker passes nothing on."""
        return self.settings.get("siena_change") == "remove-first" or (
            self.settings.get("handover_s") == 0 and bool(self.workload["handover_interval_s"])
        )


def draw(seed: int) -> Plan:
    random = Random(f"silbops {seed}")
    links = random.choice(TREES)
    brokers = 1 + max(max(pair) for pair in links)
    shape: dict[str, float] = {"delay_ms": random.choice((0, 1, 5, 20))}
    if random.random() < 0.4:
        shape |= {"jitter_ms": shape["delay_ms"], "loss": random.choice((0.0, 0.02, 0.1))}
    plan = Plan(brokers, links, shape, _settings(random), _workload(random, brokers))
    if random.random() < 0.5:
        plan.faults.append(_fault(random, random.choice(FAULTS), brokers, links))
    _draw_more(plan, Random(f"silbops, more of {seed}"))
    return plan


def _draw_more(plan: Plan, random: Random) -> None:
    """By a chance of their own, so that they did not make every seed another story.

    Clients tell a broker that knows nothing of them all subscriptions, also those that had ended, and so does the siena
    arm when its context changes. So ``ttl_s`` is drawn where neither happens.
    """
    settings, workload = plan.settings, plan.workload
    for name in ("keep_messages", "keep_s", "handover_s"):
        if random.random() < 0.15:
            settings[name] = 0
    if random.random() < 0.15:
        settings |= {"channel_window": random.choice((1, 4)), "channel_frame": random.choice((200, 60_000))}
    if random.random() < 0.25:
        workload["admitted_share"] = random.choice((0.3, 0.7))
    if settings.get("arm") == "siena":
        settings["index"] = random.choice((settings["index"], settings["index"], "cells"))
        if not workload["handover_interval_s"]:  # what a move loses is still seen
            settings["siena_change"] = random.choice(("add-first", "remove-first"))
        return
    if "admitted_share" in workload:
        settings["publisher_scope"] = random.random() < 0.7
    if settings.get("prune") and random.random() < 0.4:
        settings["prune"] = "advertisement"
    if random.random() < 0.3 and not plan.parts_brokers and settings.get("keep_s") != 0:
        settings["ttl_s"] = random.choice((3, 4))
        workload["changing_subscribers"] = random.choice((0, 1))


def _settings(random: Random) -> dict[str, Any]:
    found: dict[str, Any] = {
        "covering": random.random() < 0.7,
        "index": random.choice(("scan", "counting", "access", "leaf")),
        "scope_batch": random.choice((0, 2, 48)),
        "channel_queue": random.choice((8, 1_024)),
    }
    if random.random() < 0.4:
        return found | {"arm": "siena", "siena_change": "add-first"}
    if random.random() < 0.4:
        found |= {"publisher_context": "forwarded", "prune": random.choice(("never", "each-change", "timed"))}
        found["prune_after_s"] = 0.5
    return found | {"publisher_scope": random.random() < 0.3}


def _workload(random: Random, brokers: int) -> dict[str, Any]:
    return {
        "publishers": random.randint(1, 3),
        "subscribers": random.randint(1, 6),
        "filters_max": random.randint(1, 4),
        "constraints_min": 0,
        "constraints_max": 2,
        "attribute_names": random.choice((4, 12)),
        "attributes_max": 4,
        "string_values": 3,
        "int_values": 3,
        "square_km": random.choice((40, 80)),
        "mobility": random.choice(("fixed", "walk", "jump")),
        "publisher_mobility": random.choice(("fixed", "walk")),
        "speed_m_s": 100,
        "context_interval_s": random.choice((0.3, 1.0)),
        "publish_interval_s": random.choice((0.1, 0.5)),
        "handover_interval_s": random.choice((0, 0, 2)) if brokers > 1 else 0,
        "duration_s": 4,
    }


def _fault(random: Random, what: str, brokers: int, links: tuple[tuple[int, int], ...]) -> dict[str, Any]:
    at = {"what": what, "at_s": 1}
    match what:
        case "lossy":
            return at | {"links": "all", "loss": 0.3, "until_s": 2}
        case "slow":
            return at | {"links": "all", "delay_ms": 200, "until_s": 2}
        case "kill":
            return at | {"brokers": [random.randrange(brokers)], "until_s": 2}
        case "restart":
            return at | {"brokers": [random.randrange(brokers)]}
    return at | {"islands": [[0], list(range(1, brokers))], "until_s": 2}
