"""What seed 002 adds on the web. Counterpart: ``brokerweb.systems.contract.Web``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from brokerweb.experiments.models import Experiment, Run
from brokerweb.hosting.streams import Streams
from brokerweb.networks.models import Network
from brokerweb.systems.contract import Entry, Part, Rows, ServerDetail, Web
from brokerweb.systems.silbops.breakeven.observed import observed
from brokerweb.systems.silbops.doors.host import HOST
from brokerweb.systems.silbops.messages import of_runs
from brokerweb.systems.silbops.running import arms
from brokerweb.systems.silbops.watching import lists, panel
from brokerweb.wirelab import recorded
from overlay.systems.silbops.tree import resting
from telemetry.systems.silbops import messages


class SilbopsWeb(Web):
    urls = "brokerweb.systems.silbops.urls"
    rest_urls = "brokerweb.systems.silbops.rest_urls"
    context = Streams(HOST)
    trace_filters = messages.FILTERS
    enums = {"PubsubState": "brokerweb.systems.silbops.models.State"}
    lab = "brokerweb.systems.silbops.wirelab.lab.LAB"
    entries = (
        Entry("SilboPS: wire lab", "Decode a datagram", "silbops-wire", "protocol decode bytes hexadecimal channel"),
        Entry("SilboPS: compose", "Compose and send a message", "silbops-wire-compose", "protocol send"),
        Entry("SilboPS: conversations", "Example messages", "silbops-wire-conversations", "protocol wire siena"),
        Entry("SilboPS: recorded messages", "Datagrams of recorded runs", "silbops-wire-messages", "capture wire"),
        Entry("SilboPS: Wireshark", "Dissector and installation", "silbops-wire-wireshark", "lua capture"),
        Entry(
            "SilboPS: break-even",
            "From how many notifications per change SIENA costs less",
            "silbops-break-even",
            "model costs filters subscriptions E2.6",
        ),
    )

    def parts_of_network(self, network: Network) -> Sequence[Part]:
        return (Part("use", "Publish and subscribe", "silbops/use_part.html"),)

    def parts_of_run(self, run: Run) -> Sequence[Part]:
        return (
            Part("publications", "Publications", "silbops/messages_part.html"),
            Part("map", "Map", "silbops/map_part.html", {"is_recorded": recorded.is_there(run)}),
            Part("arms", "Both arms", "silbops/arms_part.html", arms.shown(run)),
        )

    def traces_of_run(self, run: Run, chosen: Mapping[str, str], offset: int, limit: int) -> Rows:
        return of_runs.listed(run, chosen, offset, limit)

    def parts_of_experiment(self, experiment: Experiment) -> Sequence[Part]:
        found = observed(experiment.pk)
        return (Part("break-even", "Break-even", "silbops/break_even_part.html", {"rows": found}),) if found else ()

    def resting_links(self, network: Network) -> Sequence[tuple[int, int]]:
        """Which links rest follows from the topology."""
        return resting(network.deployed["brokers"], ((link["a"], link["b"]) for link in network.deployed["links"]))

    def clients_of_network(self, network: Network, offset: int, limit: int, reachable: bool | None) -> Rows:
        return lists.clients(network, offset, limit, reachable)

    def pending_of_network(self, network: Network, offset: int, limit: int) -> Rows:
        return lists.pending(network, offset, limit)

    def server_of_network(self, network: Network, index: int) -> dict[str, Any]:
        return {"traced_one_in": 0, "own": panel.of_broker(network, index)}

    def detail_of_network(self, network: Network, found: Mapping[str, Any]) -> ServerDetail:
        return panel.detail_of(found)
