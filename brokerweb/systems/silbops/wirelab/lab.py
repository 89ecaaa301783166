"""The messages of seed 002 for the common wire lab. Counterpart: ``brokerweb.wirelab.channel.lab``."""

from __future__ import annotations

from collections.abc import Sequence

from brokerweb.systems.silbops.wirelab import speaking, verdicts
from brokerweb.systems.silbops.wirelab.conversations import held
from brokerweb.systems.silbops.wirelab.table import MESSAGES
from brokerweb.wirelab.channel.lab import ChannelLab, is_datagram, is_loose
from brokerweb.wirelab.channel.talking import Talk
from brokerweb.wirelab.channel.verdicts import judge_datagram, judge_messages
from brokerweb.wirelab.exchanges import Exchange
from brokerweb.wirelab.lab import Conversation, Dissection, Verdict
from overlay.core.chance import Chance
from overlay.systems.silbops.names import broker_name
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
        return Talk(speaking.speech_of(data), self.is_last, chance)

    def conversations(self) -> Sequence[Conversation]:
        return held()


LAB = SilbopsLab()
