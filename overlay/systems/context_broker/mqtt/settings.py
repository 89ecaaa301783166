"""What a bridge translates, and its bounds, from a document. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Set
from contextlib import suppress
from dataclasses import dataclass, fields
from functools import partial
from typing import Any, TypeVar, cast

from overlay.core.errors import InvalidSetting, every_error, shown, within
from overlay.core.settings import check, describe, setting
from overlay.systems.context_broker.clients.questions import LONGEST_VALID_MS
from overlay.systems.context_broker.mqtt.payloads import Payloads
from overlay.systems.context_broker.mqtt.topics import NAMES, Pattern

T = TypeVar("T")

JSON, TEXT = "json", "text"
MOST_PATTERNS = 64
OWN = ("in", "out", "fields")
"""What a document has apart from ``Names`` and the fields of ``Limits``."""


@dataclass(frozen=True)
class Names:
    """Settings of a bridge that are names."""

    provider: str = setting("mqtt", help="Provider of messages that do not say it.")
    value_name: str = setting("value", help="Name of a payload that is a number or text alone.")


@dataclass(frozen=True)
class Limits:
    """Settings of a bridge that are numbers."""

    valid_ms: int = setting(
        120_000, unit="ms", low=1, high=LONGEST_VALID_MS, help="Validity of messages that do not say it."
    )
    refresh_ms: int = setting(
        1_000,
        unit="ms",
        low=0,
        high=10**12,
        help="A value that did not change is passed on if its validity ends at least this much later or earlier.",
    )
    receive_maximum: int = setting(
        200, low=1, high=65_535, help="Messages of quality of service 1 that may await their acknowledgement."
    )
    waiting: int = setting(
        10_000, low=1, high=10**7, help="Entries on their way to the network; beyond, QoS 0 is dropped."
    )
    at_once: int = setting(32, low=1, high=200, help="Operations on the network at once.")
    publishing: int = setting(100, low=1, high=65_535, help="Messages that may await the MQTT server's receipt.")
    topics: int = setting(100_000, low=1, high=10**7, help="Topics known; messages on others are refused.")
    tries: int = setting(5, low=1, high=100, help="Attempts before a message that the network refuses is given up.")

    def __post_init__(self) -> None:
        check(self)


NUMBERS = tuple(describe(Limits))
NAMED = tuple(describe(Names))
KNOWN = frozenset({*OWN, *(info.name for info in (*NUMBERS, *NAMED))})


@dataclass(frozen=True, slots=True)
class Inlet:
    """Topics to read."""

    pattern: Pattern
    provider: str
    """Of messages that do not say it."""
    valid_ms: int
    is_text: bool = False
    """Whether payloads are those of entries, not JSON."""


@dataclass(frozen=True, slots=True)
class BridgeSettings:
    inlets: tuple[Inlet, ...]
    outlets: tuple[Pattern, ...]
    payloads: Payloads
    limits: Limits
    provider: str = "mqtt"

    @property
    def filters(self) -> tuple[str, ...]:
        """What to subscribe to: what is read, and what is published, to know what is there."""
        patterns = [*(inlet.pattern for inlet in self.inlets), *self.outlets]
        return tuple(dict.fromkeys(pattern.filter for pattern in patterns))


def read_settings(document: Mapping[str, Any]) -> BridgeSettings:
    """A bridge's settings. Raises ``InvalidSetting`` with the field's name, such as ``in.0.pattern``."""
    _check_names(document, KNOWN)
    limits = Limits(**{field.name: document[field.name] for field in fields(Limits) if field.name in document})
    provider = _text(document, "provider", Names.provider)
    inlets = tuple(_made(*one, partial(_inlet, provider=provider, limits=limits)) for one in _listed(document, "in"))
    outlets = tuple(_made(*one, _outlet) for one in _listed(document, "out"))
    if not inlets and not outlets:
        raise InvalidSetting("in", "a bridge needs a pattern of topics, in or out")
    return BridgeSettings(inlets, outlets, _payloads(document), limits, provider)


def problems(document: Mapping[str, Any]) -> list[InvalidSetting]:
    """Everything that is wrong with a document, of which ``read_settings`` says the first only."""
    checks: list[Callable[[], object]] = [partial(_check_names, {name: None}, KNOWN) for name in document]
    checks += [partial(Limits, **{info.name: document[info.name]}) for info in NUMBERS if info.name in document]
    checks += [partial(_text, document, info.name, str(info.default)) for info in NAMED]
    checks.append(lambda: _payloads({"fields": document.get("fields", {})}))
    makers: Mapping[str, Callable[[Mapping[str, Any]], object]] = {
        "in": partial(_inlet, provider=Names.provider, limits=Limits()),
        "out": _outlet,
    }
    for name, make in makers.items():
        checks.append(partial(_listed, document, name))
        with suppress(InvalidSetting):
            checks += [partial(_made, *one, make) for one in _listed(document, name)]
    found = every_error(*checks)
    return (
        found if found or document.get("in") or document.get("out") else every_error(partial(read_settings, document))
    )


def _listed(document: Mapping[str, Any], name: str) -> list[tuple[str, Any]]:
    """Each pattern with its field."""
    listed = document.get(name, ())
    if isinstance(listed, str | Mapping):
        listed = [listed]
    if not isinstance(listed, list | tuple) or len(listed) > MOST_PATTERNS:
        raise InvalidSetting(name, f"must be a list of at most {MOST_PATTERNS} patterns")
    return [(f"{name}.{position}" if len(listed) > 1 else name, one) for position, one in enumerate(listed)]


def _made(field: str, one: Any, make: Callable[[Mapping[str, Any]], T]) -> T:
    with within(field):
        if not isinstance(one, str | Mapping):
            raise InvalidSetting("pattern", f"must be a text or an object, not {shown(one)}")
        return make({"pattern": one} if isinstance(one, str) else one)


def _inlet(document: Mapping[str, Any], provider: str, limits: Limits) -> Inlet:
    _check_names(document, {"pattern", "valid_ms", "format", *NAMES})
    kind = document.get("format", JSON)
    if kind not in (JSON, TEXT):
        raise InvalidSetting("format", f"must be {JSON} or {TEXT}, not {shown(kind)}")
    pattern = Pattern(_pattern(document), _constants(document, NAMES[:3]))
    valid_ms = document.get("valid_ms", limits.valid_ms)
    Limits(valid_ms=valid_ms)
    return Inlet(pattern, _text(document, "provider", provider), valid_ms, kind == TEXT)


def _outlet(document: Mapping[str, Any]) -> Pattern:
    _check_names(document, {"pattern", *NAMES})
    return Pattern(_pattern(document), _constants(document, NAMES))


def _pattern(document: Mapping[str, Any]) -> str:
    text = document.get("pattern")
    if not isinstance(text, str) or not text:
        raise InvalidSetting(
            "pattern", f"must be a text such as context/{{type}}/{{entity}}/{{scope}}, not {shown(text)}"
        )
    return text


def _constants(document: Mapping[str, Any], names: tuple[str, ...]) -> dict[str, str]:
    return {name: _text(document, name, "") for name in names if name in document}


def _payloads(document: Mapping[str, Any]) -> Payloads:
    renamed = document.get("fields", {})
    if not isinstance(renamed, Mapping) or not all(isinstance(name, str) and name for name in renamed.values()):
        raise InvalidSetting("fields", "must be an object of names")
    with within("fields"):
        _check_names(renamed, {"provider", "timestamp", "valid_ms", "valid_end", "text"})
    return Payloads(cast("Mapping[str, str]", renamed), _text(document, "value_name", Names.value_name))


def _text(document: Mapping[str, Any], name: str, default: str) -> str:
    value = document.get(name, default)
    if not isinstance(value, str) or not value:
        raise InvalidSetting(name, f"must be a text, not {shown(value)}")
    return value


def _check_names(document: Mapping[str, Any], known: Set[str]) -> None:
    for name in document:
        if name not in known:
            raise InvalidSetting(str(name)[:60], f"is not a setting; known are {', '.join(sorted(known))}")
