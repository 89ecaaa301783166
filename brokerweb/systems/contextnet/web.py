"""What seed 004 adds on the web. Counterpart: ``brokerweb.systems.contract.Web``."""

from __future__ import annotations

from collections.abc import Sequence

from brokerweb.hosting.streams import Streams
from brokerweb.networks.models import Network
from brokerweb.systems.contextnet.doors.host import HOST
from brokerweb.systems.contract import Part, Web


class ContextNetWeb(Web):
    urls = "brokerweb.systems.contextnet.urls"
    rest_urls = "brokerweb.systems.contextnet.rest_urls"
    context = Streams(HOST)

    def parts_of_network(self, network: Network) -> Sequence[Part]:
        return (Part("nodes", "Nodes", "contextnet/nodes_part.html"),)
