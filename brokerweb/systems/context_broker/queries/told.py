"""One traced query as REST gives it and pages show it: of a run, or of a network that stays up.

Counterparts: ``telemetry.systems.context_broker.traces`` joined what brokers reported; ``experiments.traces`` and
``networks.walks`` find it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from brokerweb.kit.moments import moment
from overlay.systems.context_broker.broker.config import MOST_HOPS
from overlay.systems.context_broker.broker.search import STRATEGIES
from telemetry.systems.context_broker import sequence as diagrams
from telemetry.systems.context_broker import tracefile
from telemetry.systems.context_broker.endings import ending_of
from telemetry.systems.context_broker.traces import CONSUMER, Hop, Query, Step

KINDS = {"request": "passed on", "lookahead": "looked at", "answer": "answer back", "refusal": "refusal back"}
SENTENCES = {
    "received": "received the request from {peer}",
    "looked": "looked into its table for {peer}",
    "dropped": "dropped the request of {peer}: {detail}",
    "turned away": "refused {peer}: the query had been here before",
    "found": "had the data and answered {peer}",
    "forwarded": "passed the request on to {peer}",
    "looks": "let {peer} look into its table",
    "answered": "got the answer from {peer}",
    "replicated": "kept a replica",
    "replied": "passed the answer back to {peer}",
    "refused": "was refused by {peer}, status {detail}",
    "gave up": "waited no longer for {peer}, which is gone",
    "expired": "heard nothing until its deadline",
    "passed back": "had nobody left to ask and told {peer}, status {detail}",
}
"""By step, what a broker did; a step not known here is shown by its name."""

STEP_PX, LEAST_PX, AROUND_PX = 20, 80, 60
"""How high ``static/js/query-sequence.js`` draws the diagram: its place is kept, so that the page does not jump."""


def most_hops(settings: Mapping[str, Any], brokers: int) -> int | None:
    """How many hops a query goes at most; ``None`` where the strategy has another bound."""
    strategy = STRATEGIES.get(settings.get("search", ""))
    if settings.get("arm") == "structured" or strategy is None or "walk_ttl" not in strategy.uses:
        return None
    return int(settings["walk_ttl"] or min(4 * brokers, MOST_HOPS))


def summary(row: Mapping[str, Any]) -> dict[str, Any]:
    """A row of ``telemetry.systems.context_broker.tracefile``, without its steps."""
    kept = ("id", "entity", "timestamp_ms", "asked", "outcome", "hops", "messages", "replicas", "partial")
    return {**{name: row[name] for name in kept}, "at": moment(row["timestamp_ms"]), "ms": ms(row["us"])}


def told(query: Query, hops: int | None, client: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """All of one query; ``hops`` as ``most_hops`` says, ``client`` what its consumer saw of it, where that is known."""
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


def shown(query: Mapping[str, Any], sequence: diagrams.Sequence, **file: str) -> dict[str, Any]:
    """What ``context_broker/walk_drawn.html`` shows of what ``told`` told; ``file`` names what is taken away."""
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
            "replicas": query["replicas"],
            "passages": query["passages"],
        },
        "sequence": {**asdict(sequence), "query": query["id"], **file},
        "sequence_px": max(STEP_PX * sequence.steps, LEAST_PX) + AROUND_PX,
        "left_out": sequence.left_out,
    }


def is_whole(query: Mapping[str, Any]) -> bool:
    """Whether all was reported of what ``told`` told: nothing is missing at either end of any way."""
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
