"""What one exchange sends and what ends it (wire-protocol section 3). Counterpart: ``exchange`` asks a ``Question``."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from overlay.addresses import Address
from overlay.broker.messages import (
    Ack,
    BrokerJoining,
    BrokerLeaving,
    ContextRequest,
    ContextResponse,
    ContextUpdateAdvertisement,
    Key,
    NeighborsRequest,
    NeighborsResponse,
    Ping,
    PingResponse,
    StartNeighborsMonitoring,
    StatsRequest,
    StatsResponse,
    Status,
)
from overlay.broker.wire import AnyMessage
from overlay.errors import WireError

LONGEST_VALID_MS = 10**18
"""Its end still has the 19 digits that an integer of a message may have."""


@dataclass(frozen=True, slots=True)
class Question:
    """One operation, ready to be sent any number of times."""

    make: Callable[[int], AnyMessage]
    """The message stamped with Unix milliseconds."""
    is_answer: Callable[[AnyMessage], bool]
    """Whether a message from the broker asked is the one that was wanted. A NACK ends every exchange."""
    followed_by_ack: bool = False
    """Whether an ACK 102 comes beside the answer, so that the port is free only after both."""


def request(key: Key) -> Question:
    """Data of an entity and scope; the Response answers."""

    def is_answer(message: AnyMessage) -> bool:
        return isinstance(message, ContextResponse) and message.key == key and not message.hops

    return Question(lambda stamp: ContextRequest(stamp, *key), is_answer, followed_by_ack=True)


def update(flag: str, provider_id: str, key: Key, valid_ms: int, payload: bytes) -> Question:
    """Store data that are valid for ``valid_ms`` from each sending; ``flag`` is ``A`` or ``U``. ACK 102 answers.

    Raises ``WireError`` for what every broker would refuse, without a word on why.
    """
    if valid_ms > LONGEST_VALID_MS:
        raise WireError(f"a validity of {valid_ms:.4g} ms ends after the last instant that a message can name")
    try:
        payload.decode()
    except UnicodeDecodeError as error:
        raise WireError(f"a payload is UTF-8 text, and byte {error.start} of this one is not") from None

    def make(stamp: int) -> AnyMessage:
        return ContextUpdateAdvertisement(stamp, flag, provider_id, *key, stamp, stamp + valid_ms, payload)

    return Question(make, _acknowledged("ContextUpdateAdvertisement", Status.REQ_PROCESSED))


def join(neighbours: tuple[Address, ...]) -> Question:
    """Order a broker to become a neighbour of these. ACK 102 answers."""
    answered = _acknowledged("BrokerJoining", Status.REQ_PROCESSED)
    return Question(lambda stamp: BrokerJoining(stamp, neighbours), answered)


def leave() -> Question:
    """Order a broker to leave the network. ACK 101 answers; there is no other."""
    return Question(BrokerLeaving, _acknowledged("BrokerLeaving", Status.REQ_RECEIVED))


def monitor() -> Question:
    """Order a broker to ping its neighbours from now on. ACK 101 answers; there is no other."""
    answered = _acknowledged("StartNeighborsMonitoring", Status.REQ_RECEIVED)
    return Question(StartNeighborsMonitoring, answered)


def ping() -> Question:
    """Whether a broker is there."""
    return Question(Ping, lambda message: isinstance(message, PingResponse))


def neighbors() -> Question:
    """A broker's neighbours."""
    return Question(NeighborsRequest, lambda message: isinstance(message, NeighborsResponse))


def stats() -> Question:
    """A broker's counters."""
    return Question(StatsRequest, lambda message: isinstance(message, StatsResponse))


def _acknowledged(operation: str, status: int) -> Callable[[AnyMessage], bool]:
    def is_answer(message: AnyMessage) -> bool:
        return isinstance(message, Ack) and message.status == status and message.operation == operation

    return is_answer
