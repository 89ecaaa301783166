"""Attributes as the pairs of a payload, and back. Pure.

::

    temp = 21.5                 the value
    temp@type = Celsius         its type, unless it is the default for the value
    temp@accuracy = 0.1         metadata
    temp@accuracy@type = Error  its type, likewise

A payload that is not made of pairs is the value of one attribute with the name of its scope. An entity without
attributes has the pair ``@=``.
"""

from __future__ import annotations

from collections.abc import Mapping

from brokerweb.ngsi.model import Attribute, Metadatum, attribute, default_type_of, metadatum
from brokerweb.ngsi.values import default_type, text_of, value_of

MARK = "@"
TYPE = "type"
NOTHING = {MARK: ""}
RESERVED = frozenset({"id", "type", "@context", "", MARK})
"""Names that no attribute can have in either standard: pairs with these are not shown."""


def pairs_of(attributes: Mapping[str, Attribute]) -> dict[str, str]:
    """Names must contain no ``MARK``, and no metadata must be named ``type``."""
    pairs: dict[str, str] = {}
    for name, one in attributes.items():
        pairs[name] = text_of(one.value)
        if one.type != default_type(one.value):
            pairs[f"{name}{MARK}{TYPE}"] = text_of(one.type)
        for about, meta in one.metadata.items():
            place = f"{name}{MARK}{about}"
            pairs[place] = text_of(meta.value)
            if meta.type != default_type_of(about, meta.value):
                pairs[f"{place}{MARK}{TYPE}"] = text_of(meta.type)
    return pairs or dict(NOTHING)


def attributes_of(pairs: Mapping[str, str] | None, text: str, scope: str) -> dict[str, Attribute]:
    """The attributes of any payload. ``pairs`` is ``None`` if its ``text`` is not made of pairs."""
    if pairs is None:
        return {} if scope in RESERVED else {scope: attribute(value_of(text))}
    found: dict[str, dict[str, str]] = {}
    for name, value in pairs.items():
        base, mark, about = name.partition(MARK)
        if mark and about and base in pairs:
            found.setdefault(base, {})[about] = value
        else:
            found.setdefault(name, {})
    return {name: _attribute(pairs[name], more) for name, more in found.items() if name not in RESERVED}


def _attribute(text: str, more: Mapping[str, str]) -> Attribute:
    type_text = more.get(TYPE)
    metadata = {about: _metadatum(about, value, more) for about, value in more.items() if MARK not in about}
    metadata.pop(TYPE, None)
    return attribute(value_of(text), None if type_text is None else str(value_of(type_text)), metadata)


def _metadatum(about: str, text: str, more: Mapping[str, str]) -> Metadatum:
    type_text = more.get(f"{about}{MARK}{TYPE}")
    return metadatum(about, value_of(text), None if type_text is None else str(value_of(type_text)))
