"""What messages are described with: kinds of fields, what may follow them, a field, a message.

Counterpart: ``table`` describes every message in these terms.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from enum import StrEnum
from functools import cached_property

MAX_DATAGRAM = 65_507
"""Bytes: what one UDP datagram over IPv4 carries."""
MAX_PAYLOAD = 60_000
"""Bytes."""
MAX_NAME = 255
"""Bytes of a provider, type, id or scope."""
MAX_DIGITS = 19
MAX_TTL = 255
TARGET_DIGITS = 40
"""Hexadecimal digits of an identifier of the structured arm: 160 bits."""


class Kind(StrEnum):
    """What a field contains; ``values`` reads and writes each."""

    CODE = "code"
    TIME = "time"
    INTEGER = "integer"
    TTL = "ttl"
    SIZE = "size"
    FLAG = "flag"
    NAME = "name"
    PAYLOAD = "payload"
    WORD = "word"
    ACK_STATUS = "ack status"
    NACK_STATUS = "nack status"
    OPERATION = "operation"
    REQUESTER = "requester"
    ADDRESS = "address"
    HOST = "host"
    PORT = "port"
    STAR = "star"
    TARGET = "target"
    COUNTERS = "counters"
    MESSAGE = "message"
    CHANGE = "change"
    SEPARATOR = "separator"
    SURPLUS = "surplus"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Format:
    """How the fields of a kind are written."""

    type: str
    size: str = ""
    unit: str = ""
    prefix: str = ""
    """What comes before the value, within the field."""

    @property
    def is_number(self) -> bool:
        return self.type in (INTEGER, STATUS)


INTEGER, STATUS = "integer", "status code"

_DIGITS = f"1 to {MAX_DIGITS} digits"
FORMATS: Mapping[Kind, Format] = {
    Kind.CODE: Format(INTEGER, _DIGITS),
    Kind.TIME: Format(INTEGER, _DIGITS, "ms since 1970 UTC"),
    Kind.INTEGER: Format(INTEGER, _DIGITS),
    Kind.TTL: Format(INTEGER, f"1 to {MAX_TTL}", "hops"),
    Kind.SIZE: Format(INTEGER, f"1 to {MAX_PAYLOAD}", "bytes"),
    Kind.FLAG: Format("A or U", "1 byte"),
    Kind.NAME: Format("UTF-8 without |", f"1 to {MAX_NAME} bytes"),
    Kind.PAYLOAD: Format("UTF-8", "PayloadSize bytes"),
    Kind.WORD: Format("constant"),
    Kind.ACK_STATUS: Format(STATUS, "3 digits", prefix="Status:"),
    Kind.NACK_STATUS: Format(STATUS, "3 digits", prefix="Status:"),
    Kind.OPERATION: Format("name of an operation", prefix="Operation "),
    Kind.REQUESTER: Format("host:port", prefix="Requested by "),
    Kind.ADDRESS: Format("host:port"),
    Kind.HOST: Format("numeric address"),
    Kind.PORT: Format(INTEGER, "1 to 65535"),
    Kind.STAR: Format("*", "1 byte"),
    Kind.TARGET: Format("lower-case hexadecimal", f"{TARGET_DIGITS} digits"),
    Kind.COUNTERS: Format("name=value;…"),
    Kind.MESSAGE: Format("bytes", "all that follow"),
    Kind.CHANGE: Format("E, R, W or D", "1 byte"),
}
"""Of every kind that a message may have; the other kinds are of what a message must not have."""


class Tail(StrEnum):
    """What may follow the fields that every message of a code has."""

    NONE = "nothing"
    HOPS = "hops"
    MARKED_HOPS = "marked hops"
    ADDRESSES = "addresses"
    STAR = "star"
    ADDRESSES_STAR = "addresses and a star"
    RECORDS = "records"


TAIL_PRESENCE: Mapping[Tail, str] = {
    Tail.NONE: "",
    Tail.HOPS: "Then zero or more hops, `host|port` each, the consumer first.",
    Tail.MARKED_HOPS: "Then zero or more hops, `host|port` each, the consumer first, each followed by `*` or not.",
    Tail.ADDRESSES: "Then zero or more addresses.",
    Tail.STAR: "Then `*`, or nothing.",
    Tail.ADDRESSES_STAR: "Then one or more addresses, and `*`, or nothing.",
    Tail.RECORDS: "Then zero or more records, `Number|Change|Size|Message` each, Size the bytes of Message. Change is "
    "E (held, from its provider), R (held as a replica), W (withdrawn) or D (dropped before its ValidEnd). Message is "
    "a 4 without hops for E and R, and a 37 for W and D.",
}


BETWEEN_BROKERS = "broker → broker"
"""The way of messages that only brokers send, and only to brokers."""


class Counted(StrEnum):
    """The prefix of the counter of a broker that has those messages between brokers, if others also send them."""

    SENT = "out"
    """Brokers send it to brokers only; answers to pings of others are rare."""
    RECEIVED = "in"
    """Brokers send it to clients, too; brokers receive it from brokers only."""


class Family(StrEnum):
    """What a message is for; figures of recorded runs are coloured by it."""

    REQUEST = "request"
    ANSWER = "answer"
    REFUSAL = "refusal"
    UPDATE = "update"
    ACKNOWLEDGEMENT = "acknowledgement"
    UPKEEP = "upkeep"


@dataclass(frozen=True, slots=True)
class Field:
    """A field that every message of a code has, in its order."""

    name: str
    kind: Kind
    example: str = ""
    """What a form begins with; of a ``WORD`` the only value, empty of a size that is counted."""
    meaning: str = ""
    """One sentence."""
    after: str = ""
    """The name of an earlier field whose time must be before this one."""

    @property
    def key(self) -> str:
        """Its name in forms, in REST and in Wireshark: ``EntityType`` → ``entity_type``."""
        return re.sub(r"(?<=[a-z])(?=[A-Z])|\s+", "_", self.name).lower()


@dataclass(frozen=True)
class Layout:
    """One message. ``fields`` are those behind the code; the timestamp is the first of them."""

    code: int
    message: type
    """Its class, whose fields have the values of the wire's in the same order; constants and sizes are left out."""
    short: str
    """What it is called where recorded messages are listed."""
    family: Family
    way: str
    """From whom to whom."""
    purpose: str
    fields: tuple[Field, ...]
    tail: Tail = Tail.NONE
    tail_example: str = ""
    tail_meaning: str = ""
    changes: str = ""
    """What sending it does to a network; empty of one that only asks."""
    needs: Mapping[str, int | bool | str] = field(default_factory=dict)
    """Settings of a broker that knows it, for example; a broker with the defaults does not."""
    between_brokers: Counted | None = None
    """How those between brokers are counted; ``None`` if no counter has them alone, or its way says it."""
    is_operation: bool = False
    """Whether ACK and NACK call it by its name."""
    is_answer: bool = False
    """Whether it is an answer: never answered, however malformed, so that two brokers cannot keep each other busy."""

    @property
    def name(self) -> str:
        return self.message.__name__

    @property
    def counter_between_brokers(self) -> str:
        """The counter of a broker with those that it exchanged with brokers; empty if there is none."""
        counted = Counted.SENT if self.way == BETWEEN_BROKERS else self.between_brokers
        return f"{counted}_{self.code}" if counted else ""

    @cached_property
    def attributes(self) -> tuple[str, ...]:
        """Those of ``message``."""
        return tuple(one.name for one in fields(self.message))

    @property
    def tail_attributes(self) -> tuple[str, ...]:
        """Those of what may follow the fields."""
        return self.attributes[sum(one.kind not in (Kind.WORD, Kind.SIZE) for one in self.fields) :]

    def is_known_with(self, settings: object) -> bool:
        """Whether a broker with these settings knows it: a named choice must be made, a number above 0, a flag on."""
        given = {name: getattr(settings, name) for name in self.needs}
        return all(
            given[name] == value if isinstance(value, str) else given[name] for name, value in self.needs.items()
        )
