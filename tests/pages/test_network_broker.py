"""One broker of a network that stays up, as its page and REST tell of it."""

from __future__ import annotations

from pathlib import Path

from django.conf import settings
from django.test import Client

from overlay.facts import Event, Start, Tick
from overlay.journal import JournalWriter
from telemetry.runs import RunFiles
from tests.pages.furniture import House


def write_journal(network: str) -> None:
    """Broker 3 joined two neighbours and lost one."""
    files = RunFiles(Path(settings.VAR) / "networks" / network)
    writer = JournalWriter(
        files.journal("broker-3"), Start("broker-3", 1, 1_790_000_000_000_000, "0.1.0", "127.0.0.1:7003")
    )
    for at, name, port in ((1, "NeighbourJoined", 7002), (1, "NeighbourJoined", 7004), (5, "NeighbourLost", 7004)):
        writer.write(Event("broker-3", at * 1_000_000, name, {"neighbour": f"127.0.0.1:{port}"}))
    writer.write(Tick("broker-3", 9_000_000, {"in_3": 41, "entries": 7, "bytes": 1_400}, "", 1, 1, 1, 1))
    writer.close()


def test_a_broker_of_a_network_is_looked_at(olga: Client, viktor: Client, house: House) -> None:
    write_journal(house.network.id)
    address = f"/networks/{house.network.id}/brokers/3/"
    part = viktor.get(address).content.decode()
    assert "7 data" in part
    assert "4 lost" in part
    assert "every 2s" in part
    assert "every 2s" not in viktor.get(f"{address}?close=1").content.decode()
    # Its place stays: around the button whole parts are exchanged.
    opens = f'hx-get="{address}" hx-target="#network-broker" hx-swap="innerHTML"'
    assert opens in olga.get(f"/networks/{house.network.id}/").content.decode()
    told = olga.get(f"/api{address}").json()
    assert told["own"]["counters"] == {"in_3": 41}
    assert [(row["index"], row["state"]) for row in told["own"]["neighbours"]] == [(2, "joined"), (4, "lost")]


def test_one_that_wrote_nothing_says_so_and_one_there_is_not_is_404(olga: Client, house: House) -> None:
    network = house.network.id
    assert "It has written nothing on this host." in olga.get(f"/networks/{network}/brokers/0/").content.decode()
    assert olga.get(f"/api/networks/{network}/brokers/0/").json()["own"] is None
    for wrong in ("10", "99999999", "x", "-1"):
        assert olga.get(f"/networks/{network}/brokers/{wrong}/").status_code == 404
        assert olga.get(f"/api/networks/{network}/brokers/{wrong}/").status_code == 404
