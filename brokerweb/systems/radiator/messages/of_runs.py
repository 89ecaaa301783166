"""The messages of a run as JSON: their list, and one message's complete way. The pages show the same (``views``)."""

from __future__ import annotations

from typing import Any

from django.conf import settings

from brokerweb.experiments.models import Run
from brokerweb.systems.contract import Rows
from overlay.core.errors import InvalidSetting
from telemetry.lake.runs import Lake, RunFiles
from telemetry.systems.radiator import messages, way_files
from telemetry.systems.radiator.ways import Chain, Hop, Propagation


def files(run: Run) -> RunFiles:
    return RunFiles(settings.RUNS / run.pk)


def listed(run: Run, show: str, offset: int, limit: int) -> Rows:
    """Raises ``InvalidSetting`` for an unknown view (``messages.VIEWS``)."""
    if show and show not in messages.VIEWS:
        raise InvalidSetting("show", f"must be one of {', '.join(messages.VIEWS)}, not {show!r:.40}")
    return Rows(*messages.listed(files(run), show or "all", offset, limit))


def found(run: Run, message: str) -> dict[str, Any] | None:
    """One message, its queues and its propagations with their chains, hop by hop."""
    way = way_files.find(files(run), Lake(settings.LAKE), message)
    if way is None:
        return None
    queues = [
        {
            "queue": one.queue,
            "recipients": one.recipients,
            "delivered": one.delivered,
            "propagation": None if one.propagation is None else one.propagation.number,
            "state": one.state,
        }
        for one in way.groups
    ]
    undelivered = [{"client": one.client, "state": one.state} for one in way.undelivered]
    propagations = [_propagation(one) for one in way.propagations]
    return {**way.row, "queues": queues, "propagations": propagations, "undelivered": undelivered}


def _propagation(one: Propagation) -> dict[str, Any]:
    return {
        "number": one.number,
        "emitted_us": one.emitted_us,
        "messages": list(one.messages),
        "recipients": one.recipients,
        "pushes": one.pushes,
        "chain_count": one.chain_count,
        "direct": list(one.direct),
        "chains": [_chain(chain) for chain in one.chains],
    }


def _chain(chain: Chain) -> dict[str, Any]:
    return {"number": chain.number, "repairs": chain.repairs, "hops": [_hop(hop) for hop in chain.hops]}


def _hop(hop: Hop) -> dict[str, Any]:
    steps = [{"at_us": one.at_us, "step": one.step, "attempt": one.attempt} for one in hop.steps]
    return {
        "client": hop.client,
        "state": hop.state,
        "received_us": hop.received_us,
        "took_us": hop.took_us,
        "steps": steps,
    }
