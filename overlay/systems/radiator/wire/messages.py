"""One class per datagram. ``table`` describes their fields; this module has the names and types.

Tuples compare by value: use the class of a message to tell kinds apart.
"""

from __future__ import annotations

from enum import IntEnum
from typing import Any, NamedTuple

DIRECT = 65_535
"""The chain of a push to one recipient, whose blob is the body alone."""
WINDOW = 256
"""Segments in flight, and bits in an acknowledgement."""
P2P, HTTP = 1, 2
"""Flags of REGISTER."""
FLAGS = (0, P2P, P2P | HTTP)
REPORTS = (9, 10, 11)
"""The kinds that are repeated until NOTED."""


class Registration(IntEnum):
    """The code in REGISTERED and UNREGISTERED."""

    OK = 0
    COLLISION = 1
    FULL = 2
    MALFORMED = 3
    TOKEN = 4
    """Repeat the request with this token."""


class Acceptance(IntEnum):
    """The code in ACCEPTED."""

    OK = 0
    UNKNOWN = 1
    BUSY = 2
    MALFORMED = 3
    TOO_LARGE = 4
    OVER_SHARE = 5
    """As busy, for this client: it has its share of what the server retains."""


class Subject(IntEnum):
    """What INSPECT asks for."""

    FIGURES = 0
    CLIENTS = 1
    PENDING = 2


class Inspection(IntEnum):
    """The code in INSPECTED."""

    OK = 0
    TOKEN = 1
    """Repeat the request with this token."""
    ELSEWHERE = 2
    """Only programs on the host of the server are answered."""


class Register(NamedTuple):
    req: int
    instance: int
    token: int
    flags: int
    id: str
    attributes: dict[str, Any]


class Registered(NamedTuple):
    req: int
    code: int
    epoch: int
    key: bytes = b""
    token: int = 0


class Unregister(NamedTuple):
    req: int
    instance: int
    id: str


class Unregistered(NamedTuple):
    req: int
    code: int


class Context(NamedTuple):
    req: int
    instance: int
    called_at: int
    codec: int
    body: bytes


class Accepted(NamedTuple):
    req: int
    code: int
    retry_ms: int


class Push(NamedTuple):
    epoch: int
    propagation: int
    chain: int
    position: int
    length: int
    attempt: int
    codec: int
    segment: int
    segments: int
    mac: bytes
    part: bytes


class Ack(NamedTuple):
    epoch: int
    propagation: int
    chain: int
    attempt: int
    base: int
    bitmap: bytes


class Failed(NamedTuple):
    epoch: int
    propagation: int
    chain: int
    attempt: int
    position: int
    instance: int


class Done(NamedTuple):
    epoch: int
    propagation: int
    chain: int
    attempt: int
    position: int
    instance: int


class Progress(NamedTuple):
    epoch: int
    propagation: int
    chain: int
    attempt: int
    position: int
    instance: int


class Noted(NamedTuple):
    epoch: int
    propagation: int
    chain: int
    attempt: int
    position: int
    instance: int
    kind: int


class Alive(NamedTuple):
    instance: int


class RegisterAgain(NamedTuple):
    epoch: int


class Inspect(NamedTuple):
    req: int
    token: int
    subject: int
    clients: int = 0
    """Reachable ones only (1), unreachable ones only (2), all (0)."""
    offset: int = 0
    limit: int = 0
    padding: bytes = b""


class Inspected(NamedTuple):
    req: int
    code: int
    token: int = 0
    body: bytes = b""


Report = Failed | Done | Progress


def noted(report: Report) -> Noted:
    """The answer to a report."""
    return Noted._make((*report, REPORTS[(Failed, Done, Progress).index(type(report))]))


Message = (
    Register | Registered | Unregister | Unregistered | Context | Accepted | Push | Ack | Report | Noted | Alive
) | (RegisterAgain | Inspect | Inspected)
