"""Every page requires a login, and a login suffices."""

from __future__ import annotations

import csv
import gzip
import re

from django.contrib.auth.models import User
from django.test import Client

from brokerweb.kit.view_guards import PAGE_SIZE
from brokerweb.topologies import services as topologies
from tests.pages.furniture import House


def addresses(house: House) -> list[str]:
    runs = [f"/runs/{run.id}/" for run in house.runs.values()]
    topologies = [f"/topologies/{topology.id}/" for topology in house.topologies.values()]
    lists = [f"/{name}/" for name in ("topologies", "networks", "experiments", "runs", "reports", "schedules", "hosts")]
    single = [
        f"/experiments/{house.experiment.id}/",
        f"/networks/{house.network.id}/",
        f"/reports/{house.report.id}/",
        "/account/",
    ]
    queries = [house.queries[0], house.queries[0].rsplit("/", 2)[0] + "/"]
    queries += [f"{run}{part}" for run in runs for part in ("brokers/", "brokers/0/", "log/")]
    return ["/", "/now/", *lists, *single, *runs, *topologies, *queries]


def test_every_page_of_a_house_in_use_is_shown_to_whoever_may_look(viktor: Client, house: House) -> None:
    shown = {address: viktor.get(address).status_code for address in addresses(house)}
    assert {address: status for address, status in shown.items() if status != 200} == {}


def test_every_page_of_an_empty_house_says_what_it_will_hold(olga: Client) -> None:
    for name, sentence in (
        ("", "First steps"),
        ("topologies/", "No topologies yet"),
        ("networks/", "No networks yet"),
        ("experiments/", "No experiments yet"),
        ("runs/", "No runs yet"),
        ("reports/", "No reports yet"),
        ("schedules/", "No schedules yet"),
        ("hosts/", "No hosts yet"),
    ):
        page = olga.get(f"/{name}")
        assert page.status_code == 200
        assert sentence in page.content.decode()


INSIDE = re.compile(r"\b(workers?|Spark|Celery|tasks?|record_mb)\b", re.IGNORECASE)
"""Words of how things are carried out, in place of what is carried out."""


def test_pages_speak_of_machines_runs_and_recordings_not_of_how_they_are_carried_out(
    olga: Client, house: House
) -> None:
    run = house.runs["done"]
    for address in ("/hosts/", "/reports/", "/wire/messages/", f"/wire/messages/?run={run.id}", "/wire/wireshark/"):
        page = olga.get(address)
        assert page.status_code == 200, address
        assert INSIDE.findall(_read(page.content.decode())) == [], address
    replay = _read(olga.get(f"/runs/{run.id}/replay/").content.decode())
    assert "under Recording for replay in an experiment" in replay
    assert INSIDE.findall(replay) == []
    form = _read(olga.get("/experiments/new/").content.decode())
    assert "Recording for replay" in form  # what they point to


def _read(page: str) -> str:
    """The words of a page's content, without what its tags carry."""
    main = page.split("<main", 1)[1].split("</main>")[0]
    return " ".join(re.sub(r"(?s)<script.*?</script>|<[^>]+>", "", "<main" + main).split())


def test_pages_of_any_list_follow_each_other_whatever_it_is_sorted_by(olga: Client, operator: User) -> None:
    for number in range(PAGE_SIZE + 1):
        topologies.create(name=f"line {number:02d}", kind="line", brokers=2, owner=operator)
    first = olga.get("/topologies/").content.decode()
    assert ">Next</a>" in first
    assert ">Previous</a>" not in first
    second = olga.get("/topologies/?page=2").content.decode()
    assert ">Previous</a>" in second
    assert "26–26 of 26" in second


def test_a_stranger_is_sent_to_the_log_in(client: Client, house: House) -> None:
    for address in addresses(house):
        answer = client.get(address)
        assert answer.status_code == 302
        assert answer["Location"].startswith("/login/")


def test_who_may_only_look_is_refused_whatever_changes_something(viktor: Client, house: House) -> None:
    run, network, experiment = house.runs["measuring"], house.network, house.experiment
    topology = next(iter(house.topologies.values()))
    for address in (
        "/topologies/new/",
        f"/topologies/{topology.id}/delete/",
        "/experiments/new/",
        f"/experiments/{experiment.id}/launch/",
        f"/experiments/{experiment.id}/cancel/",
        f"/runs/{run.id}/cancel/",
        f"/runs/{run.id}/rerun/",
        f"/networks/{network.id}/stop/",
        "/reports/create/",
        "/schedules/create/",
    ):
        assert viktor.post(address).status_code == 403, address
    network.refresh_from_db()
    assert network.desired == "running"


def test_a_link_changes_nothing(olga: Client, house: House) -> None:
    assert olga.get(f"/runs/{house.runs['measuring'].id}/cancel/").status_code == 405


def test_runs_are_filtered_by_the_address(olga: Client, house: House) -> None:
    page = olga.get("/runs/?state=failed").content.decode()
    assert "port is in use by another program" in page
    assert house.runs["failed"].id in page
    assert house.runs["done"].id not in page
    assert "No run matches this filter" in olga.get("/runs/?state=launching").content.decode()


def test_what_is_not_there_is_said_in_words(olga: Client) -> None:
    answer = olga.get("/runs/nothing/")
    assert answer.status_code == 404
    assert "Page not found" in answer.content.decode()


def test_no_page_asks_for_an_inline_script_or_another_host(olga: Client, house: House) -> None:
    for address in addresses(house):
        text = olga.get(address).content.decode()
        assert "<script>" not in text
        assert " onclick=" not in text
        assert 'src="http' not in text
        assert "<style" not in text


def test_what_is_long_travels_compressed_and_parquet_as_it_is(olga: Client, house: House) -> None:
    accepting = {"headers": {"accept-encoding": "gzip"}}
    page, plain = olga.get("/runs/", **accepting), olga.get("/runs/")
    assert page["Content-Encoding"] == "gzip"
    assert len(page.content) < len(plain.content) / 3
    assert "Content-Encoding" not in plain
    samples = f"/api/runs/{house.runs['done'].id}/samples/"
    lines = b"".join(olga.get(f"{samples}?format=csv", **accepting).streaming_content)
    assert gzip.decompress(lines) == b"".join(olga.get(f"{samples}?format=csv").streaming_content)
    assert b"".join(olga.get(f"{samples}?format=parquet", **accepting).streaming_content)[:4] == b"PAR1"


def test_a_report_is_taken_away_as_json_and_csv(olga: Client, house: House) -> None:
    got = olga.get(f"/reports/{house.report.id}/report.json").json()
    assert {chart["id"] for chart in got["charts"]} >= {"response-time", "figure-4.3"}
    lines = olga.get(f"/reports/{house.report.id}/report.csv").content.decode().splitlines()
    assert lines[0].startswith("chart,series,role")
    assert any("published" in line for line in lines)


def test_a_name_in_a_report_is_no_formula_in_a_spreadsheet(olga: Client, house: House) -> None:
    series = house.report.result["charts"][0]["series"][0]
    series["name"] = f'=HYPERLINK("http://x"), {series["name"]}'
    house.report.save()
    rows = list(csv.DictReader(olga.get(f"/reports/{house.report.id}/report.csv").content.decode().splitlines()))
    assert {row["series"] for row in rows if "HYPERLINK" in row["series"]} == {f"'{series['name']}"}
