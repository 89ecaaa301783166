"""The published claims, judged by the runs of an experiment that was launched from a page."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from brokerweb.definitions.presets import PRESETS
from brokerweb.experiments import services
from brokerweb.experiments.judging import figures_of
from brokerweb.experiments.models import Experiment, Run, RunState
from telemetry.systems.context_broker.claims.matrix import place_of
from telemetry.systems.context_broker.published import table_b1


def launched(owner: User, preset: str, **changes: Any) -> Experiment:
    """A preset launched with two seeds under another name: what counts is what its runs are."""
    body = {**PRESETS[preset].definition, "name": "Mine", "replicates": 2, **changes}
    experiment = services.create(body, owner)
    services.launch(experiment, owner)
    return experiment


def done(experiment: Experiment, *, keep: int | None = None) -> None:
    """Its runs measured what the table says, V3 with the growth that it has there; the ``keep`` first, or all."""
    published = {row.config: row for row in table_b1()}
    runs = list(experiment.runs.order_by("position"))[:keep]
    for run in runs:
        place = place_of(run.configuration)
        assert place
        us = published[place.config].response_us or 900.0
        rare = {"ring": 4.0, "full-mesh": 3.0, "waxman": 5.0}[run.topology_kind] if place.part == "rare" else 1.0
        over = published[place.config].providers * 1000.0
        memory = {"pss_bytes": 2e6 + over, "rss_bytes": 9e6 + over, "over_idle_bytes": over, "table_bytes": over}
        run.summary = {"mean": us * rare * (1 + run.replicate / 1000), "memory": {"mean": memory}}
        run.figures = figures_of(run)
        run.state = RunState.DONE
    Run.objects.bulk_update(runs, ["summary", "figures", "state"], batch_size=200)


def verdicts(browser: Client, experiment: Experiment) -> dict[str, str]:
    return {
        one["name"]: one["verdict"] for one in browser.get(f"/api/experiments/{experiment.pk}/claims/").json()["claims"]
    }


def section(page: str, claim: str) -> str:
    return page.partition(f'<section id="{claim}">')[2].partition("</section>")[0]


def test_the_matrix_launched_from_a_page_is_judged_there(olga: Client, operator: User) -> None:
    experiment = launched(operator, "published-matrix")
    done(experiment)
    whole = olga.get(f"/experiments/{experiment.pk}/").content.decode()
    part = f"/experiments/{experiment.pk}/claims/?part"
    assert f'hx-get="{part}"' in whole
    assert "The published claims" in olga.get(part).content.decode()
    page = olga.get(f"/experiments/{experiment.pk}/claims/").content.decode()
    assert re.search(r'data-label="Done">502</td><td[^>]*>251</td><td[^>]*>2</td>', page)
    assert 'class="simulated"' in page
    grows = section(page, "central-grows")
    assert '<span class="state state-done">reproduced</span>' in grows
    assert "1,000 providers / 50 providers is at least 2." in grows
    assert grows.count(">4.26<") == 2, "ours, and what the table says"
    assert '<span class="state state-unknown">not known</span>' in section(page, "rare-data-separates")
    assert "/experiments/new/?preset=published-rare" in page
    found = verdicts(olga, experiment)
    assert found["central-grows"] == found["topologies-alike"] == "reproduced"
    assert found["rare-data-separates"] == "not known"

    with CaptureQueriesContext(connection) as asked:
        olga.get(part)
    assert len(asked) < 15, "however many runs there are"

    rare = launched(operator, "published-rare")
    assert verdicts(olga, experiment)["rare-data-separates"] == "not known", "launched is not done"
    done(rare)
    assert verdicts(olga, experiment)["rare-data-separates"] == "reproduced", "of the newest that has some"
    assert verdicts(olga, rare) == verdicts(olga, experiment), "and the other way about"


def test_what_is_missing_is_not_known_and_one_thing_changed_is_another_matrix(olga: Client, operator: User) -> None:
    experiment = launched(operator, "published-rare")
    assert set(verdicts(olga, experiment).values()) == {"not known"}
    done(experiment, keep=5)
    assert verdicts(olga, experiment)["rare-data-separates"] == "not known", "one seed of one topology is missing"
    done(experiment)
    assert verdicts(olga, experiment)["rare-data-separates"] == "reproduced"
    settings = {"profile": "prototype", "replication": "none", "table": "indexed"}
    other = launched(operator, "published-rare", settings=settings)
    assert olga.get(f"/api/experiments/{other.pk}/claims/").status_code == 404
    assert "Nothing to judge" in olga.get(f"/experiments/{other.pk}/claims/").content.decode()
    assert not olga.get(f"/experiments/{other.pk}/claims/?part").content.decode().strip()


def test_other_experiments_are_not_asked_for_claims(viktor: Client, house: Any) -> None:
    assert "/claims/" not in viktor.get(f"/experiments/{house.experiment.pk}/").content.decode()
    page = viktor.get(f"/experiments/{house.experiment.pk}/claims/")
    assert (page.status_code, "New experiment" in page.content.decode()) == (200, False)


@pytest.mark.parametrize("engine", ["live", "simulated"])
def test_runs_of_the_other_engine_are_never_mixed_in(olga: Client, operator: User, engine: str) -> None:
    done(launched(operator, "published-rare", engine=engine))
    other = {"live": "simulated", "simulated": "live"}[engine]
    central = {"topology": {"kind": "central", "brokers": 1}, "settings": {"profile": "prototype"}, "engine": other}
    workload = {**PRESETS["published-rare"].definition["workload"], "holders": 0, "consumers": 50}
    experiment = launched(operator, "published-rare", workload=workload, **central)
    assert verdicts(olga, experiment)["rare-data-separates"] == "not known"
