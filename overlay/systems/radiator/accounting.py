"""What a datagram counts: its own bytes with UDP and IP headers, or those of an exchange by HTTP as in the paper.

The HTTP costs were measured with new connections: 681 bytes next to the body, 611 for a reply, 66 for each packet.
"""

from __future__ import annotations

from overlay.systems.radiator.wire import messages as m

HEADERS = 28
EXCHANGE, REPLY, PACKET, SEGMENT, HEAD = 681, 611, 66, 1_448, 200
REPLIES = (m.Registered, m.Unregistered, m.Accepted)
"""An ACK of a whole blob is one, too."""


def exchange_bytes(body: int) -> int:
    """An HTTP request with a body, and everything that its sender sends for it."""
    return body + EXCHANGE + PACKET * (-(-(body + HEAD) // SEGMENT) - 1)


def push_bytes(accounting: str, data: int, part: int, blob: int, segment: int, *, is_repeat: bool) -> int:
    """A segment of ``part`` bytes in a datagram of ``data``. By HTTP a blob counts once per attempt."""
    if accounting == "datagram":
        return data + HEADERS
    if is_repeat:
        return part + PACKET
    return exchange_bytes(blob) if segment == 0 else 0


def spared_bytes(accounting: str, blob: int, raw: int, segment: int, *, is_repeat: bool) -> int:
    """What compression spares: counted with the first segment."""
    if segment or (is_repeat and accounting == "http"):
        return 0
    return raw - blob if accounting == "datagram" else exchange_bytes(raw) - exchange_bytes(blob)


def other_bytes(accounting: str, message: m.Message, data: int) -> int:
    """A datagram that answers. The paper has no DONE, PROGRESS, ALIVE; by HTTP they count nothing."""
    if accounting == "datagram":
        return data + HEADERS
    if isinstance(message, REPLIES) or (isinstance(message, m.Noted) and message.kind == m.REPORTS[0]):
        return REPLY
    return 0


def ack_bytes(accounting: str, data: int, *, is_whole: bool) -> int:
    """By HTTP a push has one reply, whatever the number of its segments."""
    if accounting == "datagram":
        return data + HEADERS
    return REPLY if is_whole else 0
