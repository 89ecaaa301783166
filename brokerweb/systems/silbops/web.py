"""What seed 002 adds on the web. Counterpart: ``brokerweb.systems.contract.Web``."""

from __future__ import annotations

from brokerweb.systems.contract import Web


class SilbopsWeb(Web):
    urls = "brokerweb.systems.silbops.urls"
    rest_urls = "brokerweb.systems.silbops.rest_urls"
