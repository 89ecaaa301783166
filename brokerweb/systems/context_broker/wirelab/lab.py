"""The messages of seed 000 for the common wire lab. Counterpart: ``brokerweb.wirelab.lab``."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from brokerweb.systems.context_broker.wirelab import answers, composing
from brokerweb.systems.context_broker.wirelab.conversations import held
from brokerweb.systems.context_broker.wirelab.dissecting import dissect
from brokerweb.systems.context_broker.wirelab.verdicts import judge
from brokerweb.wirelab.lab import Blank, Conversation, Dissection, Lab, Message, Verdict
from brokerweb.wirelab.pasted import FORMS
from overlay.systems.context_broker.system import SYSTEM
from overlay.systems.context_broker.wire.codec import code_of
from overlay.systems.context_broker.wire.table import LAYOUTS


class ContextBrokerLab(Lab):
    system, title, urls, server = SYSTEM.name, "Wire lab", "wire", "broker"
    first_code = 3
    forms = FORMS
    text_help = (
        "As text (<code>3|1795338000000|room|r1|temp</code>), as hexadecimal digits, as a dump of "
        "<code>hexdump -C</code>, <code>xxd</code>, <code>tcpdump -X</code> or Wireshark, or as Base64."
    )
    compose_help = (
        "Times are Unix milliseconds, or relative: <code>now</code>, <code>now+120s</code>, <code>now-5min</code>. "
        "Invalid input is encoded as entered; the verdict shows how a broker handles it."
    )
    verdict_note = "Verdict of a broker without neighbours and data, for a datagram from this machine now."
    dissector, protocol = "wireshark/waxwing.lua", "Waxwing"
    filters = (
        ("waxwing.code == 3", "requests"),
        ("waxwing.status == 202", "not-found answers"),
        ('waxwing.entity_id == "r1" && waxwing.hops > 2', "walks of more than two hops for an entity"),
        ("waxwing.wrong", "invalid messages"),
    )

    @property
    def messages(self) -> Collection[Message]:
        return LAYOUTS.values()

    def decode(self, data: bytes, now_ms: int) -> Dissection:
        return dissect(data, now_ms)

    def judge(self, dissection: Dissection, now_ms: int) -> Verdict:
        return judge(dissection, now_ms)

    def blanks(self, code: int, given: Mapping[str, str]) -> list[Blank]:
        return composing.blanks(composing.layout_of(code), given)

    def compose(self, code: int, given: Mapping[str, str], now_ms: int) -> bytes:
        return composing.compose(code, given, now_ms)

    def code_of(self, data: bytes) -> int | None:
        code = code_of(data)
        return code if code in LAYOUTS else None

    def is_last(self, asked: bytes, answer: bytes) -> bool:
        return answers.is_last(asked, answer)

    def conversations(self) -> Sequence[Conversation]:
        return tuple(held())


LAB = ContextBrokerLab()
