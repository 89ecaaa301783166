"""What seed 001 adds on the web. Counterpart: ``brokerweb.systems.contract.Web``."""

from __future__ import annotations

from brokerweb.systems.contract import Web
from brokerweb.systems.federation.doors.context import Doors


class FederationWeb(Web):
    rest_urls = "brokerweb.systems.federation.rest_urls"
    context = Doors()
    enums = {
        "SubscriptionKind": "brokerweb.systems.federation.doors.shapes.KINDS",
        "SubscriptionState": "brokerweb.systems.federation.models.SubscriptionState",
    }
