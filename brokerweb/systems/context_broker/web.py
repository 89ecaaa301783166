"""Parts that seed 000 adds to common pages. Counterpart: ``brokerweb.systems.contract.Web``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from django.conf import settings

from brokerweb.experiments.models import Run
from brokerweb.networks.models import Network
from brokerweb.systems.context_broker.context.plane import PLANE
from brokerweb.systems.context_broker.panel import of_networks, of_runs
from brokerweb.systems.context_broker.queries.of_networks import traced_one_in
from brokerweb.systems.contract import Entry, Part, ServerDetail, Web
from telemetry.errors import StorageError
from telemetry.lake.runs import RunFiles
from telemetry.systems.context_broker import holdings

HERE = "brokerweb.systems.context_broker"
COPIES_SHOWN, COPIES_DRAWN = 12, 1_000
"""Entities in table and chart, most queried first; REST has all."""


class ContextBrokerWeb(Web):
    """Queries, messages, copies, context and the wire lab."""

    urls = f"{HERE}.urls"
    rest_urls = f"{HERE}.rest_urls"
    sections: ClassVar[Mapping[str, str]] = {
        "wire": "Datagrams: decoded, composed, sent. Any system: `/api/systems/NAME/wire/`."
    }
    context = PLANE
    lab = f"{HERE}.wirelab.lab.LAB"
    run_messages = f"{HERE}.wirelab.recorded.MESSAGES"
    enums = {"TraceOutcome": "telemetry.systems.context_broker.traces.OUTCOMES"}
    entries = (
        Entry("Wire lab: decode", "Decode a datagram", "wire", "protocol message bytes", "wire", "Wire lab", "w"),
        Entry("Wire lab: compose", "Compose and send a datagram", "wire-compose", "protocol message send"),
        Entry("Wire lab: recorded messages", "Datagrams of recorded runs", "wire-messages", "capture pcap"),
        Entry("Wire lab: Wireshark", "Dissector and installation", "wire-wireshark", "lua capture"),
    )

    def parts_of_run(self, run: Run) -> Sequence[Part]:
        return (Part("queries", "Queries", "context_broker/queries_part.html"), _copies(run))

    def parts_of_network(self, network: Network) -> Sequence[Part]:
        return (Part("ask", "Query and store context", "context_broker/ask.html"),)

    def server_of_run(self, run: Run, index: int, shown: Mapping[str, Any]) -> dict[str, Any]:
        return of_runs.own_words(run, index, shown)

    def server_of_network(self, network: Network, index: int) -> dict[str, Any]:
        return {"traced_one_in": traced_one_in(network), "own": of_networks.own_words(network, index)}

    def detail_of_run(self, run: Run, found: Mapping[str, Any]) -> ServerDetail:
        return of_runs.detail_of(run, found)

    def detail_of_network(self, network: Network, found: Mapping[str, Any]) -> ServerDetail:
        return of_networks.detail_of(network, found)


def _copies(run: Run) -> Part:
    """Empty for a run whose brokers did not report their data."""
    held = run.summary.get("holdings") or {}
    try:
        found = holdings.most_wanted(RunFiles(settings.RUNS / run.pk), COPIES_DRAWN) if held.get("brokers") else []
    except StorageError as error:
        return Part("copies", "Copies", "parts/damaged.html", {"damage": str(error)})
    if not found:
        return Part("copies", "", "")
    drawn = holdings.drawn(found, held.get("exponent"))
    shown = {"held": held, "rows": found[:COPIES_SHOWN], "drawn": drawn}
    return Part("copies", "Copies", "context_broker/copies.html", shown, "js/copies.js" if drawn else "")
