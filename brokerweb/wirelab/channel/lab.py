"""The wire lab of a system on the channel. Pure.

It takes two things apart, told by their first byte: a datagram of the channel, and a message alone, as it is between
two channels. What is composed is a message, or one of the channel's own datagrams.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from functools import cached_property

from brokerweb.wirelab.binary import composing
from brokerweb.wirelab.channel import dissecting
from brokerweb.wirelab.channel.assembling import Assembler
from brokerweb.wirelab.channel.messages import Described, Messages
from brokerweb.wirelab.channel.table import FORMAT, MESSAGE, RECORDS
from brokerweb.wirelab.channel.talking import Speech, Talk
from brokerweb.wirelab.channel.verdicts import judge_datagram, judge_messages
from brokerweb.wirelab.channel.village import Village
from brokerweb.wirelab.exchanges import Exchange
from brokerweb.wirelab.lab import Blank, Dissection, Lab, Message, Verdict
from brokerweb.wirelab.pasted import BASE64, DUMP, HEX
from overlay.channel.records import record
from overlay.channel.wire import ACK, LOOSE
from overlay.core.binary import Layout
from overlay.core.chance import Chance
from overlay.core.errors import WireError

CHANNEL = 100
"""Above it are the codes of the channel's datagrams."""
ACKNOWLEDGING = CHANNEL + ACK
"""Of datagrams that do nothing else."""
_LAYOUTS = {
    CHANNEL + code: Described(CHANNEL + code, one.short, one.way, one.purpose) for code, one in FORMAT.layouts.items()
}


class ChannelLab(Lab):
    """Subclasses say what their messages are, who says them, and what a server makes of one."""

    channel_messages: Messages
    carried: bytes
    """The message in the example of DATA."""
    carried_loose: bytes
    """The same of LOOSE."""
    forms = (HEX, DUMP, BASE64)
    text_help = (
        "A datagram of the channel, or a message alone: as hexadecimal digits, as a dump of <code>hexdump -C</code>, "
        "<code>xxd</code>, <code>tcpdump -X</code> or Wireshark, or as Base64."
    )
    inside_title = "Content"

    @cached_property
    def _all(self) -> tuple[Message, ...]:
        return (*self.channel_messages.all, *_LAYOUTS.values())

    @property
    def messages(self) -> Collection[Message]:
        return self._all

    def decode(self, data: bytes, now_ms: int) -> Dissection:
        if not is_datagram(data):
            return self.channel_messages.dissect(data, now_ms)
        found = dissecting.dissect(self.channel_messages, data, now_ms)
        kind = FORMAT.layout_of(data)
        return found if kind is None or found.layout is None else replace(found, layout=_LAYOUTS[CHANNEL + kind.code])

    def blanks(self, code: int, given: Mapping[str, str]) -> list[Blank]:
        if code > CHANNEL:
            layout = composing.layout_of(FORMAT, code - CHANNEL)
            return composing.blanks(layout, {**self._carrying(layout), **given})
        return self.channel_messages.blanks(code, given)

    def compose(self, code: int, given: Mapping[str, str], now_ms: int) -> bytes:
        if code > CHANNEL:
            given = {**self._carrying(composing.layout_of(FORMAT, code - CHANNEL)), **given}
            return composing.compose(FORMAT, code - CHANNEL, given, now_ms, lambda field, data, values: data)
        return self.channel_messages.compose(code, given, now_ms)

    def given(self, data: bytes) -> Mapping[str, str] | None:
        if not is_datagram(data):
            return self.channel_messages.given(data)
        try:
            return composing.given_of(FORMAT, data, lambda _: "", lambda field, data, values: data)
        except WireError:
            return None

    def code_of(self, data: bytes) -> int | None:
        """That of the first message in a datagram, or of the datagram."""
        if not is_datagram(data):
            return self.channel_messages.code_of(data)
        for message in dissecting.messages_in(data):
            if (code := self.channel_messages.code_of(message)) is not None:
                return code
        kind = FORMAT.layout_of(data)
        return None if kind is None else CHANNEL + kind.code

    def codes_in(self, data: bytes) -> Sequence[int | None]:
        codes = [self.channel_messages.code_of(message) for message in self.messages_of(data)]
        return codes if any(code is not None for code in codes) else (self.code_of(data),)

    def form_code(self, data: bytes) -> int | None:
        if not is_datagram(data):
            return self.channel_messages.code_of(data)
        kind = FORMAT.layout_of(data)
        return None if kind is None else CHANNEL + kind.code

    def name_of(self, data: bytes) -> str:
        if not is_datagram(data):
            return super().name_of(data)
        codes = [self.channel_messages.code_of(message) for message in dissecting.messages_in(data)]
        known = list(dict.fromkeys(code for code in codes if code is not None))
        if not known:
            kind = FORMAT.layout_of(data)
            return "unreadable" if kind is None else kind.short
        return ", ".join(next(one.short for one in self.channel_messages.all if one.code == code) for code in known)

    def summary(self, data: bytes) -> str:
        if not is_datagram(data):
            return self.channel_messages.summary(data)
        messages = [one for one in dissecting.messages_in(data) if self.channel_messages.code_of(one) is not None]
        if messages:
            return "; ".join(self.channel_messages.summary(one) for one in messages)
        try:
            fields = FORMAT.parse(data)._asdict()
        except WireError:
            return data[:80].hex(" ")
        told = {name: value for name, value in fields.items() if value and name != "padding"}
        shown = [f"{name} {value.hex()[:40] if isinstance(value, bytes) else value}" for name, value in told.items()]
        return f"{FORMAT.layouts[data[1]].short}: {', '.join(shown)}"

    def follow(self) -> Callable[[bytes], tuple[bytes, ...]]:
        assembler = Assembler()

        def parts(data: bytes) -> tuple[bytes, ...]:
            return assembler.take(data) or (data,)

        return parts

    # ---- judged and said

    @abstractmethod
    def settled(self, now_ms: int) -> Village:
        """A small network that is at rest. Its first server judges datagrams."""

    @abstractmethod
    def judge_message(self, message: bytes, now_ms: int) -> Verdict:
        """Of one that the channel carries. Never raises."""

    @abstractmethod
    def speech_of(self, message: bytes, now_ms: int) -> Speech:
        """Never raises."""

    @abstractmethod
    def ends(self, message: bytes, answer: bytes) -> bool:
        """Whether nothing more is said to a message after this answer."""

    def judge(self, dissection: Dissection, now_ms: int) -> Verdict:
        data = dissection.data
        messages = self.messages_of(data)
        if is_datagram(data) and (is_loose(data) or not messages):
            return judge_datagram(data, self.settled(now_ms))
        return judge_messages(messages, lambda message: self.judge_message(message, now_ms))

    def is_last(self, asked: bytes, answer: bytes) -> bool:
        """A datagram of the channel is answered once."""
        return is_datagram(asked) or self.ends(asked, answer)

    def exchange(self, data: bytes, chance: Chance, now_ms: int) -> Exchange:
        if is_datagram(data):
            return super().exchange(data, chance, now_ms)
        return Talk(self.speech_of(data, now_ms), self.is_last, chance)

    def messages_of(self, data: bytes) -> list[bytes]:
        """Those in a datagram, or the message alone."""
        return dissecting.messages_in(data) if is_datagram(data) else [data]

    def _carrying(self, layout: Layout) -> dict[str, str]:
        """The field with a message, if the datagram has one."""
        last = layout.fields[-1].name
        carried = {RECORDS: record(self.carried), MESSAGE: self.carried_loose}
        return {last: f"0x{carried[last].hex()}"} if last in carried else {}


def is_datagram(data: bytes) -> bool:
    """Whether it is one of the channel; no message begins so."""
    return data.startswith(FORMAT.magic)


def is_loose(data: bytes) -> bool:
    """Whether it is a datagram with a message outside sessions."""
    return is_datagram(data) and data[1:2] == bytes([LOOSE])
