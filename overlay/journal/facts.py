"""Every fact a process reports, its fields and units, defined once.

Counterparts: ``overlay.journal.journal`` writes and reads them, ``telemetry.lake.records`` turns them into columns.
Times ``*_us`` are microseconds since the *zero of the deployment*: a monotonic instant that all processes of one host
share, so that no clock step bends a latency. ``Start`` of each journal says which wall-clock instant that zero was.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

OUTCOMES = ("answered", "not_found", "refused", "timed_out")
"""How an exchange ended, from the client's side. ``answered`` of an update means ACK 102."""

ALL_BROKERS = "brokers"
"""The process of a simulated run that is the sum of all brokers, where they are too many to be told apart."""

SUPERVISOR = "supervisor"
"""The process that reports what became of all others."""

_NEIGHBOURS = ("neighbours", "neighbours_dropped", "neighbours_suspected", "contacts")
_OF_BROKERS = ("entries", "bytes", "pending", "uptime", *_NEIGHBOURS)
_OF_CLIENTS = ("outstanding", "open_ports", "lateness_max_us")
GAUGES = frozenset((*_OF_BROKERS, *_OF_CLIENTS))
"""Names among a tick's counters that say what is, and not how often something has happened."""


@dataclass(frozen=True, slots=True)
class Start:
    """The first fact of every journal."""

    process: str
    """``broker-3``, ``consumers-0``, ``providers-0``, ``supervisor``."""
    pid: int
    zero_unix_us: int
    """The wall clock at the deployment's zero, Unix microseconds."""
    version: str
    address: str = ""
    """``host:port`` by which a broker is known; empty for other processes."""


@dataclass(slots=True)  # frozen, it would take five times as long to make, and there is one of each request
class Sample:
    """One request or update of one client, written when it ended."""

    role: str
    """``consumer`` or ``provider``."""
    client: int
    broker: int
    """Index of the broker that was asked."""
    phase: str
    """``warming`` or ``measuring``: whether it was *intended* during the ramp, or within ``duration_s`` after it."""
    outcome: str
    """One of ``OUTCOMES``."""
    status: int
    """The status code that ended it: 102, 201, 202, 301; 0 when nothing came."""
    attempts: int
    intended_us: int
    """When the schedule wanted it sent. Response time runs from here (coordinated omission is thereby counted)."""
    sent_us: int
    """When it was first really sent."""
    ended_us: int
    """When the Response (of an update: ACK 102; of a refusal: the NACK) came, or the deadline."""
    entity: str
    """``type|id|scope`` as asked."""
    entry_timestamp_ms: int
    """Unix ms; 0 without an answer. Of a request, the header timestamp of the entry in the Response. Of an update, that
    of its first sending: those after it say the same again, and an ACK does not tell which of them it is for."""


@dataclass(frozen=True, slots=True)
class Tick:
    """What a process looked like at one second."""

    process: str
    at_us: int
    counters: dict[str, int]
    """Cumulative since the process started; names as ``BrokerCounters`` and the load generator define them."""
    histogram: str
    """Response times in microseconds *since the last tick*, HdrHistogram's compressed encoding; empty for brokers."""
    rss_bytes: int
    pss_bytes: int
    uss_bytes: int
    """Zero where the platform cannot tell (macOS has no PSS)."""
    cpu_us: int
    """Processor time used so far, user and system."""


@dataclass(frozen=True, slots=True)
class Event:
    """Something that happened: a neighbour died, a broker was restarted, a phase began."""

    process: str
    at_us: int
    name: str
    detail: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Trace:
    """What one broker did with one query, as far as it was reported at once; there may be several of one query."""

    process: str
    consumer: str
    """``host:port`` of who asked; with the two below, the query's name at every broker."""
    timestamp_ms: int
    entity: str
    """``type|id|scope`` as asked."""
    steps: list[list[Any]]
    """``[at_us, step, peer, detail]`` each; the peer is ``host:port``, or empty. The system names its steps."""


@dataclass(frozen=True, slots=True)
class Holdings:
    """What lay in a broker's table when it ended, as far as it was valid."""

    process: str
    at_us: int
    own: list[str]
    """``type|id|scope`` of what providers gave it."""
    replicas: list[str]
    """Of what it kept for other brokers only."""
    left_out: int
    """How many more there were."""


@dataclass(frozen=True, slots=True)
class Delivery:
    """One arrival of one publication at one receiver; the same publication may arrive again, and at many."""

    role: str
    """Of the receiver: ``subscriber``."""
    client: int
    """Number of the receiver within its role."""
    server: int
    """Index of the server it came from; -1 where it came from another client."""
    phase: str
    """``warming`` or ``measuring``: when it was *published*."""
    publication: str
    """Names the publication in the whole run; a ``Sample`` of the publisher has it as its entity."""
    published_us: int
    """When the schedule wanted it published; its delay runs from here."""
    received_us: int
    copy: int
    """1 for the first arrival of this publication at this receiver, 2 for the next."""


@dataclass(frozen=True, slots=True)
class Connection:
    """One connection of a client to a server, written when it ended or could not be made."""

    role: str
    client: int
    server: int
    phase: str
    """When it was *intended*."""
    outcome: str
    """One of ``CONNECTED``."""
    intended_us: int
    opened_us: int
    """0 where it was never made."""
    ended_us: int
    reason: str
    """Why it ended, in a word of its system; empty where it was meant to."""


@dataclass(frozen=True, slots=True)
class HandOver:
    """A client that moved from one server to another."""

    role: str
    client: int
    server: int
    """Index of the server it left."""
    to_server: int
    phase: str
    outcome: str
    """``done`` or ``failed``."""
    began_us: int
    """When the client began to leave the one."""
    ended_us: int
    """When the other served it, or it was given up."""
    missed: int
    """Publications that were for it meanwhile and never arrived, as far as the client can tell; -1 where it cannot."""


CONNECTED = ("closed", "lost", "refused", "timed_out")
"""How a connection ended: as it was meant to, by itself, or before it was made."""

Fact = Start | Sample | Tick | Event | Trace | Holdings | Delivery | Connection | HandOver
ClientFact = Sample | Delivery | Connection | HandOver
"""What clients report of what they did."""
KINDS: tuple[type, ...] = (Start, Sample, Tick, Event, Trace, Holdings, Delivery, Connection, HandOver)
"""A fact's index here is its kind in the journal: append, never reorder."""
