"""An unmodified client of NGSI-v2 (PyFiware) and a plain datagram client, over real HTTP and UDP, on the same data."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest
import uvicorn
from pyfiware import FiException, OrionConnector

from brokerweb.asgi import application
from tests.brokerweb.test_ngsi_subscriptions import Receiver, receiver  # noqa: F401 (a fixture)
from tests.runtime.daemons import Daemon, overlay
from tests.thorough import thoroughly

pytestmark = [pytest.mark.django_db(transaction=True), thoroughly]


class TokenGiver:
    def __init__(self, token: str) -> None:
        self.token = token


@pytest.fixture
async def orion(ngsi: httpx.AsyncClient) -> AsyncIterator[OrionConnector]:
    """The client of a web server that runs in this event loop."""
    config = uvicorn.Config(application, port=0, log_level="warning", lifespan="on")
    server = uvicorn.Server(config)
    task = asyncio.create_task(server.serve())
    while not server.started:
        await asyncio.sleep(0)
    port = server.servers[0].sockets[0].getsockname()[1]
    token = ngsi.headers["Authorization"].removeprefix("Bearer ")
    yield OrionConnector(f"http://localhost:{port}{ngsi.base_url.path}", oauth_connector=TokenGiver(token))
    server.should_exit = True
    await task


async def test_a_client_library_and_a_datagram_client_read_each_others_data(
    orion: OrionConnector,
    ngsi_broker: Daemon,
    receiver: Receiver,  # noqa: F811
) -> None:
    async def call(function: Any, *given: Any, **named: Any) -> Any:
        return await asyncio.to_thread(function, *given, **named)

    names = ["--type", "Room", "--scope", "temp"]
    sent = [*names, "--id", "u1", "--provider", "sensor", "--valid-ms", "600000", "--payload", "degC=21.5;on=true"]
    assert (await call(overlay, "put", ngsi_broker.text, *sent))[0] == 0
    found = await call(orion.get, "u1", "Room")
    assert {name: one["value"] for name, one in found.items() if isinstance(one, dict)} == {"degC": 21.5, "on": True}

    await call(orion.create, "u2", "Room", degC=19, name="blue; room", place={"floor": 1})
    with pytest.raises(FiException):
        await call(orion.create, "u2", "Room", degC=19)
    said = await call(overlay, "get", ngsi_broker.text, "--type", "Room", "--id", "u2", "--scope", "ngsi")
    assert (said[0], "degC=19" in said[1]) == (0, True), said

    assert await call(orion.count, "Room", id_pattern="^u") == 2
    assert [one["id"] for one in await call(orion.search, "Room", query="degC<20")] == ["u2"]
    await call(
        orion.subscribe,
        "told",
        [{"id": "u1", "type": "Room"}],
        condition_attributes=["degC"],
        notification_attrs=["degC"],
        http=receiver.url,
    )
    await call(orion.patch, "u1", "Room", degC={"value": 30})
    said = await call(overlay, "get", ngsi_broker.text, "--id", "u1", *names)
    assert "degC=30" in said[1]
    assert (await receiver.next())[1]["data"][0]["degC"]["value"] == 30
    await call(orion.delete, "u1", entity_type="Room")
    assert await call(orion.get, "u1", "Room") is None
    assert (await call(overlay, "get", ngsi_broker.text, "--id", "u1", *names))[0] == 1
