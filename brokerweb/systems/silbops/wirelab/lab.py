"""The messages of seed 002 for the common wire lab. Counterpart: ``brokerweb.wirelab.channel.lab``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from brokerweb.systems.silbops.wirelab import speaking, verdicts
from brokerweb.systems.silbops.wirelab.conversations import held
from brokerweb.systems.silbops.wirelab.table import MESSAGES
from brokerweb.systems.silbops.wirelab.village import Village
from brokerweb.wirelab.channel.lab import ACKNOWLEDGING, ChannelLab
from brokerweb.wirelab.channel.talking import Speech
from brokerweb.wirelab.lab import Conversation, Verdict
from overlay.systems.silbops.system import SYSTEM


class SilbopsLab(ChannelLab):
    system, title, urls, server = SYSTEM.name, "SilboPS: wire lab", "silbops-wire", "broker"
    channel_messages = MESSAGES
    carried = channel_messages.compose(13, {}, 0)
    carried_loose = channel_messages.compose(20, {}, 0)
    first_code = 13
    compose_help = (
        "Arrays and maps are JSON. An id of 16 bytes is hexadecimal digits, and a function of context may be a text "
        "(<code>this.x - 20 &lt;= pub.x</code>)."
    )
    verdict_note = (
        "Verdict of one of two brokers with the default settings. A client's message is judged as that of a client "
        "that has just attached, all others as those of the other broker."
    )
    send_note = (
        "A message is sent in a session of the channel, which is opened for it and closed again, and is repeated there "
        "if it is lost. A client's message is sent by the client wire-lab, which attaches before, and ends afterwards "
        "what it has set; the broker keeps the client itself for keep_s. A running client or broker of the same name "
        "loses its session. A datagram of the channel is sent as it is."
    )
    dissector, protocol = "silbops/silbops.lua", "SilboPS"
    filters = (
        ("silbops.kind == 27", "publications between brokers"),
        ("silbops.kind == 23", "contexts that brokers tell each other"),
        ("silbops.kind == 24 || silbops.kind == 25", "subscriptions that brokers tell each other"),
        ("silbops.code == 6", "refusals of clients that have not attached"),
        ("silbops.channel.kind == 1 && silbops.channel.seq == 1", "the beginnings of sessions"),
        ("silbops.wrong", "invalid messages"),
    )

    families: ClassVar = {
        "request": ("Subscriptions", (13, 14, 24, 25)),
        "answer": ("To clients: notifications", (16,)),
        "refusal": ("Refusals", (18,)),
        "update": ("Publications and contexts", (10, 15, 23, 26, 27, 28)),
        "acknowledgement": ("Acknowledgements", (17, ACKNOWLEDGING)),
        "upkeep": ("Advertisements, moves, sessions", ()),
    }

    def settled(self, now_ms: int) -> Village:
        return verdicts.settled(now_ms)

    def judge_message(self, message: bytes, now_ms: int) -> Verdict:
        return verdicts.judge_message(message, now_ms)

    def speech_of(self, message: bytes, now_ms: int) -> Speech:
        return speaking.speech_of(message)

    def ends(self, message: bytes, answer: bytes) -> bool:
        return speaking.is_last(message, answer)

    def conversations(self) -> Sequence[Conversation]:
        return held()


LAB = SilbopsLab()
