"""What seed 001 adds on the web. Counterpart: ``brokerweb.systems.contract.Web``."""

from __future__ import annotations

from brokerweb.systems.contract import Entry, Web
from brokerweb.systems.federation.doors.context import Doors


class FederationWeb(Web):
    rest_urls = "brokerweb.systems.federation.rest_urls"
    context = Doors()
    enums = {
        "SubscriptionKind": "brokerweb.systems.federation.doors.shapes.KINDS",
        "SubscriptionState": "brokerweb.systems.federation.models.SubscriptionState",
    }
    urls = "brokerweb.systems.federation.urls"
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
