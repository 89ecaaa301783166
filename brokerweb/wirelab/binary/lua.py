"""The dissector for Wireshark of a table of binary messages. Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

from overlay.core.binary import LENGTHS, SIZES, Field, Format, Kind, Layout

ENGINE = Path(__file__).with_name("dissector.lua")
"""What is the same for every table."""
MOMENT = "ns since 1970"
_TYPES = {Kind.TEXT8: "text", Kind.JSON16: "json", Kind.FIXED: "bytes", Kind.REST: "rest"}
_HEADER = ("magic", "kind", "text_length")
"""Fields of the script itself, whose names no other may have."""


def script(format: Format, key: str, title: str) -> str:
    """The script; ``key`` begins the names of its fields and ``title`` is the protocol's name in Wireshark."""
    parts = {
        "KEY": key,
        "TITLE": title,
        "MAGIC": "".join(f"\\{byte}" for byte in format.magic),
        "MESSAGES": "\n".join(_messages(format)),
        "WORDS": "\n".join(_words(format)),
        "FIELDS": "\n".join(_fields(format, key)),
    }
    made = ENGINE.read_text()
    for name, text in parts.items():
        made = made.replace(f"@{name}@", text)
    return made


def abbreviations(format: Format) -> dict[tuple[int, str], str]:
    """The name of each field in filters, by kind of message and name.

    A field that is the same wherever it has this name has its name alone; others begin with their message's.
    """
    alike: dict[str, set[tuple[object, ...]]] = defaultdict(set)
    for name in _HEADER:
        alike[name].add(())
    for layout in format.layouts.values():
        for field in layout.fields:
            alike[field.name].add((field.kind, field.size, field.words, field.unit))
    return {
        (layout.code, field.name): field.name if len(alike[field.name]) == 1 else f"{_word(layout)}.{field.name}"
        for layout in format.layouts.values()
        for field in layout.fields
    }


def _word(layout: Layout) -> str:
    return layout.short.replace(" ", "_")


def _messages(format: Format) -> Iterator[str]:
    named = abbreviations(format)
    for layout in format.layouts.values():
        fields = " ".join(_specification(field, named[layout.code, field.name]) for field in layout.fields)
        yield f'  [{layout.code}] = {{"{layout.name}", "{fields}"}},'


def _specification(field: Field, abbreviation: str) -> str:
    condition = f":{field.only_with[0]}={field.only_with[1]}" if field.only_with else ""
    return f"{field.name}:{_type(field)}:{_size(field)}:{abbreviation}{condition}"


def _type(field: Field) -> str:
    return _TYPES.get(field.kind, "moment" if field.unit == MOMENT else "number")


def _size(field: Field) -> int:
    return SIZES.get(field.kind) or LENGTHS.get(field.kind) or field.size


def _each(format: Format) -> Iterator[tuple[str, Field]]:
    """Every field once, by its abbreviation."""
    named = abbreviations(format)
    made = {named[layout.code, one.name]: one for layout in format.layouts.values() for one in layout.fields}
    yield from made.items()


def _words(format: Format) -> Iterator[str]:
    for abbreviation, field in _each(format):
        if field.choices:
            told = (f'[{value}] = "{word}"' for value, word in zip(field.choices, field.words, strict=True))
            yield f'  ["{abbreviation}"] = {{ {", ".join(told)} }},'


def _fields(format: Format, key: str) -> Iterator[str]:
    for abbreviation, field in _each(format):
        has_unit = field.unit and field.unit != MOMENT and not field.name.endswith(field.unit)
        label = f"{field.name} ({field.unit})" if has_unit else field.name
        yield f'  ["{abbreviation}"] = ProtoField.{_proto(field, abbreviation, f"{key}.{abbreviation}", label)},'


def _proto(field: Field, abbreviation: str, name: str, label: str) -> str:
    names = f'"{name}", "{label}"'
    if _type(field) == "moment":
        return f"absolute_time({names}, base.UTC)"
    if field.kind in SIZES:
        words = f', base.DEC, WORDS["{abbreviation}"]' if field.choices else ""
        return f"uint{8 * SIZES[field.kind]}({names}{words})"
    return f"string({names})" if field.kind in LENGTHS else f"bytes({names})"
