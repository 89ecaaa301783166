"""What a server makes of a datagram: found out by giving it to one. Pure.

The server is fresh: the default settings, and one client, which has the instance of the datagram, so that a context is
judged by its content. A loopback address sends.
"""

from __future__ import annotations

from typing import Any

from brokerweb.wirelab.lab import Dissection, Judgement, Verdict
from overlay.core.addresses import Address
from overlay.core.chance import Chances
from overlay.core.errors import WireError
from overlay.core.node import MILLISECOND
from overlay.systems.radiator.server.service import Service
from overlay.systems.radiator.settings import ServerConfig, Settings
from overlay.systems.radiator.wire import messages as m
from overlay.systems.radiator.wire.codec import encode, parse
from overlay.systems.radiator.wire.table import FORMAT, KINDS

ITSELF: Address = ("127.0.0.1", 7000)
SENDER: Address = ("127.0.0.1", 40_000)
KNOWN = (m.Unregister, m.Context, m.Failed, m.Done, m.Progress, m.Alive)
"""Messages of a registered client."""
REPORTS = (m.Failed, m.Done, m.Progress)


def judge(dissection: Dissection, now_ms: int) -> Verdict:
    """The verdict on a datagram that arrives at ``now_ms``, Unix milliseconds. Never raises."""
    try:
        message = parse(dissection.data)
    except WireError as error:
        why = dissection.problems[0] if dissection.problems else str(error)
        return Verdict(Judgement.IGNORED, f"Dropped and counted: {why}.")
    now = now_ms * MILLISECOND
    server = Service(ServerConfig(Settings()), ITSELF, Chances.streams(0))
    if isinstance(message, KNOWN):
        _register(server, message, now)
    server.receive_datagrams([(dissection.data, SENDER)], now)
    answers = tuple(data for data, to in server.datagrams_to_send() if to == SENDER)
    return _verdict(message, answers)


def _register(server: Service, message: Any, now: int) -> None:
    """Make the sender of ``message`` a client."""
    id = message.id if isinstance(message, m.Unregister) else "client"
    token = 0
    for _ in range(2):
        server.receive_datagrams([(encode(m.Register(0, message.instance, token, 1, id, {})), SENDER)], now)
        (answer,) = [parse(data) for data, _ in server.datagrams_to_send()]
        assert isinstance(answer, m.Registered)
        token = answer.token


def _verdict(message: m.Message, answers: tuple[bytes, ...]) -> Verdict:
    if not answers:
        layout = FORMAT.layouts[KINDS[type(message)]]
        if layout.way.startswith("client → server"):
            return Verdict(Judgement.ACCEPTED, "A server accepts it and sends no immediate answer.")
        return Verdict(Judgement.IGNORED, "Valid, but a server ignores it: it is for clients.")
    answer = parse(answers[0])
    if isinstance(answer, m.Accepted) and answer.code != m.Acceptance.OK:
        return Verdict(Judgement.REFUSED, f"ACCEPTED {_code(answer)}.", answer.code, answers)
    if isinstance(answer, m.Registered) and answer.code == m.Registration.TOKEN:
        sentence = "A server asks to repeat it with this token, from the same address."
        return Verdict(Judgement.ACCEPTED, sentence, answer.code, answers)
    if isinstance(answer, m.Registered) and answer.code != m.Registration.OK:
        return Verdict(Judgement.REFUSED, f"REGISTERED {_code(answer)}.", answer.code, answers)
    return Verdict(Judgement.ACCEPTED, "A server accepts it.", None, answers)


def _code(answer: m.Accepted | m.Registered) -> str:
    (field,) = [one for one in FORMAT.layouts[KINDS[type(answer)]].fields if one.name == "code"]
    return f"{answer.code} {field.words[answer.code]}"
