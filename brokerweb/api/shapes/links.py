"""Bodies of links and faults: the conditions of a link with unit and range, from ``overlay.core.links``."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from brokerweb.topologies.models import Link
from overlay.core.links import LINK_SETTINGS, LinkShape
from overlay.core.settings import SettingInfo, describe
from overlay.faults.fault_documents import WHERE
from overlay.faults.faults import MAX_FAULTS
from overlay.systems.registry import SYSTEMS

ALWAYS = 3
"""Link conditions present in every response: delay, jitter and loss."""
BROKER = {"type": "integer", "minimum": 0}
NAME = {"type": "string"}
SERVER = {"oneOf": [BROKER, {**NAME, "description": "Name of a server"}]}
PAIR = {"type": "array", "items": BROKER, "minItems": 2, "maxItems": 2}


def _properties(infos: Iterable[SettingInfo], *, with_defaults: bool) -> dict[str, Any]:
    return {info.name: _property(info) | ({"default": info.default} if with_defaults else {}) for info in infos}


def _property(info: SettingInfo) -> dict[str, Any]:
    bounds = {key: bound for key, bound in (("minimum", info.low), ("maximum", info.high)) if bound is not None}
    return {
        "type": "string" if info.kind == "text" else info.kind,
        **bounds,
        "description": f"{info.help} ({info.unit})" if info.unit else info.help,
    }


class LinkSerializer(serializers.ModelSerializer):
    """Delay, jitter and loss, and all other conditions that differ from their defaults."""

    class Meta:
        model = Link
        fields = ["a", "b", *(info.name for info in LINK_SETTINGS)]
        extra_kwargs = {
            info.name: {"required": False, "help_text": _property(info)["description"]} for info in LINK_SETTINGS
        }

    def to_representation(self, instance: Any) -> dict[str, Any]:
        shown = super().to_representation(instance)
        usual = {info.name: info.default for info in LINK_SETTINGS[ALWAYS:]}
        return {name: value for name, value in shown.items() if name not in usual or value != usual[name]}


_LINK = {
    "type": "object",
    "properties": {"a": BROKER, "b": BROKER, **_properties(LINK_SETTINGS, with_defaults=False)},
    "required": ["a", "b"],
    "additionalProperties": False,
}


@extend_schema_field({"type": "array", "items": {"oneOf": [PAIR, _LINK]}})
class GivenLinksField(serializers.ListField):
    """``[[a, b], …]`` or ``[{"a", "b", "delay_ms", "loss", …}, …]``."""


_FAULT = {
    "type": "object",
    "properties": {
        **_properties(
            (info for system in SYSTEMS.values() for kind in system.faults.values() for info in kind.fields),
            with_defaults=False,
        ),
        "what": {
            "type": "string",
            "enum": [*WHERE, *sorted({name for system in SYSTEMS.values() for name in system.faults})],
            "description": "One that every system has, or a system's own",
        },
        "at_s": {"type": "number", "minimum": 0, "description": "Seconds after the start of measuring"},
        "until_s": {"type": "number", "nullable": True, "description": "Later than at_s; default: end of the run"},
        "brokers": {
            "type": "array",
            "items": BROKER,
            "description": "For kill, restart and faults of a system: nodes of the topology",
        },
        "servers": {"type": "array", "items": NAME, "description": "Like brokers, but any servers, by name"},
        "nodes": {
            "type": "array",
            "items": SERVER,
            "description": "For systems with one server: server, and clients by number",
        },
        "islands": {
            "oneOf": [{"type": "array", "items": {"type": "array", "items": SERVER}}, NAME],
            "description": "For partition; as a text for faults of a system",
        },
        "links": {
            "oneOf": [NAME, {"type": "array", "items": {**PAIR, "items": SERVER}}],
            "description": "For slow (with delay_ms), lossy (with loss) and impaired (with any condition below): all, "
            "or pairs of servers. A system may have other words",
        },
        "one_way": {
            "type": "boolean",
            "description": "For links: only datagrams from the first server of each pair to the second",
        },
        "clients": {
            "oneOf": [{"type": "array", "items": NAME}, {"type": "number", "minimum": 0, "maximum": 1}],
            "description": "For faults of a system: clients by name, or the share of them that is drawn",
        },
        **_properties(describe(LinkShape), with_defaults=False),
    },
    "required": ["what", "at_s"],
    "additionalProperties": False,
}


@extend_schema_field({"type": "array", "items": _FAULT, "maxItems": MAX_FAULTS})
class FaultsField(serializers.JSONField):
    """Parsed by ``overlay.faults.fault_documents``, which names the error."""
