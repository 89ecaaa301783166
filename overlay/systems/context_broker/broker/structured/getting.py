"""Requests (3, 32): answered from the table if this broker is a keeper of the key, otherwise by asking keepers (28).

All keepers are asked, and the entry with the latest timestamp wins, because several providers may describe one key and
a keeper may have missed an update. The broker waits for more than half of the keepers, as an update is confirmed by
more than half. If all keepers lack the key, the answer is NACK 202 (not found). If a keeper that may be alive does not
answer, if no broker could be asked, or if time runs out, the answer is NACK 201 (unknown).
"""

from __future__ import annotations

from overlay.core.addresses import Address
from overlay.systems.context_broker.broker.entries import Entry
from overlay.systems.context_broker.broker.joining import Joining
from overlay.systems.context_broker.broker.pending import name_of
from overlay.systems.context_broker.broker.station import Station
from overlay.systems.context_broker.broker.structured.contacts import Contacts, keepers_among
from overlay.systems.context_broker.broker.structured.identifiers import of_key
from overlay.systems.context_broker.broker.structured.lookup import Lookup
from overlay.systems.context_broker.broker.structured.lookups import Lookups, Search
from overlay.systems.context_broker.broker.structured.questions import Answer
from overlay.systems.context_broker.broker.structured.upkeep import Upkeep
from overlay.systems.context_broker.broker.table import Table
from overlay.systems.context_broker.wire.codec import with_hops
from overlay.systems.context_broker.wire.extensions import ClosestBrokers, DataFound, QuietRequest
from overlay.systems.context_broker.wire.kinds import MAX_DATAGRAM
from overlay.systems.context_broker.wire.messages import ContextRequest, Status, raw_key
from overlay.systems.context_broker.wire.table import OPERATIONS

REQUEST = OPERATIONS[3]


class Get:
    """One request, from arrival to answer."""

    __slots__ = ("entries", "name", "request", "source")

    def __init__(self, request: ContextRequest, source: Address) -> None:
        self.request = request
        self.source = source
        self.name = name_of(request, source)
        self.entries: list[Entry] = []


class Getting:
    def __init__(
        self, station: Station, joining: Joining, contacts: Contacts, lookups: Lookups, upkeep: Upkeep, table: Table
    ) -> None:
        self._station = station
        self._joining = joining
        self._contacts = contacts
        self._lookups = lookups
        self._upkeep = upkeep
        self._table = table
        self._open: set[tuple[Address, ContextRequest]] = set()

    def handle_request(self, request: ContextRequest, source: Address, now: int) -> None:
        """Answer it, or start a lookup. A request with hops is from a broker and is not acknowledged."""
        station, get = self._station, Get(request, source)
        if not request.hops and not isinstance(request, QuietRequest):
            station.ack(Status.REQ_RECEIVED, REQUEST, source, now)
        elif request.hops and self._joining.has_left:
            self._joining.remind(source, now)
        station.tracer.note(get.name, "received", now, source)
        if (source, request) in self._open:
            station.counters["rejected_duplicate"] += 1
            station.tracer.note(get.name, "dropped", now, source, "it still waits here")
            return
        entry = self._table.find(raw_key(request.key), station.wall_ms(now))
        if entry is not None and self._is_keeper(request):
            station.counters["hits"] += 1
            station.tracer.note(get.name, "found", now, source)
            self._answer(get, entry, now)
            return
        self._look_up(get, entry, now)

    def _is_keeper(self, request: ContextRequest) -> bool:
        """Whether we are a keeper even if all doubtful contacts are alive. Otherwise our entry may be outdated."""
        known = [*self._contacts.known(), *self._upkeep.unsure()]
        return self._contacts.own in keepers_among(known, of_key(request.key), self._station.config.dht_replicas)

    def _look_up(self, get: Get, own: Entry | None, now: int) -> None:
        if own is not None:
            get.entries.append(own)
        search = Search(
            get.request.key,
            self._station.payer(get.source),
            wants_data=True,
            asked=lambda broker, now: self._note_asked(get, broker, now),
            answered=lambda broker, answer, now: self._note_answer(get, broker, answer, now),
            ended=lambda lookup, now: self._end(get, lookup, now),
            is_content=lambda lookup: bool(get.entries) and lookup.has_majority,
        )
        self._open.add((get.source, get.request))
        if not self._lookups.start(search, now):
            self._open.discard((get.source, get.request))
            self._refuse(get, Status.I_ERROR, now)

    def _note_asked(self, get: Get, broker: Address, now: int) -> None:
        self._station.counters["forwards"] += 1
        self._station.tracer.note(get.name, "forwarded", now, broker)

    def _note_answer(self, get: Get, broker: Address, answer: Answer | None, now: int) -> None:
        if isinstance(answer, DataFound):
            get.entries.append(Entry.of(answer))
            self._station.tracer.note(get.name, "answered", now, broker)
        else:
            detail = (
                "no answer" if answer is None else "not here" if isinstance(answer, ClosestBrokers) else "not served"
            )
            self._station.tracer.note(get.name, "refused", now, broker, detail)

    def _end(self, get: Get, lookup: Lookup, now: int) -> None:
        self._open.discard((get.source, get.request))
        counters, wall_ms = self._station.counters, self._station.wall_ms(now)
        counters["dht_lookups"] += 1
        counters["dht_rounds"] += lookup.rounds
        own = self._table.find(raw_key(get.request.key), wall_ms)  # it may have arrived during the lookup
        valid = [entry for entry in (*get.entries, own) if entry is not None and entry.is_valid(wall_ms)]
        if valid:
            self._answer(get, max(valid, key=lambda entry: entry.timestamp), now)
        elif lookup.is_complete and not lookup.in_doubt() and not lookup.heard_nobody:
            counters["not_found"] += 1
            self._refuse(get, Status.DATA_NOT_FOUND, now)
        else:
            counters["gave_up"] += 1
            self._refuse(get, Status.I_ERROR, now)

    def _answer(self, get: Get, entry: Entry, now: int) -> None:
        station, request, source = self._station, get.request, get.source
        station.tracer.note(get.name, "replied", now, source)
        if not request.hops:
            is_quiet = isinstance(request, QuietRequest)
            if station.send(4, entry.response, source, now) and not is_quiet:
                station.ack(Status.REQ_PROCESSED, REQUEST, source, now)
            return
        data = with_hops(entry.response, request.hops)
        if len(data) <= MAX_DATAGRAM:
            station.send(4, data, source, now)
        else:
            self._refuse(get, Status.I_ERROR, now)

    def _refuse(self, get: Get, status: Status, now: int) -> None:
        request, consumer = get.request, get.name[0]
        self._station.tracer.note(get.name, "passed back", now, get.source, str(int(status)))
        self._station.nack_query(status, request.timestamp, consumer, request.hops, get.source, now)

    def check_invariants(self) -> None:
        """Raise ``AssertionError`` if a request waits for a lookup that has ended."""
        assert len(self._open) <= len(self._lookups)
