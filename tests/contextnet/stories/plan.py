"""What a seed draws: some gateways, nodes and applications, what they send, and what breaks."""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random
from typing import Any

FAULTS = ("kill", "restart", "drain", "log_down", "log_restart", "log_slow", "log_cut")
FIRST_S, LAST_S = 1, 9
"""When faults begin, in seconds of measuring; each ends within ``LONGEST_S``."""
LONGEST_S = 6
DRAIN_S = 120
"""Enough for what is lingering, stored and read again; a run ends as soon as all is answered."""


@dataclass
class Plan:
    settings: dict[str, Any]
    workload: dict[str, Any]
    servers: list[str]
    faults: list[dict[str, Any]] = field(default_factory=list)

    @property
    def refuses(self) -> bool:
        """Whether nodes may be told that a message is one too many: their queues are short."""
        return self.settings["queue_per_connection"] < 100

    @property
    def loses_records(self) -> bool:
        """Whether the log forgets what it had promised: it restarts, and was not told to write everything at once."""
        return self.settings["durability"] != "always" and any(one["what"] == "log_restart" for one in self.faults)


def draw(seed: int) -> Plan:
    random = Random(f"contextnet {seed}")
    settings, workload = _settings(random), _workload(random)
    servers = [f"gateway-{number}" for number in range(workload["gateways"])]
    servers += ["poa-0", "mtd-0", *(f"definer-{number}" for number in range(workload["definers"]))]
    plan = Plan(settings, workload, servers)
    for _ in range(random.choice((0, 1, 1, 2))):
        plan.faults.append(_fault(random, random.choice(FAULTS), plan))
    return plan


def _settings(random: Random) -> dict[str, Any]:
    return {
        "window": random.choice((1, 4, 32)),
        "queue_per_connection": random.choice((2, 256)),
        "pool_size": random.choice((4, 256)),
        "retries": random.choice((2, 5)),
        "ack_delay_ms": random.choice((0, 25)),
        "resume": random.random() < 0.7,
        "linger_s": random.choice((0, 5, 20)),
        "validation": random.random() < 0.7,
        "idle_s": random.choice((12, 30)),
        "keepalive_s": 4,
        "routing": random.choice(("directory", "directory", "everyone")),
        "presence_events": random.random() < 0.7,
        "ping_period_s": random.choice((2, 5)),
        "ping_window_ms": random.choice((200, 2_000)),
        "window_min_ms": 100,
        "load_report_s": random.choice((1, 5)),
        "round_s": random.choice((2, 5)),
        "list_s": 5,
        "balancing": random.random() < 0.6,
        "persistence": 1,
        "budget": random.choice((0.1, 1.0)),
        "band": 0.05,
        "hold_s": random.choice((0, 5)),
        "drain_per_s": random.choice((1, 50)),
        "partitions": random.choice((1, 3)),
        "member_timeout_s": random.choice((0.5, 2.0)),
        "durability": random.choice(("none", "everysec", "always")),
    }


def _workload(random: Random) -> dict[str, Any]:
    nodes, definers = random.randint(2, 8), random.choice((0, 0, 1, 2))
    delay_ms = random.choice((0, 2, 30))
    found: dict[str, Any] = {
        "nodes": nodes,
        "gateways": random.randint(1, min(3, nodes)),
        "start": random.choice(("spread", "first")),
        "brokers": random.randint(1, 3),
        "applications": random.randint(0, 3),
        "definers": definers,
        "direction": random.choice(("inbound", "outbound", "both")),
        "rate_per_min": random.choice((20, 60)),
        "duration_s": 15,
        "payload_bytes": random.choice((16, 200, 5_000)),
        "connect_interval_ms": random.choice((0, 200)),
        "drain_s": DRAIN_S,
        "app_service_ms": random.choice((0, 20)),
        "link_delay_ms": delay_ms,
        "link_jitter_ms": random.choice((0, delay_ms)),
        "link_loss": random.choice((0, 0, 0.05, 0.2)),
    }
    if random.random() < 0.6:
        found |= {
            "disconnecting_share": random.choice((0.3, 1.0)),
            "off_s": random.choice((0.5, 3, 10)),
            "on_s": random.choice((2, 6)),
            "on_law": random.choice(("fixed", "exponential")),
            "disconnect": random.choice(("abrupt", "graceful")),
            "reconnect_to": random.choice(("same", "list")),
        }
    if random.random() < 0.3:
        found["address_change_per_h"] = random.choice((360, 1_800))
    if definers:
        found |= {"groups": 3, "context_change_per_min": 20, "groupcast_per_min": random.choice((0, 30))}
    return found


def _fault(random: Random, what: str, plan: Plan) -> dict[str, Any]:
    at_s = random.randint(FIRST_S, LAST_S)
    found: dict[str, Any] = {"what": what, "at_s": at_s}
    lasting = {"until_s": at_s + random.randint(1, LONGEST_S)}
    match what:
        case "kill":
            return found | {"servers": [random.choice(plan.servers)]} | lasting
        case "restart":
            return found | {"servers": [random.choice(plan.servers)]}
        case "drain":
            return found | {"servers": [f"gateway-{random.randrange(plan.workload['gateways'])}"]} | lasting
        case "log_cut":
            return found | {"servers": [random.choice(plan.servers)]} | lasting
        case "log_restart":
            return found | {"down_s": random.choice((0.2, 2))}
        case "log_slow":
            return found | {"delay_ms": random.choice((20, 500))} | lasting
    return found | lasting
