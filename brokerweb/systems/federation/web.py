"""What seed 001 adds on the web. Counterpart: ``brokerweb.systems.contract.Web``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from brokerweb.experiments.models import Run
from brokerweb.hosting.streams import Streams
from brokerweb.networks.models import Network
from brokerweb.systems.contract import Entry, Part, Rows, ServerDetail, Web
from brokerweb.systems.federation.doors.host import HOST
from brokerweb.systems.federation.messages import of_runs
from brokerweb.systems.federation.watching import lists, panel
from brokerweb.systems.federation.watching.mobile import indices
from brokerweb.systems.federation.watching.tree import resting_links
from brokerweb.wirelab import recorded
from telemetry.systems.federation import messages


class FederationWeb(Web):
    urls = "brokerweb.systems.federation.urls"
    rest_urls = "brokerweb.systems.federation.rest_urls"
    context = Streams(HOST)
    trace_filters = messages.FILTERS
    enums = {
        "SubscriptionKind": "brokerweb.systems.federation.doors.shapes.KINDS",
        "SubscriptionState": "brokerweb.systems.federation.models.SubscriptionState",
    }
    lab = "brokerweb.systems.federation.wirelab.lab.LAB"
    entries = (
        Entry(
            "Federated brokers: wire lab",
            "Decode a datagram",
            "federation-wire",
            "protocol decode bytes hexadecimal channel contextml",
        ),
        Entry("Federated brokers: compose", "Compose and send a message", "federation-wire-compose", "protocol send"),
        Entry("Federated brokers: conversations", "Example messages", "federation-wire-conversations", "protocol wire"),
        Entry(
            "Federated brokers: recorded messages",
            "Datagrams of recorded runs",
            "federation-wire-messages",
            "capture wire",
        ),
        Entry("Federated brokers: Wireshark", "Dissector and installation", "federation-wire-wireshark", "lua capture"),
    )

    def parts_of_run(self, run: Run) -> Sequence[Part]:
        return (Part("messages", "Messages", "federation/messages_part.html", {"is_recorded": recorded.is_there(run)}),)

    def traces_of_run(self, run: Run, chosen: Mapping[str, str], offset: int, limit: int) -> Rows:
        return of_runs.listed(run, chosen, offset, limit)

    def parts_of_network(self, network: Network) -> Sequence[Part]:
        tree = Part("tree", "Tree", "federation/tree_part.html")
        mobile = Part("mobile", "Mobile brokers", "federation/mobile_part.html")
        subscribe = Part("subscribe", "Subscribe", "federation/subscribe_part.html")
        return (mobile, tree, subscribe) if indices(network) else (tree, subscribe)

    def resting_links(self, network: Network) -> Sequence[tuple[int, int]]:
        """None while no server answers."""
        return resting_links(network)

    def clients_of_network(self, network: Network, offset: int, limit: int, reachable: bool | None) -> Rows:
        return lists.clients(network, offset, limit, reachable)

    def pending_of_network(self, network: Network, offset: int, limit: int) -> Rows:
        return lists.pending(network, offset, limit)

    def server_of_network(self, network: Network, index: int) -> dict[str, Any]:
        return {"traced_one_in": 0, "own": panel.own_words(network, index)}

    def detail_of_network(self, network: Network, found: Mapping[str, Any]) -> ServerDetail:
        return panel.detail_of(found)
