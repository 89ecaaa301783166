"""The server as drivers know it: made from a configuration, with counters and a log of what happened to messages."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

from overlay.core.addresses import Address
from overlay.core.chance import Chances
from overlay.core.hashes import blake2b
from overlay.core.node import NodeEvent
from overlay.core.strangers import token_of
from overlay.systems.radiator.aggregation.choice import make_algorithm
from overlay.systems.radiator.clients.table import Entry
from overlay.systems.radiator.language.aggregability import Aggregability, aggregability
from overlay.systems.radiator.language.aggregates import Aggregation
from overlay.systems.radiator.language.chainability import Chainability
from overlay.systems.radiator.server.facts import Identity
from overlay.systems.radiator.server.inspection import View, inspected
from overlay.systems.radiator.server.retention import Retention, attributes_of
from overlay.systems.radiator.server.server import Server
from overlay.systems.radiator.settings import NONE, ServerConfig
from overlay.systems.radiator.tracing import Tracer
from overlay.systems.radiator.wire.messages import Inspect

OUTCOMES = ("delivered", "failed", "dropped_unreachable", "unregistered", "taken over", "shut down")
COUNTED = ("propagations", "pushes", "chains", "recipients", "repairs", *OUTCOMES)


class Service(Server):
    """A server of the contract (``overlay.systems.cores.Server``)."""

    def __init__(self, config: ServerConfig, address: Address, chances: Chances) -> None:
        settings = config.settings
        self._function: Aggregability = aggregability(settings.aggregability_text, settings.on_error)
        self._aggregation = Aggregation(settings.aggregation_text)
        algorithm = make_algorithm(settings.index, self._function, settings.options(config.audience))
        self._tracer = Tracer(settings.trace_one_in)
        self._retention = Retention(algorithm, self._aggregation, self._tracer)
        self._is_reported = config.is_reported
        super().__init__(
            settings,
            address,
            _identity(chances),
            chances.walks,
            self._retention,
            chainability=_chainability(settings.chainability),
        )
        self._log: list[tuple[int, NodeEvent]] = []

    @property
    def epoch(self) -> int:
        return self._identity.epoch

    @property
    def is_idle(self) -> bool:
        """Whether nothing is in flight or queued, and no deadline is set."""
        is_empty = not self.propagations.in_flight and not self.uplink.queued_bytes
        return is_empty and self._retention.next_timer() is None

    @property
    def knows(self) -> Callable[[Address], bool]:
        return self.clients.knows

    def set_wall_clock(self, offset_ns: int) -> None:
        """It has no use for the time of day."""

    def receive_datagrams(self, datagrams: Sequence[tuple[bytes, Address]], now: int) -> None:
        super().receive_datagrams(datagrams, now)
        self._note(now)

    def handle_timer(self, now: int) -> None:
        super().handle_timer(now)
        self._note(now)

    def fault(self, document: Mapping[str, Any], begins: bool, now: int) -> None:
        super().fault(document, begins, now)
        self._note(now)

    def leave(self, now: int) -> int:
        remaining = super().leave(now)
        self._note(now)
        return remaining

    def events(self) -> Sequence[NodeEvent]:
        """None: what happens to messages is in ``traces``."""
        return ()

    def traces(self) -> Sequence[tuple[int, NodeEvent]]:
        """What happened to messages since the last call, with times."""
        log, self._log = self._log, []
        return log

    def _note(self, now: int) -> None:
        events = [*self._tracer.events(), *super().events()]
        if self._is_reported:
            self._log += [(now, event) for event in events]

    def statistics(self, now: int) -> dict[str, int]:
        uplink, algorithm = self.uplink, self._retention.algorithm
        sizes = list(algorithm.sizes())
        return {
            "clients": len(self.clients),
            "reachable": len(algorithm.places),
            "retained": algorithm.retained,
            "pairs_retained": sum(size * recipients for size, recipients in sizes),
            "pending_max": max((size for size, _ in sizes), default=0),
            "pairs_in_flight": self.propagations.in_flight,
            "uplink_queued_bytes": uplink.queued_bytes,
            **{name: self.counts[name] for name in ("accepted", "busy", "over_share", "refused", "unreadable")},
            **_named(self.propagations.counts),
            "evaluations": algorithm.evaluations,
            "function_errors": self._function.errors,
            "left_out": self._aggregation.left_out,
            "outbound_datagrams": uplink.datagrams_sent,
            "outbound_bytes": uplink.bytes_sent,
            "outbound_bytes_uncompressed": uplink.bytes_sent + uplink.bytes_spared,
        }

    def _inspect(self, request: Inspect, source: Address, now: int) -> None:
        token = token_of(self._identity.secret, source, self.epoch)
        view = View(self.clients, self._retention.algorithm, lambda: self.statistics(now), self._shares.of_client, now)
        self._answer(inspected(request, source, self.address, token, view), source, now)

    _HANDLERS: ClassVar[Mapping[type, Callable[..., None]]] = {**Server._HANDLERS, Inspect: _inspect}

    def work(self) -> tuple[int, int, int]:
        """The totals of ``names.UNITS``."""
        counts = self.propagations.counts
        return self._retention.algorithm.evaluations, counts["originals"], counts["members"]


def _named(counts: Counter[str]) -> dict[str, int]:
    return {name.replace(" ", "_"): counts[name] for name in COUNTED}


def _identity(chances: Chances) -> Identity:
    """From the secret of a live server by a hash, so that clients, who know epoch and key, cannot compute the rest."""
    if chances.secret:
        drawn = blake2b(chances.secret, digest_size=40).digest()
        return Identity((int.from_bytes(drawn[:8], "big") >> 1) + 1, drawn[8:24], drawn[24:])
    epoch, *words = (chances.members.randrange(1 << 63) for _ in range(5))
    numbers = b"".join(word.to_bytes(8, "big") for word in words)
    return Identity(epoch + 1, numbers[:16], numbers[16:])


def _chainability(text: str) -> Callable[[Entry, Entry], float] | None:
    if text.strip() == NONE:
        return None
    compiled = Chainability(text)
    return lambda a, b: compiled.value(attributes_of(a), a.key[1], attributes_of(b), b.key[1])
