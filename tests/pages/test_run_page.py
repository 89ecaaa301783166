"""The page of a run: its description, the panel of a broker, logs, and reproduction."""

from __future__ import annotations

import json
import re

from django.contrib.auth.models import User
from django.test import Client

from brokerweb.experiments.models import Run
from overlay.experiment.inline import simulated
from overlay.experiment.sweeps import configuration_hash
from tests.pages.furniture import House, way_of
from tests.pages.recorded import make_run


def text_of(answer: str) -> str:
    """The words of a page without its tags."""
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", answer))


def test_a_finished_run_says_what_differs_and_by_what_it_was_measured(olga: Client, house: House) -> None:
    page = text_of(olga.get(f"/runs/{house.runs['done'].id}/").content.decode())
    first, _, rest = page.partition("Default values")
    assert "Providers 5 default 50" in first.partition("Non-default values")[2]
    assert "Walk ttl" in rest
    assert re.search(r"Providers 5 else 10", page) or "Providers 5" in page
    assert "Environment" in page
    assert "Python 3." in page
    assert f"/api/runs/{house.runs['done'].id}/rerun/" in page


def test_its_contents_lead_to_what_is_on_it(olga: Client, house: House) -> None:
    for run in house.runs.values():
        page = olga.get(f"/runs/{run.id}/").content.decode()
        contents = re.findall('href="#([a-z]+)"', page.partition('class="page-parts"')[2].partition("</nav>")[0])
        assert len(contents) >= 6
        for part in contents:
            assert page.count(f'id="{part}"') == 1, part


def test_a_broker_is_opened_beside_the_overlay_and_by_the_address(olga: Client, house: House) -> None:
    run = house.runs["measuring"]
    part = olga.get(f"/runs/{run.id}/brokers/0/").content.decode()
    assert "<html" not in part
    assert "Broker 0" in part
    assert "every 2s" in part
    assert "Neighbours" in part
    whole = olga.get(f"/runs/{run.id}/?broker=0").content.decode()
    assert 'data-opened="0"' in whole
    closed = olga.get(f"/runs/{run.id}/brokers/").content.decode()
    assert "All brokers" in closed
    assert "every 2s" not in closed


def test_of_a_run_that_has_ended_nothing_asks_for_itself(olga: Client, house: House) -> None:
    part = olga.get(f"/runs/{house.runs['done'].id}/brokers/0/").content.decode()
    assert "every 2s" not in part
    assert "from its journal" in text_of(part).lower()


def test_a_broker_there_is_not_is_said_so_and_the_page_stays(olga: Client, house: House) -> None:
    run = house.runs["done"]
    assert olga.get(f"/runs/{run.id}/brokers/4000/").status_code == 404
    for wrong in ("4000", "x", "-1", "99999999999", "%00"):
        page = olga.get(f"/runs/{run.id}/?broker={wrong}")
        assert page.status_code == 200
        assert "All brokers" in page.content.decode()


def test_a_broker_of_a_run_that_is_not_recorded_tells_what_it_is_known_to_hold(olga: Client, house: House) -> None:
    said = text_of(olga.get(f"/runs/{house.runs['measuring'].id}/brokers/1/").content.decode())
    assert re.search(r"Data room\|r0\|climate from provider-1, valid for \S+ min more 1 known of 1", said)
    assert "acknowledged updates, and data of traced queries" in said
    assert "Evicted entries are not reported." in said


def test_its_last_messages_are_of_sampled_queries_and_lead_to_them(olga: Client, house: House) -> None:
    query = house.queries[0]
    run = query.split("/")[2]
    addresses = [{"index": index, "address": f"127.0.0.1:{7000 + index}", "state": "stopped"} for index in range(10)]
    Run.objects.filter(pk=run).update(observed={"brokers": addresses})
    replica = olga.get(f"/runs/{run}/brokers/{way_of(Run.objects.get(pk=run))[1]}/").content.decode()
    said = text_of(replica)
    assert "Shown are those of one query in 100, and of failed queries" in said
    assert re.search(r"answer to broker 0.*request from broker 0", said)
    assert f'href="{query}"' in replica
    assert olga.get(query).status_code == 200
    assert "room|r0|climate replica valid for at most 2 min more" in said


def test_where_nothing_is_traced_or_recorded_it_is_said(olga: Client, house: House) -> None:
    run = house.runs["measuring"]
    Run.objects.filter(pk=run.pk).update(configuration={**run.configuration, "settings": {"trace_one_in": 0}})
    said = text_of(olga.get(f"/runs/{run.id}/brokers/1/").content.decode())
    assert "Messages are not recorded, and tracing is off (Trace one in is 0)." in said
    told = olga.get(f"/api/runs/{run.id}/brokers/1/").json()
    assert told["traced_one_in"] == 0
    assert [(row["came_as"], row["provider"]) for row in told["own"]["entries"]] == [("update", "provider-1")]


def test_a_recorded_broker_tells_its_last_messages_and_data(olga: Client, operator: User) -> None:
    run = make_run(operator)
    part = text_of(olga.get(f"/runs/{run.id}/brokers/0/").content.decode())
    assert "Latest messages" in part
    assert re.search(r"(request|update|answer|ping|acknowledgement)\S* (from|to) (broker \d|a client)", part)
    assert re.search(r"Data at the end \d+:", part)
    assert "replica" in part
    # Each of its datagrams is a click away from being taken apart.
    links = re.findall(r'href="(/wire/\?d=[0-9a-f]+)"', olga.get(f"/runs/{run.id}/brokers/0/").content.decode())
    assert 0 < len(links) <= 20
    assert olga.get(links[0]).status_code == 200


def test_logs_are_told_by_process_and_taken_away(olga: Client, house: House) -> None:
    run = house.runs["done"]
    everything = text_of(olga.get(f"/runs/{run.id}/log/").content.decode())
    assert "supervisor" in everything
    assert '"phase": "measuring"' in everything.replace("&quot;", '"')
    one = olga.get(f"/runs/{run.id}/log/?process=supervisor").content.decode()
    assert "<option selected>supervisor</option>" in one
    taken = olga.get(f"/runs/{run.id}/log/?as=text&process=supervisor")
    lines = b"".join(taken.streaming_content).decode().splitlines()
    assert lines
    assert all(re.match(r"\d{4}-\d\d-\d\dT[\d:.+]+ supervisor phase", line) for line in lines)
    assert "attachment" in taken["Content-Disposition"]
    assert olga.get(f"/runs/{run.id}/log/?process=%0d%0aX:").status_code == 200
    assert olga.get(f"/runs/{house.runs['queued'].id}/log/").status_code == 200


def test_thresholds_are_told_with_what_was_measured(olga: Client, house: House) -> None:
    run = house.runs["done"]
    judged = [
        {"text": "p95 < 2ms", "value": 1_420.0, "held": True},
        {"text": "not_found = 0", "value": 12, "held": False},
    ]
    Run.objects.filter(pk=run.pk).update(thresholds=judged, passed=False)
    page = text_of(olga.get(f"/runs/{run.id}/").content.decode())
    assert "threshold broken" in page
    assert "passed p95 &lt; 2ms was 1.42 ms" in page
    assert "broken not_found = 0 was 12" in page


def test_the_queue_is_paused_where_a_run_waits_in_it(olga: Client, viktor: Client, house: House) -> None:
    waiting, over = house.runs["queued"].id, house.runs["done"].id
    assert "Pause queue" in olga.get(f"/runs/{waiting}/").content.decode()
    assert "Pause queue" not in olga.get(f"/runs/{over}/").content.decode()
    assert "Pause queue" not in viktor.get(f"/runs/{waiting}/").content.decode()


def test_a_runs_definition_repeats_it(olga: Client, operator: User) -> None:
    run = make_run(operator, record_mb=0, faults=[{"what": "restart", "brokers": [2], "at_s": 2}])
    definition = olga.get(f"/api/runs/{run.id}/definition/").json()
    _, (configuration,) = simulated(json.dumps(definition).encode(), "run.json")
    assert configuration_hash(configuration) == configuration_hash(run.configuration)
    page = text_of(olga.get(f"/runs/{run.id}/").content.decode())
    assert f"python -m overlay simulate run-{run.id}.json --replicate 0" in page


def test_a_run_of_which_nothing_was_written_says_so(olga: Client, house: House) -> None:
    yet, never = "No reports yet.", "No reports, or the files were deleted."
    for state, of_all, of_one in (
        ("queued", "No measurements yet.", yet),
        ("failed", "No measurements.", never),
        ("cancelled", "No measurements.", never),
    ):
        assert of_all in text_of(olga.get(f"/runs/{house.runs[state].id}/").content.decode()), state
        assert of_one in text_of(olga.get(f"/runs/{house.runs[state].id}/brokers/0/").content.decode()), state
