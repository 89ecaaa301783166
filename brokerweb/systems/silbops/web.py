"""What seed 002 adds on the web. Counterpart: ``brokerweb.systems.contract.Web``."""

from __future__ import annotations

from collections.abc import Sequence

from brokerweb.hosting.streams import Streams
from brokerweb.networks.models import Network
from brokerweb.systems.contract import Part, Web
from brokerweb.systems.silbops.doors.host import HOST


class SilbopsWeb(Web):
    urls = "brokerweb.systems.silbops.urls"
    rest_urls = "brokerweb.systems.silbops.rest_urls"
    context = Streams(HOST)
    enums = {"PubsubState": "brokerweb.systems.silbops.models.State"}

    def parts_of_network(self, network: Network) -> Sequence[Part]:
        return (Part("use", "Publish and subscribe", "silbops/use_part.html"),)
