"""Context of entities with any name that a broker takes, through the web's own ASGI application and a real broker."""

from __future__ import annotations

import json
from collections.abc import Iterator
from urllib.parse import quote

import httpx
import pytest
from asgiref.sync import sync_to_async
from django.contrib.auth.models import User

from brokerweb.accounts.services import make_token
from brokerweb.asgi import application
from brokerweb.networks.models import Network
from brokerweb.topologies import services as topologies
from overlay.systems.context_broker.wire.kinds import MAX_NAME
from tests.runtime.daemons import Daemon, overlay

pytestmark = pytest.mark.django_db(transaction=True)

NAMES = [
    "a/b",
    "/",
    "//",
    "a/",
    "/a",
    "a%2Fb",
    "a%",
    "http://x/y?z#w",
    "a b",
    " a ",
    "a+b",
    "a;b=c&d",
    "ä/€/\U0001f600",
    "\u202e",
    "a\nb",
    "a\tb",
    "\\",
    '"',
    "context",
    "x" * MAX_NAME,
    "/" * MAX_NAME,
]


@pytest.fixture
def broker() -> Iterator[Daemon]:
    daemon = Daemon()
    yield daemon
    daemon.end()


def deployed(broker: Daemon, user: User) -> tuple[str, str]:
    """The address of a network whose one broker this is, below REST, and a token."""
    one = topologies.create(name="one", kind="central", brokers=1)
    brokers = [{"index": 0, "address": broker.text, "state": "up", "reason": ""}]
    network = Network.objects.create(
        name="one", topology=one, deployed=topologies.document(one), state="running", brokers=brokers
    )
    return f"http://localhost/api/networks/{network.pk}/context/", make_token(user)[1]


async def test_whatever_an_entity_is_called_it_is_provided_and_found(broker: Daemon, operator: User) -> None:
    address, token = await sync_to_async(deployed)(broker, operator)
    headers = {"Authorization": f"Bearer {token}"}
    async with httpx.AsyncClient(transport=httpx.ASGITransport(application), headers=headers) as client:
        for number, name in enumerate(NAMES):
            there = f"{address}{quote(name, safe='')}/{quote(name, safe='')}/temp/"
            put = await client.put(there, json={"provider": "p", "payload": {"n": str(number)}})
            assert put.status_code == 200, (name, put.text)
        for number, name in enumerate(NAMES):
            there = f"{address}{quote(name, safe='')}/{quote(name, safe='')}/temp/"
            assert (await client.get(there)).json()["payload"] == {"n": str(number)}, name
        assert (await client.get(f"{address}a%2Fb/a%2Fb/temp")).status_code == 404
        slashed = await client.get(f"{address}a/b/a/b/temp/")
        assert slashed.json()["sentence"].endswith("encode slashes in names as %2F.")
        assert (await client.get(f"{address}a%2Fb/temp/")).status_code == 404  # two names, whose slashes are three
        wrong = await client.get(f"{address}room/%FF/temp/")
        assert (wrong.status_code, wrong.json()["field"]) == (400, "entity")
        for refused in ("a|b", "x" * (MAX_NAME + 1)):
            answer = await client.get(f"{address}room/{quote(refused, safe='')}/temp/")
            assert (answer.status_code, answer.json()["field"]) == (400, "entity")
    code, said, _ = overlay("get", broker.text, "--type", "a/b", "--id", "a/b", "--scope", "temp", "--json")
    assert (code, json.loads(said)["payload"]) == (0, {"n": "0"})
