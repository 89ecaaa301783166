"""Runs chosen by the filter language: what each field means of a run, and what is said of a filter that is wrong."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.utils import timezone

from brokerweb.experiments.fields import FIELDS
from brokerweb.experiments.filtering import runs_matching
from brokerweb.experiments.models import Experiment, Run, Tag
from telemetry.filters import InvalidFilter

NOW = timezone.now()


def configuration(kind: str, brokers: int, **changes: Any) -> dict[str, Any]:
    return {
        "topology": {"kind": kind, "name": f"{kind} of {brokers}", "brokers": brokers, "links": []},
        "system": "context-broker",
        "engine": "live",
        "settings": {"arm": "unstructured", "search": "walk", "hop_ack": False, "ping_interval_ms": 1000, **changes},
        "workload": {"providers": 5 * brokers, "consumers": 20, "request_interval_s": 0.5, "popularity": "zipf"},
        "faults": [],
    }


@pytest.fixture
def runs(operator: User) -> dict[str, Run]:
    """Four runs as different as the fields can tell."""
    nightly = Experiment.objects.create(name="Nightly sweep", definition={}, owner=operator)
    other = Experiment.objects.create(name="fire watch", definition={})

    def run(name: str, experiment: Experiment, chosen: dict[str, Any], **fields: Any) -> Run:
        return Run.objects.create(
            id=f"run-{name}", experiment=experiment, configuration=chosen, configuration_hash=f"hash-{name}", **fields
        )

    made = {
        "fast": run("fast", nightly, configuration("ring", 10), seed="7", state="done", verdict="valid", passed=True,
                    summary={"p95": 1_500.0, "not_found": 0, "answer_ratio": 1.0}, host="lab-1", owner=operator,
                    ended_at=NOW - timedelta(hours=1)),
        "slow": run("slow", nightly, configuration("waxman", 100, search="flood"), seed="8", state="done",
                    verdict="suspect", passed=False, summary={"p95": 9_000.0, "not_found": 4, "answer_ratio": 0.9},
                    host="lab-2", note="the room was warm", kept=True, ended_at=NOW - timedelta(days=3)),
        "dht": run("dht", other, configuration("ring", 50, arm="structured", hop_ack=True), seed="9", state="failed",
                   replicate=2, created=NOW - timedelta(days=10)),
        "queued": run("queued", other, {**configuration("full-mesh", 10), "engine": "simulated"}, seed="7"),
    }  # fmt: skip
    tag, second = Tag.objects.create(name="nightly"), Tag.objects.create(name="paper")
    made["fast"].tags.add(tag, second)
    made["slow"].tags.add(tag)
    return made


def found(text: str) -> set[str]:
    return {run.pk.removeprefix("run-") for run in runs_matching(text, timezone.now())}


ALL = {"fast", "slow", "dht", "queued"}


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("", ALL),
        ("nightly", {"fast", "slow"}),
        ("waxman of", {"slow"}),
        ("run-dht", {"dht"}),
        ("p95 < 2ms", {"fast"}),
        ("p95 != 1.5ms", {"slow"}),
        ("p95 = none", {"dht", "queued"}),
        ("not p95 < 2ms", {"slow", "dht", "queued"}),
        ("answer_ratio >= 100%", {"fast"}),
        ("not_found > 0", {"slow"}),
        ("state in (failed, queued)", {"dht", "queued"}),
        ("state ~ e", ALL),
        ("engine = simulated", {"queued"}),
        ("VERDICT = Suspect", {"slow"}),
        ("verdict = none", {"dht", "queued"}),
        ("passed = yes", {"fast"}),
        ("passed = none", {"dht", "queued"}),
        ("passed != yes", {"slow", "dht", "queued"}),
        ("experiment = 'nightly SWEEP'", {"fast", "slow"}),
        ("topology = ring", {"fast", "dht"}),
        ("topology = ring of 10", {"fast"}),
        ("topology ~ of 10 and topology != full-mesh", {"fast", "slow"}),
        ("brokers >= 50", {"slow", "dht"}),
        ("system = context-broker", ALL),
        ("strategy = structured", {"dht"}),
        ("strategy = flood", {"slow"}),
        ("seed = 7", {"fast", "queued"}),
        ("replicate > 0", {"dht"}),
        ("tag = nightly", {"fast", "slow"}),
        ("tag = Nightly and not tag = paper", {"slow"}),
        ("tag != paper", {"slow", "dht", "queued"}),
        ("tag = none", {"dht", "queued"}),
        ("tag in (paper, nightly)", {"fast", "slow"}),
        ("tag ~ igh", {"fast", "slow"}),
        ("note ~ WARM", {"slow"}),
        ("note = none", {"fast", "dht", "queued"}),
        ("kept = yes", {"slow"}),
        ("host = lab-1", {"fast"}),
        ("host != lab-1", {"slow", "dht", "queued"}),
        ("owner = olga", {"fast"}),
        ("owner = none", {"slow", "dht", "queued"}),
        ("configuration = hash-slow", {"slow"}),
        ("created > 2d ago", {"fast", "slow", "queued"}),
        ("created <= 2d ago", {"dht"}),
        ("ended > 2h ago", {"fast"}),
        ("ended = any", {"fast", "slow"}),
        ("providers = 50", {"fast", "queued"}),
        ("workload.request_interval_s = 500ms", ALL),
        ("workload.popularity = zipf and providers > 400", {"slow"}),
        ("settings.hop_ack = yes", {"dht"}),
        ("ping_interval_ms >= 1s", ALL),
        ("topology = ring and (p95 < 2ms or state = failed)", {"fast", "dht"}),
    ],
)  # fmt: skip
def test_a_filter_chooses_the_runs_that_it_says(runs: dict[str, Run], text: str, names: set[str]) -> None:
    assert found(text) == names


def test_a_date_is_a_whole_day(runs: dict[str, Run]) -> None:
    day = (NOW - timedelta(days=10)).date()
    assert found(f"created = {day}") == {"dht"}
    assert found(f"created > {day}") == ALL - {"dht"}
    assert found(f"created >= {day}") == ALL
    assert found(f"created < {day}") == set()
    assert found(f"created <= {day}") == {"dht"}


def test_a_run_with_two_tags_is_found_once(runs: dict[str, Run]) -> None:
    assert runs_matching("tag in (nightly, paper) or tag ~ p", timezone.now()).count() == 2


@pytest.mark.parametrize(
    ("text", "position", "said"),
    [
        ("p59 < 2ms", 0, "there is no field “p59”; did you mean p95?"),
        ("tag = nightly and p95 < 2", 24, "in p95, “2” needs a unit: 2ms, or 2us"),
        ("state = don", 8, "did you mean done?"),
        ("p95 ~ 2", 0, "“p95” is no text"),
        ("topology < ring", 0, "“topology” has no order"),
        ("created > soon", 10, "is not a time"),
        ("passed = maybe", 9, "neither yes nor no"),
        ("state in (done, gone)", 16, "among its values"),
        ("table = linear", 8, "is not a number"),
    ],
)
def test_a_filter_that_is_wrong_says_where(db: None, text: str, position: int, said: str) -> None:
    with pytest.raises(InvalidFilter) as refused:
        runs_matching(text, timezone.now())
    assert refused.value.position == position
    assert said in refused.value.sentence


def test_the_example_of_every_field_is_a_filter(db: None) -> None:
    for field in FIELDS.values():
        assert runs_matching(field.example, timezone.now()).count() == 0


def test_the_largest_filter_that_is_read_is_one_question(runs: dict[str, Run]) -> None:
    assert found(" or ".join(["p95 < 2ms"] * 100)) == {"fast"}
    assert found("not " * 18 + "(p95 < 2ms)") == {"fast"}
