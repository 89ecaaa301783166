"""The part of the dissector for Wireshark that reads the messages of a table. Pure."""

from __future__ import annotations

import re
from pathlib import Path

from brokerweb.wirelab.channel import lua
from brokerweb.wirelab.messagepack.table import OR_NIL, Table
from overlay.messages.kinds import BOOLEAN, TIME, Kind, U

ENGINE = Path(__file__).with_name("messages.lua")
"""What is the same for every table."""
PADDING = "padding"
RESERVED = ("kind", "entry", "other", "wrong", "channel")
"""Names of the script itself."""
_CHOICES = re.compile(r"(\d+) ([^,]+)")
_PROTO = {
    "number": 'ProtoField.uint64("{name}", "{label}")',
    "time": 'ProtoField.absolute_time("{name}", "{label}", base.UTC)',
    "boolean": 'ProtoField.bool("{name}", "{label}")',
    "text": 'ProtoField.string("{name}", "{label}")',
    "array": 'ProtoField.string("{name}", "{label}")',
    "any": 'ProtoField.string("{name}", "{label}")',
}


def script(table: Table, key: str, title: str) -> str:
    """``key`` begins the names of fields; ``title`` is the protocol's name in Wireshark."""
    return lua.script(key, title, _Made(table, key).script())


class _Made:
    def __init__(self, table: Table, key: str) -> None:
        self._table, self._key = table, key
        self._values: list[str] = []
        self._numbers: dict[tuple[str, int], int] = {}
        """Of kinds, by the name of the field and ``id``."""
        self._fields: dict[str, str] = dict.fromkeys(RESERVED, "")
        """Names in filters, and their ``ProtoField``."""
        self._words: dict[str, int] = {}
        """Numbers of the choices of kinds."""

    def script(self) -> str:
        layouts = []
        for layout in self._table.layouts.values():
            fields = ", ".join(self._pair(field.name or PADDING, field.kind) for field in layout.fields)
            layouts.append(f'  [{layout.code}] = {{ "{layout.name.upper()}", {{ {fields} }} }},')
        inside = self._table.inside
        if inside:
            self._fields[inside.lower()] = f'ProtoField.string("{self._key}.{inside.lower()}", "{inside}")'
        parts = {
            "INSIDE": f'"{inside.lower()}"' if inside else "nil",
            "VALUES": "\n".join(self._values),
            "LAYOUTS": "\n".join(layouts),
            "WORDS": "\n".join(f"  [{number}] = {{ {_choices(words)} }}," for words, number in self._words.items()),
            "FIELDS": "\n".join(f'f["{name}"] = {made}' for name, made in self._fields.items() if made),
        }
        made = ENGINE.read_text()
        for name, text in parts.items():
            made = made.replace(f"@{name}@", text)
        return made.rstrip()

    def _pair(self, name: str, kind: Kind) -> str:
        """The name of a field in filters, and the number of its kind."""
        number, type_ = self._number(name, kind), _type(kind)
        for short in (name, f"{name}_{type_}"):
            made = self._proto(kind, type_).format(name=f"{self._key}.{short}", label=name)
            if self._fields.setdefault(short, made) == made:
                return f'{{ "{short}", {number} }}'
        raise ValueError(f"two kinds of {name} have the type {type_}")

    def _proto(self, kind: Kind, type_: str) -> str:
        if type_ != "choice":
            return _PROTO[type_]
        return f'ProtoField.uint32("{{name}}", "{{label}}", base.DEC, WORDS[{self._words[kind.words]}])'

    def _number(self, name: str, kind: Kind) -> int:
        key = (name if kind.each else "", id(kind))
        if key in self._numbers:
            return self._numbers[key]
        number = self._numbers[key] = len(self._values) + 1
        self._values.append("")
        said = [f'type = "{_type(kind)}"']
        if kind.each is not None:
            said.append(f"each = {self._pair(name.removesuffix('s'), kind.each)}")
        if kind.parts:
            said.append(f"parts = {{ {', '.join(self._pair(part, inner) for part, inner in kind.parts)} }}")
        if kind.words.endswith(OR_NIL):
            said.append("is_optional = true")
        if _type(kind) == "choice":
            said.append(f"words = {self._words.setdefault(kind.words, len(self._words) + 1)}")
        self._values[number - 1] = f"  [{number}] = {{ {', '.join(said)} }},"
        return number


def _choices(words: str) -> str:
    return ", ".join(f'[{value}] = "{word}"' for value, word in _CHOICES.findall(words))


def _type(kind: Kind) -> str:
    if kind.each is not None or kind.parts:
        return "array"
    if kind is U or kind is TIME or kind is BOOLEAN:
        return "number" if kind is U else "time" if kind is TIME else "boolean"
    if _CHOICES.match(kind.words):
        return "any" if "bytes" in kind.words else "choice"
    return "text" if kind.words.startswith(("text", "host:port")) else "any"
