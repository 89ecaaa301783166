"""Shared by all parts of a broker: its settings, address, clock offset, counters and output queue.

All datagrams are sent through ``Station.send``, which counts them and applies the limit for strangers.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

from overlay.core.addresses import Address
from overlay.core.chance import Chances
from overlay.core.errors import WireError
from overlay.core.node import MILLISECOND, SECOND, NodeEvent
from overlay.systems.context_broker.broker.config import BrokerConfig
from overlay.systems.context_broker.broker.events import LimitReached
from overlay.systems.context_broker.broker.opennet import OpenNetwork
from overlay.systems.context_broker.broker.quotas import stranger
from overlay.systems.context_broker.broker.tracing import make_tracer
from overlay.systems.context_broker.fast.acks import encode_ack
from overlay.systems.context_broker.wire.codec import encode
from overlay.systems.context_broker.wire.messages import Hops, Nack, Status
from overlay.systems.context_broker.wire.table import CODES, OPERATIONS, AnyMessage

MOST_EVENTS = 1000

COUNTERS = (
    "forwards",  # requests sent to a neighbour
    "hits",  # requests answered from the broker's own table
    "hit_hops",  # total hops of these requests
    "lookaheads",  # shallow floods sent to a neighbour
    "late_answers",  # answers and refusals to queries that another broker had answered
    "refused_seen",  # requests refused because their query was seen before on another path
    "gave_up",  # queries of the structured arm that ended before all brokers asked had answered
    "suspicions",  # neighbours that missed their pings and became suspects
    "heard_indirectly",  # answers of suspects to helpers
    "replicas",  # replicas stored because of a mark
    "refreshes_sent",  # newer values sent to brokers with replicas
    "refreshed",  # replicas updated by a newer value
    "confirms_sent",  # confirmations of the newest value, sent to brokers with replicas
    "replicas_lapsed",  # replicas dropped because their original did not confirm them, or had a newer value
    "dht_lookups",  # structured arm: requests that needed a lookup
    "dht_rounds",  # sequential requests of these lookups
    "dht_messages",  # messages to other brokers for requests (28) and updates (26, 30), including retries
    "dht_upkeep",  # the same for checking contacts and for handing over entries
    "dht_handed_over",  # entries sent to other brokers because the closest brokers changed
    "dht_given_up",  # entries among these that were never acknowledged
    "not_found",  # walks that ended here without data: ttl, dead end, pending table full, datagram full
    "stored",  # updates and advertisements that changed the table
    "withdrawals",  # withdrawals that changed the table
    "feed_records",  # entries and withdrawals sent to readers of the feed
    "feed_resets",  # readers that had to restart
    "outdated",  # updates and withdrawals older than the stored value, or already expired
    "table_full",  # updates and withdrawals refused because the table is full
    "over_share",  # updates and withdrawals refused because of the share of their provider or source
    "over_share_requests",  # requests not forwarded because of their sender's share of pending requests
    "over_share_joins",  # uninvited joins refused because of their host's share of neighbours
    "hop_repeats",  # retransmissions to a broker without an acknowledgement
    "hop_duplicates",  # duplicates received
    "hop_lost",  # messages given up after all tries
    "hop_plain",  # messages sent without acknowledgement although the setting is on
    "rejected_unreadable",  # datagrams that cannot be parsed
    "rejected_command",  # commands and questions for changes from addresses that may not send them
    "rejected_stamp",  # updates and withdrawals with a timestamp too far in the future
    "rejected_duplicate",  # requests that are still pending here
    "rejected_stray",  # unexpected answers
    "rejected_wrapped",  # messages that must not be wrapped
    "unanswered_unreadable",  # NACK 301 not sent: more than ten a second to one address
    "oversized",  # messages not sent: too long for a datagram
    "withheld",  # datagrams not sent: more than three times a stranger's bytes
)

_CODES = max(CODES.values()) + 1
_RECEIVED = [(f"in_{code}", code) for code in CODES.values()]
_SENT = [(f"out_{code}", code) for code in CODES.values()]
_UNTOUCHED = dict.fromkeys(COUNTERS, 0)


class Station:
    """Passed to each part of a broker; ``is_exempt`` decides who is exempt from the limit for strangers."""

    __slots__ = (
        "_events",
        "_is_exempt",
        "_limits",
        "_trusted_hosts",
        "address",
        "chances",
        "config",
        "counters",
        "open_network",
        "outgoing",
        "received",
        "sent",
        "tracer",
        "wall_offset_ns",
    )

    def __init__(
        self,
        config: BrokerConfig,
        address: Address,
        chances: Chances,
        wall_offset_ns: int,
        is_exempt: Callable[[Address], bool],
    ) -> None:
        self.config = config
        self.address = address
        self.chances = chances
        self.wall_offset_ns = wall_offset_ns
        self.open_network = OpenNetwork(config)
        self.tracer = make_tracer(config.trace_one_in, config.trace_steps)
        self.counters: Counter[str] = Counter()
        """The counters of ``COUNTERS`` in use; created on first use, to save memory in large simulations."""
        self.received = [0] * _CODES
        """Parsed messages by code; ``sent`` counts outgoing ones."""
        self.sent = [0] * _CODES
        self._is_exempt = is_exempt
        self._trusted_hosts = self.open_network.trusted_hosts
        self.outgoing: list[tuple[bytes, Address]] = []
        self._events: list[NodeEvent] = []
        self._limits: dict[str, int] = {}

    def wall_ms(self, now: int) -> int:
        """Unix milliseconds at the monotonic time ``now``."""
        return (now + self.wall_offset_ns) // MILLISECOND

    def knows(self, address: Address) -> bool:
        """Whether it is not a stranger: in a trusted network, or a former, current or expected neighbour."""
        return self.open_network.trusts(address) or self.is_broker(address)

    def is_broker(self, address: Address) -> bool:
        """Whether it is a former, current or expected neighbour."""
        return self._is_exempt(address)

    def payer(self, source: Address) -> Address:
        """The source charged for ``source``; see ``quotas``."""
        return source if self._trusted_hosts(source[0]) else stranger(source[0])

    def send(self, code: int, data: bytes, to: Address, now: int, *, exempt: bool = False) -> bool:
        """Queue a datagram. ``False`` if the limit for a stranger, three times its bytes, is reached.

        ``exempt`` is for datagrams that are never caused by a stranger: leaves to former neighbours, and pings to
        candidates named by a controller.
        """
        if not (
            exempt
            or self._trusted_hosts(to[0])
            or self._is_exempt(to)
            or self.open_network.ledger.may_send(to, len(data), now)
        ):
            self.counters["withheld"] += 1
            self.report_limit("budget", now)
            return False
        self.outgoing.append((data, to))
        self.sent[code] += 1
        return True

    def send_message(self, message: AnyMessage, to: Address, now: int, *, exempt: bool = False) -> bool:
        """``send``; also ``False`` for messages too long for a datagram, such as a NACK with thousands of hops."""
        try:
            data = encode(message)
        except WireError:
            self.counters["oversized"] += 1
            return False
        return self.send(CODES[type(message)], data, to, now, exempt=exempt)

    def ack(self, status: Status, operation: str, to: Address, now: int) -> None:
        self.send(5, encode_ack(self.wall_ms(now), status, operation, to), to, now)

    def nack(self, status: Status, operation: str, timestamp: int, to: Address, now: int) -> None:
        """Refuse a message sent by ``to`` itself; ``timestamp`` is that of the refused message."""
        self.send_message(Nack(timestamp, status, operation, to), to, now)

    def nack_query(self, status: int, timestamp: int, consumer: Address, hops: Hops, to: Address, now: int) -> None:
        """Refuse a query: ``hops`` are as sent by ``to``, empty if ``to`` is the consumer."""
        self.send_message(Nack(timestamp, status, OPERATIONS[3], consumer, hops), to, now)

    def counted(self) -> dict[str, int]:
        """All counters by name."""
        received, sent = self.received, self.sent
        by_code = {name: received[code] for name, code in _RECEIVED} | {name: sent[code] for name, code in _SENT}
        return by_code | _UNTOUCHED | dict(self.counters)

    def report(self, event: NodeEvent) -> None:
        """Queue an event for the driver; beyond ``MOST_EVENTS`` the oldest are dropped."""
        self._events.append(event)
        del self._events[:-MOST_EVENTS]

    def report_limit(self, limit: str, now: int) -> None:
        """Report that a limit was reached, at most once in ten seconds."""
        if now - self._limits.get(limit, now - 10 * SECOND) >= 10 * SECOND:
            self._limits[limit] = now
            self.report(LimitReached(limit))

    def drain_events(self) -> list[NodeEvent]:
        if not self._events:  # the usual case
            return []
        events, self._events = self._events, []
        return events
