"""What seed 004 adds on the web. Counterpart: ``brokerweb.systems.contract.Web``."""

from __future__ import annotations

from brokerweb.hosting.streams import Streams
from brokerweb.systems.contextnet.doors.host import HOST
from brokerweb.systems.contract import Web


class ContextNetWeb(Web):
    rest_urls = "brokerweb.systems.contextnet.rest_urls"
    context = Streams(HOST)
