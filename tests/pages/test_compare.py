"""The comparison: which runs, what differs, with which interval, against what; the same numbers everywhere."""

from __future__ import annotations

import csv
import html
import io
import json
import re
from pathlib import Path
from statistics import fmean, geometric_mean
from typing import Any
from urllib.parse import quote

import numpy as np
import pyarrow.parquet as pq
import pytest
from django.contrib.auth.models import User
from django.core.management import call_command
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from brokerweb.comparison import distribution, selection
from brokerweb.comparison.selection import Figures
from brokerweb.experiments.models import Run, RunState
from telemetry.lake.runs import Lake
from telemetry.statistics.intervals import COUNT, LOG, interval
from telemetry.systems.registry import measures
from tests.pages.compared import grows, swept, topology
from tests.pages.furniture import House

MOST_BYTES = 400_000


def page(browser: Client, query: str, status: int = 200) -> str:
    answer = browser.get(f"/compare/?{query}")
    assert answer.status_code == status
    return answer.content.decode()


def charts(shown: str) -> dict[str, Any]:
    found = re.search(r'<script id="compare-charts" type="application/json">(.*?)</script>', shown)
    assert found
    whole: dict[str, Any] = json.loads(found[1])
    return whole


def words(shown: str) -> str:
    """What is read on the page, on one line."""
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", shown)).split())


def rest(browser: Client, query: str) -> dict[str, Any]:
    answer = browser.get(f"/api/compare/?{query}")
    assert answer.status_code == 200, answer.content
    return dict(answer.json())


def test_before_runs_are_chosen_three_links_show_how(olga: Client, house: House) -> None:
    shown = page(olga, "")
    links = re.findall(r'<li><a href="(\?q=[^"]+)"', shown)
    assert len(links) == 3
    assert f"Runs of {house.experiment.name}" in words(shown)
    assert "Varied parameters" in page(olga, html.unescape(links[0])[1:])


def test_an_empty_house_can_be_asked_too(olga: Client) -> None:
    assert "Select runs by their properties" in page(olga, "")
    assert "No finished run matches this filter" in page(olga, "q=")


def test_who_may_look_sees_it_and_a_stranger_is_sent_to_the_log_in(viktor: Client, client: Client) -> None:
    assert viktor.get("/compare/?q=").status_code == 200
    for address in ("/compare/?q=", "/compare/distribution/?q=", "/compare/export/csv/?q="):
        assert client.get(address)["Location"].startswith("/login/")


def test_what_differs_stands_above_and_what_does_not_is_folded_away(olga: Client, operator: User) -> None:
    swept(operator, grows, consumers=[10, 20, 40], over=[topology(operator), topology(operator, "full-mesh")])
    shown = page(olga, "q=")
    differs = words(shown[shown.index('id="differs"') : shown.index("compare-shared")])
    assert "Consumers" in differs
    assert "10 20 40" in differs
    assert "full-mesh of 4 ring of 4" in differs
    assert "Providers" not in differs
    assert "18 finished runs in 6 configurations" in words(shown)
    told = {one["name"]: one["values"] for one in rest(olga, "q=")["differing"]}
    assert told == {"topology": ["full-mesh of 4", "ring of 4"], "consumers": [10, 20, 40]}


def test_a_point_is_the_geometric_mean_of_its_replicates_with_their_interval(olga: Client, operator: User) -> None:
    swept(operator, grows, consumers=[10, 20])
    (first, second) = rest(olga, "q=")["results"]
    expected = interval([100.0, 103.0, 106.0])
    assert {name: first["figures"]["p95"][name] for name in ("value", "low", "high", "n")} == {
        name: expected[name] for name in ("value", "low", "high", "n")
    }
    assert expected["value"] == pytest.approx(geometric_mean([100, 103, 106]))
    assert second["figures"]["p95"]["value"] == pytest.approx(geometric_mean([200, 203, 206]))
    assert first["figures"]["p95"]["method"] == "geometric mean, 95 % by Student's t on the logarithm"
    shown = page(olga, "q=")
    assert measures()["p95"].text(103.0) in shown
    assert "geometric mean or mean of the replicates with 95 % interval" in shown, "of p95, and of the share answered"
    assert "geometric mean of the replicates with 95 % interval" in page(olga, "q=&metric=rss")
    (line,) = charts(shown)["charts"]["lines"]["series"]
    assert [(point["x"], round(point["y"]), point["n"]) for point in line["points"]] == [(10, 103, 3), (20, 203, 3)]
    assert sorted(line["points"][0]["replicates"]) == [100, 103, 106]


def test_of_two_numbers_one_is_the_axis_and_the_other_makes_lines(olga: Client, operator: User) -> None:
    """Not a mean over both, as of caches and rates."""

    def of_both(configuration: Any, replicate: int) -> float:
        return float(configuration["workload"]["consumers"] + configuration["settings"]["walk_ttl"] + replicate)

    swept(operator, of_both, consumers=[100, 200], settings={"walk_ttl": [10, 20, 30]})
    lines = charts(page(olga, "q=&x=consumers"))["charts"]["lines"]
    assert [[(point["x"], round(point["y"])) for point in one["points"]] for one in lines["series"]] == [
        [(100, 111), (200, 211)],
        [(100, 121), (200, 221)],
        [(100, 131), (200, 231)],
    ]
    assert "averaged" not in " ".join(lines["notes"])


def test_words_lie_along_the_axis_and_down_the_heat_map_where_no_number_differs(olga: Client, operator: User) -> None:
    """Which strategy suits which topology is what such a sweep is launched for."""
    over = [topology(operator), topology(operator, "full-mesh")]
    slow = {"walk": 900.0, "flood": 100.0}

    def of_both(configuration: Any, replicate: int) -> float:
        away = 50 if configuration["topology"]["kind"] == "ring" else 0
        return slow[configuration["settings"]["search"]] + away + replicate

    swept(operator, of_both, over=over, settings={"search": ["walk", "flood"]})
    shown = page(olga, "q=")
    drawn = charts(shown)["charts"]
    lines, heat = drawn["lines"], drawn["heat"]
    assert lines["x"]["categories"] == ["full-mesh of 4", "ring of 4"]
    assert {
        one["topology"]: [(point["x"], round(point["y"])) for point in one["points"]] for one in lines["series"]
    } == {
        "flood": [(0, 101), (1, 151)],
        "walk": [(0, 901), (1, 951)],
    }
    assert not any(one["line"] for one in lines["series"]), "between two topologies there is nothing"
    assert all(point["low"] < point["y"] < point["high"] and point["n"] == 3 for point in lines["series"][0]["points"])
    assert (heat["x"]["categories"], heat["y"]["categories"]) == (["full-mesh of 4", "ring of 4"], ["flood", "walk"])
    assert [(*cell[:2], round(cell[2]), cell[5]) for cell in heat["cells"]] == [
        (0, 0, 101, 3),
        (1, 0, 151, 3),
        (0, 1, 901, 3),
        (1, 1, 951, 3),
    ]
    assert "with its 95 % interval" in heat["notes"][0]
    assert ([round(end) for end in heat["shades"]["linear"]], heat["shades"]["within_noise"]) == ([0, 951], False)
    assert ">Points</a>" in shown
    turned = charts(page(olga, "q=&x=search"))["charts"]
    assert turned["lines"]["x"]["categories"] == turned["heat"]["x"]["categories"] == ["flood", "walk"]
    assert [one["topology"] for one in turned["lines"]["series"]] == ["full-mesh", "ring"], "each in its colour"


def test_colours_of_a_heat_map_do_not_paint_noise(olga: Client, operator: User) -> None:
    """1.77 and 1.78 are not white and dark blue: scales begin at nothing, and overlapping intervals have none."""
    over = [topology(operator), topology(operator, "full-mesh")]

    def heat_of(name: str, spread: float) -> dict[str, Any]:
        def figure(configuration: Any, replicate: int) -> float:
            more = 10.0 if configuration["topology"]["kind"] == "ring" else 0.0
            return 1_770.0 + more + spread * replicate

        swept(operator, figure, name=name, over=over, settings={"search": ["walk", "flood"]})
        return charts(page(olga, f"q=experiment+%3D+{name}"))["charts"]["heat"]  # type: ignore[no-any-return]

    noisy = heat_of("noisy", 40.0)
    assert noisy["shades"]["within_noise"]
    assert "Differences are within noise" in " ".join(noisy["notes"])
    steady = heat_of("steady", 0.01)
    assert not steady["shades"]["within_noise"]
    assert "within noise" not in " ".join(steady["notes"])
    (least, most), (log_least, log_most) = steady["shades"]["linear"], steady["shades"]["log"]
    assert (least, most) == (0, pytest.approx(1_780, abs=1))
    assert log_most / log_least == pytest.approx(10)


def test_any_two_parameters_span_the_heat_map(olga: Client, operator: User) -> None:
    over = [topology(operator), topology(operator, "full-mesh")]
    swept(operator, grows, over=over, consumers=[10, 20], settings={"search": ["walk", "flood"]})
    heat = charts(page(olga, "q=&x=topology&y=search"))["charts"]["heat"]
    assert (heat["x"]["categories"], heat["y"]["categories"]) == (["full-mesh of 4", "ring of 4"], ["flood", "walk"])
    assert "Each point is averaged over consumers" in " ".join(heat["notes"])
    heat = charts(page(olga, "q=&y=search"))["charts"]["heat"]
    assert (heat["x"]["label"], heat["y"]["label"]) == ("Consumers", "Search")
    shown = words(page(olga, "q=&x=search&y=search"))
    assert "Search is already the x axis; the heat map needs two different parameters." in shown
    assert olga.get("/api/compare/?q=&y=spin").json()["field"] == "y"


def test_topologies_alone_stand_side_by_side_each_in_its_colour(olga: Client, operator: User) -> None:
    """And not over how many brokers they have, which the topology says."""
    swept(operator, grows, over=[topology(operator), topology(operator, "full-mesh"), topology(operator, "central", 1)])
    drawn = charts(page(olga, "q="))["charts"]
    lines = drawn["lines"]
    assert lines["x"]["label"] == "Topology"
    assert [(one["topology"], len(one["points"])) for one in lines["series"]] == [
        ("central", 1),
        ("full-mesh", 1),
        ("ring", 1),
    ]
    swept(operator, grows, over=[topology(operator, "ring", size) for size in (5, 6)], name="Sizes")
    assert charts(page(olga, "q=experiment = Sizes"))["charts"]["lines"]["x"]["label"] == "Brokers"


def test_a_number_over_which_all_topologies_stand_over_one_another_is_not_chosen(olga: Client, operator: User) -> None:
    swept(operator, grows, over=[topology(operator), topology(operator, "full-mesh")])
    swept(operator, grows, over=[topology(operator, "star"), topology(operator, "line")], consumers=50, name="Other")
    for query, label in (("q=", "Topology"), ("q=&x=consumers", "Consumers"), ("q=&by=topology", "Consumers")):
        assert charts(page(olga, query))["charts"]["lines"]["x"]["label"] == label


def test_boxes_say_of_how_many_and_what_stands_below_them(olga: Client, operator: User) -> None:
    swept(operator, grows, consumers=[10, 20])
    box = charts(page(olga, "q="))["charts"]["box"]
    assert [(row["n"], row["low"] < row["y"] < row["high"]) for row in box["rows"]] == [(3, True), (3, True)]
    assert "Whiskers: minimum and maximum of the n replicates" in box["notes"][0]
    assert "the geometric mean as a dot with its 95 % interval" in box["notes"][0]
    extreme = charts(page(olga, "q=&aggregate=max"))["charts"]["box"]
    assert "the max as a dot, without interval" in extreme["notes"][0]


def test_a_switch_is_on_or_off_along_the_axis_in_the_table_and_beside_each_row(olga: Client, operator: User) -> None:
    swept(operator, grows, settings={"hop_ack": [False, True]})
    shown = page(olga, "q=")
    drawn = charts(shown)["charts"]
    assert drawn["lines"]["x"]["categories"] == ["off", "on"]
    assert [row["short"] for row in drawn["box"]["rows"]] == ["off", "on"]
    assert re.findall(r'data-label="Hop ack">(\w+)</td>', shown) == ["off", "on"]


def test_one_replicate_is_marked_as_one(olga: Client, operator: User) -> None:
    swept(operator, grows, replicates=1)
    shown = page(olga, "q=")
    assert "n = 1, no interval" in shown
    assert "1 with n = 1, without interval" in words(shown)


def test_what_is_not_grouped_by_is_averaged_seed_by_seed(olga: Client, operator: User) -> None:
    """So that the interval tells of seeds, and not of how ten consumers differ from a thousand."""
    swept(operator, grows, consumers=[10, 1_000], over=[topology(operator), topology(operator, "full-mesh")])
    groups = rest(olga, "q=&by=topology")["results"]
    assert [group["label"] for group in groups] == ["full-mesh of 4", "ring of 4"]
    figure = groups[0]["figures"]["p95"]
    assert figure["value"] == pytest.approx(geometric_mean([5_050, 5_053, 5_056]))
    assert figure["high"] - figure["low"] < 30
    assert groups[0]["n"] == 6
    assert "2 configurations aggregated" in page(olga, "q=&by=topology")


def test_live_and_simulated_runs_are_never_one_group(olga: Client, operator: User) -> None:
    over = topology(operator)
    swept(operator, grows, over=[over], name="Live")
    swept(operator, lambda configuration, replicate: 1.0, over=[over], name="Virtual", engine="simulated")
    for query in ("q=", "q=&by=engine"):
        groups = rest(olga, query)["results"]
        assert {group["engine"]: group["n"] for group in groups} == {"live": 3, "simulated": 3}
    assert "ring of 4, simulated" in [group["label"] for group in rest(olga, "q=")["results"]]


def test_a_simulated_run_repeated_is_no_replicate_of_itself(olga: Client, operator: User) -> None:
    over = topology(operator)
    for name in ("First", "Again"):
        swept(operator, grows, over=[over], name=name, engine="simulated")
    found = rest(olga, "q=")
    assert (found["runs"], found["repeats"]) == (3, 3)
    assert "3 exact repeats excluded" in words(page(olga, "q="))


def test_shaped_links_are_said(olga: Client, operator: User) -> None:
    swept(operator, grows, over=[topology(operator, delay_ms=2.0)])
    assert rest(olga, "q=")["results"][0]["role"] == "shaped"
    assert "shaped: delay 2 ms" in page(olga, "q=")


def test_a_wrong_filter_is_explained_beside_it_and_stays_as_it_was_typed(olga: Client, operator: User) -> None:
    shown = page(olga, f"q={quote('p96 < 2ms')}", 400)
    assert "Unknown field “p96”; did you mean p99?" in shown
    assert 'value="p96 &lt; 2ms"' in shown
    assert 'aria-invalid="true"' in shown


@pytest.mark.parametrize(
    ("query", "sentence"),
    [
        ("x=spin", "these runs do not differ in 'spin'; varied parameters: consumers"),
        ("by=spin", "these runs do not differ in 'spin'"),
        ("by=consumers,topology,system", "accepts at most 2 parameters, not 3"),
        ("metric=speed", "must be one of mean, p50"),
        ("metric=mean,p50,p95,p99,hops,rss,uss", "accepts at most 6 figures, not 7"),
        ("aggregate=best", "must be one of mean, median, min, max"),
        ("sort=colour", "must be one of n, difference, p95, answer_ratio, consumers"),
        ("log=maybe", "must be 1 or 0"),
        ("baseline=0123456789abcdef", "no finished run has the configuration 0123456789abcdef"),
        ("baseline=experiment+%3D+none+such", "matches no finished run"),
        ("baseline=%28", ""),
        ("q=" + "a" * 2_001, "accepts at most 2,000 characters"),
    ],
)
def test_what_cannot_be_compared_is_named_and_there_is_a_way_on(
    olga: Client, operator: User, query: str, sentence: str
) -> None:
    swept(operator, grows, consumers=[10, 20])
    field = query.split("=")[0]
    whole = query if field == "q" else f"q=&{query}"
    answer = olga.get(f"/api/compare/?{whole}")
    assert answer.status_code == 400
    assert answer.json()["field"] == field
    assert sentence in answer.json()["sentence"]
    fits_other_runs = field in ("x", "by", "sort", "baseline") and "accepts at most" not in sentence
    shown = words(page(olga, whole, 200 if fits_other_runs else 400))
    assert sentence.lower() in shown.lower()
    if fits_other_runs:
        assert "Varied parameters" in shown
    elif field != "q":
        assert "Compare without this parameter" in shown


def test_more_runs_than_can_be_compared_are_refused_with_a_way_to_fewer(
    olga: Client, operator: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    swept(operator, grows)
    monkeypatch.setattr(selection, "MOST_RUNS", 2)
    shown = words(page(olga, "q=", 400))
    assert "Matches 3 finished runs; at most 2 can be compared" in shown
    assert "created > 7d ago" in shown


def test_runs_that_are_not_done_are_counted_and_left_out(olga: Client, operator: User) -> None:
    swept(operator, grows)
    Run.objects.filter(replicate=2).update(state=RunState.FAILED)
    assert "2 finished runs in 1 configuration · 1 not done" in words(page(olga, "q="))
    Run.objects.update(state=RunState.FAILED)
    assert "3 runs match this filter, but none is done" in words(page(olga, "q="))


def test_a_pinned_configuration_is_what_the_others_are_held_against(olga: Client, operator: User) -> None:
    swept(operator, grows, consumers=[10, 20, 40])
    first = rest(olga, "q=")["results"][0]
    shown = page(olga, f"q=&baseline={first['configuration']}")
    assert "2 worse" in words(shown)
    assert "Unpin" in shown
    held = rest(olga, f"q=&baseline={first['configuration']}")
    assert held["verdicts"] == {"better": 0, "worse": 2, "no difference shown": 0, "unknown": 0}
    baseline, second, _ = held["results"]
    assert baseline["is_baseline"]
    assert baseline["difference"] is None
    assert (round(second["difference"]["value"]), second["difference"]["verdict"]) == (100, "worse")
    assert second["difference"]["method"].startswith("ratio of geometric means")
    assert "paired by seed" in second["difference"]["method"]
    assert "Geometric mean minus that of" in charts(shown)["charts"]["difference"]["notes"][0]
    rows = charts(shown)["charts"]["difference"]["rows"]
    assert [(row["number"], round(row["y"]), row["verdict"]) for row in rows] == [(2, 100, "worse"), (3, 300, "worse")]


def test_the_runs_of_another_experiment_are_a_baseline_configuration_by_configuration(
    olga: Client, operator: User
) -> None:
    over = [topology(operator)]
    before = swept(operator, grows, name="Before", over=over, consumers=[10, 20])
    after = swept(
        operator,
        lambda configuration, replicate: grows(configuration, replicate) - 20,
        name="After",
        over=over,
        consumers=[10, 20, 40],
    )
    query = f"q=experiment.id = {after.pk}&baseline=experiment.id = {before.pk}"
    found = rest(olga, query)
    assert [group["difference"]["verdict"] for group in found["results"]] == ["better", "better", "unknown"]
    changes = [group["difference"]["value"] for group in found["results"]]
    assert changes == [pytest.approx(-20, abs=0.01), pytest.approx(-20, abs=0.01), None]
    assert found["baseline"]["runs"] == 6


def test_a_baseline_lies_in_the_group_that_holds_it(olga: Client, operator: User) -> None:
    swept(operator, grows, consumers=[10, 40], over=[topology(operator), topology(operator, "full-mesh")])
    pinned = rest(olga, "q=&by=consumers")["results"][1]
    found = rest(olga, f"q=&by=consumers&baseline={pinned['configurations'][1]}")
    assert [group["is_baseline"] for group in found["results"]] == [False, True]
    assert found["verdicts"]["better"] == 1


def test_the_table_is_sorted_by_any_column_and_what_was_not_measured_comes_last(olga: Client, operator: User) -> None:
    def some(configuration: Any, replicate: int) -> float | None:
        return None if configuration["workload"]["consumers"] == 20 else grows(configuration, replicate)

    swept(operator, some, consumers=[10, 20, 40])
    order = [group["number"] for group in rest(olga, "q=&sort=-p95")["results"]]
    assert order == [3, 1, 2]
    assert [group["number"] for group in rest(olga, "q=&sort=p95")["results"]] == [1, 3, 2]


def test_the_runs_of_a_row_are_one_link_away(olga: Client, operator: User) -> None:
    swept(operator, grows, consumers=[10, 20])
    link = html.unescape(re.findall(r'href="(/runs/\?q=[^"]+)"', page(olga, "q=consumers > 5"))[0])
    listed = olga.get(link).context["page"]
    assert {run.configuration["workload"]["consumers"] for run in listed} == {10}
    assert len(listed) == 3


def test_chosen_runs_are_compared_by_their_ids(olga: Client, operator: User) -> None:
    swept(operator, grows)
    chosen = list(Run.objects.values_list("pk", flat=True)[:2])
    shown = page(olga, f"runs={','.join(chosen)}")
    assert "2 finished runs in 1 configuration" in words(shown)
    assert "Limited to 2 selected runs" in words(shown)


def test_a_comparison_is_saved_under_a_name_and_found_again(viktor: Client, operator: User) -> None:
    swept(operator, grows, consumers=[10, 20])
    kept = {"page": "compare", "query": "q=consumers+%3D+10&metric=mean", "name": "Ten, by their mean"}
    answer = viktor.post("/views/save/", kept, follow=True)
    assert answer.redirect_chain[-1][0] == f"/compare/?{kept['query']}"
    shown = answer.content.decode()
    assert "Saved the view “Ten, by their mean”" in html.unescape(shown)
    assert f'<a href="/compare/?{html.escape(kept["query"])}" aria-current="page">Ten, by their mean</a>' in shown


def test_published_values_stand_beside_what_is_the_same_configuration(olga: Client, operator: User) -> None:
    over = [topology(operator, "ring", 10)]
    workload = {
        "providers": 50,
        "consumers": [50, 500],
        "request_interval_s": 30,
        "update_interval_s": 30,
        "duration_s": 30,
    }
    swept(operator, lambda configuration, replicate: 2_000.0, over=over, workload=workload)
    lines = charts(page(olga, "q=&metric=mean"))["charts"]["lines"]["series"]
    measured, published = lines
    assert published["role"] == "published"
    assert "Table B.1" in published["name"]
    assert [point["x"] for point in published["points"]] == [50, 500]
    rows = rest(olga, "q=&metric=mean")["results"]
    assert [row["published"] for row in rows] == [point["y"] for point in published["points"]]
    assert measured["points"][0]["y"] == 1_000


def test_what_is_taken_away_is_what_is_shown(olga: Client, operator: User) -> None:
    swept(operator, grows, consumers=[10, 20, 40])
    baseline = rest(olga, "q=")["results"][0]["configuration"]
    query = f"q=consumers < 40&metric=p95,mean&sort=-p95&baseline={baseline}"
    groups = rest(olga, query)["results"]
    rows = list(csv.DictReader(io.StringIO(olga.get(f"/compare/export/csv/?{query}").content.decode())))
    values = [group["figures"]["p95"]["value"] for group in groups]
    assert [float(row["p95_us"]) for row in rows] == values
    assert values == pytest.approx([geometric_mean([200, 203, 206]), geometric_mean([100, 103, 106])])
    assert [row["verdict"] for row in rows] == ["worse", "baseline"]
    table = pq.read_table(io.BytesIO(olga.get(f"/compare/export/parquet/?{query}").content)).to_pylist()
    assert [(row["consumers"], row["mean_us"], row["p95_us_low"]) for row in table] == [
        (group["parameters"]["consumers"], group["figures"]["mean"]["value"], group["figures"]["p95"]["low"])
        for group in groups
    ]
    assert olga.get(f"/compare/export/json/?{query}").json()["results"] == groups
    heads = olga.get("/compare/export/csv/?q=&metric=per_s,age_ms,success").content.decode().splitlines()[0].split(",")
    assert [one for one in heads if one.endswith("_low")] == ["per_s_low", "age_ms_low", "success_low"]
    assert olga.get("/compare/export/pdf/?q=").status_code == 404
    assert "did you mean" in olga.get("/compare/export/csv/?q=p96 < 1").content.decode()


def test_every_number_is_that_of_the_samples(olga: Client, house: House, var: Path) -> None:
    """Counts exactly and quantiles exactly: a run's figures are of its samples, not of a histogram."""
    metrics = ("p50", "p95", "p99", "mean", "requests", "answered")
    found = rest(olga, f"q=&metric={','.join(metrics)}")
    assert len(found["results"]) > 1
    shown = page(olga, f"q=&metric={','.join(metrics)}")
    for group in found["results"]:
        samples = [_samples(var, run) for run in group["runs"]]
        expected = {
            "mean": [np.mean(times) for times, _ in samples],
            **{name: [np.percentile(times, int(name[1:])) for times, _ in samples] for name in ("p50", "p95", "p99")},
            "requests": [count for _, count in samples],
            "answered": [len(times) for times, _ in samples],
        }
        for name in metrics:
            figure, replicates = group["figures"][name], expected[name]
            is_count = name in ("requests", "answered")
            mean = fmean(replicates) if is_count else geometric_mean(replicates)
            assert figure["value"] == pytest.approx(mean, rel=1e-12), name
            held = interval(replicates, COUNT if is_count else LOG)
            assert figure["low"] == (pytest.approx(held["low"]) if held["low"] else None)
            assert measures()[name].text(figure["value"]) in shown


def _samples(var: Path, run: str) -> tuple[Any, int]:
    """Response times of a run's answered requests in measuring, and how many requests there were."""
    rows = pq.read_table(Lake(var / "lake").part("samples", run), partitioning=None).to_pylist()
    asked = [row for row in rows if (row["role"], row["phase"]) == ("consumer", "measuring")]
    times = [row["ended_us"] - row["intended_us"] for row in asked if row["outcome"] == "answered"]
    return np.array(times), len(asked)


def test_a_distribution_is_exactly_that_of_the_samples(olga: Client, house: House, var: Path) -> None:
    found = olga.get("/api/compare/distribution/?q=").json()
    groups = {group["configuration"]: group for group in rest(olga, "q=")["results"]}
    for one in found["results"]:
        times = np.concatenate([_samples(var, run)[0] for run in groups[one["configuration"]]["runs"]])
        assert one["answers"] == len(times)
        assert one["us"] == pytest.approx(np.quantile(times, found["shares"]).tolist())
        own = [np.quantile(_samples(var, run)[0], found["shares"]) for run in groups[one["configuration"]]["runs"]]
        assert one["n"] == len(own)
        if len(own) > 1:
            assert one["low_us"] == pytest.approx(np.min(own, axis=0).tolist())
            assert one["high_us"] == pytest.approx(np.max(own, axis=0).tolist())
        else:
            assert one["low_us"] == one["high_us"] == []
    assert {one["n"] for one in found["results"]} > {1}, "some have a band, and some have one run"
    chart = olga.get("/compare/distribution/?q=").json()
    drawn = [[point["x"] for point in series["points"]] for series in chart["series"]]
    assert drawn == [one["us"] for one in found["results"]]
    assert "Exact, from the pooled samples" in chart["notes"][0]
    ends = [(point["x_low"], point["x_high"]) for series in chart["series"] for point in series["points"]]
    assert ends[0] == (found["results"][0]["low_us"][0], found["results"][0]["high_us"][0])
    assert chart["band"] == "their range"
    assert "the range over the n replicates" in chart["notes"][1]
    assert "No band with fewer than two replicates" in chart["notes"][2]
    chosen = found["results"][1]["configuration"]
    alone = olga.get(f"/api/compare/distribution/?q=&configuration={chosen}").json()["results"]
    assert [one["configuration"] for one in alone] == [chosen]


def test_of_configurations_together_a_replicate_is_a_seed_that_all_of_them_ran_with() -> None:
    def part(configuration: str, seed: str, *times: float) -> tuple[Figures, Any]:
        return Figures(f"{configuration}{seed}", configuration, seed, "live", "valid", ()), np.array(times)

    parts = [part("a", "1", 10, 11), part("b", "1", 90), part("a", "2", 12), part("b", "2", 95), part("a", "3", 13)]
    assert [found.tolist() for found in distribution.replicates(parts)] == [[10, 11, 90], [12, 95]]
    alone = [parts[0], parts[2], parts[4]]
    assert [found.tolist() for found in distribution.replicates(alone)] == [[10, 11], [12], [13]]


def test_samples_that_are_gone_or_too_many_are_said(
    olga: Client, house: House, var: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(distribution, "MOST_SAMPLES", 1)
    notes = olga.get("/compare/distribution/?q=").json()["notes"]
    assert any("replicates are skipped" in note for note in notes)
    for run in Run.objects.filter(state=RunState.DONE):
        Lake(var / "lake").part("samples", run.pk).unlink()
    gone = olga.get("/compare/distribution/?q=").json()
    assert gone["series"] == []
    assert any("runs without samples" in note for note in gone["notes"])


def test_a_large_comparison_asks_as_often_as_a_small_one_and_its_charts_stay_small(
    olga: Client, operator: User
) -> None:
    swept(operator, grows, name="Few")
    page(olga, "q=")  # reads what never changes
    with CaptureQueriesContext(connection) as few:
        page(olga, "q=&metric=mean")
    swept(operator, grows, name="Wide", consumers=list(range(10, 60)), replicates=8)
    query = "q=experiment = Wide&metric=mean"
    page(olga, query)
    with CaptureQueriesContext(connection) as many:
        shown = page(olga, query)
    assert len(many) <= len(few)
    drawn = charts(shown)
    assert len(json.dumps(drawn)) < MOST_BYTES
    assert all(len(line["points"]) <= 2_000 for line in drawn["charts"]["lines"]["series"])
    assert len(drawn["charts"]["lines"]["series"][0]["points"]) == 50


def test_a_script_is_told_by_the_exit_code(olga: Client, operator: User, capsys: pytest.CaptureFixture[str]) -> None:
    swept(operator, grows, consumers=[10, 20])
    fast, slow = (group["configuration"] for group in rest(olga, "q=")["results"])
    call_command("compare", "experiment = Sweep", "--baseline", slow)
    told = capsys.readouterr().out
    assert "1 better" in told
    assert "103 µs" in told.replace("\u202f", " ")
    with pytest.raises(SystemExit) as worse:
        call_command("compare", "experiment = Sweep", "--baseline", fast, "--json")
    assert worse.value.code == 1
    assert json.loads(capsys.readouterr().out)["verdicts"]["worse"] == 1
    with pytest.raises(SystemExit) as wrong:
        call_command("compare", "p96 < 1")
    assert wrong.value.code == 2
    assert "did you mean" in capsys.readouterr().err


def of_two_systems(operator: User, figures: dict[str, dict[str, float]]) -> None:
    """A done run of each, with these figures."""
    swept(operator, grows, replicates=1)
    made = Run.objects.get()
    for system, found in figures.items():
        configuration = {**made.configuration, "system": system, "seed": len(system)}
        Run.objects.create(
            experiment=made.experiment,
            configuration=configuration,
            configuration_hash=f"{len(system):016x}",
            seed="1",
            state=RunState.DONE,
            summary={"n": 1},
            figures=found,
        )
    made.delete()


def test_of_two_systems_a_figure_is_drawn_that_both_have(olga: Client, operator: User) -> None:
    of_two_systems(
        operator, {"context-broker": {"p95": 900.0, "uss": 5e6}, "radiator": {"radiator.lag_mean": 3.0, "uss": 7e6}}
    )
    shown = page(olga, "q=")
    assert '<option value="uss" selected>' in shown
    assert "no runs with the figure" not in shown
    shown = page(olga, "q=&metric=p95")
    assert "Radiator: no runs with the figure “Response time, 95th percentile”, so none are drawn." in words(shown)


def test_of_two_systems_without_a_common_figure_the_page_says_which_is_not_drawn(olga: Client, operator: User) -> None:
    of_two_systems(operator, {"context-broker": {"p95": 900.0}, "radiator": {"radiator.lag_mean": 3.0}})
    shown = page(olga, "q=")
    assert '<option value="p95" selected>' in shown
    assert "Radiator: no runs with the figure" in words(shown)


def test_figures_have_the_words_of_the_only_system_whose_runs_are_compared(olga: Client, operator: User) -> None:
    federation = {"federation.ts_mean": 900.0, "answer_ratio": 1.0, "requests": 5, "uss": 5e6}
    of_two_systems(operator, {"federation": federation, "context-broker": {"p95": 900.0, "uss": 7e6}})
    shown = words(page(olga, "q=system+%3D+federation"))
    assert "Share of subscriptions satisfied" in shown
    assert "Share of requests answered" not in shown
    assert "Share of requests answered" in words(page(olga, "q="))
