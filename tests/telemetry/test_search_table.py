"""The table of search strategies: measured once, summed up by topology, compared with published values."""

import csv

import pytest

from telemetry.__main__ import main
from telemetry.systems.context_broker.lab.draws import TOPOLOGIES, Draw, arms
from telemetry.systems.context_broker.search_table.draws import LIVE, PILOT, Place, Plan, Row, Task, read
from telemetry.systems.context_broker.search_table.page import write_markdown
from telemetry.systems.context_broker.search_table.published import compare
from telemetry.systems.context_broker.search_table.summary import differences, summarise
from telemetry.templating import BY_HAND

AVOID = Task("walk, avoid", "ring", 10, 0)


def draw(answered, messages, queries=10, hops=0):
    """Every request but those on the way of the answer was refused."""
    told = {"answered": answered, "not_found": queries - answered, "messages": messages, "datagrams": 2 * messages}
    return Draw(queries=queries, hops=hops, **told)


def plan(**changed):
    everything = {
        "brokers": (10,),
        "holders": (1,),
        "seeds": 2,
        "queries": 30,
        "datagrams": 300,
        "arms": ("flood",),
        "topologies": ("ring", "full mesh"),
    }
    return Plan(**{**everything, **changed})


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A small table, made by the command."""
    directory = tmp_path_factory.mktemp("table")
    flags = [
        "--engines",
        "virtual",
        "--brokers",
        "8",
        "--holders",
        "1",
        "2",
        "--seeds",
        "2",
        "--queries",
        "2",
        "--processes",
        "1",
    ]
    command = ["search-table", *flags, "--draws", str(directory / "draws.csv"), "--out", str(directory)]
    assert main(command) == 0
    return directory, command


def test_the_command_writes_every_place_with_its_intervals(made):
    directory, _ = made
    with (directory / "search-strategies.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 2 * len(TOPOLOGIES) * len(arms())
    flood = next(row for row in rows if (row["strategy"], row["topology"], row["holders"]) == ("flood", "ring", "1"))
    assert (flood["success"], flood["success_high"], flood["seeds"], flood["queries"]) == ("100", "100", "2", "4")
    assert 0 < float(flood["success_low"]) < 50, "four queries that were answered show little"
    assert 4 <= float(flood["messages"]) <= 8
    page = (directory / "search-strategies.md").read_text()
    assert page.startswith("# Search strategies, in virtual time")
    assert "## 2 of 8 brokers have the data" in page


def test_made_again_it_runs_nothing_and_keeps_what_was_written_by_hand(made):
    directory, command = made
    page, draws = directory / "search-strategies.md", directory / "draws.csv"
    before = draws.read_text()
    halves = page.read_text().split(BY_HAND)
    page.write_text(BY_HAND.join([halves[0], "\n\nFloods cost most.\n\n", halves[2]]))
    assert main(command) == 0
    assert draws.read_text() == before
    assert "Floods cost most." in page.read_text()


def test_an_interrupted_table_goes_on(made, tmp_path):
    directory, command = made
    lines = (directory / "draws.csv").read_text().splitlines(keepends=True)
    part = tmp_path / "draws.csv"
    part.write_text("".join(lines[: len(lines) // 2]))
    command = [*command[: command.index("--draws")], "--draws", str(part), "--out", str(tmp_path)]
    assert main(command) == 0
    assert sorted(part.read_text().splitlines()) == sorted(line.strip() for line in lines)


def test_a_file_of_another_kind_and_too_many_holders_are_refused(made, tmp_path, capsys):
    other = tmp_path / "other.csv"
    other.write_text("a,b\n1,2\n")
    assert main(["search-table", "--draws", str(other), "--out", str(tmp_path)]) == 1
    assert main(["search-table", "--brokers", "8", "--holders", "8", "--out", str(tmp_path)]) == 1
    assert not (tmp_path / "search-strategies.md").exists()
    told = capsys.readouterr().err
    assert "does not hold draws" in told
    assert "leave none that lacks the data" in told


def test_the_number_of_queries_is_fixed_before_by_what_a_pilot_says_they_cost():
    assert [plan().affordable(cost) for cost in (0, 10, 30, 100, 10_000)] == [30, 30, 10, 3, 1]
    assert PILOT not in {task.seed for task in plan(seeds=20).tasks()}


def test_the_topology_is_the_unit_of_an_interval():
    rows = [Row(Task("walk, avoid", "ring", 10, seed), 1, draw(5 + seed % 2, 40)) for seed in range(20)]
    found = summarise(rows)[Place(10, 1, "ring", "walk, avoid")]
    assert found["success"]["n"] == 20
    assert found["success"]["value"] == pytest.approx(55)
    assert 46 < found["success"]["low"] < 49, "200 queries vary by more than these topologies do"
    assert 61 < found["success"]["high"] < 64
    assert found["messages"]["low"] == found["messages"]["high"] == 4
    assert found["hops"]["value"] == 0
    assert found["counts"]["queries"] == 200


def test_where_nothing_was_answered_there_are_no_hops():
    found = summarise([Row(AVOID, 1, draw(0, 40))])[AVOID.place(1)]
    assert found["hops"]["value"] is None


def test_the_published_walks_are_told_apart_from_ours():
    rows = []
    for seed in range(20):
        rows.append(Row(Task("walk, avoid", "Waxman 2", 10, seed), 1, draw(3 - seed % 2, 28 + seed % 3)))
        rows.append(Row(Task("walk, backtrack", "Waxman 2", 10, seed), 1, draw(10, 46 + seed % 7, hops=30)))
    told = {(row[0], row[1]): row[-1] for row in compare(summarise(rows))}
    assert told == {
        ("Waxman 2, 1 of 10", "avoid"): "differ: walks end at a dead end here, turn back there",
        ("Waxman 2, 1 of 10", "backtrack"): "messages differ: steps back count there",
        ("Waxman 2, 1 of 10", "avoid, NACK at a dead end"): "success differs: see above",
        ("Waxman 2, 1 of 10", "backtrack, steps back counted"): "agree",
    }


LIVE_FLAGS = ["--engines", "virtual", "live", "--brokers", "8", "--live-brokers", "8", "--holders", "1", "2"]
FEW = ["--strategies", "walk, backtrack", "flood", "--topologies", "ring", "--seeds", "2"]


def test_live_the_same_is_found_for_the_same_messages_as_in_virtual_time(tmp_path):
    counts = ["--queries", "3", "--live-queries", "3", "--processes", "1"]
    files = ["--draws", str(tmp_path / "draws.csv"), "--out", str(tmp_path)]
    assert main(["search-table", *LIVE_FLAGS, *FEW, *counts, *files]) == 0
    rows = [row for row in read(tmp_path / "draws.csv") if row.task.seed != PILOT]
    assert len(rows) == 2 * 2 * 2 * 2, "two engines, strategies, seeds, numbers of holders"
    found = {(row.task.engine, row.task.arm, row.task.seed, row.holders): row.draw for row in rows}
    for (engine, *where), draw in found.items():
        virtual = found["virtual", *where]
        assert (draw.answered, draw.lost, draw.messages) == (virtual.answered, 0, virtual.messages)
        assert draw.latency_ms > virtual.latency_ms or engine == "virtual", "links of 1 ms, and the machine"
    page = (tmp_path / "search-strategies.md").read_text()
    assert "| messages | 4 | 4 | 1 | 1 | 1 |" in page
    assert "Requests and lookaheads between brokers per query, live:" in page
    assert "--live-brokers 8 --live-queries 3" in page
    with (tmp_path / "search-strategies.csv").open() as file:
        assert [row["engine"] for row in csv.DictReader(file)] == 4 * ["virtual"] + 4 * ["live"]


def test_where_live_differs_from_virtual_time_is_on_the_page(tmp_path):
    rows = []
    for seed in range(10):
        rows.append(Row(Task("flood", "ring", 10, seed), 1, draw(10, 80)))
        rows.append(Row(Task("flood", "ring", 10, seed, LIVE), 1, draw(8 - seed % 2, 80)))
    compared = list(differences(rows))
    assert {each.metric: each.agrees for each in compared} == {
        "success": False,
        "messages": True,
        "datagrams": True,
        "hops": True,
        "latency": True,
    }
    write_markdown(summarise(rows), compared, tmp_path / "page.md", "how")
    page = (tmp_path / "page.md").read_text()
    assert "| ring, 1 of 10 | flood | success | 100 | 75 | -25 ± 10 |" in page
    assert "flood | messages" not in page
