"""What seed 004 adds on the web. Counterpart: ``brokerweb.systems.contract.Web``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from brokerweb.experiments.models import Run
from brokerweb.hosting.streams import Streams
from brokerweb.networks.models import Network
from brokerweb.systems.contextnet.doors.host import HOST
from brokerweb.systems.contextnet.map.of_runs import drives
from brokerweb.systems.contextnet.messages import of_runs
from brokerweb.systems.contract import Entry, Part, Rows, Web
from telemetry.systems.contextnet import messages


class ContextNetWeb(Web):
    urls = "brokerweb.systems.contextnet.urls"
    rest_urls = "brokerweb.systems.contextnet.rest_urls"
    context = Streams(HOST)
    trace_filters = messages.FILTERS
    lab = "brokerweb.systems.contextnet.wirelab.lab.LAB"
    entries = (
        Entry("ContextNet: wire lab", "Decode a datagram", "contextnet-wire", "protocol decode bytes tether transport"),
        Entry("ContextNet: compose", "Compose and send a datagram", "contextnet-wire-compose", "protocol send"),
        Entry("ContextNet: conversations", "Example datagrams", "contextnet-wire-conversations", "protocol wire"),
        Entry(
            "ContextNet: recorded messages",
            "Datagrams of recorded runs",
            "contextnet-wire-messages",
            "capture wire",
        ),
        Entry("ContextNet: Wireshark", "Dissector and installation", "contextnet-wire-wireshark", "lua capture"),
    )

    def parts_of_run(self, run: Run) -> Sequence[Part]:
        gateways = Part("gateways", "Gateways", "contextnet/gateways_part.html")
        messages = Part("messages", "Messages", "contextnet/messages_part.html")
        regions = Part("map", "Map", "contextnet/map_part.html")
        return (gateways, messages, regions) if drives(run) else (gateways, messages)

    def parts_of_network(self, network: Network) -> Sequence[Part]:
        gateways = Part("gateways", "Gateways", "contextnet/network_part.html")
        nodes = Part("nodes", "Nodes", "contextnet/nodes_part.html")
        return gateways, nodes, Part("users", "Users of applications", "contextnet/users_part.html")

    def traces_of_run(self, run: Run, chosen: Mapping[str, str], offset: int, limit: int) -> Rows:
        return of_runs.listed(run, chosen, offset, limit)
