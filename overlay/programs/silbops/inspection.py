"""An operator's questions to brokers of SilboPS, for programs on their host.

Counterpart: ``overlay.systems.silbops.broker.view`` answers.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from overlay.channel import wire
from overlay.core.addresses import Address
from overlay.peers.questions import ping, read_answer
from overlay.programs import inspection
from overlay.programs.questions import Questions
from overlay.systems.silbops.clients.terms import Site
from overlay.systems.silbops.subjects import Subject

BROKER = "a broker of SilboPS"


class Inspector(inspection.Inspector):
    what = BROKER

    def why(self, publication: Mapping[str, Any]) -> Mapping[str, Any]:
        """A dry publication; ``broker.explaining`` says what is asked and answered."""
        return self.ask(Subject.WHY, about=publication)


def arm_of(address: Address, deadline_s: float = 10.0) -> str:
    """The arm of the network of a broker; empty: it tells programs on its own host only. Raises ``NoAnswer``."""
    try:
        with Inspector(address, deadline_s) as broker:
            return str(broker.ask(Subject.STATE)["arm"])
    except inspection.NotInspected:
        return ""


def site_of(address: Address, deadline_s: float = 10.0) -> Site:
    """The broker at an address, by the name that its answers have. Any host may ask. Raises ``NoAnswer``."""

    def read(data: bytes) -> str | None:
        if read_answer(data) is None:
            return None
        return wire.read_id(data, wire.HEAD_BYTES, len(data)).decode(errors="replace") or None

    with Questions(address, BROKER) as questions:
        return Site(questions.ask(ping(1), read, deadline_s), address)
