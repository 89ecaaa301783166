"""One message's way: node, gateway, log, application, and its answer back; or the store, and later the node. Pure.

::

    node ── DATA ──> gateway ── inbound [0] ──> log ──> application
                                                            │
    node <── DATA ── gateway <── log <── gateway.0 [0] ────┘
                        └─ unsent [1] ──> log ──> store ── gateway.1 [0] ─> log ──> gateway ── DATA ──> node

Counterparts: ``way_files`` reads the steps of a run (``overlay.systems.contextnet.tracing``), ``messages`` has a row
for each message. All processes of a run share one zero, so times can be compared. Nothing is guessed: a passage of
which one end is known has no duration.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import inf
from typing import Any, Final, NamedTuple

from overlay.core.processes import role_of
from overlay.systems.contextnet.names import APPLICATION, GATEWAY, MTD, NODE
from telemetry.charts.sequences import Sent
from telemetry.systems.contextnet.messages import INBOUND

LOG: Final = "log"
WRITES: Final = ("received", "sent", "unsent", "sent on")
"""Steps that write a record, if they have a topic."""
READS: Final = ("read", "stored")
"""Steps that read one."""


class Step(NamedTuple):
    """As ``overlay.systems.contextnet.rows.Step``, with its instant."""

    at_us: int
    id: str
    place: str
    step: str
    topic: str
    partition: int
    position: int
    appended_us: int
    detail: str

    @property
    def shelf(self) -> str:
        """The topic and the partition of what was read: ``inbound [0]``."""
        return f"{self.topic} [{self.partition}]"


@dataclass(frozen=True)
class Way:
    row: Mapping[str, Any]
    """As ``messages.SCHEMA``."""
    answer: str
    """The id of its answer."""
    steps: Sequence[Step]
    """Of the message and its answer, chronological."""

    @property
    def is_inbound(self) -> bool:
        return bool(self.row["direction"] == INBOUND)

    @cached_property
    def passages(self) -> Sequence[Sent]:
        """Between node, gateways, log, applications and store, in the order of sending, numbered."""
        found = [one for id in (self.row["id"], self.answer) for one in self._of(id)]
        found.sort(key=lambda one: (one.sent_us, inf if one.arrived_us is None else one.arrived_us))
        return [replace(one, number=at + 1, passage=at) for at, one in enumerate(found)]

    @property
    def places(self) -> list[str]:
        """Who takes part, from the node over gateways, log and applications to stores; several by number."""
        ends = {str(end) for one in self.passages for end in (one.sender, one.receiver)}
        return sorted(ends, key=lambda place: (_ORDER.index(_kind(place)), len(place), place))

    @property
    def was_stored(self) -> bool:
        return any(one.step == "stored" for one in self.steps)

    def is_answer(self, one: Step) -> bool:
        return one.id == self.answer

    # ---- inner

    def _of(self, id: str) -> Iterator[Sent]:
        steps = [one for one in self.steps if one.id == id]
        yield from _over_connections(steps)
        yield from _over_the_log(steps)


_ORDER: Final = (NODE, GATEWAY, LOG, APPLICATION, MTD)


def _kind(place: str) -> str:
    return place if place == LOG else role_of(place)


def _over_connections(steps: Sequence[Step]) -> Iterator[Sent]:
    """Between a node and its gateways. What arrives was sent last."""
    sends = [one for one in steps if one.step == "sent" and not one.topic]
    for arrival in (one for one in steps if one.step == "received"):
        before = [one for one in sends if _is_node(one) != _is_node(arrival) and one.at_us <= arrival.at_us]
        if before:
            sends.remove(before[-1])
            yield Sent("DATA", before[-1].place, arrival.place, before[-1].at_us, arrival.at_us)
    node = next((one.place for one in steps if _is_node(one)), "")
    for sent in sends:
        if node and not _is_node(sent):
            yield Sent("DATA", sent.place, node, sent.at_us, None, is_lost=not _is_acknowledged(sent, steps))


def _is_acknowledged(sent: Step, steps: Sequence[Step]) -> bool:
    """Before the gateway sent it again, or gave it to the store."""
    later = [one.step for one in steps[steps.index(sent) + 1 :] if one.place == sent.place]
    return next((one == "acknowledged" for one in later if one in ("acknowledged", "sent", "unsent")), False)


def _is_node(one: Step) -> bool:
    return role_of(one.place) == NODE


def _over_the_log(steps: Sequence[Step]) -> Iterator[Sent]:
    """Records, each from its writer to the log, and from there to each reader."""
    writes = [one for one in steps if one.step in WRITES and one.topic]
    for read in (one for one in steps if one.step in READS):
        written = [one for one in writes if one.topic == read.topic and one.at_us <= read.appended_us]
        if written:
            writer = written[-1]
            writes.remove(writer)
            yield Sent(read.shelf, writer.place, LOG, writer.at_us, read.appended_us)
        yield Sent(read.shelf, LOG, read.place, read.appended_us, read.at_us)
    for writer in writes:  # that no reader has read
        durable = (one.at_us for one in steps if one.step == "appended" and one.place == writer.place)
        yield Sent(
            writer.topic, writer.place, LOG, writer.at_us, next((at for at in durable if at >= writer.at_us), None)
        )
