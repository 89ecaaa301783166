"""Topics made from patterns such as ``context/{type}/{entity}/{scope}``, and the names in them. Pure.

Names are percent-encoded as in URLs where a topic could not carry them: ``/``, ``+``, ``#``, ``%``, ``$`` and control
characters (MQTT 5.0, 4.7.1 and 1.5.4).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from overlay.core.errors import InvalidSetting, WaxwingError, shown
from overlay.systems.context_broker.wire.messages import Key

NAMES = ("type", "entity", "scope", "provider")
"""The placeholders. All but the provider are required, as a placeholder or a constant."""
MOST_BYTES = 65_535
"""Of a topic (MQTT 5.0, 1.5.4)."""
_RESERVED = re.compile(r"[/+#%$\x00-\x1f\x7f-\x9f]")
_ENCODED = re.compile(r"(?:%[0-9a-fA-F]{2})+")
_PLACEHOLDER = re.compile(r"\{([^{}]*)\}")


class NoTopic(WaxwingError):
    """A name that a topic cannot carry, or a topic that is no name."""


def encode_name(name: str) -> str:
    """A name as (a part of) one level of a topic. Raises ``NoTopic`` for the empty name, which no level can be."""
    if not name:
        raise NoTopic("an empty name has no topic")
    return _RESERVED.sub(_percent, name)


def decode_name(text: str) -> str:
    """The name in a level; a ``%`` that begins no code is itself. Raises ``NoTopic`` for codes that are not UTF-8."""
    if "%" not in text:
        return text
    try:
        return _ENCODED.sub(lambda codes: bytes.fromhex(codes[0].replace("%", "")).decode(), text)
    except UnicodeDecodeError:
        raise NoTopic(f"{shown(text)} is not UTF-8 when decoded") from None


def _percent(found: re.Match[str]) -> str:
    return "".join(f"%{byte:02X}" for byte in found[0].encode())


@dataclass(frozen=True, slots=True)
class Place:
    """What a topic is about."""

    key: Key
    provider: str | None
    """``None``: the message or a setting says which."""


class Pattern:
    """``text`` has each placeholder at most once, at most one in a level; ``constants`` are the names without one.

    Raises ``InvalidSetting`` with field ``pattern`` or ``constants``.
    """

    def __init__(self, text: str, constants: Mapping[str, str] | None = None) -> None:
        self.text = text
        self.constants = dict(constants or {})
        self.placeholders = tuple(_PLACEHOLDER.findall(text))
        self._check()
        self.filter = "/".join("+" if "{" in level else level for level in text.split("/"))
        """What to subscribe to. A level with text around its placeholder matches more than the pattern."""
        self._matches = re.compile("".join(self._regex()), re.DOTALL)

    def __repr__(self) -> str:
        return f"Pattern({self.text!r})"

    def place(self, topic: str) -> Place | None:
        """What ``topic`` is about; ``None`` if it does not match. Raises ``NoTopic`` for a name that is none."""
        found = self._matches.fullmatch(topic)
        if found is None:
            return None
        names = {**self.constants, **{name: decode_name(level) for name, level in found.groupdict().items()}}
        return Place((names["type"], names["entity"], names["scope"]), names.get("provider"))

    def topic(self, key: Key, provider: str) -> str | None:
        """The topic of an entry; ``None`` if it is not one of the pattern's. Raises ``NoTopic``."""
        names = dict(zip(NAMES, (*key, provider), strict=True))
        if any(names[name] != value for name, value in self.constants.items()):
            return None
        topic = _PLACEHOLDER.sub(lambda found: encode_name(names[found[1]]), self.text)
        if len(topic.encode(errors="replace")) > MOST_BYTES:
            raise NoTopic(f"a topic has at most {MOST_BYTES:,} bytes")
        return topic

    def _regex(self) -> Iterator[str]:
        for position, part in enumerate(_PLACEHOLDER.split(self.text)):
            yield f"(?P<{part}>[^/]+)" if position % 2 else re.escape(part)

    def _check(self) -> None:
        levels = self.text.split("/")
        for name in self.placeholders:
            if name not in NAMES:
                raise InvalidSetting("pattern", f"{{{name:.40}}} is none of {', '.join(NAMES)}")
        for name in self.constants:
            if name not in NAMES:
                raise InvalidSetting("constants", f"{shown(name)} is none of {', '.join(NAMES)}")
        for name in NAMES:
            said = self.placeholders.count(name) + (name in self.constants)
            if said > 1:
                raise InvalidSetting("pattern", f"says {name} twice: {self.text}")
            if not said and name != "provider":
                raise InvalidSetting("pattern", f"needs {{{name}}}, or a constant {name}: {self.text}")
        fixed = _PLACEHOLDER.sub("", self.text)
        if any(mark in fixed for mark in "{}+#\0"):
            raise InvalidSetting("pattern", f"{shown(self.text)} may not contain +, #, braces or a zero outside names")
        if any(level.count("{") > 1 for level in levels):
            raise InvalidSetting("pattern", f"{self.text} has two names in one level, which cannot be told apart")
        if self.text.startswith("$"):
            raise InvalidSetting("pattern", f"{self.text} begins with $, which is the server's own")
        if len(self.text.encode(errors="replace")) > MOST_BYTES // 4:
            raise InvalidSetting("pattern", f"has more than {MOST_BYTES // 4:,} bytes")
