"""The messages of seed 001 for the common wire lab. Counterpart: ``brokerweb.wirelab.channel.lab``."""

from __future__ import annotations

from collections.abc import Sequence

from brokerweb.systems.federation.wirelab import speaking, verdicts
from brokerweb.systems.federation.wirelab.conversations import held
from brokerweb.systems.federation.wirelab.table import MESSAGES
from brokerweb.wirelab.channel.lab import ChannelLab, is_datagram, is_loose
from brokerweb.wirelab.channel.talking import Talk
from brokerweb.wirelab.channel.verdicts import judge_datagram, judge_messages
from brokerweb.wirelab.exchanges import Exchange
from brokerweb.wirelab.lab import Conversation, Dissection, Verdict
from overlay.core.chance import Chance
from overlay.systems.federation.names import broker_name
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

    def judge(self, dissection: Dissection, now_ms: int) -> Verdict:
        data = dissection.data
        messages = self.messages_of(data)
        if is_datagram(data) and (is_loose(data) or not messages):
            return judge_datagram(data, verdicts.settled(now_ms), broker_name(0))
        return judge_messages(messages, lambda message: verdicts.judge_message(message, now_ms))

    def is_last(self, asked: bytes, answer: bytes) -> bool:
        """A datagram of the channel is answered once."""
        return is_datagram(asked) or speaking.is_last(asked, answer)

    def exchange(self, data: bytes, chance: Chance, now_ms: int) -> Exchange:
        if is_datagram(data):
            return super().exchange(data, chance, now_ms)
        return Talk(speaking.speech_of(data, now_ms), self.is_last, chance)

    def conversations(self) -> Sequence[Conversation]:
        return held()


LAB = FederationLab()
