"""Anything is found by its name, by those who may see it: on the search page, in the palette, through REST."""

from __future__ import annotations

import re

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from benchmarks.many_runs import seed
from brokerweb.experiments import labels
from brokerweb.experiments.models import SavedView
from brokerweb.finder.places import places
from tests.pages.furniture import House


def found(browser: Client, text: str) -> list[tuple[str, str]]:
    answer = browser.get("/api/search/", {"q": text})
    assert answer.status_code == 200, answer.content
    return [(one["kind"], one["name"]) for one in answer.json()["results"]]


def test_every_kind_of_thing_is_found_by_its_name(olga: Client, house: House, operator: User) -> None:
    run = house.runs["done"]
    labels.set_tags(run, ["nightly"])
    SavedView.objects.create(owner=operator, page="runs", name="Slow ones", query="q=p95+%3E+10ms")
    name = house.experiment.name
    for text, kind, called in (
        ("full mesh and", "experiment", name),
        ("ring of 10", "topology", "Ring of 10"),
        ("campus", "network", "campus"),
        (f"run {run.position + 1} waxman", "run", f"{name}, run {run.position + 1}"),
        (run.id, "run", f"{name}, run {run.position + 1}"),
        ("nightly", "tag", "nightly"),
        ("report waxman", "report", f"Comparison of {name}"),
        ("monday", "schedule", "Monday morning"),
        ("lab-1", "host", "lab-1"),
        ("slow ones", "view", "Slow ones"),
        ("deploy", "page", "Deploy a network"),
        ("cron", "page", "Schedules"),
    ):
        assert (kind, called) in found(olga, text), text
    # Each leads to a page.
    for one in olga.get("/api/search/", {"q": ""}).json()["results"]:
        assert olga.get(one["address"]).status_code == 200, one


def test_the_best_fit_comes_first(olga: Client, house: House) -> None:
    assert found(olga, "ring of 10")[0] == ("topology", "Ring of 10")
    assert found(olga, "runs")[0] == ("page", "Runs")
    assert found(olga, "no such name anywhere") == []


def test_who_may_only_look_is_offered_no_action_and_nobody_the_views_of_another(
    viktor: Client, house: House, operator: User
) -> None:
    SavedView.objects.create(owner=operator, page="runs", name="Of olga alone")
    assert found(viktor, "new experiment") == found(viktor, "administration") == found(viktor, "olga alone") == []
    assert ("page", "Experiments") in found(viktor, "experiments")
    for one in viktor.get("/api/search/", {"q": "page"}).json()["results"]:
        assert viktor.get(one["address"]).status_code == 200, one


def test_a_stranger_finds_nothing(client: Client, house: House) -> None:
    assert client.get("/api/search/?q=ring").status_code == 401
    assert client.get("/search/?q=ring").status_code == 302


@pytest.mark.parametrize("text", ["x" * 201, "a b c d e f g h i"], ids=["long", "many-words"])
def test_what_is_too_much_is_refused_with_the_limit(olga: Client, text: str) -> None:
    answer = olga.get("/api/search/", {"q": text})
    assert answer.status_code == 400
    assert (answer.json()["field"], "accepts at most" in answer.json()["sentence"]) == ("q", True)
    page = olga.get("/search/", {"q": text})
    assert page.status_code == 400
    assert "Accepts at most" in page.content.decode()


def test_signs_of_patterns_and_zero_bytes_are_only_characters(olga: Client, house: House) -> None:
    assert found(olga, "100%") == found(olga, "r_ng") == []
    assert ("network", "campus") in found(olga, "campus\0")


def test_the_page_lists_what_was_found_with_its_kind(olga: Client, house: House) -> None:
    text = olga.get("/search/?q=campus").content.decode()
    assert f'<a href="/networks/{house.network.id}/">campus</a>' in text
    assert "No results" in olga.get("/search/?q=zzz").content.decode()


def test_every_page_of_the_rail_is_among_the_places(olga: Client, house: House) -> None:
    rail = re.findall(r'<a class="entry" href="([^"]+)"', olga.get("/").content.decode())
    assert len(rail) > 10
    assert set(rail) <= {reverse(place.url) for place in places()}


def test_a_search_asks_the_database_as_often_of_many_rows_as_of_few(olga: Client, operator: User) -> None:
    seed(operator, things=2, swept=1, replicates=2, name="Few", clients=6)
    with CaptureQueriesContext(connection) as before:
        found(olga, "e")
    seed(operator, things=20, swept=1, replicates=2, name="Many", clients=6)
    with CaptureQueriesContext(connection) as after:
        assert len(found(olga, "e")) <= 10 * 5
    assert len(after) <= len(before)
