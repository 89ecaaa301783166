"""The pages that seed 003 adds. Counterpart: ``brokerweb.systems.contract.Web``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from brokerweb.experiments.models import Run
from brokerweb.networks.models import Network
from brokerweb.systems.contract import Entry, Part, Rows, Web
from brokerweb.systems.radiator import inspecting
from brokerweb.systems.radiator.messages import of_runs


class RadiatorWeb(Web):
    urls = "brokerweb.systems.radiator.urls"
    rest_urls = "brokerweb.systems.radiator.rest_urls"
    lab = "brokerweb.systems.radiator.wirelab.lab.LAB"
    entries = (
        Entry(
            "Radiator: try an aggregability",
            "Which queue each message joins, and when it leaves",
            "radiator-try",
            "expression aggregation scenario dry run",
            "broadcast",
            "Radiator",
        ),
        Entry("Radiator: wire lab", "Decode a datagram", "radiator-wire", "protocol decode bytes hexadecimal"),
        Entry("Radiator: compose", "Compose and send a datagram", "radiator-wire-compose", "protocol send wire"),
        Entry("Radiator: conversations", "Example datagrams", "radiator-wire-conversations", "protocol wire chain"),
        Entry("Radiator: recorded messages", "Datagrams of recorded runs", "radiator-wire-messages", "capture wire"),
        Entry("Radiator: Wireshark", "Dissector and installation", "radiator-wire-wireshark", "lua capture"),
    )

    def parts_of_run(self, run: Run) -> Sequence[Part]:
        messages = Part("messages", "Messages", "radiator/messages_part.html")
        if not run.configuration.get("record_mb"):
            return (messages,)
        return messages, Part("datagrams", "Datagrams", "radiator/recorded_part.html")

    def parts_of_network(self, network: Network) -> Sequence[Part]:
        return (
            Part("server", "Clients and pending messages", "radiator/network.html"),
            Part("connect", "Connect an application", "radiator/connecting.html"),
        )

    def traces_of_run(self, run: Run, chosen: Mapping[str, str], offset: int, limit: int) -> Rows:
        return of_runs.listed(run, chosen.get("show", ""), offset, limit)

    def clients_of_network(self, network: Network, offset: int, limit: int, reachable: bool | None) -> Rows:
        with inspecting.asked(network) as server:
            return inspecting.clients(server, offset, limit, reachable)

    def pending_of_network(self, network: Network, offset: int, limit: int) -> Rows:
        with inspecting.asked(network) as server:
            return inspecting.pending(server, offset, limit)
