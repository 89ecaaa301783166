"""The datagrams of seed 004 for the common wire lab. Counterpart: ``brokerweb.wirelab.lab``."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from brokerweb.systems.contextnet.wirelab import composing
from brokerweb.systems.contextnet.wirelab.conversations import held
from brokerweb.systems.contextnet.wirelab.dissecting import dissect
from brokerweb.systems.contextnet.wirelab.following import with_cookie
from brokerweb.systems.contextnet.wirelab.summaries import summary
from brokerweb.systems.contextnet.wirelab.table import BY_CODE, FRAMES
from brokerweb.systems.contextnet.wirelab.verdicts import judge
from brokerweb.wirelab.lab import Blank, Conversation, Dissection, Lab, Message, Verdict
from brokerweb.wirelab.pasted import BASE64, DUMP, HEX
from overlay.systems.contextnet.system import SYSTEM
from overlay.systems.contextnet.transport.layouts import VERSION


class ContextNetLab(Lab):
    system, title, urls, server = SYSTEM.name, "ContextNet: wire lab", "contextnet-wire", "gateway"
    first_code = 1
    forms = (HEX, DUMP, BASE64)
    text_help = (
        "As hexadecimal digits, as a dump of <code>hexdump -C</code>, <code>xxd</code>, <code>tcpdump -X</code> or "
        "Wireshark, or as Base64."
    )
    compose_help = (
        "Numbers are decimal, or hexadecimal after <code>0x</code>. To send an invalid datagram, enter a proof or a "
        "tag, or add trailing bytes."
    )
    dissector, protocol = "contextnet/contextnet.lua", "Tether"
    filters = (
        ("contextnet.type == 5", "DATA"),
        ("contextnet.cid == 281474976710657", "one connection"),
        ("contextnet.kind == 3", "hand-overs"),
        ("contextnet.flags.busy == 1", "packets of a busy receiver"),
        ("contextnet.wrong", "invalid datagrams"),
    )
    verdict_note = (
        "Verdict of a gateway with the default settings and no connection, where every node has the secret of zeros. "
        "Tags are of 8 bytes, and cannot be checked without the key of their connection."
    )
    inside_title = "Content of DATA"
    send_note = "A HELLO is repeated with the cookie that the gateway asks for, if its secret is that of zeros."

    @property
    def messages(self) -> Collection[Message]:
        return FRAMES

    def decode(self, data: bytes, now_ms: int) -> Dissection:
        return dissect(data)

    def judge(self, dissection: Dissection, now_ms: int) -> Verdict:
        return judge(dissection, now_ms)

    def blanks(self, code: int, given: Mapping[str, str]) -> list[Blank]:
        return composing.blanks(code, given)

    def compose(self, code: int, given: Mapping[str, str], now_ms: int) -> bytes:
        return composing.compose(code, given)

    def given(self, data: bytes) -> Mapping[str, str] | None:
        return composing.given_of(data)

    def is_last(self, asked: bytes, answer: bytes) -> bool:
        """A gateway answers a datagram of a stranger once."""
        return True

    def follow_up(self, asked: bytes, answer: bytes) -> bytes | None:
        return with_cookie(asked, answer)

    def code_of(self, data: bytes) -> int | None:
        return data[0] & 15 if data and data[0] >> 4 == VERSION and data[0] & 15 in BY_CODE else None

    def summary(self, data: bytes) -> str:
        return summary(data)

    def conversations(self) -> Sequence[Conversation]:
        return held()


LAB = ContextNetLab()
