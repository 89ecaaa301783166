"""What a gateway makes of a datagram: found out by giving it to one. Pure.

The gateway is fresh, with default settings. Every node has the secret of zeros, as where ``auth`` is ``none``, and a
loopback address sends. A HELLO is given to it once more with the cookie that it asks for.
"""

from __future__ import annotations

from brokerweb.systems.contextnet.wirelab.following import with_cookie
from brokerweb.wirelab.lab import Dissection, Judgement, Verdict
from overlay.core.addresses import Address
from overlay.core.chance import Chances
from overlay.core.node import MILLISECOND
from overlay.systems.contextnet.transport import layouts, packets
from overlay.systems.contextnet.transport.gate import Secret
from overlay.systems.contextnet.transport.gateway import GatewayEnd
from overlay.systems.contextnet.transport.layouts import BadPacket, Type
from overlay.systems.contextnet.transport.secrets import NO_SECRET, SECRET_BYTES
from overlay.systems.contextnet.transport.settings import TransportSettings

SENDER: Address = ("127.0.0.1", 40_000)


def judge(dissection: Dissection, now_ms: int) -> Verdict:
    """The verdict on a datagram that arrives at ``now_ms``, Unix milliseconds. Never raises."""
    data, now = dissection.data, now_ms * MILLISECOND
    try:
        kind = layouts.type_of(data)
    except BadPacket as error:
        return Verdict(Judgement.IGNORED, f"Dropped and counted: {error}.")
    gateway = GatewayEnd(
        0, b"g" * SECRET_BYTES, lambda node: Secret(NO_SECRET), TransportSettings(), Chances.streams(0).walks
    )
    answers = _answers(gateway, data, now)
    if dissection.problems:
        return Verdict(Judgement.IGNORED, f"Dropped and counted: {dissection.problems[0]}.", None, answers)
    if kind is Type.HELLO:
        return _of_hello(gateway, data, answers, now)
    if kind in packets.PROTECTED:
        return _of_packet(answers)
    return Verdict(Judgement.IGNORED, f"Valid, but a gateway ignores it: {kind.name} is for nodes.")


def _of_hello(gateway: GatewayEnd, data: bytes, answers: tuple[bytes, ...], now: int) -> Verdict:
    asked = "A gateway asks to repeat it with this cookie, from the same address"
    again = with_cookie(data, answers[0]) if answers else None
    if again is None:
        sentence = f"{asked}. Whether it is accepted then depends on the secret."
        return Verdict(Judgement.ACCEPTED, sentence, None, answers)
    found = _answers(gateway, again, now)
    if not found:
        return Verdict(Judgement.IGNORED, f"{asked}, and drops it then.", None, answers)
    if layouts.type_of(found[0]) is Type.REFUSE:
        code = layouts.read_refuse(found[0]).code
        return Verdict(Judgement.REFUSED, f"{asked}, and refuses it then: {code.name}.", int(code), (*answers, *found))
    return Verdict(Judgement.ACCEPTED, f"{asked}, and accepts it then.", None, (*answers, *found))


def _of_packet(answers: tuple[bytes, ...]) -> Verdict:
    sentence = (
        "A gateway that does not know the connection answers RESET, at most 10 times a second. One that does reads it "
        "if its tag is right."
    )
    return Verdict(Judgement.REFUSED, sentence, None, answers)


def _answers(gateway: GatewayEnd, data: bytes, now: int) -> tuple[bytes, ...]:
    gateway.receive_datagrams([(data, SENDER)], now)
    return tuple(sent for sent, to in gateway.datagrams_to_send() if to == SENDER)
