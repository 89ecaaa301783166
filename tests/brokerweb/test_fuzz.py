"""Hostile bodies to REST: mutations of good ones, and bytes. None becomes our error, and a refusal makes nothing."""

from __future__ import annotations

import copy
import json
import os
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.http import HttpResponse
from hypothesis import example, given, settings
from hypothesis import strategies as st
from hypothesis.extra.django import TestCase
from rest_framework.test import APIClient

from brokerweb.accounts.models import Token
from brokerweb.experiments.models import Experiment, Run, RunState
from brokerweb.networks.models import Network
from brokerweb.reports.models import Report, Schedule
from brokerweb.topologies.models import Topology
from tests.fuzz import FRESH
from tests.thorough import examples

pytestmark = pytest.mark.django_db

TOPOLOGY, EXPERIMENT, RUN = "topology-id", "experiment-id", "run-id"
LINK = {"a": 1, "b": 2, "delay_ms": 4, "jitter_ms": 1, "loss": 0.1}
SIX: dict[str, Any] = {"workload": {"consumers": [1, 2, 3, 4, 5, 6]}}
WORKLOAD = {"providers": [1, 2], "consumers": 3, "duration_s": 1, "holders": "all", "popularity": "zipf"}
NODE_LINK = json.dumps({"nodes": [{"id": 1, "x": 0.5, "y": 0}, {"id": 2}], "edges": [{"source": 1, "target": 2}]})
DRAWING = {"nodes": [{"name": "a", "x": 0.5, "y": 0}, {"x": 1, "y": 1}, {"x": 0, "y": 1}], "links": [[0, 1], LINK]}
BODIES: dict[str, dict[str, Any]] = {
    "/api/topologies/": {"name": "n", "kind": "custom", "brokers": 3, "params": {}, "seed": 1, "links": [[0, 1], LINK]},
    f"/api/topologies/{TOPOLOGY}/": {**DRAWING, "version": 0, "name": "n", "note": "why"},
    "/api/topologies/measures/": {**DRAWING, "policy": "backtrack"},
    "/api/topologies/advice/": {**DRAWING, "k": 2, "goal": "path"},
    "/api/topologies/import/": {"name": "n", "format": "json", "text": NODE_LINK},
    "/api/experiments/": {
        "name": "n",
        "topology": [TOPOLOGY],
        "system": "context-broker",
        "engine": "live",
        "settings": {"walk_policy": ["avoid", "uniform"], "controller_networks": "127.0.0.0/8,::1/128"},
        "workload": WORKLOAD,
        "faults": [{"what": "kill", "brokers": [1], "at_s": 0.25, "until_s": 0.5}],
        "simulation": {},
        "blocks": [{"settings": {"walk_ttl": 7}}, {"workload": {"consumers": [1, 2]}}],
        "replicates": 2,
        "seed": 1,
        "report_when_done": True,
    },
    "/api/networks/": {"name": "n", "topology": TOPOLOGY, "settings": {"monitoring": False, "walk_ttl": 3}, "seed": 2},
    "/api/reports/": {"kind": "comparison", "runs": [RUN], "experiments": [EXPERIMENT], "while_measuring": True},
    "/api/schedules/": {"name": "n", "experiments": [EXPERIMENT], "crontab": "0 6 * * 1", "enabled": True},
    "/api/wire/decode/": {"text": "3|5|room|r1|temp", "form": "text"},
    "/api/wire/compose/": {"code": 3, "fields": {"entity_id": "r7", "timestamp": "now-5min"}},
    "/api/systems/radiator/wire/compose/": {"code": 5, "fields": {"req": "7", "body": "0x00", "called_at": "now-5min"}},
    "/api/wire/send/": {"network": "none", "broker": 0, "hex": "317c35"},
    "/api/tokens/": {"username": "olga", "password": "guess", "name": "t", "scope": "read"},
    "/api/networks/none/context/room/r1/temp/": {"provider": "p", "payload": {"degC": "21.5"}, "valid_ms": 1000},
}

texts = st.text(max_size=8) | st.sampled_from(
    ["", " ", "\0", "\ud800", "\u202e", "x" * 5_000, "=1+1", "all", "NaN", "*"]
)
numbers = st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.sampled_from([10**400, -(2**63), 1e300])
leaves = st.none() | st.booleans() | numbers | texts | st.sampled_from([TOPOLOGY, EXPERIMENT, RUN])
values = st.recursive(leaves, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3))


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Where something of a body can be changed."""
    named: Any = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path, *(place for name, inner in named for place in places(inner, (*path, name)))]


@st.composite
def mutations(draw: st.DrawFn) -> tuple[str, Any]:
    """An address and its body after up to three changes: a value replaced or taken out, a field added."""
    address = draw(st.sampled_from(sorted(BODIES)))
    whole = {"body": copy.deepcopy(BODIES[address])}
    for _ in range(draw(st.integers(1, 3))):
        *path, last = ("body", *draw(st.sampled_from(places(whole["body"]))))
        parent: Any = whole
        for name in path:
            parent = parent[name]
        what = draw(st.sampled_from(["replace", "remove", "add"]))
        if what == "add" and isinstance(parent[last], dict):
            parent[last][draw(texts)] = draw(values)
        elif what == "remove" and path:
            del parent[last]
        else:
            parent[last] = draw(values)
    return address, whole["body"]


class HostileBodies(TestCase):
    def setup_example(self) -> None:
        super().setup_example()
        operator = User.objects.create_superuser("olga")
        self.api = APIClient()
        self.api.force_authenticate(operator)
        Topology.objects.create(id=TOPOLOGY, name="ring", kind="custom", brokers=2)
        experiment = Experiment.objects.create(id=EXPERIMENT, name="e", definition={})
        Run.objects.create(id=RUN, experiment=experiment, configuration={}, seed="1", state=RunState.DONE)

    @settings(max_examples=examples(300), derandomize=FRESH not in os.environ)
    @given(mutations())
    @example(("/api/experiments/", {"name": "n", "topology": {}}))
    @example(("/api/experiments/", {"name": "n", "topology": ["\ud800"]}))
    @example(("/api/experiments/", {"name": "n", "topology": TOPOLOGY, "workload": {"\ud800": 1}}))
    @example(("/api/experiments/", {"name": "n", "topology": TOPOLOGY, "record_mb": ""}))
    @example(("/api/experiments/", {"name": "n", "topology": TOPOLOGY, "replicates": 0, "workload": "x"}))
    @example(("/api/experiments/", {"name": "n", "topology": TOPOLOGY, "replicates": 0, "blocks": ["x"]}))
    @example(("/api/experiments/", {"name": "n", "topology": TOPOLOGY, "workload": {"consumers": [5] * 4_000}}))
    @example(("/api/experiments/", {"name": "n", "topology": TOPOLOGY, "workload": {"consumers": [5] * 5_001}}))
    @example(("/api/experiments/", {"name": "n", "topology": TOPOLOGY, "system": None, "replicates": 1_000, **SIX}))
    @example(("/api/reports/", {"kind": "\ud800"}))
    @example(("/api/topologies/", {"name": "n", "kind": "ring", "brokers": 3, "seeed": 7}))
    @example(("/api/topologies/", {"name": 7, "kind": "ring", "brokers": 3}))
    @example(("/api/topologies/", {"name": "n", "kind": "ring", "brokers": "3"}))
    def test_a_mutated_body_is_taken_or_refused_by_name(self, sent: tuple[str, Any]) -> None:
        address, body = sent
        self.send(address, json.dumps(body).encode())

    @settings(max_examples=examples(100), derandomize=FRESH not in os.environ)
    @given(st.sampled_from(sorted(BODIES)), st.binary(max_size=60))
    @example("/api/topologies/", b"[" * 100_000)
    @example("/api/experiments/", b'{"name":' + b"[" * 500 + b"]" * 500 + b"}")
    @example("/api/topologies/", b'{"name": NaN}')
    @example("/api/topologies/", b'{"name": "' + b"x" * 11_000_000 + b'"}')
    def test_bytes_that_are_no_object_are_refused(self, address: str, body: bytes) -> None:
        assert self.send(address, body).status_code >= 400

    def send(self, address: str, body: bytes) -> HttpResponse:
        before = self.counts()
        method = self.api.put if "/context/" in address or TOPOLOGY in address else self.api.post
        answer = method(address, body, content_type="application/json")
        if answer.status_code >= 400:
            assert answer.status_code in (400, 401, 404, 409, 413, 429), answer.content
            error = json.loads(answer.content)
            assert set(error) == {"field", "code", "sentence", "errors"}
            assert error["code"] and error["sentence"]
            assert self.counts() == before
        return answer

    @staticmethod
    def counts() -> list[int]:
        return [model.objects.count() for model in (Topology, Experiment, Run, Network, Report, Schedule, Token)]


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"seeed": 7}, "seeed"),
        ({"name": 7}, "name"),
        ({"brokers": "3"}, "brokers"),
        ({"brokers": True}, "brokers"),
        ({"brokers": 3.5}, "brokers"),
    ],
)
def test_an_unknown_field_and_a_wrong_type_are_named(api: APIClient, change: dict[str, Any], field: str) -> None:
    answer = api.post("/api/topologies/", {"name": "n", "kind": "ring", "brokers": 3, **change}, format="json")
    assert (answer.status_code, answer.json()["field"]) == (400, field)


@pytest.mark.parametrize(
    ("body", "field", "words"),
    [
        ('{"name": "n", "kind": "ring", "brokers": ' + "9" * 100_000 + "}", "brokers", "more than 400 characters"),
        ('{"name": "n", "params": {"a": [1, 1e999]}}', "params.a.1", "not finite"),
        ('{"name": "n", "seed": NaN}', "seed", "not finite"),
        ('{"name": "\\ud800"}', "name", "half a surrogate pair"),
        ('{"name": [' + "[]," * 1_100_000 + "1]}", "", "more than 1,000,000 values"),
        ('{"name":\n x}', "", "line 2, column 2"),
        ('{"a":' * 60 + "1" + "}" * 60, ".".join("a" * 50), "nested too deeply"),
    ],
    ids=["digits", "infinite", "nan", "half", "many", "syntax", "deep"],
)
def test_json_beyond_the_limits_is_refused_by_its_place(api: APIClient, body: str, field: str, words: str) -> None:
    answer = api.post("/api/topologies/", body, content_type="application/json")
    assert (answer.status_code, answer.json()["field"]) == (400, field)
    assert words in answer.json()["sentence"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("name: e\nseed: " + "9" * 100_000, "more than 400 characters in line 2"),
        ("name: e\nseed: .inf", "not finite at seed"),
        ("a: &a [x]\nb: &b [*a, *a]\nc: [*b, *b]", "refers to an anchor (*a) in line 2"),
        ("name: [" + "[]," * 210_000 + "]", "more than 200,000 values by line 1"),
    ],
    ids=["digits", "infinite", "laughs", "many"],
)
def test_yaml_beyond_the_limits_is_refused_by_its_line(api: APIClient, text: str, words: str) -> None:
    answer = api.post("/api/experiments/", text, content_type="application/yaml")
    assert (answer.status_code, answer.json()["field"]) == (400, "document")
    assert words in answer.json()["sentence"]


def test_a_body_too_large_is_refused_as_such(api: APIClient) -> None:
    answer = api.post("/api/topologies/", {"name": "x" * 11_000_000}, format="json")
    assert (answer.status_code, answer.json()["code"]) == (413, "too_large")
