"""The messages of seed 001 for the common wire lab. Counterpart: ``brokerweb.wirelab.channel.lab``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from brokerweb.systems.federation.wirelab import speaking, verdicts
from brokerweb.systems.federation.wirelab.conversations import held
from brokerweb.systems.federation.wirelab.table import MESSAGES
from brokerweb.systems.federation.wirelab.village import Village
from brokerweb.wirelab.channel.lab import ACKNOWLEDGING, ChannelLab
from brokerweb.wirelab.channel.talking import Speech
from brokerweb.wirelab.lab import Conversation, Verdict
from overlay.systems.federation.system import SYSTEM


class FederationLab(ChannelLab):
    system, title, urls, server = SYSTEM.name, "Federated brokers: wire lab", "federation-wire", "server"
    channel_messages = MESSAGES
    carried = channel_messages.compose(8, {}, 0)
    carried_loose = channel_messages.compose(20, {}, 0)
    first_code = 4
    inside_title = "ContextML"
    compose_help = (
        'Arrays are JSON. In them a time may be relative (<code>"now+60s"</code>), and an expression may be a text '
        '(<code>"temperature &gt; 25"</code>).'
    )
    verdict_note = (
        "Verdict of a network of two brokers and a registration service with the default settings, in which only "
        "the sender is registered. A message in a datagram is judged as if it came in its sender's session."
    )
    send_note = (
        "A message is sent in a session of the channel, which is opened for it and closed again, and is repeated there "
        "if it is lost. A client's message is sent by a client that is registered before and unregistered afterwards. "
        "A running client or server of the same name loses its session. A datagram of the channel is sent as it is."
    )
    dissector, protocol = "federation/federation.lua", "Federation"
    filters = (
        ("federation.kind == 15", "notifications between brokers"),
        ('federation.client == "c0"', "all with the subscriptions of a client"),
        ('federation.scope == "climate"', "all about a scope"),
        ("federation.code == 1", "refusals of unknown clients"),
        ("federation.channel.kind == 1 && federation.channel.seq == 1", "the beginnings of sessions"),
        ("federation.wrong", "invalid messages"),
    )

    families: ClassVar = {
        "request": ("Subscriptions and queries", (4, 7, 8, 10, 13, 19, 20)),
        "answer": ("To clients: notifications, answers", (6, 9, 11, 21)),
        "refusal": ("Refusals", (23,)),
        "update": ("Notifications of providers", (5, 15)),
        "acknowledgement": ("Acknowledgements", (22, ACKNOWLEDGING)),
        "upkeep": ("Registrations, sessions", ()),
    }

    def settled(self, now_ms: int) -> Village:
        return verdicts.settled(now_ms)

    def judge_message(self, message: bytes, now_ms: int) -> Verdict:
        return verdicts.judge_message(message, now_ms)

    def speech_of(self, message: bytes, now_ms: int) -> Speech:
        return speaking.speech_of(message, now_ms)

    def ends(self, message: bytes, answer: bytes) -> bool:
        return speaking.is_last(message, answer)

    def conversations(self) -> Sequence[Conversation]:
        return held()


LAB = FederationLab()
