"""A bank of planted bugs: each takes the place of a piece of the real code while a seed runs, and must be found.

A bug that no seed finds means that an invariant is not watched. To plant one, write a function here that is given the
real function and returns the wrong one; ``python -m tests.soak --system context-broker --search`` then says which seed
is the first to find it.
"""

from dataclasses import replace
from types import SimpleNamespace
from unittest.mock import patch

from overlay.core.node import SECOND
from overlay.systems.context_broker.broker.broker import Broker
from overlay.systems.context_broker.broker.departures import Departures
from overlay.systems.context_broker.broker.entries import Stored
from overlay.systems.context_broker.broker.feed import Feed
from overlay.systems.context_broker.broker.hops import Delivery, Window
from overlay.systems.context_broker.broker.members import Members
from overlay.systems.context_broker.broker.mutual import Mutual
from overlay.systems.context_broker.broker.opennet import Ledger
from overlay.systems.context_broker.broker.pending import Pending
from overlay.systems.context_broker.broker.pings import Monitor
from overlay.systems.context_broker.broker.queries import Answer
from overlay.systems.context_broker.broker.searching import Searching
from overlay.systems.context_broker.broker.station import Station
from overlay.systems.context_broker.broker.storing import Storing
from overlay.systems.context_broker.broker.structured.arm import Structured
from overlay.systems.context_broker.broker.structured.getting import Getting
from overlay.systems.context_broker.broker.structured.putting import Putting
from overlay.systems.context_broker.broker.suspicion import Suspecting
from overlay.systems.context_broker.broker.table import Table
from overlay.systems.context_broker.fast.lanes import Lanes
from overlay.systems.context_broker.wire.messages import Nack, Status
from overlay.systems.context_broker.wire.table import OPERATIONS
from tests.soak.subject import Bank, Function

BUGS = Bank()
plant = BUGS.plant


# ---- requests and their answers


@plant(Pending, "_expire", seed=1)
def pending_never_expires(real: Function) -> Function:
    """A request without an answer waits for ever."""
    return lambda self, now: None


@plant(Pending, "has_room", seed=5)
def pending_without_cap(real: Function) -> Function:
    """More requests wait than may."""
    return lambda *_: True


@plant(Searching, "_answer", seed=1)
def path_is_followed(real: Function) -> Function:
    """A Response goes to the last hop of the request's path, not to whom the request came from."""

    def answer(self, entry, request, name, source, now, **options):
        real(self, entry, request, name, request.hops[-1] if request.hops else source, now, **options)

    return answer


@plant(Searching, "__init__", seed=1)
def no_ttl(real: Function) -> Function:
    """A walk goes on however many hops it holds."""

    def begin(self, *parts):
        real(self, *parts)
        self._ttl = 1 << 20

    return begin


@plant(Pending, "holds", seed=6)
def duplicates_run_on(real: Function) -> Function:
    """A request that still waits here is sent on once more when it comes once more."""
    return lambda *_: False


@plant(Window, "note", seed=18)
def repeated_hops_count(real: Function) -> Function:
    """A message that is acknowledged from hop to hop takes effect each time that it is sent."""
    return lambda *_: True


@plant(Broker, "_handle", seed=2)
def nack_to_a_nack(real: Function) -> Function:
    """A NACK that belongs to nothing is refused with a NACK."""

    def handle(self, message, source, now):
        strays = self._station.counters["rejected_stray"]
        real(self, message, source, now)
        if isinstance(message, Nack) and self._station.counters["rejected_stray"] > strays:
            self._station.nack(Status.BAD_REQUEST, OPERATIONS[3], message.timestamp, source, now)

    return handle


# ---- data


@plant(Storing, "next_timer", seed=0)
def expired_is_kept(real: Function) -> Function:
    """No broker removes expired data."""
    return lambda self: None


@plant(Answer, "replica", seed=5)
def replica_outlives_its_value(real: Function) -> Function:
    """A replica is kept a minute longer than it is valid."""

    def replica(self):
        kept = real(self)
        kept.valid_end += 60_000
        return kept

    return replica


@plant(Searching, "_keepers", seed=3)
def short_lived_is_replicated(real: Function) -> Function:
    """Data are replicated however soon they end."""

    def keepers(self, entry, request, source):
        config = self._station.config
        self._station.config = replace(config, replication_threshold_ms=0)
        chosen = real(self, entry, request, source)
        self._station.config = config
        return chosen

    return keepers


@plant(Storing, "store", seed=3)
def acknowledged_and_not_stored(real: Function) -> Function:
    """What finds no room is acknowledged."""

    def store(self, entry, now):
        stored = real(self, entry, now)
        return Stored.UNCHANGED if stored.is_refused else stored

    return store


@plant(Table, "store", seed=5)
def full_table_evicts(real: Function) -> Function:
    """Room is made by dropping valid data."""

    def store(self, entry, wall_ms):
        while (stored := real(self, entry, wall_ms)) in (Stored.FULL, Stored.OVER_SHARE) and self.entries:
            self._drop(next(iter(self)))
        return stored

    return store


@plant(Table, "_fits", seed=0)
def table_without_cap(real: Function) -> Function:
    """The table takes what is too much for it."""
    return lambda *_: True


@plant(Table, "store", seed=27)
def older_overwrites_newer(real: Function) -> Function:
    """The update that comes last wins, whatever its timestamp."""

    def store(self, entry, wall_ms):
        known = self._live(entry, wall_ms)
        if known is not None and known.timestamp > entry.timestamp and entry.valid_end > wall_ms:
            self._drop(known)
        return real(self, entry, wall_ms)

    return store


@plant(Feed, "drop", seed=11)
def dropped_without_a_word(real: Function) -> Function:
    """A reader is not told of a replica that was evicted or has lapsed."""

    def drop(self, entry):
        self._at.pop(entry).what = None

    return drop


@plant(Feed, "expire", seed=2)
def shorter_data_leave_longer_ones(real: Function) -> Function:
    """A reader that missed an update with an earlier ValidEnd is not told when it expires."""

    def expire(self, entry):
        self._at.pop(entry).what = None
        self._tidy()

    return expire


# ---- neighbours


@plant(Monitor, "_ping_neighbours", seed=5)
def one_miss_kills(real: Function) -> Function:
    """A neighbour is dropped when it misses one ping."""

    def ping(self, now):
        config = self._station.config
        self._station.config = replace(config, ping_misses=1)
        real(self, now)
        self._station.config = config

    return ping


@plant(Monitor, "_drop", seed=5)
def dead_for_good(real: Function) -> Function:
    """A neighbour that was dropped is pinged no more."""

    def drop(self, address, now):
        real(self, address, now)
        self._members.dropped[address].next_ping = now + 1_000_000 * SECOND

    return drop


@plant(Suspecting, "is_dead", seed=5)
def suspects_live_for_ever(real: Function) -> Function:
    """Who does not answer is suspected, and never declared dead."""
    return lambda *_, **__: False


@plant(Members, "forget", seed=1)
def farewell_is_not_heard(real: Function) -> Function:
    """A neighbour that takes its leave stays one."""
    return lambda self, address: address in self


@plant(Broker, "_may_command", seed=2)
def anybody_commands(real: Function) -> Function:
    """Orders are obeyed wherever they come from."""
    return lambda *_: True


@plant(Departures, "handle_notice", seed=9)
def anybody_is_believed(real: Function) -> Function:
    """Whoever says that a broker is gone is believed."""

    def handle(self, notice, source, now):
        if notice.broker in self._members:
            self._monitor.doubt(notice.broker, now)

    return handle


@plant(Monitor, "next_timer", seed=0)
def timer_in_the_past(real: Function) -> Function:
    """Monitoring asks to be called before now, and so for ever."""

    def next_timer(self):
        timer = real(self)
        return None if timer is None else timer - 10 * SECOND

    return next_timer


@plant(Mutual, "accept_neighbours", seed=52)
def one_sided_neighbours(real: Function) -> Function:
    """Who chose a neighbour never asks whether it takes us for one (a real one, see ``docs/bugs.md``)."""

    def accept(self, answer, source, now):
        self._doubted = None
        return real(self, answer, source, now)

    return accept


# ---- strangers and counters


@plant(Ledger, "may_send", seed=2)
def no_three_times_rule(real: Function) -> Function:
    """A stranger gets whatever it asks for."""
    return lambda *_: True


@plant(Delivery, "send", seed=163)
def hops_earn_an_exemption(real: Function) -> Function:
    """Who writes hops gets whatever it asks for (a real one, see ``docs/bugs.md``)."""

    def send(self, code, data, to, now, query=None):
        self._station.send(code, data, to, now, exempt=True)

    return send


@plant(Lanes, "_take_update", seed=1)
def uncounted_update(real: Function) -> Function:
    """An update that is read on the short way counts as no message."""

    def take(self, data, source, now):
        received = self._station.received
        count = received[2]
        taken = real(self, data, source, now)
        received[2] = count
        return taken

    return take


@plant(Station, "ack", seed=0)
def uncounted_ack(real: Function) -> Function:
    """An acknowledgement counts as nothing sent."""

    def ack(self, *what):
        real(self, *what)
        self.sent[5] -= 1

    return ack


# ---- the structured arm


@plant(Putting, "handle_update", seed=0)
def acknowledged_before_it_is_kept(real: Function) -> Function:
    """An update is acknowledged when the search for its keepers begins."""

    def handle(self, update, source, now):
        real(self, update, source, now)
        self._station.ack(Status.REQ_PROCESSED, OPERATIONS[2], source, now)

    return handle


@plant(Structured, "_serves", seed=2)
def strangers_store(real: Function) -> Function:
    """Entries are taken from whoever sends them."""
    return lambda *_, **__: True


@plant(Getting, "_end", seed=1192)
def own_table_is_forgotten(real: Function) -> Function:
    """A lookup does not see what was stored here since it began (a real one, see ``docs/bugs.md``)."""

    def end(self, get, lookup, now):
        with patch.object(self, "_table", SimpleNamespace(find=lambda *_: None)):
            real(self, get, lookup, now)

    return end
