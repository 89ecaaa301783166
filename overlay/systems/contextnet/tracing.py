"""What happened to single messages in each process. Nothing that is sent depends on it. Pure.

One node in ``trace_one_in`` is traced, by its id: all messages from and to it, so that all processes trace the same
ones without a field in messages. Counterparts: ``rows.Step`` is what a run records, and
``telemetry.systems.contextnet.ways`` joins the steps. An answer has an id of its own (``names.answer_id``).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from overlay.core.node import SECOND
from overlay.core.settings import setting
from overlay.log.topics import Record

LISTED_A_SECOND: Final = 10_000
"""Steps that a process lists in a second at most; more are left out."""
STEPS: Final = (
    "sent",  # by a node, by an application to a topic, or by a gateway to the connection of a node
    "accepted",  # a node learns that its gateway has taken it over
    "received",  # from a node, by a gateway, or from a gateway, by a node
    "appended",  # a gateway learns that the record is durable
    "read",  # from the log, by an application or a gateway
    "acknowledged",  # a gateway learns that the node has it
    "given up",  # a gateway gives it up: it is not in the mini buffer
    "unsent",  # a gateway or an application gives it to the store; detail: why
    "stored",  # read by the store
    "sent on",  # by the store, to the topic of a gateway
    "expired",
    "evicted",  # from a full store
)


@dataclass(frozen=True)
class Tracing:
    trace_one_in: int = setting(
        10,
        unit="nodes",
        low=0,
        high=1_000_000,
        zero="off",
        help="One node in this many is traced: each message from and to it, from process to process. What is sent "
        "stays the same. 1 traces all, for short runs.",
    )


class Stepped(NamedTuple):
    """``Record``: where it was read."""

    at: int
    """``now``, ns."""
    id: bytes
    node: bytes
    step: str
    """One of ``STEPS``."""
    topic: str
    partition: int = -1
    position: int = -1
    appended_us: int = 0
    """Unix µs."""
    detail: str = ""


class Tracer:
    def __init__(self, one_in: int) -> None:
        self._one_in = one_in
        self._second = self._listed = 0
        self._steps: list[Stepped] = []

    def follows(self, node: bytes) -> bool:
        return self._one_in > 0 and int.from_bytes(node, "big") % self._one_in == 0

    def note(
        self,
        step: str,
        id: bytes,
        node: bytes,
        now: int,
        topic: str = "",
        *,
        record: Record | None = None,
        detail: str = "",
    ) -> None:
        """``record``: the one in which it was read."""
        if now - self._second >= SECOND:
            self._second, self._listed = now, 0
        self._listed += 1
        if self._listed > LISTED_A_SECOND:
            return
        if record is None:
            self._steps.append(Stepped(now, id, node, step, topic, detail=detail))
        else:
            place = record.topic, record.partition, record.position, record.appended_us
            self._steps.append(Stepped(now, id, node, step, *place, detail))

    def take(self) -> Sequence[Stepped]:
        steps, self._steps = self._steps, []
        return steps
