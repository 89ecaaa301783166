"""A broker: a ``Node`` that joins its rooms.

::

    datagrams ─> Peers ─> Pressure ─> a room for each kind of message ─> Tables ─> tell ─> Pressure ─> Peers ─> out
                       (who must wait)                                 ADV .. FORGET: differences

One queue, messages in order of arrival. Order at one instant: deadlines of the broker, of the channel, datagrams.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from overlay.core.addresses import Address
from overlay.core.chance import Chances
from overlay.core.node import NodeEvent
from overlay.core.timers import sooner
from overlay.peers.answers import Answers
from overlay.peers.peers import LEAVE_NS
from overlay.systems.roles import Place
from overlay.systems.silbops.broker.core import Core
from overlay.systems.silbops.broker.tracing import Tracer
from overlay.systems.silbops.broker.view import View
from overlay.systems.silbops.names import broker_name
from overlay.systems.silbops.peers import Peers
from overlay.systems.silbops.subjects import Subject
from overlay.systems.silbops.tree import neighbours_of, tree_of

if TYPE_CHECKING:
    from overlay.systems.silbops.config import ServerConfig


class Broker:
    def __init__(
        self, config: ServerConfig, place: Place, chances: Chances, wall_offset_ns: int, key: bytes | None = None
    ) -> None:
        settings = config.settings
        self.name, self.address = broker_name(place.number), place.address
        self.peers = Peers(
            self.name.encode(), settings, chances.walks, wall_offset_ns, key, subjects=frozenset(map(int, Subject))
        )
        one_in = settings.trace_one_in
        self._tracer = Tracer(one_in, is_following=config.is_followed) if one_in or config.is_followed else None
        tree = tree_of(config.brokers, ((a, b) for a, b, *_ in config.links))
        self.core = Core(
            self.name,
            settings,
            self.peers,
            chances.upkeep,
            {broker_name(number): address for number, address in enumerate(place.servers[: config.brokers])},
            [broker_name(number) for number in neighbours_of(place.number, tree)],
            self._tracer,
        )
        view = View(self.core.station, self.core.neighbours, self.core.clients, self.core.explaining)
        contents = view.contents(lambda: self.statistics(self.peers.now))
        self._answers = Answers(self.peers, self.peers.channel.id, self.address, chances, contents)

    # ---- a Node

    def receive_datagrams(self, datagrams: Sequence[tuple[bytes, Address]], now: int) -> None:
        """One by one, as a replay does: what one changes, such as the end of a session, counts for the next."""
        for data, source in datagrams:
            self._begin(now)
            self.peers.receive(data, source)
            self.core.hear()
            self._answer()

    def handle_timer(self, now: int) -> None:
        self._begin(now)
        self.core.hear()

    def next_timer(self) -> int | None:
        return sooner(self.core.station.timers.next_timer(), self.peers.channel.next_timer())

    def datagrams_to_send(self) -> Sequence[tuple[bytes, Address]]:
        return self.peers.channel.datagrams_to_send()

    def events(self) -> Sequence[NodeEvent]:
        log, self.core.station.log = self.core.station.log, []
        return log

    def set_wall_clock(self, offset_ns: int) -> None:
        """No time-out follows the wall clock."""
        self.peers.wall_offset_ns = offset_ns

    def leave(self, now: int) -> int:
        """Close all sessions. Clients and neighbours learn of it at once."""
        self._begin(now)
        self.core.leave()
        return LEAVE_NS

    @property
    def knows(self) -> Callable[[Address], bool]:
        """Addresses of sessions. Datagrams from all others wait behind theirs, whatever their sources claim to be."""
        return lambda address: self.peers.knows(address)

    def traces(self) -> Sequence[Any]:
        return () if self._tracer is None else self._tracer.take()

    def time_messages(self, clock: Callable[[], int]) -> None:
        """``clock``: as ``System.time_server``."""
        self.core.station.busy.clock = clock

    def statistics(self, now: int) -> dict[str, int]:
        return {**self.peers.counters, **self.core.statistics()}

    def check_invariants(self) -> None:
        """Section 9, as far as it is about one broker. Raises ``AssertionError``."""
        self.peers.check_invariants()
        self.core.check_invariants()

    @property
    def is_settled(self) -> bool:
        """Whether nothing is under way here."""
        return self.core.is_settled

    # ---- inner

    def _answer(self) -> None:
        questions, self.core.operators = self.core.operators, []
        for one in questions:
            self._answers.answer(one.message, one.source)

    def _begin(self, now: int) -> None:
        """Everything that is due by ``now``; mostly nothing is."""
        self.core.begin(now)
        self.peers.channel.handle_timer(now)
