"""The pages that seed 003 adds. Counterpart: ``brokerweb.systems.contract.Web``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from brokerweb.systems.contract import Entry, Part, Web

if TYPE_CHECKING:
    from brokerweb.experiments.models import Run


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

    def parts_of_run(self, run: Run) -> Sequence[Part]:
        return (Part("messages", "Messages", "radiator/messages_part.html"),)
