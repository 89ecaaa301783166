"""The timeline of one traced query of a run or a network, for REST and pages.

Counterparts: ``telemetry.systems.context_broker.traces`` joins the brokers' reports; ``of_runs`` and ``of_networks``
find them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any

from brokerweb.kit.moments import moment
from brokerweb.runpage import sequences
from overlay.systems.context_broker.broker.config import MOST_HOPS
from overlay.systems.context_broker.broker.search import STRATEGIES
from telemetry.charts import sequences as diagrams
from telemetry.systems.context_broker import tracefile
from telemetry.systems.context_broker.endings import ending_of
from telemetry.systems.context_broker.traces import CONSUMER, Hop, Query, Step

KINDS = {"request": "forwarded", "lookahead": "lookahead", "answer": "answer", "refusal": "refusal"}
SENTENCES = {
    "received": "received the request from {peer}",
    "looked": "looked up its table for {peer}",
    "dropped": "dropped the request of {peer}: {detail}",
    "turned away": "refused {peer}: query already seen",
    "found": "had the data and answered {peer}",
    "forwarded": "forwarded the request to {peer}",
    "looks": "sent a lookahead to {peer}",
    "answered": "received the answer from {peer}",
    "replicated": "stored a replica",
    "replied": "returned the answer to {peer}",
    "refused": "was refused by {peer}, status {detail}",
    "gave up": "gave up on {peer}, which is gone",
    "expired": "received no answer until the deadline",
    "passed back": "had no other broker to ask and refused {peer}, status {detail}",
}
"""Sentences by step; an unknown step is shown by name."""


def most_hops(settings: Mapping[str, Any], brokers: int) -> int | None:
    """Maximum number of hops of a query; ``None`` if the strategy has another limit."""
    strategy = STRATEGIES.get(settings.get("search", ""))
    if settings.get("arm") == "structured" or strategy is None or "walk_ttl" not in strategy.uses:
        return None
    return int(settings["walk_ttl"] or min(4 * brokers, MOST_HOPS))


def summary(row: Mapping[str, Any]) -> dict[str, Any]:
    """A row of ``telemetry.systems.context_broker.tracefile``, without its steps."""
    kept = ("id", "entity", "timestamp_ms", "asked", "outcome", "hops", "messages", "replicas", "partial")
    return {**{name: row[name] for name in kept}, "at": moment(row["timestamp_ms"]), "ms": ms(row["us"])}


def describe(query: Query, hops: int | None, client: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """A query in full; ``hops`` from ``most_hops``, ``client`` the consumer's record if known."""
    begin = query.at_us
    return {
        **summary(tracefile.row(query)),
        "ending": asdict(ending_of(query, hops, client["truth"] if client else None)),
        "consumer": query.consumer,
        "silent": query.silent,
        "passages": [_passage(hop, begin) for hop in query.hops],
        "steps": [_step(step, begin) for step in query.steps],
        "client": client,
    }


def shown(query: Mapping[str, Any], sequence: diagrams.Sequence, file: str) -> dict[str, Any]:
    """Template context of ``context_broker/walk_drawn.html``. Takes a query from ``describe``.

    ``file``: the beginning of the name of a saved picture.
    """
    entity, scope = query["entity"].rpartition("|")[::2]
    return {
        "query": query,
        "entity": entity.replace("|", " "),
        "scope": scope,
        "passages": [{**one, "words": KINDS[one["kind"]]} for one in query["passages"]],
        "steps": [{**step, "words": _words(step)} for step in query["steps"]],
        "walk": {
            "asked": query["asked"],
            "found": _brokers(query["steps"], "found"),
            "stored": query["replicas"],
            "passages": query["passages"],
        },
        **sequences.drawn(
            replace(sequence, lanes=["consumer" if lane is None else f"broker {lane}" for lane in sequence.lanes]),
            since="the query arrived",
            file=f"{file}-query-{query['id']}",
        ),
    }


def is_whole(query: Mapping[str, Any]) -> bool:
    """Whether the result of ``describe`` is complete: both ends of every message were reported."""
    return not query["partial"] and all(passage["ms"] is not None for passage in query["passages"])


def ms(us: int | None) -> float | None:
    """Milliseconds of microseconds."""
    return None if us is None else us / 1000


def _passage(hop: Hop, begin: int) -> dict[str, Any]:
    ends = {"sender": hop.sender, "receiver": hop.receiver}
    at_ms = None if hop.left_us is None else ms(hop.left_us - begin)
    times = {"at_ms": at_ms, "ms": ms(hop.us), "round_ms": ms(hop.round_us)}
    return {"number": hop.number, "kind": hop.kind, **ends, **times}


def _step(step: Step, begin: int) -> dict[str, Any]:
    return {
        "at_ms": ms(step.at_us - begin),
        "broker": step.broker,
        "step": step.step,
        "peer": step.peer if step.peer >= 0 else None,
        "with_consumer": step.peer == CONSUMER,
        "detail": step.detail,
    }


def _brokers(steps: Sequence[Mapping[str, Any]], step: str) -> list[int]:
    return sorted({one["broker"] for one in steps if one["step"] == step})


def _words(step: Mapping[str, Any]) -> str:
    peer = "the consumer" if step["with_consumer"] else "another broker"
    if step["peer"] is not None:
        peer = f"broker {step['peer']}"
    return SENTENCES.get(step["step"], "{step}").format(peer=peer, detail=step["detail"], step=step["step"])
