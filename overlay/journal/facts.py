"""The facts that processes report, with their fields and units.

Counterparts: ``overlay.journal.journal`` writes and reads them, ``telemetry.lake.records`` converts them to columns.
Times ``*_us`` are microseconds since the *zero of the deployment*, a monotonic instant that all processes of a host
share, so clock steps do not affect latencies. ``Start``, the first fact, has the wall-clock time of that zero.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

OUTCOMES = ("answered", "not_found", "refused", "timed_out")
"""The outcomes of an exchange, for the client. For an update, ``answered`` means ACK 102."""

ALL_BROKERS = "brokers"
"""A process that stands for the sum of all brokers, in simulated runs with too many brokers for single ones."""

SUPERVISOR = "supervisor"
"""The process that reports the starts and ends of all others."""

CLIENT_GAUGES = frozenset(("outstanding", "open_ports", "lateness_max_us"))
"""The names of gauges, current values, among the counters of a load generator's ticks."""


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
    """``host:port`` of a broker; empty for other processes."""


@dataclass(slots=True)  # not frozen: creating it would take five times as long, and there is one per request
class Sample:
    """One request or update of one client, written when it ended."""

    role: str
    """A name in ``System.client_roles``: ``consumer``."""
    client: int
    """Number of the client within its role."""
    broker: int
    """Index of the server asked."""
    phase: str
    """``warming`` or ``measuring``: whether it was *intended* during the ramp, or within ``duration_s`` after it."""
    outcome: str
    """One of ``OUTCOMES``."""
    status: int
    """The code of the answer that ended it, defined by its system, such as 102; 0 when nothing came."""
    attempts: int
    intended_us: int
    """The scheduled time of sending. Response times start here, which accounts for coordinated omission."""
    sent_us: int
    """When it was actually first sent."""
    ended_us: int
    """When the Response arrived (for an update ACK 102, for a refusal the NACK), or the deadline."""
    entity: str
    """``type|id|scope`` of the request."""
    entry_timestamp_ms: int
    """Unix ms; 0 without an answer. For a request: the header timestamp of the entry in the Response. For an update:
    that of its first transmission, which retransmissions repeat; an ACK does not tell them apart."""


@dataclass(frozen=True, slots=True)
class Tick:
    """The state of a process, once a second."""

    process: str
    at_us: int
    counters: dict[str, int]
    """Cumulative since the process started, except ``System.gauges`` and ``CLIENT_GAUGES``. Those of a server are
    ``Server.statistics`` and its socket's; those of clients are ``overlay.load.tally.Tally``'s and their sockets'."""
    histogram: str
    """Response times in microseconds *since the last tick*, HdrHistogram's compressed encoding; empty for brokers."""
    rss_bytes: int
    pss_bytes: int
    uss_bytes: int
    """Zero if the platform does not report it (macOS has no PSS)."""
    cpu_us: int
    """Processor time used so far, user and system."""


@dataclass(frozen=True, slots=True)
class Event:
    """An event, such as the death of a neighbour, the restart of a broker or the start of a phase."""

    process: str
    at_us: int
    name: str
    detail: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Trace:
    """Steps of one broker for one query. A broker may report a query in several traces."""

    process: str
    consumer: str
    """``host:port`` of the consumer. Together with the next two fields it identifies the query at every broker."""
    timestamp_ms: int
    entity: str
    """``type|id|scope`` of the request."""
    steps: list[list[Any]]
    """``[at_us, step, peer, detail]`` each; the peer is ``host:port`` or empty. The system defines its steps."""


@dataclass(frozen=True, slots=True)
class Holdings:
    """The valid entries in a broker's table when it ended."""

    process: str
    at_us: int
    own: list[str]
    """``type|id|scope`` of entries received from providers."""
    replicas: list[str]
    """The same for entries that it kept only as replicas."""
    left_out: int
    """Number of further entries that are not listed."""


@dataclass(frozen=True, slots=True)
class Delivery:
    """One arrival of one publication at one receiver. A publication may arrive at many receivers, and repeatedly."""

    role: str
    """Role of the receiver: ``subscriber``."""
    client: int
    """Number of the receiver within its role."""
    server: int
    """Index of the sending server; -1 if it came from another client."""
    phase: str
    """``warming`` or ``measuring``: when it was *published*."""
    publication: str
    """Identifies the publication within the run; it is the entity of the publisher's ``Sample``."""
    published_us: int
    """The scheduled time of publication. Delays start here."""
    received_us: int
    copy: int
    """1 for the first arrival of this publication at this receiver, 2 for the next."""


@dataclass(frozen=True, slots=True)
class Connection:
    """One connection of a client to a server, written when it ended or could not be established."""

    role: str
    client: int
    server: int
    phase: str
    """The phase in which it was *intended*."""
    outcome: str
    """One of ``CONNECTED``."""
    intended_us: int
    opened_us: int
    """0 if it was never established."""
    ended_us: int
    reason: str
    """Why it ended, a word defined by its system; empty if it was closed intentionally."""


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
    """When the client began to leave the first server."""
    ended_us: int
    """When the other server served it, or the attempt was given up."""
    missed: int
    """Publications for the client that never arrived because of the move; -1 if the client cannot know."""


@dataclass(frozen=True, slots=True)
class Row:
    """A row of a table that only one system has. Servers and clients may report them."""

    process: str
    """Empty in a row of a client, which does not know its process; the driver fills it in."""
    at_us: int
    table: str
    """The name of a table in ``telemetry.systems.contract.Telemetry.tables``."""
    values: Sequence[Any]
    """The values of its columns, in their order."""


@dataclass(frozen=True, slots=True)
class Histogram:
    """The durations in one second of the facts of a fleet that are no samples, whose histogram is in their tick."""

    process: str
    at_us: int
    name: str
    """``deliveries`` (delays of first copies), ``connections`` (times to connect) or ``handovers`` (durations)."""
    times: str
    """Microseconds since the last one, encoded as ``Tick.histogram``."""


CONNECTED = ("closed", "lost", "refused", "timed_out")
"""The outcomes of a connection: closed intentionally, lost, or never established."""

Fact = Start | Sample | Tick | Event | Trace | Holdings | Delivery | Connection | HandOver | Row | Histogram
ClientFact = Sample | Delivery | Connection | HandOver | Row
"""The facts that clients report."""
KINDS: tuple[type, ...] = (Start, Sample, Tick, Event, Trace, Holdings, Delivery, Connection, HandOver, Row, Histogram)
"""A fact's index here is its kind in the journal: append, never reorder."""
