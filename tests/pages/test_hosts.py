"""The page of hosts: what each runs now, how busy it is, what waits."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django.test import Client

from brokerweb.networks import host_load
from tests.pages.furniture import House


def test_a_host_says_what_it_runs_and_how_busy_it_is(olga: Client, house: House, settings: Any) -> None:
    settings.HOST_NAME = "lab-1"
    host_load.tell()
    page = olga.get("/hosts/").content.decode()
    busy, silent = page.split("lab-2")
    assert f"/runs/{house.runs['measuring'].id}/" in busy
    assert f"/networks/{house.network.id}/" in busy
    assert '<span class="soft">of 2</span>' in busy
    assert "nothing" in silent
    assert "at most 1\u202f000" in silent
    part = olga.get("/hosts/", headers={"HX-Request": "true"}).content.decode()
    assert part.startswith('<div id="hosts-now"')

    rows = {row["name"]: row for row in olga.get("/api/hosts/").json()["results"]}
    assert rows["lab-1"]["active_runs"] == [house.runs["measuring"].id]
    assert rows["lab-1"]["load"]["memory_free_bytes"] > 0
    assert rows["lab-2"]["load"] == {}
    assert [row["name"] for row in olga.get("/api/hosts/?name=lab-2").json()["results"]] == ["lab-2"]
    assert olga.get("/api/hosts/?name__icontains=LAB-").json()["count"] == 2


def test_rest_tells_since_when_as_a_time_too(olga: Client, house: House) -> None:
    supervisor = olga.get("/api/hosts/lab-1/").json()["supervisor"]
    broker = olga.get(f"/api/networks/{house.network.id}/").json()["brokers"][3]
    for told, name in ((supervisor, "started"), (broker, "since")):
        assert told[name].endswith("Z")
        assert datetime.fromisoformat(told[name]).timestamp() == told[f"{name}_unix_ms"] / 1000
    assert olga.get("/api/hosts/lab-2/").json()["supervisor"] == {}
