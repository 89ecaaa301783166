"""Tables over links that form cycles (``cycles`` suppress): every change is flooded, by its id and its home's version.

As state, a table on a cycle would keep what is withdrawn for ever (seed 001, section 7). Here a broker passes on what
is newer than what it knows, and remembers what is withdrawn. A subscription is held from every neighbour that told it,
so notifications take all ways; they are suppressed by their ids and paths. A message with a version is a SUBTABLE or
REGTABLE of changes, never of a complete table.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

from overlay.core.node import SECOND
from overlay.systems.federation.broker.edges import Edge
from overlay.systems.federation.broker.exchange import MOST_ROWS, PERIODIC
from overlay.systems.federation.broker.flood_sending import FloodSending, Known
from overlay.systems.federation.broker.forwarding import Forwarding
from overlay.systems.federation.broker.neighbour_events import DisappearanceLearned
from overlay.systems.federation.broker.station import Clock, Station
from overlay.systems.federation.tables.destinations import client, neighbour
from overlay.systems.federation.tables.outlets import Change
from overlay.systems.federation.wire import messages as m
from overlay.systems.federation.wire.messages import Whole
from overlay.systems.federation.wire.values import Entry, Role, Subscription, SubscriptionId, Summary

T = TypeVar("T")
V = TypeVar("V")
REMEMBERED_MS = 120_000
"""How long it is known that something was withdrawn whose expiry is not known."""


class Flood:
    """As ``Exchange``."""

    def __init__(self, station: Station, edges: Mapping[str, Edge], forwarding: Forwarding) -> None:
        self._station, self._peers, self._tables = station, station.peers, station.tables
        self._forwarding, self._name = forwarding, station.name
        self._period = round(station.settings.exchange_s * SECOND)
        self._subscriptions: dict[SubscriptionId, Known[Subscription]] = {}
        self._entries: dict[str, Known[Entry]] = {}
        self._ready: dict[str, Edge] = {}
        self._owing: dict[str, Edge] = {}
        """Edges over which all goes that is known."""
        self._sending = FloodSending(station)
        self._homes: frozenset[str] = frozenset()
        """Brokers to which a way leads."""
        self._version = 0

    # ---- edges

    def start(self) -> None:
        if (Clock.EXCHANGE, PERIODIC) not in self._station.timers:
            self._station.set_timer(Clock.EXCHANGE, PERIODIC, self._station.now + self._period)

    def begin(self, edge: Edge) -> None:
        edge.owes.clear()
        self._ready[edge.broker] = self._owing[edge.broker] = edge

    def end(self, edge: Edge) -> None:
        self._ready.pop(edge.broker, None)
        self._owing.pop(edge.broker, None)
        self._station.cancel(Clock.EXCHANGE, edge.broker)
        edge.owes.clear()
        edge.answered_at.clear()

    forget = end

    def keep_homes(self, brokers: frozenset[str]) -> None:
        """What is of other brokers is gone, as no way leads there; what is of new ones is asked for, as it may have
        come before the tree."""
        is_more = not brokers <= self._homes
        self._homes = brokers
        for name, known in list(self._entries.items()):
            if known.row is not None and known.row.home not in brokers and known.row.home != self._name:
                self._withdraw_entry(name, known, (known.version[0], known.version[1] + 1))
                del self._entries[name]
                for sid in [sid for sid in self._subscriptions if sid.client == name]:
                    self._withdraw(sid, None, 0)
                    del self._subscriptions[sid]
        if is_more:
            for broker in self._ready:
                self._peers.send(broker, m.Tables(m.Table.SUBSCRIPTIONS))

    # ---- telling

    def tell(self, change: Change) -> None:
        """Subscriptions of own clients."""
        version, wall_ms = self._next_version(), self._peers.wall_ms
        for one in change.added:
            self._subscriptions[one.id] = Known((0, version), one, one.expires)
        removed = []
        for sid in change.removed:
            known = self._subscriptions.get(sid)
            if known is not None and known.until > wall_ms:
                self._withdraw(sid, known, version)
                removed.append(sid)
        self._sending.subscriptions(self._ready, version, change.added, removed)

    def out_of_turn(self) -> None:
        """All is told at once."""

    def settle(self) -> None:
        for name in self._tables.registrations.take_changed_here():
            self._tell_entry(name)
        owing, self._owing = self._owing, {}
        for edge in owing.values():
            self._sending.everything(edge.broker, self._entries, self._subscriptions)
            self._forwarding.flush(edge)

    def ring(self, key: str) -> None:
        """Forget what has expired; or tell all to a neighbour that has asked."""
        if key != PERIODIC:
            self._ready[key].answered_at[m.Table.SUBSCRIPTIONS] = self._station.now
            self._owing[key] = self._ready[key]
            return
        self._station.set_timer(Clock.EXCHANGE, PERIODIC, self._station.now + self._period)
        wall_ms = self._peers.wall_ms
        self._subscriptions = {sid: known for sid, known in self._subscriptions.items() if known.until > wall_ms}
        self._entries = {name: known for name, known in self._entries.items() if known.until > wall_ms}
        for broker in self._ready:
            self._tables.registration_change(broker)  # is not told in this way

    def _tell_entry(self, name: str) -> None:
        entry, known = self._tables.registrations.local(name), self._entries.get(name)
        if entry is not None:
            self._entries[name] = Known((entry.advertisement.registration, entry.version), entry)
            self._sending.entries(self._ready, entry.version, [entry], [])
        elif known is not None and known.row is not None and known.row.home == self._name:
            version = max(self._next_version(), known.version[1] + 1)
            self._withdraw_entry(name, known, (known.version[0], version))
            self._sending.entries(self._ready, version, [], [name])

    # ---- hearing

    def subscriptions(self, edge: Edge, message: m.SubTable) -> None:
        named = (*(one.id for one in message.added), *message.removed)
        if not self._has_room(
            edge, message, len(self._subscriptions), sum(sid not in self._subscriptions for sid in named)
        ):
            return
        version, broker = message.version, edge.broker
        new = [one for one in message.added if self._hear(edge, one, version)]
        if self._station.tracer is not None:
            self._station.tracer.learned(broker, new, self._station.arrived, self._station.now)
        removed = []
        for sid in message.removed:
            known = self._subscriptions.get(sid)
            if known is None or known.version < (0, version):
                self._withdraw(sid, known, version)
                removed.append(sid)
        self._sending.subscriptions(self._others(broker), version, new, removed)

    def _hear(self, edge: Edge, one: Subscription, version: int) -> bool:
        """Whether it is new."""
        known, where = self._subscriptions.get(one.id), neighbour(edge.broker)
        home = self._entries.get(one.id.client)
        if one.expires <= self._peers.wall_ms or home is None or home.row is None:
            return False  # a client's entry comes before its subscriptions
        if known is None or known.version < (0, version):
            if self._is_of_an_earlier_life(one.id):
                self._withdraw(one.id, None, again := max(self._next_version(), version + 1))
                self._sending.subscriptions(self._ready, again, [], [one.id])
                return False
            self._subscriptions[one.id] = Known((0, version), one, one.expires, edge.broker)
            self._tables.subscriptions.add(one, where)
            return True
        self._station.counters["flooded_again"] += 1
        if known.version == (0, version) and known.row is not None and not self._is_own(one.id):
            self._tables.subscriptions.add(known.row, where)
            if (first := self._first(known, edge)) is not None:
                self._sending.subscriptions([first], version, [known.row], [])
        return False

    def _first(self, known: Known[T], edge: Edge) -> str | None:
        """With the second one that tells it, the neighbour that told it first: it may need this way."""
        first = known.source
        if not first or first == edge.broker:
            return None
        known.source = ""
        return first if first in self._ready else None

    def _is_own(self, sid: SubscriptionId) -> bool:
        row = self._tables.subscriptions.get(sid)
        return row is not None and client(sid.client) in row.destinations

    def _is_of_an_earlier_life(self, sid: SubscriptionId) -> bool:
        """This broker is its home and does not know it: it has started again since."""
        known = self._entries.get(sid.client)
        is_home = known is not None and known.row is not None and known.row.home == self._name
        return is_home and not self._is_own(sid)

    def registrations(self, edge: Edge, message: m.RegTable) -> None:
        names = (entry.advertisement.id for entry in message.added)
        if not self._has_room(edge, message, len(self._entries), sum(name not in self._entries for name in names)):
            return
        new = [entry for entry in message.added if self._hear_entry(edge, entry)]
        removed = []
        for name in message.removed:
            known = self._entries.get(name)
            if known is None or known.row is None or known.row.home == self._name:
                continue
            if known.version[1] < message.version:
                self._withdraw_entry(name, known, (known.version[0], message.version))
                self._station.log.append(DisappearanceLearned(name, "regtable"))
                removed.append(name)
        others = self._others(edge.broker)
        for entry in new:
            self._sending.entries(others, entry.version, [entry], [])
        self._sending.entries(others, message.version, [], removed)

    def _hear_entry(self, edge: Edge, entry: Entry) -> bool:
        """Whether it is new. Consumers are in the table of registrations one hop from their home only; their homes are
        known everywhere, so that their subscriptions go with these."""
        name, version = entry.advertisement.id, (entry.advertisement.registration, entry.version)
        known = self._entries.get(name)
        if known is not None and (known.version > version or (known.version == version and known.row is None)):
            return False
        if entry.home == self._name:
            if self._tables.registrations.local(name) is None and known is None:
                again = max(self._next_version(), entry.version + 1)
                self._entries[name] = Known((version[0], again), None, self._peers.wall_ms + REMEMBERED_MS)
                self._sending.entries(self._ready, again, [], [name])
            return False
        if entry.home not in self._homes:
            return False
        if entry.advertisement.role is Role.PROVIDER or edge.broker == entry.home:
            change = m.RegTable(0, Whole.CHANGES, (entry,), (), Summary())
            self._station.superseded += self._tables.receive_registrations(edge.broker, change)
        if known is None or known.version != version:
            self._entries[name] = Known(version, entry, source=edge.broker)
            return True
        if (first := self._first(known, edge)) is not None:
            self._sending.entries([first], entry.version, [entry], [])
        return False

    def tables(self, edge: Edge, message: m.Tables) -> None:
        """All that is known, once in a period: at once, or at its end."""
        key, last = edge.broker, edge.answered_at.get(message.wanted)
        if last is None or self._station.now >= last + self._period:
            edge.answered_at[message.wanted] = self._station.now
            self._owing[key] = edge
        elif (Clock.EXCHANGE, key) not in self._station.timers:
            self._station.set_timer(Clock.EXCHANGE, key, last + self._period)

    # ---- what is known

    def _has_room(self, edge: Edge, message: m.SubTable | m.RegTable, known: int, new: int) -> bool:
        """For new rows and for what is remembered as withdrawn. If not, the message is refused."""
        if known + new <= MOST_ROWS:
            return True
        self._peers.refuse(edge.broker, message, m.Code.LIMIT, f"At most {MOST_ROWS:,} rows are known here.")
        return False

    def _withdraw(self, sid: SubscriptionId, known: Known[Subscription] | None, version: int) -> None:
        until = self._peers.wall_ms + REMEMBERED_MS if known is None else known.until
        self._subscriptions[sid] = Known((0, version), None, until)
        row = self._tables.subscriptions.get(sid)
        for where in list(row.destinations) if row is not None else ():
            if where.is_neighbour:
                self._tables.subscriptions.remove(sid, where)

    def _live_of(self, name: str) -> list[tuple[SubscriptionId, Known[Subscription]]]:
        found = self._subscriptions.items()
        return [(sid, known) for sid, known in found if sid.client == name and known.row is not None]

    def _withdraw_entry(self, name: str, known: Known[Entry], version: tuple[int, int]) -> None:
        """With the client's subscriptions that are not newer."""
        for sid, of in self._live_of(name):
            if of.version[1] < version[1]:
                self._withdraw(sid, of, version[1])
        known.version, known.row, known.until = version, None, self._peers.wall_ms + REMEMBERED_MS
        for hop in self._tables.registrations.next_hops(name):
            if hop:
                self._tables.receive_registrations(hop, m.RegTable(0, Whole.CHANGES, (), (name,), Summary()))

    def _others(self, broker: str) -> list[str]:
        return [other for other in self._ready if other != broker]

    def _next_version(self) -> int:
        """Unix µs, and rising."""
        self._version = max(self._version + 1, self._peers.wall_ms * 1_000)
        return self._version

    def check_invariants(self) -> None:
        """Raises ``AssertionError``."""
        assert not self._owing
        assert all(edge.is_ready and edge.is_connected for edge in self._ready.values())
        assert not self._ready or (Clock.EXCHANGE, PERIODIC) in self._station.timers
        for broker in self._ready:
            for one in self._tables.subscriptions.held_from(neighbour(broker)):
                known = self._subscriptions[one.id]
                assert known.row is not None, f"{one.id} is withdrawn, and held"
