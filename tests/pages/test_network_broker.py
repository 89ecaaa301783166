"""The overlay of a network that stays up and one of its brokers, as its page and REST tell of them."""

from __future__ import annotations

import json
import re
from pathlib import Path

from django.conf import settings
from django.test import Client

from brokerweb.networks.models import Network
from overlay.facts import Event, Start, Tick, Trace
from overlay.journal import JournalWriter
from telemetry.runs import RunFiles
from tests.pages.furniture import House
from tests.runtime.daemons import Daemon

SECOND = 1_000_000


def write_journal(network: str, index: int = 3, per_s: int = 40, bytes_: int = 9_000_000) -> None:
    """Broker 3 joined two neighbours and lost one, answered a traced query and passed another on."""
    files, process = RunFiles(Path(settings.VAR) / "networks" / network), f"broker-{index}"
    start = Start(process, 1, 1_790_000_000_000_000, "0.1.0", f"127.0.0.1:{7000 + index}")
    writer = JournalWriter(files.journal(process), start)
    for at, name, port in ((1, "NeighbourJoined", 7002), (1, "NeighbourJoined", 7004), (5, "NeighbourLost", 7004)):
        writer.write(Event(process, at * SECOND, name, {"neighbour": f"127.0.0.1:{port}"}))
    client = "127.0.0.1:40001"
    found = [[7 * SECOND, "received", client, ""], [7 * SECOND, "found", client, ""]]
    passed = [[8 * SECOND, "received", "127.0.0.1:7002", ""], [8 * SECOND, "passed back", "127.0.0.1:7002", "202"]]
    writer.write(Trace(process, client, 1, "room|kitchen|climate", found))
    writer.write(Trace(process, client, 2, "room|cellar|climate", passed))
    for second in (8, 9):
        counters = {"in_3": second * per_s, "entries": 7, "bytes": 1_400}
        writer.write(Tick(process, second * SECOND, counters, "", bytes_, bytes_, bytes_, second * 250_000))
    writer.close()


def text_of(answer: str) -> str:
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", answer))


def frame_of(page: str) -> dict[str, list[dict[str, int]]]:
    found = re.search(r'<script id="frame" type="application/json">(.*?)</script>', page)
    assert found
    frame: dict[str, list[dict[str, int]]] = json.loads(found[1])
    return frame


def test_a_broker_of_a_network_is_looked_at(olga: Client, viktor: Client, house: House) -> None:
    write_journal(house.network.id)
    address = f"/networks/{house.network.id}/brokers/3/"
    part = viktor.get(address).content.decode()
    said = text_of(part)
    assert "7 data" in said
    assert "4 lost" in said
    assert "Load 40/s" in said
    assert "9.00 MB" in said
    assert f'hx-get="{address}?part=now" hx-trigger="every 2s"' in part
    assert "panel-head" not in viktor.get(f"{address}?part=now").content.decode()
    told = olga.get(f"/api{address}").json()
    assert told["own"]["counters"] == {"in_3": 360}
    assert [(row["index"], row["state"]) for row in told["own"]["neighbours"]] == [(2, "joined"), (4, "lost")]
    assert told["now"]["load_per_s"] == 40


def test_its_data_and_last_messages_are_told_by_traced_queries_and_said_to_be(olga: Client, house: House) -> None:
    write_journal(house.network.id)
    part = olga.get(f"/networks/{house.network.id}/brokers/3/").content.decode()
    said = text_of(part)
    assert "Data it holds room|kitchen|climate found by a query" in said
    assert "1 known of 7 in its table: what traced queries found or left there" in said
    assert "These are of sampled queries, one in 100, and of those that failed; updates, pings and all others" in said
    messages = said.partition("Last messages")[2]
    assert [words in messages for words in ("answer to its consumer", "refusal to broker 2 status 202")] == [True] * 2
    # A network's queries have no pages: the wire lab asks the same of it again.
    again = re.search(r'href="(/wire/compose/[^"]*)"', part)
    assert again
    composed = olga.get(again[1].replace("&amp;", "&"))
    assert "cellar" in composed.content.decode()


def test_the_picture_of_a_network_has_the_state_load_and_memory_of_its_brokers(olga: Client, house: House) -> None:
    network = house.network
    write_journal(network.id, 3, per_s=40)
    write_journal(network.id, 4, per_s=10, bytes_=8_000_000)
    page = olga.get(f"/networks/{network.id}/?broker=3").content.decode()
    frame = frame_of(page)
    assert [row["state"] for row in frame["brokers"]] == ["up"] * 10
    assert [(row["index"], row["uss_bytes"]) for row in frame["memory"]["brokers"]] == [(3, 9_000_000), (4, 8_000_000)]  # type: ignore[call-overload]
    assert frame["totals"]["load_per_s"] == 50  # type: ignore[call-overload]
    assert 'data-opened="3"' in page
    moving = olga.get(f"/networks/{network.id}/brokers/").content.decode()
    assert frame_of(moving)["brokers"] == frame["brokers"]
    assert "40/s" in moving
    assert 'data-broker="3"' in moving
    closed = olga.get(f"/networks/{network.id}/brokers/?part=totals").content.decode()
    assert "All brokers" in closed
    assert "every 2s" not in closed
    rows = olga.get(f"/api/networks/{network.id}/brokers/?page_size=4").json()
    assert (rows["count"], len(rows["results"]), rows["results"][3]["load_per_s"]) == (10, 4, 40)
    assert olga.get(rows["next"]).json()["results"][0]["load_per_s"] == 10


def test_where_nothing_is_known_of_load_and_memory_it_is_said(olga: Client, house: House) -> None:
    network = house.network.id
    assert "Load and memory are not known here" in text_of(olga.get(f"/networks/{network}/").content.decode())
    write_journal(network)
    assert "told by the brokers once a second" in text_of(olga.get(f"/networks/{network}/").content.decode())
    Network.objects.filter(pk=network).update(state="stopped", desired="stopped", brokers=[])
    page = olga.get(f"/networks/{network}/").content.decode()
    assert "Its brokers are stopped." in page
    assert frame_of(page)["memory"] == {"brokers": []}


def test_one_that_wrote_nothing_says_so_and_one_there_is_not_is_404(olga: Client, house: House) -> None:
    network = house.network.id
    assert "It has written nothing on this host." in olga.get(f"/networks/{network}/brokers/0/").content.decode()
    assert olga.get(f"/api/networks/{network}/brokers/0/").json()["own"] is None
    for wrong in ("10", "99999999", "x", "-1"):
        assert olga.get(f"/networks/{network}/brokers/{wrong}/").status_code == 404
        assert olga.get(f"/api/networks/{network}/brokers/{wrong}/").status_code == 404
        page = olga.get(f"/networks/{network}/?broker={wrong}")
        assert (page.status_code, "All brokers" in page.content.decode()) == (200, True)


def test_one_that_keeps_no_journal_is_asked_itself(olga: Client, house: House) -> None:
    network, daemon = house.network, Daemon()
    try:
        network.brokers[0]["address"] = daemon.text
        network.save()
        said = text_of(olga.get(f"/networks/{network.id}/brokers/0/").content.decode())
        assert "0 data, 0 B" in said
        assert "Neighbours None." in said
        assert "Messages are not recorded here, and no query is traced" in said
        assert "Asked of the broker itself" in said
        told = olga.get(f"/api/networks/{network.id}/brokers/0/").json()["own"]
        assert (told["asked"], told["address"], told["counters"]["in_20"]) == (True, daemon.text, 2)
    finally:
        daemon.end()
