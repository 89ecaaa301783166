"""Refused values are shown as in JSON and YAML, and never as Python's ``None``, ``True`` or ``False``."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import pytest

from overlay.core.errors import InvalidSetting, shown
from overlay.core.settings import describe
from overlay.experiment import inline, whatif
from overlay.experiment.definition import FIELDS, normalised
from overlay.systems.registry import SYSTEMS
from overlay.topologies import files, generators
from overlay.topologies.generators import generate

RING = {"kind": "ring", "brokers": 4}
SMALL = {"name": "x", "topology": RING, "engine": "simulated", "workload": {"duration_s": 5}}
BAD: tuple[Any, ...] = (None, True, False, [], {}, [None], [True, None], {"a": False}, {"a": {"b": None}}, 1e400)
PYTHON = re.compile(r"\b(None|True|False|nan|inf)\b")
FAULT = {"what": "impaired", "links": "all", "delay_ms": 9, "at_s": 1, "until_s": 2}


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "null"),
        (True, "true"),
        ("a", "'a'"),
        (1.5, "1.5"),
        ([None, "é"], '[null, "é"]'),
        ({"a": False}, '{"a": false}'),
    ],
)
def test_a_value_is_shown_as_in_json(value: object, text: str) -> None:
    assert shown(value) == text
    assert shown(value, 3) == text[:3]


def test_what_is_in_no_document_is_shown_too() -> None:
    assert shown({1, 2}) == "{1, 2}"
    assert shown({(1, 2): 3}) == "{(1, 2): 3}"


def defined(**fields: Any) -> Callable[[], object]:
    return lambda: normalised(*inline.separated({**SMALL, **fields}))


def attempts() -> Iterator[tuple[str, Callable[[], object]]]:
    """Each field of each document with a value that it may refuse."""
    for value in BAD:
        for name in FIELDS:
            yield name, defined(**{name: value})
        for system in SYSTEMS.values():
            given = {"system": system.name, "topology": RING if system.needs_topology else None}
            for group, infos in (("settings", system.settings), ("workload", system.workload)):
                for info in infos:
                    yield info.name, defined(**given, **{group: {**SMALL.get(group, {}), info.name: value}})
        for name in FAULT:
            yield name, defined(faults=[{**FAULT, name: value}])
        yield "faults", defined(faults=[{"what": "kill", "brokers": value, "at_s": 1}])
        for name in ("kind", "brokers", "params", "seed", "links"):
            yield name, defined(topology={**RING, name: value})
        yield "generate", lambda value=value: generate("ring", value)
        yield "kind", lambda value=value: generate(value, 4)
        for kind, row in generators.KINDS.items():
            for info in describe(row.params):
                yield info.name, lambda kind=kind, info=info, value=value: generate(kind, 9, {info.name: value})
        for name, item in (("nodes", {"id": value}), ("nodes", {"id": "a", "x": value}), ("edges", {"source": value})):
            document = {"nodes": [{"id": "a"}], "edges": [], name: [item]}
            yield name, lambda document=document: files.from_json(document)
        for name in ("add_link", "cut_link", "kill", "settings", "record_mb"):
            yield name, lambda name=name, value=value: whatif.changed(configuration(), {name: value})
            yield name, lambda value=value: whatif.changed(configuration(), {"settings": {"overhear": value}})


def configuration() -> Mapping[str, Any]:
    topology = {"name": "x", "kind": "ring", "brokers": 3, "links": [{"a": 0, "b": 1}, {"a": 1, "b": 2}]}
    system = SYSTEMS["context-broker"]
    return {"topology": topology, "system": system.name, "engine": "simulated", "settings": system.whole({})}


def test_no_refusal_contains_python_s_words() -> None:
    refused: list[str] = []
    for name, attempt in attempts():
        try:
            attempt()
        except InvalidSetting as error:
            refused.append(f"{name}: {error.sentence}")
    assert len(refused) > 500
    assert [sentence for sentence in refused if PYTHON.search(sentence)] == []
