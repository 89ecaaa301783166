"""Applications in a network of federated brokers over HTTP: real brokers, a real web server, real receivers."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterator

import pytest
from django.contrib.auth.models import User

from brokerweb.systems.federation.doors.host import HOST
from tests.brokerweb.hosted_site import Site, Stranger, hosted_site

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
async def site(operator: User) -> AsyncIterator[Site]:
    async with hosted_site(operator) as made:
        yield made


@pytest.fixture
def stranger() -> Iterator[Stranger]:
    made = Stranger()
    yield made
    made.close()


async def test_a_notification_comes_by_stream_and_by_webhook_over_three_brokers(site: Site, stranger: Stranger) -> None:
    await site.provider(broker=0)
    made = await site.subscribe("temperature > 25", url=stranger.url)
    assert (made["state"], made["expression"]) == ("active", ["temperature", ">", 25])
    async with site.stream(made["id"]) as events:
        await site.publish("r16", temperature=20)
        told = await site.publish("r17", temperature=26.5)
        event = await anext(events)
    notification = {**told, "data": {"temperature": 26.5}}
    assert event["event"] == "notification"
    assert event["data"]["notification"] == notification
    path, headers, body = await stranger.next()
    assert (path, headers["content-type"]) == ("/told", "application/json")
    assert json.loads(body) == {"subscription": made["id"], "notifications": [notification]}
    shown = await site.until(lambda one: one["delivered"] == 1, f"subscriptions/{made['id']}/")
    assert (shown["notified"], shown["given_up"], shown["state"]) == (1, 0, "active")
    assert (await site.client.delete(f"subscriptions/{made['id']}/")).status_code == 204
    assert (await site.client.get("subscriptions/")).json()["count"] == 0
    assert HOST._rows == {}
