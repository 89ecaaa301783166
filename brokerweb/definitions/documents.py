"""Experiments as YAML documents, for pages, REST and ``python -m telemetry sweep``.

A document includes its topologies and omits defaults, so that it means the same on any machine.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import yaml

from brokerweb.definitions.references import References, carried
from overlay.core.errors import InvalidSetting
from overlay.experiment.definition import FIELDS
from overlay.experiment.files import parse_definition
from overlay.systems.registry import SYSTEMS

MOST_BYTES = 1_000_000
"""Maximum size of an upload or of entered text."""
WIDTH = 110

_ORDER = ("name", "system", "engine", "topology", "settings", "workload", "faults", "simulation", "blocks")
"""First fields of a document; the rest follows in the order of ``FIELDS``."""


def read(data: bytes | str) -> dict[str, Any]:
    """Parse a document. Raises ``InvalidSetting`` for the field ``document``."""
    encoded = data.encode() if isinstance(data, str) else data
    if len(encoded) > MOST_BYTES:
        raise InvalidSetting("document", f"has {len(encoded):,} bytes; the limit is {MOST_BYTES:,}")
    if not encoded.strip():
        raise InvalidSetting("document", "is empty")
    try:
        return parse_definition(encoded)
    except InvalidSetting as error:
        raise InvalidSetting("document", error.sentence) from None


def text(definition: Mapping[str, Any]) -> str:
    """``definition`` as YAML, with inline topologies instead of their ids."""
    return yaml.dump(
        _said(definition),
        Dumper=_Dumper,
        sort_keys=False,
        allow_unicode=True,
        width=WIDTH,
        default_flow_style=None,
    )


def _said(definition: Mapping[str, Any]) -> dict[str, Any]:
    references = References()

    def carry(value: Any) -> Any:
        if isinstance(value, list):
            return [carry(one) for one in value]
        document = references.find(value) if isinstance(value, str) else None
        return carried(document) if document else value

    whole = {**FIELDS, **definition}
    whole["topology"] = carry(whole["topology"])
    whole["blocks"] = [
        {**block, "topology": carry(block["topology"])} if isinstance(block, dict) and "topology" in block else block
        for block in whole["blocks"] or []
    ]
    if (system := SYSTEMS.get(str(whole["system"]))) is not None:
        described = {"workload": system.workload}
        whole |= {group: _changed(infos, whole[group]) for group, infos in described.items()}
    names = dict.fromkeys((*_ORDER, *FIELDS))
    kept = {name: whole[name] for name in names if name in whole and whole[name] != FIELDS.get(name)}
    kept |= {group: _Block(kept[group]) for group in ("workload", "settings", "simulation") if group in kept}
    kept["engine"] = whole["engine"]  # the command line has a different default
    return {name: _tidy(kept[name]) for name in names if name in kept and kept[name] not in ([], {}, "")}


def _changed(infos: Any, values: Any) -> Any:
    """Only the values that differ from their defaults."""
    if not isinstance(values, Mapping):
        return values
    defaults = {info.name: info.default for info in infos}
    return {name: value for name, value in values.items() if name not in defaults or value != defaults[name]}


def _tidy(value: Any) -> Any:
    """30 instead of 30.0."""
    if isinstance(value, dict):
        return type(value)({name: _tidy(one) for name, one in value.items()})
    if isinstance(value, list):
        return [_tidy(one) for one in value]
    return int(value) if isinstance(value, float) and value == int(value) else value


class _Block(dict[str, Any]):
    """A mapping with one entry per line."""


class _Dumper(yaml.SafeDumper):
    """Writes no anchors: the parser refuses them, and equal values stay independent."""

    def ignore_aliases(self, data: Any) -> bool:
        return True


_Dumper.add_representer(
    _Block, lambda dumper, data: dumper.represent_mapping("tag:yaml.org,2002:map", data.items(), flow_style=False)
)
