"""What a broker makes of a message: found out by giving it to one of two in a chain. Pure.

A client's message is said by a client that has attached, all others by the neighbour.
"""

from __future__ import annotations

from brokerweb.systems.silbops.wirelab.speaking import UNNAMED, speech_of
from brokerweb.systems.silbops.wirelab.table import TABLE
from brokerweb.systems.silbops.wirelab.village import Village
from brokerweb.wirelab.lab import Judgement, Verdict
from overlay.messages.errors import BadMessage
from overlay.systems.silbops.broker.neighbours import VERSION
from overlay.systems.silbops.names import broker_name
from overlay.systems.silbops.wire import messages as m

SETTLED_MS = 100
"""By then the brokers have opened their edge."""
_BROKER, _NEIGHBOUR = broker_name(0), broker_name(1)
_ANSWERS = (m.Attached, m.Notify, m.Ok, m.Refused)


def settled(now_ms: int, arm: str = TABLE.default) -> Village:
    village = Village(now_ms, settings={"arm": arm})
    village.wait(SETTLED_MS)
    return village


def judge_message(message: bytes, now_ms: int) -> Verdict:
    """Never raises."""
    arm = TABLE.choice_of(message)
    answers, dropped = _said(message, now_ms, arm)
    codec = TABLE.codecs[arm]
    for answer in answers:
        said = codec.parse(answer)
        if isinstance(said, m.Refused):
            words = f"REFUSED {said.code.value} {said.code.name.lower().replace('_', ' ')}: {said.text.rstrip('.')}."
            return Verdict(Judgement.REFUSED, words, said.code, answers)
    try:
        read = codec.parse(message)
    except BadMessage as error:
        return Verdict(Judgement.IGNORED, f"Dropped and counted: {error.sentence}.")
    if dropped:
        return Verdict(Judgement.IGNORED, f"Valid, but dropped and counted: {dropped}.")
    if isinstance(read, _ANSWERS) and not answers:
        return Verdict(Judgement.IGNORED, "Valid, but nothing that a broker waits for: it ignores it.")
    if answers:
        return Verdict(Judgement.ACCEPTED, "A broker accepts it.", None, answers)
    return Verdict(Judgement.ACCEPTED, "A broker accepts it and sends no immediate answer.")


def _said(message: bytes, now_ms: int, arm: str) -> tuple[tuple[bytes, ...], str]:
    """What the broker answers, and the words of counters of what it dropped."""
    village = settled(now_ms, arm)
    speech, codec = speech_of(message), TABLE.codecs[arm]
    broker = village.nodes[_BROKER]
    sender, before = speech.id, list(speech.before)
    if sender == UNNAMED:
        sender = _NEIGHBOUR.encode()
    if sender == _NEIGHBOUR.encode():
        before.append(codec.encode(m.Peer(_NEIGHBOUR, 1, VERSION)))
    if sender == _BROKER.encode():  # a peer has no session with itself
        return (), ""
    name = _NEIGHBOUR if sender == _NEIGHBOUR.encode() else "sender"
    peers = village.stranger(name, sender).peers
    peers.now = village.now
    peers.channel.open(_BROKER.encode(), village.address(_BROKER), village.now)
    for one in before:
        peers.channel.send(_BROKER.encode(), one, village.now)
    village.exchange()
    village.forget()
    counted = broker.statistics(village.now)
    peers.channel.send(_BROKER.encode(), message, village.now)
    village.exchange()
    village.wait(SETTLED_MS)
    answers = tuple(line.data for line in village.messages() if (line.sender, line.receiver) == (_BROKER, name))
    after = broker.statistics(village.now)
    dropped = [one for one, count in after.items() if one.startswith("dropped_") and count > counted.get(one, 0)]
    return answers, ", ".join(one.removeprefix("dropped_").replace("_", " ") for one in dropped)
