"""The walks compared with the table of walk policies in the specification (systems.md 1.9)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from telemetry.statistics.intervals import COUNT, interval
from telemetry.systems.context_broker.search_table.draws import Place
from telemetry.systems.context_broker.search_table.summary import Summary, figure

PUBLISHED: dict[tuple[int, int, str], dict[str, tuple[float, float]]] = {
    (10, 5, "Waxman 2"): {"uniform": (100, 2.6), "noback": (100, 1.9), "avoid": (100, 1.8), "backtrack": (100, 1.8)},
    (10, 1, "Waxman 2"): {
        "uniform": (82.1, 17.4),
        "noback": (96.8, 10.4),
        "avoid": (99.5, 7.2),
        "backtrack": (100, 6.9),
    },
    (10, 1, "ring"): {"uniform": (87.0, 15.9), "noback": (100, 5.0), "avoid": (100, 5.0), "backtrack": (100, 5.0)},
    (100, 5, "Waxman 4"): {
        "uniform": (100, 30.0),
        "noback": (100, 21.1),
        "avoid": (100, 17.4),
        "backtrack": (100, 17.5),
    },
    (100, 1, "Waxman 2"): {
        "uniform": (43.9, 289),
        "noback": (71.8, 211),
        "avoid": (86.2, 168),
        "backtrack": (100, 88.7),
    },
}
"""Of 2,000 queries each: success in % and messages, as systems.md 1.9 has them; ``avoid`` with its fallback."""

DEAD_END: dict[tuple[int, int, str], tuple[float, float]] = {
    (10, 5, "Waxman 2"): (91.7, 1.5),
    (10, 1, "Waxman 2"): (39.5, 2.9),
    (10, 1, "ring"): (100, 5.0),
    (100, 5, "Waxman 4"): (65.0, 11.1),
    (100, 1, "Waxman 2"): (4.5, 3.9),
}
"""Its column "avoid (NACK at dead end)"."""

AT_DEAD_END = "avoid, NACK at a dead end"
WITH_STEPS_BACK = "backtrack, steps back counted"
REASONS = {
    "noback": "walks end at a dead end here, turn back there",
    "avoid": "walks end at a dead end here, turn back there",
    "backtrack": "steps back count there",
}
"""Why a policy differs where it does; for the others, what is written on the page by hand."""
PUBLISHED_QUERIES = 2000


def agrees(found: Mapping[str, Any], published: float, error: float) -> bool:
    """Whether a published value lies within our interval, widened by its own sampling error."""
    low, high = found["low"], found["high"]
    return low is not None and low - error <= published <= high + error


def compare(summary: Summary) -> Iterator[tuple[str, ...]]:
    """Rows: where, policy, published, found, and whether they agree, of the table of systems.md 1.9."""
    for (brokers, holders, topology), policies in PUBLISHED.items():
        columns = {
            **policies,
            AT_DEAD_END: DEAD_END[brokers, holders, topology],
            WITH_STEPS_BACK: policies["backtrack"],
        }
        for policy, (success, messages) in columns.items():
            place = Place(brokers, holders, topology, f"walk, {policy.partition(',')[0]}")
            if place not in summary:
                continue
            found = _counted(summary[place], policy)
            share = success / 100
            chance = 196 * ((share * (1 - share) + 0.5 / PUBLISHED_QUERIES) / PUBLISHED_QUERIES) ** 0.5
            verdicts = (
                agrees(found["success"], success, chance),
                agrees(found["messages"], messages, 0.05 * messages + 0.05),
            )
            yield (
                f"{topology}, {holders} of {brokers}",
                policy,
                f"{success:g} / {messages:g}",
                f"{figure(found['success'])} / {figure(found['messages'])}",
                _verdict(*verdicts, REASONS.get(policy, "see above")),
            )


def _verdict(success: bool, messages: bool, reason: str) -> str:
    if success and messages:
        return "agree"
    return f"{'messages differ' if success else 'success differs' if messages else 'differ'}: {reason}"


def _counted(found: Mapping[str, dict[str, Any]], policy: str) -> Mapping[str, dict[str, Any]]:
    """With refusals among the messages, where steps back are: all datagrams but the answers, one for each hop."""
    if policy != WITH_STEPS_BACK:
        return found
    pairs = zip(found["datagrams"]["replicates"], found["hops"]["replicates"], strict=True)
    return {**found, "messages": interval([datagrams - hops for datagrams, hops in pairs], COUNT)}
