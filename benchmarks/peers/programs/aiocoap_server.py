"""``aiocoap_server.py PORT KEYS``: 1 kB values by key from aiocoap, in one process."""

from __future__ import annotations

import asyncio
import sys

import aiocoap
from aiocoap import resource


class Value(resource.Resource):
    """A value of 1 kB."""

    def __init__(self, key: int) -> None:
        super().__init__()
        self._value = f"value={key:04}".ljust(1000, "v").encode()

    async def render_get(self, request: aiocoap.Message) -> aiocoap.Message:
        return aiocoap.Message(payload=self._value)


async def main(port: int, keys: int) -> None:
    site = resource.Site()
    for key in range(keys):
        site.add_resource([f"room{key:04}"], Value(key))
    await aiocoap.Context.create_server_context(site, bind=("127.0.0.1", port), transports=["udp6"])
    print("ready", flush=True)
    await asyncio.get_running_loop().create_future()


if __name__ == "__main__":
    asyncio.run(main(*map(int, sys.argv[1:3])))
