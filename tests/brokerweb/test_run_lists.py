"""Runs chosen by the filter language, in REST and on the command line; what is written on them and done with many."""

from __future__ import annotations

import io
import json
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.management import call_command
from django.utils import timezone
from rest_framework.test import APIClient

from brokerweb.experiments.models import Experiment, Run, Tag
from brokerweb.runlist.fields import FIELDS
from brokerweb.runlist.filtering import runs_matching
from telemetry.filters import InvalidFilter
from tests.pages.summed_up import summed_up

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
                    **summed_up({"p95": 1_500.0, "not_found": 0, "answer_ratio": 1.0}), host="lab-1", owner=operator,
                    ended_at=NOW - timedelta(hours=1)),
        "slow": run("slow", nightly, configuration("waxman", 100, search="flood"), seed="8", state="done",
                    verdict="suspect", passed=False, **summed_up({"p95": 9_000.0, "not_found": 4, "answer_ratio": 0.9}),
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
        ("p59 < 2ms", 0, "unknown field “p59”; did you mean p95?"),
        ("tag = nightly and p95 < 2", 24, "in p95, “2” needs a unit: 2ms, or 2us"),
        ("state = don", 8, "did you mean done?"),
        ("p95 ~ 2", 0, "“p95” does not support “~”"),
        ("topology < ring", 0, "“topology” does not support “<”"),
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


def test_rest_lists_by_the_same_language_and_by_figures(api: APIClient, runs: dict[str, Run]) -> None:
    def ids(query: dict[str, str]) -> list[str]:
        answer = api.get("/api/runs/", query)
        assert answer.status_code == 200, answer.content
        return [row["id"] for row in answer.json()["results"]]

    assert ids({"q": "topology = ring and p95 < 2ms"}) == ["run-fast"]
    assert set(ids({"tag": "nightly", "q": "kept = no"})) == {"run-fast"}
    assert ids({"ordering": "-p95"})[:2] == ["run-slow", "run-fast"]
    assert ids({"ordering": "p95"})[:2] == ["run-fast", "run-slow"]
    row = api.get("/api/runs/", {"q": "p95 < 2ms"}).json()["results"][0]
    assert row["figures"]["p95"] == 1_500.0
    assert row["figures"]["hops"] is None
    assert (row["tags"], row["passed"], row["strategy"], row["brokers"]) == (["nightly", "paper"], True, "walk", 10)
    wrong = api.get("/api/runs/", {"q": "tag = nightly and p59 < 2ms"})
    assert wrong.status_code == 400
    assert wrong.json()["field"] == "filter"
    assert wrong.json()["sentence"] == "unknown field “p59”; did you mean p95? (character 19)"


def test_rest_says_what_a_filter_may_name(api: APIClient) -> None:
    fields = {field["name"]: field for field in api.get("/api/runs/fields/").json()}
    assert (fields["p95"]["unit"], fields["p95"]["example"]) == ("us", "p95 < 2ms")
    assert "flood" in fields["strategy"]["choices"]
    assert fields["workload.providers"]["what"] == "number"


def test_rest_writes_on_a_run(api: APIClient, runs: dict[str, Run]) -> None:
    changes = {"note": "warm", "tags": ["Paper", "new"], "kept": True}
    answer = api.patch("/api/runs/run-fast/", changes, format="json")
    assert answer.status_code == 200, answer.content
    assert (answer.json()["note"], answer.json()["tags"], answer.json()["kept"]) == ("warm", ["new", "paper"], True)
    wrong = api.patch("/api/runs/run-fast/", {"note": "lost", "tags": ["two words"]}, format="json")
    assert (wrong.status_code, wrong.json()["field"]) == (400, "tag")
    assert api.patch("/api/runs/run-fast/", {"state": "done"}, format="json").status_code == 400
    assert api.get("/api/runs/run-fast/").json()["note"] == "warm"


def test_rest_plans_and_carries_out_one_thing_with_many(api: APIClient, runs: dict[str, Run]) -> None:
    body = {"action": "tag", "q": "state = done", "tag": "paper", "dry_run": True}
    planned = api.post("/api/runs/bulk/", body, format="json").json()
    assert planned["sentence"] == "Add the tag paper to 1 run: 1 done. 1 selected run already has this tag."
    assert (planned["chosen"], planned["changed"], planned["runs"]) == (2, 1, ["run-slow"])
    assert found("tag = paper") == {"fast"}
    api.post("/api/runs/bulk/", {**body, "dry_run": False}, format="json")
    assert found("tag = paper") == {"fast", "slow"}
    api.post("/api/runs/bulk/", {"action": "untag", "runs": ["run-fast"], "tag": "paper"}, format="json")
    assert found("tag = paper") == {"slow"}
    answer = api.post("/api/runs/bulk/", {"action": "cancel", "runs": ["run-fast", "run-queued"]}, format="json")
    assert answer.json()["sentence"] == "Cancel 1 run: 1 queued. 1 selected run has ended and is skipped."
    assert found("state = cancelled") == {"queued"}
    api.post("/api/runs/bulk/", {"action": "delete", "q": ""}, format="json")
    assert found("") == {"slow"}, "the one that is kept"


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"action": "explode", "q": ""}, "action"),
        ({"action": "cancel"}, "runs"),
        ({"action": "cancel", "q": "", "runs": []}, "runs"),
        ({"action": "cancel", "runs": ["nobody"]}, "runs"),
        ({"action": "cancel", "q": "p59 < 2ms"}, "filter"),
        ({"action": "tag", "q": "", "tag": "two words"}, "tag"),
        ({"action": "tag", "q": ""}, "tag"),
        ({"action": "tag", "q": "", "tag": "none"}, "tag"),
    ],
)
def test_what_cannot_be_done_with_many_is_named(api: APIClient, db: None, body: dict[str, Any], field: str) -> None:
    answer = api.post("/api/runs/bulk/", body, format="json")
    assert (answer.status_code, answer.json()["field"]) == (400, field)


def test_rest_tells_of_tags_and_renames_them(api: APIClient, runs: dict[str, Run]) -> None:
    assert api.get("/api/tags/").json()["results"] == [{"name": "nightly", "runs": 2}, {"name": "paper", "runs": 1}]
    assert api.patch("/api/tags/paper/", {"name": "Nightly"}, format="json").json() == {"name": "nightly", "runs": 2}
    assert api.patch("/api/tags/nightly/", {"name": "two words"}, format="json").status_code == 400
    assert api.delete("/api/tags/nightly/").status_code == 204
    assert found("tag = any") == set()


def test_rest_keeps_views_for_whoever_saved_them(api: APIClient, viewer: User) -> None:
    made = api.post("/api/views/", {"name": "Slow", "query": "q=p95+%3E+1s"}, format="json")
    assert (made.status_code, made.json()["page"]) == (201, "runs")
    assert isinstance(made.json()["id"], str)
    address = f"/api/views/{made.json()['id']}/"
    assert api.post("/api/views/", {"name": "Slow"}, format="json").json()["field"] == "name"
    assert api.post("/api/views/", {"name": "x", "page": "home"}, format="json").json()["field"] == "page"
    assert api.patch(address, {"name": "Slowest"}, format="json").json()["name"] == "Slowest"
    other = APIClient()
    other.force_authenticate(viewer)
    assert other.get("/api/views/").json()["results"] == []
    assert other.delete(address).status_code == 404
    assert other.post("/api/views/", {"name": "Mine"}, format="json").status_code == 201
    assert api.delete(address).status_code == 204


def command(*words: str) -> tuple[int, str, str]:
    """Exit code, output and errors of ``manage.py runs``."""
    out, err = io.StringIO(), io.StringIO()
    try:
        call_command("runs", *words, stdout=out, stderr=err)
    except SystemExit as ended:
        return int(ended.code or 0), out.getvalue(), err.getvalue()
    return 0, out.getvalue(), err.getvalue()


def test_the_command_lists_for_people_and_for_scripts(runs: dict[str, Run]) -> None:
    code, out, _ = command("state = done", "--columns", "state,topology,p95,tags", "--sort=-p95")
    assert code == 0
    lines = [line.split() for line in out.splitlines()]
    assert lines[0] == ["run", "state", "topology", "p95", "tags"]
    assert lines[1][:2] == ["run-slow", "done"]
    assert lines[2][-4:] == ["1.50", "ms", "nightly", "paper"]
    code, out, _ = command("p95 < 2ms", "--json", "--columns=p95,passed")
    row = {"run": "run-fast", "experiment": "Nightly sweep", "engine": "live", "changed": ""}
    assert json.loads(out) == [{**row, "p95_us": 1500.0, "passed": True}]
    code, out, _ = command("state = done", "--csv", "--columns=p95", "--sort=p95", "--limit=1")
    assert (code, out) == (0, "run,experiment,engine,changed,p95_us\nrun-fast,Nightly sweep,live,,1500.0\n")


def test_the_command_says_by_its_exit_code_that_nothing_fits_or_what_is_wrong(runs: dict[str, Run]) -> None:
    assert command("p95 < 1us")[0] == 1
    code, _, err = command("tag = nightly and p59 < 2ms")
    assert code == 2
    assert err.splitlines()[:2] == ["tag = nightly and p59 < 2ms", " " * 18 + "^"]
    assert "did you mean p95?" in err
    assert command("", "--columns=p59")[0] == 2
    assert command("", "--sort=tags")[0] == 2
