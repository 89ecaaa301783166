"""The ``kademlia`` package: ``kademlia_peer.py serve PORT KEYS`` and ``kademlia_peer.py ask PORT OUTSTANDING KEYS``.

Two nodes: one holds the values, the other has none and looks each up in the network, which is this peer's only way to
get a value by key. The asking node is told of the first by a bootstrap.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Iterator
from random import Random
from time import perf_counter_ns

from bursts import Burst
from kademlia.network import Server
from kademlia.protocol import KademliaProtocol
from kademlia.storage import ForgetfulStorage
from kademlia.utils import digest


class Kept(ForgetfulStorage):
    """Values that are not handed to nodes that join: the asking one would then hold them itself."""

    def __iter__(self) -> Iterator[tuple[bytes, str]]:
        return iter(())


class Discreet(KademliaProtocol):
    """Tells of no other node: those that ask would store what they have found at each other, and wait for that."""

    def rpc_find_node(self, sender: tuple[str, int], nodeid: bytes, key: bytes) -> list[tuple[bytes, str, int]]:
        super().rpc_find_node(sender, nodeid, key)
        return []


class Holder(Server):
    """The node that has the values."""

    protocol_class = Discreet


async def serve(port: int, keys: int) -> None:
    node = Holder(storage=Kept())
    await node.listen(port, interface="127.0.0.1")
    for key in range(keys):
        node.storage[digest(f"room{key:04}")] = "v" * 1000
    print("ready", flush=True)
    await asyncio.to_thread(sys.stdin.read)


async def ask(port: int, outstanding: int, keys: int) -> None:
    node = Server()
    await node.listen(0, interface="127.0.0.1")
    if not await node.bootstrap([("127.0.0.1", port)]):
        sys.exit("the other node does not answer")
    print("ready", flush=True)
    while line := await asyncio.to_thread(sys.stdin.readline):
        burst = Burst(float(line))
        await asyncio.gather(*(_ask_on(node, burst, Random(seed), keys) for seed in range(outstanding)))
        burst.close()


async def _ask_on(node: Server, burst: Burst, random: Random, keys: int) -> None:
    while burst.goes_on():
        sent = perf_counter_ns()
        value = await node.get(f"room{random.randrange(keys):04}")
        if value is None:  # its transport repeats nothing, and a node that once did not answer is forgotten for a while
            burst.lost += 1
        else:
            burst.note(sent, len(value))


if __name__ == "__main__":
    role, *numbers = sys.argv[1:]
    asyncio.run((serve if role == "serve" else ask)(*map(int, numbers)))
