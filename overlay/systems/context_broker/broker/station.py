"""What every part of a broker shares: its settings, address, clock offset, counters, and the way out.

Whatever leaves a broker leaves through ``Station.send``: there it is counted and, if to a stranger, weighed.
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
    "hits",  # requests answered from our own table
    "hit_hops",  # and the brokers that these had come through
    "lookaheads",  # shallow floods sent to a neighbour
    "late_answers",  # answers and refusals to queries that another broker had answered
    "refused_seen",  # requests refused because their query was here before, on another path
    "gave_up",  # queries of the structured arm that ended without an answer from all that were asked
    "suspicions",  # neighbours that missed their pings and were then asked for through others
    "heard_indirectly",  # answers that such a neighbour gave to another
    "replicas",  # replicas stored on a neighbour's mark
    "refreshes_sent",  # newer values told to a broker that was asked to keep a replica
    "refreshed",  # replicas that took a newer value
    "confirms_sent",  # confirmations that the value is the newest, to a broker that was asked to keep a replica
    "replicas_lapsed",  # replicas dropped since their original confirmed them no more, or had a newer value
    "dht_lookups",  # structured arm: requests that other brokers were asked for
    "dht_rounds",  # and the questions one after the other that these took
    "dht_messages",  # questions to other brokers for requests (28) and updates (26, 30), asked again or not
    "dht_upkeep",  # the same to make sure of contacts and to hand over
    "dht_handed_over",  # entries given to other brokers as who is closest changed
    "dht_given_up",  # those of them that went unanswered too often
    "not_found",  # walks that ended here without data: ttl, dead end, pending table full, datagram full
    "stored",  # updates and advertisements that changed the table
    "outdated",  # those that were older than what was there, or expired already
    "table_full",  # those that found no room
    "over_share",  # those whose provider or source had its share of the table
    "over_share_requests",  # requests that could not be sent on, since who sent them had its share of those that wait
    "over_share_joins",  # uninvited joins from a host that had its share of the neighbours
    "hop_repeats",  # messages to a broker sent again, since no acknowledgement came
    "hop_duplicates",  # those received that were here before
    "hop_lost",  # those given up after all tries
    "hop_plain",  # those sent without asking for an acknowledgement, though that is switched on
    "rejected_unreadable",  # datagrams that are no message
    "rejected_command",  # commands from where none may come
    "rejected_stamp",  # updates stamped too far in the future
    "rejected_duplicate",  # requests that still wait here
    "rejected_stray",  # answers that belong to nothing
    "rejected_wrapped",  # what no broker sends with an acknowledgement asked for
    "unanswered_unreadable",  # NACK 301 not sent: more than ten a second to one address
    "oversized",  # messages not sent: too long for a datagram
    "withheld",  # datagrams not sent: more than three times a stranger's bytes
)

_CODES = max(CODES.values()) + 1
_RECEIVED = [(f"in_{code}", code) for code in CODES.values()]
_SENT = [(f"out_{code}", code) for code in CODES.values()]
_UNTOUCHED = dict.fromkeys(COUNTERS, 0)


class Station:
    """Handed to each part of one broker; ``is_exempt`` says whom the three-times rule does not concern."""

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
        """Those of ``COUNTERS`` that were ever touched: of a hundred thousand brokers most never count most of them."""
        self.received = [0] * _CODES
        """Messages that could be read, by code; ``sent`` those put on the way out."""
        self.sent = [0] * _CODES
        self._is_exempt = is_exempt
        self._trusted_hosts = self.open_network.trusted_hosts
        self.outgoing: list[tuple[bytes, Address]] = []
        self._events: list[NodeEvent] = []
        self._limits: dict[str, int] = {}

    def wall_ms(self, now: int) -> int:
        """Unix milliseconds at the monotonic instant ``now``."""
        return (now + self.wall_offset_ns) // MILLISECOND

    def knows(self, address: Address) -> bool:
        """Whether it is no stranger: in a trusted network, or a broker that is or was a neighbour or is to be one."""
        return self.open_network.trusts(address) or self.is_broker(address)

    def is_broker(self, address: Address) -> bool:
        """Whether it is a broker that is or was a neighbour or is to be one."""
        return self._is_exempt(address)

    def payer(self, source: Address) -> Address:
        """Who pays for what is kept for ``source``; see ``quotas``."""
        return source if self._trusted_hosts(source[0]) else stranger(source[0])

    def send(self, code: int, data: bytes, to: Address, now: int, *, exempt: bool = False) -> bool:
        """Put a datagram on the way out. ``False`` if a stranger is owed no more: three times its bytes at most.

        ``exempt`` is what no datagram of a stranger brings about: farewells to those who were neighbours, and pings to
        those whom a controller has named as candidates.
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
        """``send``, and ``False`` too for what outgrew a datagram, such as a NACK with thousands of hops."""
        try:
            data = encode(message)
        except WireError:
            self.counters["oversized"] += 1
            return False
        return self.send(CODES[type(message)], data, to, now, exempt=exempt)

    def ack(self, status: Status, operation: str, to: Address, now: int) -> None:
        self.send(5, encode_ack(self.wall_ms(now), status, operation, to), to, now)

    def nack(self, status: Status, operation: str, timestamp: int, to: Address, now: int) -> None:
        """Refuse what ``to`` asked itself; ``timestamp`` is that of the message refused."""
        self.send_message(Nack(timestamp, status, operation, to), to, now)

    def nack_query(self, status: int, timestamp: int, consumer: Address, hops: Hops, to: Address, now: int) -> None:
        """Refuse a query on its way back: ``hops`` as ``to`` sent them, empty when ``to`` is the consumer."""
        self.send_message(Nack(timestamp, status, OPERATIONS[3], consumer, hops), to, now)

    def counted(self) -> dict[str, int]:
        """All counters by name."""
        received, sent = self.received, self.sent
        by_code = {name: received[code] for name, code in _RECEIVED} | {name: sent[code] for name, code in _SENT}
        return by_code | _UNTOUCHED | dict(self.counters)

    def report(self, event: NodeEvent) -> None:
        """For a driver to drain; of more than ``MOST_EVENTS`` that it did not, the first are forgotten."""
        self._events.append(event)
        del self._events[:-MOST_EVENTS]

    def report_limit(self, limit: str, now: int) -> None:
        """Report a bound that was hit, at most once in ten seconds."""
        if now - self._limits.get(limit, now - 10 * SECOND) >= 10 * SECOND:
            self._limits[limit] = now
            self.report(LimitReached(limit))

    def drain_events(self) -> list[NodeEvent]:
        if not self._events:  # nearly always
            return []
        events, self._events = self._events, []
        return events
