"""A datagram taken apart into fields with their offsets, however wrong it is. Pure.

Counterparts: ``wire.table`` says what to expect, ``fieldkinds`` what a field says. Segments follow each other without a
gap from the first byte to the last; the codec reads a datagram exactly if nothing here is wrong with it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from brokerweb.systems.context_broker.wirelab.fieldkinds import words_of
from brokerweb.wirelab.lab import Dissection, Segment
from overlay.core.errors import WireError
from overlay.systems.context_broker.wire.kinds import MAX_DATAGRAM, MAX_PAYLOAD, Field, Kind, Layout, Tail
from overlay.systems.context_broker.wire.table import LAYOUTS

MOST_SEGMENTS = 1_000
"""Told apart, separators included; what is behind them is one more."""
MOST_DEPTH = 3
"""Messages within messages that are taken apart."""
_CODE = Field("MessageType", Kind.CODE, meaning="Code of the message.")
_MARK = Field("Mark", Kind.STAR, meaning="Sent by a broker to a broker.")
_NUMBER = Field("Number", Kind.INTEGER, meaning="Of the change, counted by the broker.")
_CHANGE = Field("Change", Kind.CHANGE, meaning="What has become of the entry.")
_MESSAGE_SIZE = Field("Size", Kind.INTEGER, meaning="Length of the message.")
_MESSAGE = Field("Message", Kind.MESSAGE, meaning="The entry, or its withdrawal.")
_BAR = ord("|")


def dissect(data: bytes, now_ms: int) -> Dissection:
    """Take ``data`` apart; ``now_ms`` is Unix milliseconds, for times in words. Never raises."""
    reader = _Reader(data, now_ms)
    layout = reader.read()
    segments = tuple(reader.segments)
    problems = [f"{one.name} at byte {one.offset}: {one.problem}" for one in segments if one.problem and not one.depth]
    if reader.missing:
        names = ", ".join(reader.missing)
        problems.append(f"{names} {'is' if len(reader.missing) == 1 else 'are'} missing after byte {len(data)}")
    if len(data) > MAX_DATAGRAM:
        problems.append(f"{len(data)} bytes exceed the limit of a datagram, {MAX_DATAGRAM}")
    return Dissection(data, layout, segments, tuple(reader.missing), tuple(problems))


class _Reader:
    def __init__(self, data: bytes, now_ms: int, depth: int = 0) -> None:
        self.segments: list[Segment] = []
        self.missing: list[str] = []
        self._data = data
        self._now_ms = now_ms
        self._depth = depth
        self._at = 0
        """The next byte."""

    def read(self) -> Layout | None:
        code = self._field(_CODE)
        layout = None if code.problem else LAYOUTS[int(code.text)]
        if layout is None:
            for number, start in enumerate(self._starts(), 2):
                self._segment(Field(f"Field {number}", Kind.UNKNOWN), start, self._next_bar(start))
            return None
        self._fields(layout)
        self._tail(layout.tail)
        self._surplus()
        return layout

    def _fields(self, layout: Layout) -> None:
        size: int | None = None
        for one in layout.fields:
            if not self._separator():
                self.missing.append(one.name)
            elif one.kind == Kind.PAYLOAD:
                self._payload(one, size)
            elif one.kind == Kind.MESSAGE:
                self._message(one)
            else:
                segment = self._field(one)
                if one.kind == Kind.SIZE and not segment.problem:
                    size = int(segment.text)
        self._check_order(layout)

    def _payload(self, one: Field, size: int | None) -> None:
        start, there = self._at, len(self._data) - self._at
        end = len(self._data) if size is None else min(start + size, len(self._data))
        problem = ""
        if size is not None and there < size:
            problem = f"PayloadSize says {size} bytes, {there} {'is' if there == 1 else 'are'} present: truncated"
        elif size is None and there > MAX_PAYLOAD:
            problem = f"a payload has 1 to {MAX_PAYLOAD} bytes"
        self._segment(one, start, end, problem)
        if end < len(self._data) and self._data[end] != _BAR:
            rest = len(self._data) - end
            what = f"the payload is {rest} byte{'' if rest == 1 else 's'} longer than PayloadSize says"
            self._segment(Field("After the payload", Kind.SURPLUS), end, len(self._data), what)

    def _message(self, one: Field, size: int | None = None) -> None:
        start = self._at
        end = len(self._data) if size is None else min(start + size, len(self._data))
        if start == end or self._depth >= MOST_DEPTH:
            self._segment(one, start, end, "" if start < end else "is empty")
            return
        inner = _Reader(self._data[start:end], self._now_ms, self._depth + 1)
        inner.read()
        for segment in inner.segments:
            self.segments.append(replace(segment, offset=segment.offset + start))
        self._at = end

    def _check_order(self, layout: Layout) -> None:
        """The one rule that needs two fields."""
        found = {one.name: at for at, one in enumerate(self.segments)}
        for one in layout.fields:
            if one.after in found and one.name in found:
                first, second = (self.segments[found[name]] for name in (one.after, one.name))
                if not first.problem and not second.problem and int(first.text) >= int(second.text):
                    wrong = f"{one.after} is not before {one.name}"
                    self.segments[found[one.name]] = replace(second, problem=wrong)

    # ---- what may follow

    def _tail(self, tail: Tail) -> None:
        if tail in (Tail.HOPS, Tail.MARKED_HOPS):
            self._hops(is_marked=tail == Tail.MARKED_HOPS)
        elif tail in (Tail.ADDRESSES, Tail.ADDRESSES_STAR):
            self._addresses(may_end_in_star=tail == Tail.ADDRESSES_STAR)
        elif tail == Tail.STAR and self._separator():
            self._field(_MARK)
        elif tail == Tail.RECORDS:
            self._records()

    def _hops(self, *, is_marked: bool) -> None:
        hop, may_mark = 0, False
        while self._is_more() and self._separator():
            if is_marked and may_mark and self._text() == "*":
                self._field(Field(f"Mark of hop {hop}", Kind.STAR, meaning="Its broker keeps a replica."))
                may_mark = False
                continue
            hop += 1
            self._field(Field(f"Hop {hop} host", Kind.HOST, meaning="The consumer." if hop == 1 else ""))
            if self._separator():
                self._field(Field(f"Hop {hop} port", Kind.PORT))
                may_mark = True
            else:
                self.missing.append(f"Hop {hop} port")

    def _addresses(self, *, may_end_in_star: bool) -> None:
        number = 0
        while self._is_more() and self._separator():
            if may_end_in_star and self._data[self._at :] == b"*":
                self._field(_MARK)
            else:
                number += 1
                self._field(Field(f"Address {number}", Kind.ADDRESS))
        if may_end_in_star and not number and not self.missing:
            self.missing.append("Address 1")

    def _records(self) -> None:
        while self._is_more() and self._separator():
            self._field(_NUMBER)
            for one in (_CHANGE, _MESSAGE_SIZE):
                if not self._separator():
                    self.missing.append(one.name)
                    return
                segment = self._field(one)
            if not self._separator():
                self.missing.append(_MESSAGE.name)
                return
            self._sized_message(segment)

    def _sized_message(self, size: Segment) -> None:
        """A message of the size that the segment before it says."""
        if size.problem:
            self._segment(_MESSAGE, self._at, len(self._data))
            return
        there = len(self._data) - self._at
        if int(size.text) > there:
            self.segments[-2] = replace(size, problem=f"says {size.text} bytes, {there} are present: truncated")
        self._message(_MESSAGE, int(size.text))

    def _surplus(self) -> None:
        while self._is_more() and self._separator():
            self._segment(
                Field("Surplus", Kind.SURPLUS), self._at, self._next_bar(self._at), "not a field of this message"
            )
        if self._at < len(self._data):
            # Nothing but a message that is longer than its size leaves bytes without a separator before them.
            is_cut, meaning = not self._is_more(), f"Beyond {MOST_SEGMENTS} fields are not separated."
            rest = Field("Rest", Kind.UNKNOWN, meaning=meaning if is_cut else "")
            problem = "" if is_cut else "the message before it is longer than its size"
            self._segment(rest, self._at, len(self._data), problem)

    def _is_more(self) -> bool:
        return len(self.segments) < MOST_SEGMENTS

    # ---- the cursor

    def _starts(self) -> Iterator[int]:
        """Where each further field begins, as far as they are told apart."""
        while self._is_more() and self._separator():
            yield self._at
        if self._at < len(self._data):
            self._segment(Field("Rest", Kind.UNKNOWN), self._at, len(self._data))

    def _next_bar(self, start: int) -> int:
        found = self._data.find(b"|", start)
        return len(self._data) if found < 0 else found

    def _text(self) -> str:
        return self._data[self._at : self._next_bar(self._at)].decode(errors="replace")

    def _separator(self) -> bool:
        """Step over the ``|`` before a field; false where there is none."""
        if self._at >= len(self._data) or self._data[self._at] != _BAR:
            return False
        self.segments.append(Segment("|", Kind.SEPARATOR, self._at, 1, "|", depth=self._depth))
        self._at += 1
        return True

    def _field(self, one: Field) -> Segment:
        return self._segment(one, self._at, self._next_bar(self._at))

    def _segment(self, one: Field, start: int, end: int, problem: str = "") -> Segment:
        raw = self._data[start:end]
        words = ""
        try:
            text = raw.decode()
            if not problem:
                words = words_of(one.kind, text, one.example, self._now_ms)
        except UnicodeDecodeError as error:
            text = raw.decode(errors="replace")
            if one.kind not in (Kind.UNKNOWN, Kind.MESSAGE):
                problem = problem or f"byte {start + error.start} is not UTF-8"
        except WireError as error:
            problem = str(error)
        if not raw and not problem and one.kind in (Kind.PAYLOAD, Kind.UNKNOWN):
            problem = "is empty"
        segment = Segment(one.name, one.kind, start, end - start, text, words, problem, one.meaning, self._depth)
        self.segments.append(segment)
        self._at = end
        return segment
