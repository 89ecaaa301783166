"""Composes a datagram from form input, including invalid values. Pure.

Counterpart: ``overlay.systems.context_broker.wire.codec.encode`` encodes valid messages only. Here everything is
written as entered, to see how a broker responds. Two values are computed: relative times, and empty sizes.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from brokerweb.wirelab.lab import Blank
from brokerweb.wirelab.moments import from_now
from brokerweb.wirelab.pasted import MOST_BYTES
from overlay.core.errors import InvalidSetting
from overlay.systems.context_broker.wire.kinds import FORMATS, MAX_DATAGRAM, Field, Kind, Layout, Tail
from overlay.systems.context_broker.wire.table import LAYOUTS
from overlay.systems.context_broker.wire.values import ACKS, FLAGS, NACKS, OPERATION_NAMES

TAIL = "tail"
EXTRA = "extra"
"""Raw bytes appended to the message."""
_TAIL_LABELS = {Tail.STAR: "Mark", Tail.HOPS: "Hops", Tail.MARKED_HOPS: "Hops", Tail.RECORDS: "Records"}
_HOP = re.compile(r"(.*):([^:]*)", re.DOTALL)


def layout_of(code: int) -> Layout:
    """Raises ``InvalidSetting`` for an unknown code."""
    layout = LAYOUTS.get(code)
    if layout is None:
        raise InvalidSetting("code", f"no message has the code {code}; see the list of all messages")
    return layout


def blanks(layout: Layout, given: Mapping[str, str]) -> list[Blank]:
    """The form of a message with given or default values."""
    made = [
        Blank(
            key=one.key,
            label=one.name,
            text=given.get(one.key, one.example),
            help=f"{one.meaning} Computed if left empty." if one.kind == Kind.SIZE else one.meaning,
            lines=3 if one.kind in (Kind.PAYLOAD, Kind.MESSAGE) else 1,
            choices=_choices(one),
        )
        for one in layout.fields
    ]
    if layout.tail != Tail.NONE:
        lines = 1 if layout.tail == Tail.STAR else 3
        label = _TAIL_LABELS.get(layout.tail, "Addresses")
        made.append(Blank(TAIL, label, given.get(TAIL, layout.tail_example), layout.tail_meaning, lines))
    made.append(
        Blank(EXTRA, "Trailing bytes", given.get(EXTRA, ""), "Appended to the message unchanged, to make it invalid.")
    )
    return made


def compose(code: int, given: Mapping[str, str], now_ms: int) -> bytes:
    """The datagram. Missing values have their defaults; unknown names are refused.

    Raises ``InvalidSetting``.
    """
    layout = layout_of(code)
    form = blanks(layout, given)
    if unknown := [name for name in given if name not in {blank.key for blank in form}]:
        raise InvalidSetting(unknown[0][:60], f"{layout.name} has no such field")
    texts = {blank.key: blank.text for blank in form}
    payload = _bytes(texts.get("payload", ""), "payload")
    data = str(code).encode()
    for one in layout.fields:
        key = one.key
        text = texts[key]
        if one.kind == Kind.TIME:
            moment = from_now(text, now_ms)
            text = text if moment is None else str(moment)
        elif one.kind == Kind.SIZE and not text:
            text = str(len(payload))
        data += b"|" + _bytes(FORMATS[one.kind].prefix + text, key)
    data += _bytes(_tail(layout.tail, texts.get(TAIL, "")), TAIL) + _bytes(texts[EXTRA], EXTRA)
    if len(data) > MOST_BYTES:
        raise InvalidSetting("payload", f"results in {len(data):,} bytes; a datagram has at most {MAX_DATAGRAM:,}")
    return data


def example(layout: Layout, now_ms: int) -> bytes:
    """A valid example message, sent now."""
    return compose(layout.code, {}, now_ms)


def _choices(one: Field) -> tuple[str, ...]:
    known = {Kind.FLAG: FLAGS, Kind.ACK_STATUS: tuple(ACKS), Kind.NACK_STATUS: tuple(NACKS)}
    return OPERATION_NAMES if one.kind == Kind.OPERATION else known.get(one.kind, ())


def _tail(tail: Tail, text: str) -> str:
    """The lines of a form as what follows the fields; a hop's two fields stand apart, an address is one."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    if tail not in (Tail.HOPS, Tail.MARKED_HOPS):
        return "".join(f"|{line}" for line in lines)
    written = []
    for line in lines:
        hop, _, mark = line.partition(" ")
        match = _HOP.fullmatch(hop)
        written.append(f"{match[1].strip('[]')}|{match[2]}" if match else hop)
        written += [mark.strip()] if mark.strip() else []
    return "".join(f"|{one}" for one in written)


def _bytes(text: str, key: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError:
        raise InvalidSetting(key, "contains an unpaired surrogate") from None
