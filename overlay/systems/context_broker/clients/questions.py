"""The messages of an exchange and its answers (wire-protocol section 3). Counterpart: ``exchange``."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache, partial

from overlay.core.addresses import Address
from overlay.core.errors import WireError
from overlay.systems.context_broker.clients.feed_reader import FeedReader
from overlay.systems.context_broker.fast.acks import ack_of
from overlay.systems.context_broker.fast.replies import is_ack, is_response
from overlay.systems.context_broker.wire.codec import encode, parse
from overlay.systems.context_broker.wire.extensions import QuietRequest
from overlay.systems.context_broker.wire.feed_messages import Withdraw
from overlay.systems.context_broker.wire.messages import (
    BrokerJoining,
    BrokerLeaving,
    ContextRequest,
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
from overlay.systems.context_broker.wire.table import AnyMessage

LONGEST_VALID_MS = 10**18
"""Maximum validity. Its end still has at most the 19 digits of an integer in a message."""


@dataclass(frozen=True, slots=True)
class Question:
    """One operation, which can be sent repeatedly."""

    write: Callable[[int], bytes]
    """The datagram with a timestamp in Unix milliseconds."""
    is_answer: Callable[[bytes], bool]
    """Whether a datagram from the broker asked is the answer. A NACK ends every exchange."""
    is_last: Callable[[bytes], bool] | None = None
    """Whether a datagram is the ACK 102 that accompanies the answer, if there is one: the port is free after both."""


def request(key: Key, *, is_quiet: bool = False) -> Question:
    """Request data of an entity and scope. The answer is a Response, with ACK 102 unless the request is quiet.

    Raises ``WireError`` for a key that no message can contain.
    """
    write = _stamped((QuietRequest if is_quiet else ContextRequest)(0, *key))
    about = "|".join(key).encode()
    is_last = None if is_quiet else _acknowledged("ContextRequest", Status.REQ_PROCESSED)
    return Question(write, partial(is_response, about), is_last)


def update(
    flag: str,
    provider_id: str,
    key: Key,
    valid_ms: int,
    payload: bytes,
    begin_of: Callable[[int], int] = lambda stamp: stamp,
) -> Question:
    """Store data that is valid for ``valid_ms`` from each transmission; ``flag`` is ``A`` or ``U``. The answer is ACK
    102. ``begin_of`` is the beginning of the validity for a timestamp, for those that lie ahead of the clock.

    Raises ``WireError`` for data that every broker would refuse without giving a reason.
    """
    if valid_ms > LONGEST_VALID_MS:
        raise WireError(f"a validity of {valid_ms:.4g} ms ends after the last time that a message can express")
    try:
        payload.decode()
    except UnicodeDecodeError as error:
        raise WireError(f"a payload is UTF-8 text, and byte {error.start} of this one is not") from None

    def write(stamp: int) -> bytes:
        begin = begin_of(stamp)
        return encode(ContextUpdateAdvertisement(stamp, flag, provider_id, *key, begin, begin + valid_ms, payload))

    return Question(write, _acknowledged("ContextUpdateAdvertisement", Status.REQ_PROCESSED))


def withdrawal(provider_id: str, key: Key, until: int = 0) -> Question:
    """Withdraw a provider's data as of each transmission; ``until`` as in ``Withdraw``. The answer is ACK 102.

    Raises ``WireError`` for names that no message can contain.
    """
    return Question(_stamped(Withdraw(0, provider_id, *key, until)), _acknowledged("Withdraw", Status.REQ_PROCESSED))


def changes(reader: FeedReader) -> Question:
    """What the reader of a broker's table asks for next."""
    return Question(reader.ask, reader.is_answer)


def join(neighbours: tuple[Address, ...]) -> Question:
    """Order a broker to become a neighbour of these brokers. The answer is ACK 102."""
    return Question(_stamped(BrokerJoining(0, neighbours)), _acknowledged("BrokerJoining", Status.REQ_PROCESSED))


def leave() -> Question:
    """Order a broker to leave the network. The only answer is ACK 101."""
    return Question(_stamped(BrokerLeaving(0)), _acknowledged("BrokerLeaving", Status.REQ_RECEIVED))


def monitor() -> Question:
    """Order a broker to monitor its neighbours. The only answer is ACK 101."""
    answered = _acknowledged("StartNeighborsMonitoring", Status.REQ_RECEIVED)
    return Question(_stamped(StartNeighborsMonitoring(0)), answered)


def ping() -> Question:
    """Test whether a broker answers."""
    return Question(_stamped(Ping(0)), _parsed_as(PingResponse))


def neighbors() -> Question:
    """Request a broker's neighbours."""
    return Question(_stamped(NeighborsRequest(0)), _parsed_as(NeighborsResponse))


def stats() -> Question:
    """Request a broker's counters."""
    return Question(_stamped(StatsRequest(0)), _parsed_as(StatsResponse))


def _stamped(message: AnyMessage) -> Callable[[int], bytes]:
    """Writes ``message``, which has timestamp 0, with another timestamp."""
    code, _, rest = encode(message).partition(b"|0")
    return lambda stamp: b"%b|%d%b" % (code, stamp, rest)


@lru_cache(maxsize=16)
def _acknowledged(operation: str, status: int) -> Callable[[bytes], bool]:
    return partial(is_ack, ack_of(operation, status))


def _parsed_as(kind: type) -> Callable[[bytes], bool]:
    def is_answer(data: bytes) -> bool:
        try:
            return isinstance(parse(data), kind)
        except WireError:
            return False

    return is_answer
