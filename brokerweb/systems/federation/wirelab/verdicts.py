"""What a server makes of a message or a datagram: found out by giving it to one of a small network. Pure.

The network has two brokers and a registration service with the default settings, and only the sender is registered. A
message is said in a session of its sender; a datagram without a message arrives from an unknown address.
"""

from __future__ import annotations

from brokerweb.systems.federation.wirelab.speaking import UNNAMED, speech_of
from brokerweb.systems.federation.wirelab.table import TABLE
from brokerweb.systems.federation.wirelab.village import Village
from brokerweb.wirelab.channel.talking import Speech
from brokerweb.wirelab.lab import Judgement, Verdict
from overlay.messages.errors import BadMessage
from overlay.systems.federation.contextml.encoding import CONTEXTML
from overlay.systems.federation.names import SERVICE, broker_name
from overlay.systems.federation.wire import messages as m
from overlay.systems.federation.wire.layouts import BROKER
from overlay.systems.federation.wire.layouts import SERVICE as TO_SERVICE

_ANSWERS = (m.Ack, m.Nack, m.Found, m.Answer, m.Here)
SETTLED_MS = 100
"""By then the brokers have registered and opened their edge."""


def judge_message(message: bytes, now_ms: int) -> Verdict:
    """Never raises."""
    speech = speech_of(message, now_ms)
    answers = _said(speech, now_ms, {"encoding": "contextml"} if TABLE.codec_of(message) is CONTEXTML else {})
    return _verdict(message, answers)


def _said(speech: Speech, now_ms: int, settings: dict[str, str]) -> tuple[bytes, ...]:
    """The answers of the server that the message goes to."""
    village = Village(now_ms, settings=settings)
    village.wait(SETTLED_MS)
    name, code = speech.id.decode(), TABLE.code_of(speech.message)
    way = "" if code is None else TABLE.layouts[code].way
    if name == UNNAMED and way.startswith(BROKER):
        name = broker_name(1)  # a neighbour
    is_for_service = way.endswith(f"→ {TO_SERVICE}")
    receiver = SERVICE if is_for_service else broker_name(int(name == broker_name(0)))
    if name == receiver:  # a peer has no session with itself
        return ()
    peers = village.stranger(name).peers
    if speech.is_loose:
        village.forget()
        peers.channel.send_loose(village.site(receiver).address, speech.message)
    else:
        peers.now = village.now
        peers.open(receiver, village.site(receiver).address)
        for before in speech.before:
            peers.channel.send(receiver.encode(), before, village.now)
        village.exchange()
        village.forget()
        peers.channel.send(receiver.encode(), speech.message, village.now)
    village.exchange()
    village.wait(SETTLED_MS)
    return tuple(line.data for line in village.messages() if (line.sender, line.receiver) == (receiver, name))


def settled(now_ms: int) -> Village:
    village = Village(now_ms)
    village.wait(SETTLED_MS)
    return village


def _verdict(message: bytes, answers: tuple[bytes, ...]) -> Verdict:
    codec = TABLE.codec_of(message)
    for answer in answers:
        said = TABLE.codec_of(answer).parse(answer)
        if isinstance(said, m.Nack):
            words = f": {said.words.rstrip('.')}" if said.words else ""
            code = f"NACK {said.code.value} {said.code.name.lower().replace('_', ' ')}"
            return Verdict(Judgement.REFUSED, f"{code}{words}.", said.code, answers)
    try:
        read = codec.parse(message)
    except BadMessage as error:
        return Verdict(Judgement.IGNORED, f"Dropped and counted: {error.sentence}.")
    if answers:
        return Verdict(Judgement.ACCEPTED, "A server accepts it.", None, answers)
    if isinstance(read, _ANSWERS):
        return Verdict(Judgement.IGNORED, "Valid, but the answer to no request: a server ignores it.")
    return Verdict(Judgement.ACCEPTED, "A server accepts it and sends no immediate answer.")
