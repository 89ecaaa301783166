"""What a broker makes of a datagram: found out by giving it to one. Pure.

The broker is fresh and alone: no neighbours, nothing in its table, the default settings and what the message needs to
be known at all. It is the value that the daemons run, so nothing here repeats its rules. A loopback address sends.
"""

from __future__ import annotations

from collections.abc import Mapping

from brokerweb.wirelab.lab import Dissection, Judgement, Verdict
from overlay.core.addresses import Address
from overlay.core.chance import Chances
from overlay.core.errors import WireError
from overlay.core.node import MILLISECOND, SECOND
from overlay.core.settings import build
from overlay.systems.context_broker.broker.broker import Broker
from overlay.systems.context_broker.broker.config import BrokerConfig
from overlay.systems.context_broker.wire.codec import code_of, parse
from overlay.systems.context_broker.wire.messages import Nack, Status
from overlay.systems.context_broker.wire.table import LAYOUTS, NEVER_ANSWERED, AnyMessage

ITSELF: Address = ("127.0.0.1", 7000)
ASKER: Address = ("127.0.0.1", 40000)
REFUSALS = (Status.I_ERROR, Status.BAD_REQUEST)
WHY_IGNORED = {
    "rejected_stray": "it answers no request of this broker.",
    "rejected_command": "it was not sent by the neighbour concerned.",
    "rejected_wrapped": "its sender is not a neighbour.",
    "rejected_duplicate": "the same request is already pending.",
}


def judge(dissection: Dissection, now_ms: int) -> Verdict:
    """The verdict on a datagram that arrives at ``now_ms``, Unix milliseconds. Never raises."""
    data = dissection.data
    layout = LAYOUTS[dissection.layout.code] if dissection.layout else None
    try:
        parse(data)
    except WireError as error:
        wrong = dissection.problems[0] if dissection.problems else str(error)
    else:
        wrong = ""
    settings: Mapping[str, int | bool | str] = layout.needs if layout is not None else {}
    broker = Broker(build(BrokerConfig, settings), ITSELF, Chances.streams(0), now_ms * MILLISECOND - SECOND)
    broker.receive_datagram(data, ASKER, SECOND)
    answers = tuple(sent for sent, to in broker.datagrams_to_send() if to == ASKER)
    counters = broker.counters()
    needs = _needs(settings)
    refusal = next((nack for nack in map(_read, answers) if isinstance(nack, Nack) and nack.status in REFUSALS), None)
    if refusal is not None:
        why = wrong or ("its timestamp is too far in the future" if counters.get("rejected_stamp") else "")
        sentence = f"NACK {refusal.status} {Status(refusal.status).name} for {refusal.operation}{_because(why)}"
        return Verdict(Judgement.REFUSED, sentence, refusal.status, answers, needs)
    if wrong:
        said = "Answers are never answered; dropped and counted" if code_of(data) in NEVER_ANSWERED else "Dropped"
        return Verdict(Judgement.IGNORED, f"{said}{_because(wrong)}", None, answers, needs)
    ignored = next((why for name, why in WHY_IGNORED.items() if counters.get(name)), None)
    if ignored is not None:
        return Verdict(Judgement.IGNORED, f"Valid, but dropped and counted: {ignored}", None, answers, needs)
    words = "A broker accepts it." if answers else "A broker accepts it and sends no immediate answer."
    return Verdict(Judgement.ACCEPTED, words, None, answers, needs)


def _read(data: bytes) -> AnyMessage | None:
    try:
        return parse(data)
    except WireError:
        return None


def _because(why: str) -> str:
    return f": {why}." if why else "."


def _needs(settings: Mapping[str, int | bool | str]) -> str:
    if not settings:
        return ""
    wanted = []
    for name, value in settings.items():
        told = "on" if value is True else f"above 0, here {value}" if isinstance(value, int) else str(value)
        wanted.append(f"{name} {told}")
    return f"Only brokers with {', '.join(wanted)} accept this message; others answer NACK 301 for Unknown."
