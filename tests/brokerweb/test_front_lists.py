"""Lists and deletion of a network's context through REST, with real sockets to the brokers."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.cache import cache

from brokerweb.operationlog import recording
from brokerweb.operationlog.entries import Entry
from brokerweb.systems.context_broker.context import following
from brokerweb.systems.context_broker.context.plane import PLANE
from brokerweb.systems.context_broker.context.withdrawing import FULL
from brokerweb.systems.context_broker.models import PendingWithdrawal
from overlay.programs.context_broker import follower, withdrawals
from tests.brokerweb.front_site import Site, network_site
from tests.waiting import BOUND_S

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
async def site(operator: User) -> AsyncIterator[Site]:
    async with network_site(operator) as made:
        yield made


def names(listed: Any) -> list[str]:
    return [row["entity"] for row in listed["results"]]


async def test_what_was_put_at_any_broker_is_listed_at_once_in_pages(site: Site) -> None:
    for number in range(5):
        await site.put(f"r{number}", {"n": str(number)}, broker=number % 2)
    first = await site.list(page_size=2)
    row = first["results"][0]
    single = await site.get("r0")
    assert row["etag"] == single.headers["etag"]
    same = {name: row[name] for name in ("provider", "payload", "text", "valid_begin", "valid_end", "broker_index")}
    assert same == {name: single.json()[name] for name in same}
    assert (row["hops"], row["strategy"], row["holders"], single.json()["strategy"]) == (0, "view", [0], "holder")
    assert (first["complete"], first["missing"]) == (True, [])
    second = (await site.client.get(first["next"])).json()
    third = (await site.client.get(second["next"])).json()
    assert [names(page) for page in (first, second, third)] == [["r0", "r1"], ["r2", "r3"], ["r4"]]
    assert third["next"] is None
    assert names(await site.list()) == ["r0", "r1", "r2", "r3", "r4"]
    head = await site.client.head(site.url)
    assert (head.status_code, site.passed_on) == (200, [])


async def test_filters_select_and_fields_thin(site: Site) -> None:
    await site.put("r1", {"degC": "21.5", "lat": "47.37", "lon": "8.54"}, provider="s1")
    await site.put("r2", {"degC": "9"}, provider="s2")
    await site.put("hall", "no pairs", provider="s2")
    for chosen, found in [
        ({"type": "room"}, ["hall", "r1", "r2"]),
        ({"type": "hall"}, []),
        ({"id_pattern": "r*"}, ["r1", "r2"]),
        ({"provider": "s2", "scope": "temp"}, ["hall", "r2"]),
        ({"attribute": "degC"}, ["r1", "r2"]),
        ({"q": "degC > 10"}, ["r1"]),
        ({"q": "pairs"}, ["hall"]),
        ({"near": "47.4,8.5", "within_km": "10"}, ["r1"]),
        ({"max_age_s": "3600"}, ["hall", "r1", "r2"]),
        ({"max_age_s": "0"}, []),
    ]:
        assert names(await site.list(**chosen)) == found, chosen
    thin = await site.list(fields="entity,provider", provider="s1")
    assert thin["results"] == [{"entity": "r1", "provider": "s1"}]
    for wrong, field in [
        ({"q": "degC >"}, "q"),
        ({"near": "47.4"}, "within_km"),
        ({"fields": "colour"}, "fields"),
        ({"page_size": "0"}, "page_size"),
        ({"cursor": "!"}, "cursor"),
        ({"max_age_s": "-1"}, "max_age_s"),
        ({"kind": "room"}, "kind"),
    ]:
        answer = await site.client.get(site.url, params=wrong)
        assert (answer.status_code, answer.json()["field"]) == (400, field)
    assert site.passed_on == ["GET " + site.url.removeprefix("http://localhost")]


async def test_a_broker_that_is_down_or_silent_is_missing(site: Site) -> None:
    await site.put("r1", broker=0)
    await site.put("r2", broker=1)
    assert names(await site.list()) == ["r1", "r2"]
    await site.mark(1, state="down")
    listed = await site.list()
    assert (names(listed), listed["complete"]) == (["r1"], False)
    assert [(one["broker_index"], one["reason"]) for one in listed["missing"]] == [(1, "down")]


async def test_a_broker_that_has_just_died_is_missing(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(following, "FRESH_S", 0.0)
    await site.put("r1", broker=1)
    assert (await site.list())["complete"]
    site.brokers[1].close()
    listed = await site.list()
    assert (names(listed), listed["complete"]) == (["r1"], False), "it may be cut off only"
    assert [(one["broker_index"], one["reason"]) for one in listed["missing"]] == [(1, "silent")]
    assert (await site.delete("r1", provider="p")).json()["pending"] == [1]


async def test_what_is_deleted_is_served_by_no_broker_and_older_data_do_not_return(site: Site) -> None:
    for index in (0, 1):
        await site.put("r1", broker=index)
    deleted = await site.delete("r1")
    assert (deleted.status_code, deleted.json()["provider"], deleted.json()["pending"]) == (200, "p", [])
    assert names(await site.list()) == []
    for index in (0, 1):
        assert (await site.client.get(f"{site.url}room/r1/temp/", params={"broker": index})).status_code == 404
    again = await site.delete("r1")
    assert (again.status_code, again.json()["code"]) == (404, "not_found")
    await site.put("r1", {"n": "2"})
    assert (await site.get("r1")).json()["payload"] == {"n": "2"}
    assert site.passed_on == []


async def test_a_network_of_too_many_brokers_is_never_a_complete_list(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(follower, "MOST_BROKERS", 1)
    await site.put("r1")
    for _ in range(2):
        refused = await site.client.get(site.url)
        assert (refused.status_code, "the limit is 1" in refused.json()["sentence"]) == (504, True)
    deleted = await site.delete("r1")
    assert (deleted.status_code, deleted.json()["provider"]) == (200, "p"), "as a query finds it"


async def test_the_provider_is_named_if_there_are_several(site: Site) -> None:
    await site.put("r1", provider="p", broker=0)
    await site.put("r1", provider="q", broker=1)
    several = await site.delete("r1")
    assert (several.status_code, several.json()["field"]) == (400, "provider")
    assert "p, q" in several.json()["sentence"]
    assert (await site.delete("r1", provider="nobody")).status_code == 404
    assert (await site.delete("r1", provider="p")).status_code == 200
    assert [row["provider"] for row in (await site.list())["results"]] == ["q"]


async def test_conditions_are_about_the_entry_that_would_be_deleted(site: Site) -> None:
    first = (await site.put("r1")).headers["etag"]
    second = (await site.put("r1", "y")).headers["etag"]
    assert (await site.delete("r1", {"If-Match": first})).status_code == 412
    assert (await site.delete("r1", {"If-Match": second}, provider="p")).status_code == 200
    gone = await site.delete("r1", {"If-Match": "*"})
    assert (gone.status_code, gone.json()["code"]) == (412, "precondition_failed")


async def test_a_broker_that_was_cut_off_is_asked_again_until_it_confirms_or_has_started_again(site: Site) -> None:
    await site.put("r1", broker=0)
    await site.put("r2", broker=0)
    await site.mark(1, state="lost")
    for name in ("r1", "r2"):
        assert (await site.delete(name, provider="p")).json()["pending"] == [1]
    assert PLANE._withdrawing.pending == 2
    await PLANE._withdrawing.again(site.network)
    assert PLANE._withdrawing.pending == 2, "it is not there yet"
    await site.mark(1, state="up")
    await PLANE._withdrawing.again(site.network)
    assert PLANE._withdrawing.pending == 0
    assert site.brokers[1].broker.statistics(0)["withdrawn"] == 2

    await site.put("r3", broker=0)
    await site.mark(1, state="lost")
    await site.delete("r3")
    await site.mark(1, state="up", pid=7)
    await PLANE._withdrawing.again(site.network)
    assert PLANE._withdrawing.pending == 0
    assert site.brokers[1].broker.statistics(0)["withdrawals"] == 2


async def test_deletions_that_a_broker_did_not_confirm_survive_a_restart_of_the_web_process(site: Site) -> None:
    for name in ("r1", "r2"):
        await site.put(name, broker=0)
    await site.mark(1, state="lost")
    for name in ("r1", "r2"):
        assert (await site.delete(name, provider="p")).json()["pending"] == [1]
    PLANE._close_all()
    assert PLANE._withdrawing.pending == 0
    await site.mark(1, state="up")
    await PLANE._withdrawing.resume()
    assert PLANE._withdrawing.pending == 2
    await PLANE._withdrawing.again(site.network)
    assert PLANE._withdrawing.pending == 0
    assert site.brokers[1].broker.statistics(0)["withdrawn"] == 2
    assert not await PendingWithdrawal.objects.aexists()


async def test_a_deletion_that_django_passes_on_is_stored_while_its_thread_waits(site: Site) -> None:
    await site.put("r1", broker=0)
    await site.mark(1, state="lost")
    twice = [("Accept", "application/json"), ("Accept", "*/*")]  # which Django combines
    async with asyncio.timeout(BOUND_S):
        answer = await site.delete("r1", twice, provider="p")
    assert (answer.status_code, answer.json()["pending"]) == (200, [1])
    assert len(site.passed_on) == 1
    assert await PendingWithdrawal.objects.acount() == 1


async def test_a_later_deletion_of_an_entry_takes_the_place_of_an_earlier_one(site: Site) -> None:
    await site.mark(1, state="lost")
    for _ in range(3):
        await site.put("r1", broker=0)
        assert (await site.delete("r1", provider="p")).json()["pending"] == [1]
    assert await PendingWithdrawal.objects.acount() == PLANE._withdrawing.pending == 1


async def test_a_broker_that_was_drained_is_neither_missing_nor_waited_for(site: Site) -> None:
    await site.put("r1", broker=0)
    await site.mark(1, wanted="drained", state="draining")
    await site.mark(1, state="stopped", pid=None)
    listed = await site.list()
    assert (listed["complete"], listed["missing"]) == (True, [])
    assert (await site.delete("r1", provider="p")).json()["pending"] == []
    assert PLANE._withdrawing.pending == 0


async def test_if_too_many_wait_nothing_is_deleted_and_why_is_said(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(withdrawals, "MOST_PENDING", 1)
    for name in ("r1", "r2"):
        await site.put(name, broker=0)
    await site.mark(1, state="lost")
    assert (await site.delete("r1", provider="p")).status_code == 200
    refused = await site.delete("r2", provider="p")
    assert (refused.status_code, refused.json()["sentence"]) == (409, FULL)
    assert names(await site.list()) == ["r2"]


async def test_a_batch_deletes(site: Site) -> None:
    def op(what: str, **more: Any) -> dict[str, Any]:
        return {"op": what, "type": "room", "entity": "r1", "scope": "temp", **more}

    operations = [op("put", provider="p", payload="x"), op("delete", provider="p"), op("get"), op("delete")]
    results = (await site.client.post(f"{site.url}batch/", json={"operations": operations})).json()["results"]
    assert [one["status"] for one in results] == [200, 200, 404, 404]
    wrong = [op("delete", provider=7), op("delete", payload="x"), op("list")]
    results = (await site.client.post(f"{site.url}batch/", json={"operations": wrong})).json()["results"]
    assert [(one["status"], one["field"]) for one in results] == [(400, "provider"), (400, "payload"), (400, "op")]


async def test_a_query_goes_to_a_holder_that_the_view_knows_and_a_waiting_one_is_woken(site: Site) -> None:
    await site.list()
    await PLANE._client(await _snapshot(site)).provide(
        "udp", ("room", "r9", "temp"), b"n=1", 60_000, (site.brokers[1].address,), 10
    )
    while names(await site.list()) != ["r9"]:
        await asyncio.sleep(0)
    found = (await site.get("r9")).json()
    assert (found["strategy"], found["hops"], found["broker_index"], found["provider"]) == ("holder", 0, 1, "udp")


async def _snapshot(site: Site) -> Any:
    from asgiref.sync import sync_to_async

    from brokerweb.networks.snapshot import read_snapshot

    return await sync_to_async(read_snapshot)(site.network)


async def test_a_network_that_is_stopped_or_of_another_system_says_so(site: Site) -> None:
    from brokerweb.networks.models import Network

    await Network.objects.filter(pk=site.network).aupdate(system="radiator")
    site.clock.now += 1
    for answer in (await site.client.get(site.url), await site.delete("r1")):
        assert (answer.status_code, answer.json()["code"]) == (409, "conflict")
        assert "which has no context" in answer.json()["sentence"]
    await Network.objects.filter(pk=site.network).aupdate(system="context-broker", state="stopped")
    site.clock.now += 1
    stopped = await site.client.get(site.url)
    assert (stopped.status_code, stopped.json()["code"]) == (409, "conflict")


async def test_the_budget_is_told_and_a_batch_counts_each_operation(site: Site, settings: Any) -> None:
    cache.clear()
    settings.CONTEXT_RATE, settings.REST_WINDOW_S = 3, 10**9  # 3 * 10**9 requests until the end of time
    first = await site.get("r1")
    assert first.headers["ratelimit-policy"] == f'"context";q={3 * 10**9};w={10**9}'
    assert first.headers["ratelimit"].startswith(f'"context";r={3 * 10**9 - 1};t=')
    operations = [{"op": "get", "type": "room", "entity": "r1", "scope": "temp"}] * 5
    await site.client.post(f"{site.url}batch/", json={"operations": operations})
    assert (await site.get("r1")).headers["ratelimit"].startswith(f'"context";r={3 * 10**9 - 7};')
    settings.CONTEXT_RATE = 1e-9
    refused = await site.get("r1")
    assert (refused.status_code, refused.json()["code"]) == (429, "throttled")
    assert refused.headers["ratelimit"].startswith('"context";r=0;')
    assert int(refused.headers["retry-after"]) > 0


async def test_a_long_list_is_compressed_for_a_client_that_accepts_it_and_hsts_is_as_set(
    site: Site, settings: Any
) -> None:
    for number in range(100):
        await site.put(f"r{number:03}", "x" * 100)
    plain = await site.client.get(site.url, headers={"Accept-Encoding": "gzip;q=0, identity"})
    packed = await site.client.get(site.url, headers={"Accept-Encoding": "br, gzip"})
    assert "content-encoding" not in plain.headers
    assert packed.headers["content-encoding"] == "gzip"
    assert int(packed.headers["content-length"]) < len(plain.content) / 4
    assert names(packed.json()) == names(plain.json())
    assert "strict-transport-security" not in plain.headers
    settings.SECURE_HSTS_SECONDS, settings.SECURE_HSTS_PRELOAD = 60, True
    secure = await site.client.get(site.url.replace("http:", "https:"))
    assert secure.headers["strict-transport-security"] == "max-age=60; preload"
    assert "strict-transport-security" not in (await site.client.get(site.url)).headers


async def test_lists_and_deletions_are_in_the_operation_log(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    entries: list[Entry] = []
    monkeypatch.setattr(recording, "record", entries.append)
    await site.put("r1")
    await site.list(type="room")
    await site.delete("r1", provider="p")
    kept = [(one.op, tuple(one.key), one.source, one.status) for one in entries]
    key = ("room", "r1", "temp")
    assert kept == [("put", key, "p", 200), ("list", ("type=room",), "", 200), ("delete", key, "p", 200)]
