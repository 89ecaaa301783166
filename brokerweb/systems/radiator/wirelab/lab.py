"""The datagrams of seed 003 for the common wire lab. Counterpart: ``brokerweb.wirelab.binary.lab``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from brokerweb.systems.radiator.wirelab.conversations import held
from brokerweb.systems.radiator.wirelab.verdicts import judge
from brokerweb.wirelab.binary.lab import BinaryLab
from brokerweb.wirelab.lab import Conversation, Dissection, Verdict
from overlay.core.binary import Field
from overlay.core.errors import WireError
from overlay.systems.radiator.system import SYSTEM
from overlay.systems.radiator.wire import messages as m
from overlay.systems.radiator.wire.codec import encode, parse
from overlay.systems.radiator.wire.compression import deflate, inflate
from overlay.systems.radiator.wire.table import FORMAT

MOST_INFLATED = 1 << 16
"""Bytes of a body that are shown inflated."""


class RadiatorLab(BinaryLab):
    system, title, urls, server = SYSTEM.name, "Radiator: wire lab", "radiator-wire", "server"
    format = FORMAT
    first_code = 5
    verdict_note = (
        "Verdict of a server with the default settings and one client, which sends the datagram from this machine now."
    )
    send_note = "A registration is repeated with the token that the server asks for."
    dissector, protocol = "radiator/radiator.lua", "Radiator"
    filters = (
        ("radiator.kind == 7", "pushes"),
        ("radiator.propagation == 2 && radiator.chain != 65535", "one propagation along its chains"),
        ('radiator.id == "alice"', "registrations of a client"),
        ("radiator.accepted.code == 2", "contexts refused as busy"),
        ("radiator.wrong", "invalid messages"),
    )

    def judge(self, dissection: Dissection, now_ms: int) -> Verdict:
        return judge(dissection, now_ms)

    def pack(self, field: Field, data: bytes, values: Mapping[str, Any]) -> bytes:
        return deflate(data, values.get("codec", 0))

    def inside(self, message: Any) -> str:
        """The JSON of a CONTEXT, or of a PUSH of one segment."""
        if not isinstance(message, m.Context | m.Push) or (isinstance(message, m.Push) and message.segments > 1):
            return ""
        try:
            return inflate(message[-1], message.codec, MOST_INFLATED).decode()
        except (WireError, UnicodeDecodeError):
            return ""

    def explain(self, field: Field, value: Any) -> str:
        if field.name == "chain" and value == m.DIRECT:
            return "a direct push"
        if field.name == "bitmap":
            bits = int.from_bytes(value, "big").bit_count()
            return f"{bits} of the next {m.WINDOW} segments" if bits else "none of the next segments"
        return ""

    def is_last(self, asked: bytes, answer: bytes) -> bool:
        """A server answers each request once."""
        return True

    def follow_up(self, asked: bytes, answer: bytes) -> bytes | None:
        """A registration is repeated with the token, which belongs to the port that it came from."""
        try:
            request, answered = parse(asked), parse(answer)
        except WireError:
            return None
        is_asked = isinstance(answered, m.Registered) and answered.code == m.Registration.TOKEN
        if not isinstance(request, m.Register) or not isinstance(answered, m.Registered) or not is_asked:
            return None
        return encode(request._replace(token=answered.token))

    def conversations(self) -> Sequence[Conversation]:
        return held()


LAB = RadiatorLab()
