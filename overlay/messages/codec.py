"""Reads and writes messages as their layouts say. ``Codec.parse`` is total: any bytes give a message or ``BadMessage``.

A message is a MessagePack array of its code and its fields.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final

import msgpack

from overlay.core.errors import shown
from overlay.messages.errors import BadMessage, Reason, refuse
from overlay.messages.kinds import MOST, Read, elements
from overlay.messages.layouts import Layout

pack: Final = msgpack.Packer(autoreset=True).pack
_unpack: Final = msgpack.unpackb


_UNREADABLE = (ValueError, TypeError, msgpack.UnpackException)
"""What MessagePack raises for bytes that are none, for text that is no UTF-8, and for keys that are no text."""


class Coder:
    """Parser and encoder of one message."""

    def __init__(self, layout: Layout, check: Layout | None = None) -> None:
        """``check``: a layout whose fields accept what those of ``layout`` write; reading it again could take long."""
        self.layout = layout
        self._make = layout.make or layout.message
        self._reads = [field.kind.read for field in layout.fields]
        self._checks = [field.kind.read for field in (check or layout).fields]
        self._count = len(layout.fields)
        self._kept = [bool(field.name) for field in layout.fields]
        self._has_padding = not all(self._kept)
        self._writes = [(field.name, field.kind.write) for field in layout.fields]
        self._has_req = layout.fields[0].is_request

    def read(self, array: Sequence[Any]) -> Any:
        """The message, from all its elements, its code included. Raises ``BadMessage``."""
        values = self._values(array[1:], self._reads)
        if self._has_padding:
            values = [value for value, is_kept in zip(values, self._kept, strict=True) if is_kept]
        return self._make(*values)

    def _values(self, array: Sequence[Any], reads: Sequence[Read]) -> list[Any]:
        """The fields as ``reads`` give them."""
        try:
            if len(array) != self._count:
                elements(array, self._count, self._count)
            return [read(value) for read, value in zip(reads, array)]  # noqa: B905 (equal lengths; a hot path)
        except BadMessage as error:
            raise self.located(error, self._wrong_field(array, reads), array) from None

    def _wrong_field(self, array: Sequence[Any], reads: Sequence[Read]) -> str:
        """The name of the first one that cannot be read."""
        for field, read, value in zip(self.layout.fields, reads, array, strict=False):
            try:
                read(value)
            except BadMessage:
                return field.name or "padding"
        return "its fields"

    def write(self, message: Any) -> list[Any]:
        """All elements of the message, which can be read back. Raises ``BadMessage``."""
        try:
            fields = [write(getattr(message, name, None)) for name, write in self._writes]
        except BadMessage as error:
            raise self.located(error, "its fields", ()) from None
        self._values(fields, self._checks)
        return [self.layout.code, *fields]

    def located(self, error: BadMessage, where: str, fields: Sequence[Any]) -> BadMessage:
        """``error`` with the message and field it is in, and the request, if ``fields`` have it."""
        req = fields[0] if self._has_req and fields else 0
        is_known = type(req) is int and 0 <= req < 1 << 64
        sentence = f"{self.layout.name.upper()}, {where}: {error.sentence}"
        return BadMessage(error.reason, sentence, self.layout.code, req if is_known else 0)


class Codec:
    """All messages of a network."""

    def __init__(self, coders: Iterable[Coder], most: int = MOST) -> None:
        """``most``: bytes of a message."""
        self._coders = {coder.layout.code: coder for coder in coders}
        self._by_class = {coder.layout.message: coder for coder in self._coders.values()}
        self._most = most
        self.layouts = tuple(coder.layout for coder in self._coders.values())

    def parse(self, data: bytes) -> Any:
        """Raises ``BadMessage`` and nothing else."""
        array = self._array(data)
        return self._coder(array).read(array)

    def encode(self, message: Any) -> bytes:
        """Raises ``BadMessage`` if a value exceeds its limits, or the message does."""
        coder = self._by_class[type(message)]
        return self._sized(pack(coder.write(message)), coder)

    def _array(self, data: bytes) -> list[Any]:
        """With at least one element."""
        if len(data) > self._most:
            refuse(Reason.SIZE, f"{len(data):,} bytes are more than a message can have")
        try:
            array = _unpack(data)
        except _UNREADABLE as error:
            raise BadMessage(Reason.ENCODING, f"no MessagePack: {error}") from None
        if type(array) is not list or not array:
            refuse(Reason.KIND, "a message is an array that begins with its kind")
        return array

    def _coder(self, array: Sequence[Any]) -> Coder:
        code = array[0]
        coder = self._coders.get(code) if type(code) is int else None
        if coder is None:
            refuse(Reason.KIND, f"{shown(code)} is not the kind of a message")
        return coder

    def _sized(self, data: bytes, coder: Coder) -> bytes:
        if len(data) > self._most:
            raise BadMessage(Reason.SIZE, f"{len(data):,} bytes are more than a message can have", coder.layout.code)
        return data
