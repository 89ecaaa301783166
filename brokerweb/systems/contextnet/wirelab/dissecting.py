"""A datagram taken apart into fields with their offsets, however wrong it is. Pure.

Segments follow each other without a gap from the first byte to the last. A tag cannot be checked without the key of its
connection; everything else is wrong here exactly where the transport drops it.
"""

from __future__ import annotations

from typing import Final

from brokerweb.systems.contextnet.wirelab.contents import text_of
from brokerweb.systems.contextnet.wirelab.table import (
    BY_CODE,
    ECHO,
    FLAGS,
    SIZES,
    TAG_BYTES,
    WANTS,
    Field,
    Shape,
    flags_of,
)
from brokerweb.wirelab.lab import Dissection, Segment
from overlay.core.addresses import format_address
from overlay.systems.contextnet.transport import layouts, packets
from overlay.systems.contextnet.transport.layouts import COOKIE_BYTES, BadPacket, Type
from overlay.systems.contextnet.transport.packets import HEAD, Packet

_BITS: Final = {"flags": FLAGS, "wants": WANTS}
_READERS: Final = {
    Type.HELLO: layouts.read_hello,
    Type.RETRY: layouts.read_retry,
    Type.ACCEPT: layouts.read_accept,
    Type.REFUSE: layouts.read_refuse,
    Type.RESET: layouts.read_reset,
}
_CUT = "is cut off"


def dissect(data: bytes) -> Dissection:
    """Never raises."""
    reader = _Reader(data)
    reader.read()
    problems = [f"{one.name} at byte {one.offset}: {one.problem}" for one in reader.segments if one.problem]
    if reader.missing:
        names = ", ".join(reader.missing)
        problems.append(f"{names} {'is' if len(reader.missing) == 1 else 'are'} missing after byte {len(data)}")
    wrong = wrong_of(data)
    if wrong and not problems:
        problems.append(wrong)
    frame = reader.frame
    inside = ""
    if not problems and frame is not None and frame.code == Type.DATA and reader.values.get("fragments") == 1:
        inside = text_of(reader.values["kind"], reader.part)
    return Dissection(data, frame, tuple(reader.segments), tuple(reader.missing), tuple(problems), inside)


def wrong_of(data: bytes) -> str:
    """Why the transport drops it, whatever its tag or proof; empty: it does not."""
    try:
        kind = layouts.type_of(data)
        if kind in packets.PROTECTED:
            packets.read_body(packet_of(data))
        else:
            _READERS[kind](data)
    except BadPacket as error:
        return str(error)
    return ""


def packet_of(data: bytes, tag_bytes: int = TAG_BYTES) -> Packet:
    """A protected packet, without a look at its tag. Raises ``BadPacket``."""
    packets.cid_of(data, tag_bytes)
    _, flags, cid, number, ack, sack = HEAD.unpack_from(data)
    body, echo = data[HEAD.size : len(data) - tag_bytes], None
    if flags & packets.Flags.ECHO:
        if len(body) < 8:
            layouts.refuse("echo", "the echo is cut off")
        echo, body = (int.from_bytes(body[:4], "big"), int.from_bytes(body[4:8], "big")), body[8:]
    return Packet(layouts.type_of(data), flags, cid, number, ack, sack, echo, body)


class _Reader:
    def __init__(self, data: bytes) -> None:
        self.segments: list[Segment] = []
        self.missing: list[str] = []
        self.values: dict[str, int] = {}
        """Of numbers."""
        self.part = b""
        self.frame = BY_CODE.get(data[0] & 15) if data and data[0] >> 4 == layouts.VERSION else None
        self._data, self._at = data, 0
        self._end = len(data)
        """Before the proof or the tag."""

    def read(self) -> None:
        if not self._data:
            self.missing.append("type")
            return
        version, code = self._data[0] >> 4, self._data[0] & 15
        problem = "" if version == layouts.VERSION else f"version {version} is not {layouts.VERSION}"
        problem = problem or ("" if code in BY_CODE else f"{code} is no type of a datagram")
        words = f"version {version}, {BY_CODE[code].name}" if code in BY_CODE else f"version {version}"
        self._add("version, type", "1 byte", 1, f"{self._data[0]:#04x}", words, problem, "Version × 16 + type.")
        if self.frame is None:
            self._rest("")
            return
        proof = next((one for one in self.frame.fields if one.shape is Shape.PROOF), None)
        if proof is not None:
            self._end = max(1, len(self._data) - proof.size)
            if self.frame.code == Type.HELLO:
                self._end = min(self._end, layouts.HELLO_BYTES - proof.size)
        for at, field in enumerate(self.frame.fields):
            if field.only_with == ECHO and not self.values.get("flags", 0) & packets.Flags.ECHO:
                continue
            if not self._field(field):
                rest = self.frame.fields[at + 1 :]
                self.missing += [one.name for one in rest if not one.only_with and one.shape is not Shape.PADDING]
                break
        self._rest("not a field of this datagram")

    def _rest(self, problem: str) -> None:
        left = self._data[self._at :]
        if left:
            self._add("Surplus" if problem else "Rest", "unknown", len(left), left.hex(), "", problem)

    # ---- fields: whether it could be read

    def _field(self, field: Field) -> bool:
        if field.shape in SIZES:
            return self._number(field)
        if field.shape is Shape.PROOF:
            return self._proof(field)
        if field.shape is Shape.COOKIE:
            return self._cookie(field)
        if field.shape is Shape.ADDRESSES:
            return self._addresses(field)
        if field.shape is Shape.BYTES:
            return self._taken(field, field.size)
        if field.shape is Shape.REST:
            self.part = self._data[self._at : self._end]
            problem = "" if self.part else "DATA has at least 1 byte of a message"
            self._say(field, len(self.part), self.part.hex(), "", problem)
            return True
        return self._padding(field)

    def _number(self, field: Field) -> bool:
        size = SIZES[field.shape]
        if self._at + size > self._end:
            return self._unread(field)
        value = int.from_bytes(self._data[self._at : self._at + size], "big")
        self.values[field.name] = value
        bits = _BITS.get(field.name)
        words = (
            flags_of(value, bits) if bits else field.words.get(value, f"{value:,} {field.unit}" if field.unit else "")
        )
        problem = f"must not be {value}" if field.is_closed and value not in field.words else ""
        self._say(field, size, str(value), words, problem)
        return True

    def _taken(self, field: Field, size: int) -> bool:
        if self._at + size > self._end:
            return self._unread(field)
        self._say(field, size, self._data[self._at : self._at + size].hex())
        return True

    def _proof(self, field: Field) -> bool:
        left = len(self._data) - self._at
        if left < field.size:
            return self._unread(field)
        self._say(field, left if left == field.size else field.size, self._data[self._at : self._at + field.size].hex())
        return True

    def _cookie(self, field: Field) -> bool:
        if self._at >= self._end:
            return self._unread(field)
        size = self._data[self._at]
        problem = "" if size in (0, COOKIE_BYTES) else f"a cookie has 0 or {COOKIE_BYTES} bytes, not {size}"
        self._add("cookie length", "length", 1, str(size), f"{size} bytes", problem)
        if problem:
            return False
        return not size or self._taken(field, size)

    def _addresses(self, field: Field) -> bool:
        if self._at >= self._end:
            return self._unread(field)
        count = self._data[self._at]
        self._add(f"number of {field.name}", "length", 1, str(count), "", "", field.meaning)
        for at in range(count):
            try:
                address, end = layouts.read_address(self._data, self._at, self._end)
            except BadPacket as error:
                left = self._end - self._at
                if left > 0:
                    self._add(f"gateway {at}", "address", left, self._data[self._at : self._end].hex(), "", str(error))
                else:
                    self.missing.append(f"gateway {at}")
                return True
            self._add(f"gateway {at}", "address", end - self._at, format_address(address))
        return True

    def _padding(self, field: Field) -> bool:
        zeros = self._data[self._at : max(self._at, self._end)]
        problem = "must be zeros" if any(zeros) else ""
        if zeros:
            self._say(field, len(zeros), zeros.hex() if problem else f"{len(zeros)} zeros", "", problem)
        return True

    def _unread(self, field: Field) -> bool:
        left = self._data[self._at :]
        if left:
            self._say(field, len(left), left.hex(), "", _CUT)
        else:
            self.missing.append(field.name)
        return False

    def _say(self, field: Field, length: int, text: str, words: str = "", problem: str = "") -> None:
        kind = f"{length} bytes" if field.shape in (Shape.BYTES, Shape.PROOF) else str(field.shape)
        self._add(field.name, kind, length, text, words, problem, field.meaning)

    def _add(
        self, name: str, kind: str, length: int, text: str, words: str = "", problem: str = "", help: str = ""
    ) -> None:
        self.segments.append(Segment(name, kind, self._at, length, text, words, problem, help))
        self._at += length
