"""Walks are found in the files of many brokers without reading these each time."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.test import Client

from brokerweb.networks.models import Network
from brokerweb.systems.context_broker.queries import of_networks, trace_files
from brokerweb.systems.context_broker.queries.timeline import is_whole
from brokerweb.systems.context_broker.queries.trace_files import TraceFiles
from overlay.journal.facts import Start, Trace
from overlay.runtime import tracelog
from overlay.runtime.tracelog import TraceLog
from telemetry.systems.context_broker.traces import id_of

CONSUMER = "127.0.0.1:40000"


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    return tmp_path / "traces"


def log_of(directory: Path, broker: int) -> TraceLog:
    log = TraceLog(directory / f"broker-{broker}.journal")
    log.begin(Start(f"broker-{broker}", 100 + broker, 0, "1", f"127.0.0.1:{5000 + broker}"))
    return log


def trace(broker: int, query: int) -> Trace:
    return Trace(f"broker-{broker}", CONSUMER, query, "room|r1|climate", [[query, "received", CONSUMER, ""]])


def query_id(query: int) -> str:
    return id_of((CONSUMER, query, "room|r1|climate"))


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> Callable[[], int]:
    """How many traces were read since it was asked the last time."""
    names: list[object] = []
    monkeypatch.setattr(trace_files, "id_of", lambda name: names.append(name) or id_of(name))

    def count() -> int:
        found = len(names)
        names.clear()
        return found

    return count


def who(files: TraceFiles, directory: Path, query: int) -> list[str]:
    """The brokers that reported something of a query."""
    return [fact.process for fact in files.facts(directory, query_id(query)) if isinstance(fact, Trace)]


def test_what_was_read_is_not_read_again(directory: Path, read: Callable[[], int]) -> None:
    logs = [log_of(directory, broker) for broker in range(3)]
    for broker, log in enumerate(logs):
        log.write(trace(broker, query) for query in range(100))
    files = TraceFiles()
    assert who(files, directory, 7) == ["broker-0", "broker-1", "broker-2"]
    assert read() == 300
    assert who(files, directory, 8) == ["broker-0", "broker-1", "broker-2"]
    assert who(files, directory, 200) == []
    assert read() == 0
    logs[1].write([trace(1, 200)])
    assert who(files, directory, 200) == ["broker-1"]
    assert read() == 1
    starts = [fact for fact in files.facts(directory, query_id(200)) if isinstance(fact, Start)]
    assert [start.address for start in starts] == ["127.0.0.1:5000", "127.0.0.1:5001", "127.0.0.1:5002"]


def test_a_file_that_was_turned_over_is_read_anew(directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tracelog, "MOST_BYTES", 4_000)
    log, files = log_of(directory, 0), TraceFiles()
    for query in range(400):
        log.write([trace(0, query)])
        if query % 7 == 0:
            assert who(files, directory, query) == ["broker-0"], query
    names = sorted(path.name for path in directory.iterdir())
    assert names == ["broker-0.journal", "broker-0.journal.old"]
    assert who(files, directory, 1) == []
    assert [who(files, directory, query) for query in range(380, 400)] == [["broker-0"]] * 20


def test_another_file_in_the_place_of_one_is_noticed_however_alike_they_are(directory: Path) -> None:
    log_of(directory, 0).write(trace(0, query) for query in range(10))
    files, path = TraceFiles(), directory / "broker-0.journal"
    assert who(files, directory, 3) == ["broker-0"]
    path.unlink()
    log_of(directory, 0).write(trace(0, query) for query in range(20, 40))
    assert who(files, directory, 3) == []
    assert who(files, directory, 23) == ["broker-0"]
    path.unlink()
    assert files.facts(directory, query_id(23)) == []


def test_a_walk_that_went_to_a_broker_which_reported_nothing_yet_is_not_whole(house: Path) -> None:
    """A broker that never traced anything before has no file until it reports."""
    rows = [{"index": index, "address": f"127.0.0.1:{5000 + index}"} for index in range(2)]
    network = Network(name="two", brokers=rows, deployed={"brokers": 2})
    directory = house / "networks" / network.pk / "traces"
    there, back = "127.0.0.1:5001", "127.0.0.1:5000"
    steps = [[0, "received", CONSUMER, ""], [1, "forwarded", there, ""], [8, "answered", there, ""]]
    first = Trace("broker-0", CONSUMER, 7, "room|r1|climate", [*steps, [9, "replied", CONSUMER, ""]])
    log_of(directory, 0).write([first])
    told = of_networks.find(network, query_id(7))
    assert told is not None
    assert [passage["receiver"] for passage in told["passages"]] == [1, 0]
    assert not is_whole(told)
    second = Trace("broker-1", CONSUMER, 7, "room|r1|climate", [[3, "received", back, ""], [4, "found", back, ""]])
    log_of(directory, 1).write([second])
    told = of_networks.find(network, query_id(7))
    assert told is not None
    assert is_whole(told)


def test_a_page_waits_for_a_walk_longer_and_longer_and_shows_what_there_is(
    house: Path, client: Client, operator: User
) -> None:
    """A busy machine's brokers reported after the page had given up, and the walk never appeared."""
    rows = [{"index": 0, "address": "127.0.0.1:5000"}, {"index": 1, "address": "127.0.0.1:5001"}]
    network = Network.objects.create(name="two", brokers=rows, deployed={"brokers": 2}, state="running")
    directory = house / "networks" / network.pk / "traces"
    client.force_login(operator)
    address = f"/networks/{network.pk}/walks/{query_id(7)}/"

    def polls() -> list[str]:
        """What the page shows until it asks no more."""
        shown, following = list[str](), f"{address}?look=0"
        while following:
            shown.append(client.get(following).content.decode())
            following = next(iter(re.findall(r'hx-get="([^"]*)"', shown[-1])), "")
        return shown

    silent = polls()
    assert sum(int(wait) for one in silent for wait in re.findall(r"delay:(\d+)ms", one)) >= 30_000
    assert ["No broker reported this query" in one for one in silent] == [False] * (len(silent) - 1) + [True]

    there = "127.0.0.1:5001"
    steps = [[0, "received", CONSUMER, ""], [1, "forwarded", there, ""], [8, "answered", there, ""]]
    log_of(directory, 0).write(
        [Trace("broker-0", CONSUMER, 7, "room|r1|climate", [*steps, [9, "replied", CONSUMER, ""]])]
    )
    partial = polls()
    assert len(partial) == len(silent)
    assert "Walk of this query" not in partial[0]
    assert "Some brokers on its path have not reported it yet" in partial[-2]
    assert "Walk of this query" in partial[-1]
    assert "yet" not in partial[-1]

    back = "127.0.0.1:5000"
    log_of(directory, 1).write(
        [Trace("broker-1", CONSUMER, 7, "room|r1|climate", [[3, "received", back, ""], [4, "found", back, ""]])]
    )
    (whole,) = polls()
    assert "Walk of this query" in whole
