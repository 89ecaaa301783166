"""What a server makes of the channel's datagrams, and of several messages. Pure."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from brokerweb.wirelab.channel.village import Village
from brokerweb.wirelab.lab import Judgement, Verdict
from overlay.channel.settings import MOST_MESSAGE
from overlay.core.addresses import Address

SENDER: Address = ("127.0.0.1", 9)


def judge_messages(messages: Sequence[bytes], judge: Callable[[bytes], Verdict]) -> Verdict:
    """The first one that is not accepted decides. Never raises."""
    verdicts = [_carried(message) or judge(message) for message in messages]
    at = next((at for at, one in enumerate(verdicts) if one.judgement is not Judgement.ACCEPTED), 0)
    found = verdicts[at]
    return found if len(messages) == 1 else replace(found, sentence=f"Message {at + 1}: {found.sentence}")


def judge_datagram(data: bytes, village: Village) -> Verdict:
    """Of one that carries no complete message, from an unknown address, by the first server. Never raises."""
    node = next(iter(village.nodes.values()))
    before = dict(node.peers.channel.counters)
    node.receive_datagrams([(data, SENDER)], village.now)
    answers = tuple(answer for answer, to in node.datagrams_to_send() if to == SENDER)
    reasons = [name for name, count in node.peers.channel.counters.items() if count != before.get(name, 0)]
    why = ", ".join(name.removeprefix("dropped_").replace("_", " ") for name in reasons)
    if answers and reasons:
        return Verdict(Judgement.REFUSED, f"A server that has no such session drops it ({why}).", None, answers)
    if answers:
        return Verdict(Judgement.ACCEPTED, "A server answers it.", None, answers)
    return Verdict(Judgement.IGNORED, f"Dropped and counted: {why}." if why else "A server does nothing.")


def _carried(message: bytes) -> Verdict | None:
    """Whether the channel carries it at all."""
    if 0 < len(message) <= MOST_MESSAGE:
        return None
    why = f"it has {len(message):,} bytes, and a message has 1 to {MOST_MESSAGE:,}"
    return Verdict(Judgement.IGNORED, f"The channel does not carry it: {why}.")
