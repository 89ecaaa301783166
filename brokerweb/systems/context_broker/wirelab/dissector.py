"""The part of ``waxwing.lua``, the dissector for Wireshark, that is made from the table of messages. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from overlay.systems.context_broker.wire.kinds import FORMATS, MAX_DIGITS, MAX_PAYLOAD, MAX_TTL, Field, Kind
from overlay.systems.context_broker.wire.messages import Status
from overlay.systems.context_broker.wire.table import LAYOUTS

BEGIN = "-- Begin: generated from the table of messages (docs/wire.md says how).\n"
END = "-- End.\n"

_TYPES = {
    Kind.TIME: "absolute_time({names}, base.UTC)",
    Kind.INTEGER: "uint64({names})",
    Kind.TTL: "uint32({names})",
    Kind.SIZE: "uint32({names})",
    Kind.ACK_STATUS: "uint32({names}, base.DEC, STATUSES)",
    Kind.NACK_STATUS: "uint32({names}, base.DEC, STATUSES)",
    Kind.MESSAGE: "bytes({names})",
}
"""Types of Wireshark's fields; of all others ``string``."""


def renewed(script: str) -> str:
    """``script`` with the part between ``BEGIN`` and ``END`` made again."""
    before, _, rest = script.partition(BEGIN)
    _, _, after = rest.partition(END)
    return before + BEGIN + "\n".join(_lines()) + "\n" + END + after


def _lines() -> Iterator[str]:
    yield "-- Code, name, fields behind the code (name:kind), and what may follow them."
    yield "local MESSAGES = {"
    for layout in LAYOUTS.values():
        fields = " ".join(f"{one.key}:{_kind(one.kind)}" for one in layout.fields)
        yield f'  [{layout.code}] = {{"{layout.name}", "{fields}", "{layout.tail}"}},'
    yield "}"
    statuses = (f'[{status:d}] = "{status.name}"' for status in Status)
    yield f"local STATUSES = {{ {', '.join(statuses)} }}"
    prefixes = (f'{_kind(kind)} = "{form.prefix}"' for kind, form in FORMATS.items() if form.prefix)
    yield f"local PREFIXES = {{ {', '.join(prefixes)} }}"
    yield f"local MOST_DIGITS, MOST_PAYLOAD, MOST_TTL = {MAX_DIGITS}, {MAX_PAYLOAD}, {MAX_TTL}"
    yield "local f = {"
    yield from (f"  {one.key} = {_proto_field(one)}," for one in _fields())
    yield "}"


def _fields() -> list[Field]:
    """Those of all messages, each once."""
    return list({one.key: one for layout in LAYOUTS.values() for one in layout.fields}.values())


def _proto_field(one: Field) -> str:
    names = f'"waxwing.{one.key}", "{one.name}"'
    return "ProtoField." + _TYPES.get(one.kind, "string({names})").format(names=names)


def _kind(kind: Kind) -> str:
    return kind.value.replace(" ", "_")
