"""The pages that seed 003 adds. Counterpart: ``brokerweb.systems.contract.Web``."""

from __future__ import annotations

from brokerweb.systems.contract import Entry, Web


class RadiatorWeb(Web):
    urls = "brokerweb.systems.radiator.urls"
    entries = (
        Entry(
            "Radiator: try an aggregability",
            "Which queue each message joins, and when it leaves",
            "radiator-try",
            "expression aggregation scenario dry run",
            "broadcast",
            "Radiator",
        ),
        Entry(
            "Radiator: decode a datagram",
            "Each field of a message",
            "radiator-wire",
            "protocol wire lab bytes hexadecimal",
        ),
    )
