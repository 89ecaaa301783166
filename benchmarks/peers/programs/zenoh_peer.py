"""Eclipse Zenoh from Python: ``zenoh_peer.py serve PORT KEYS`` and ``zenoh_peer.py ask PORT OUTSTANDING KEYS``.

One queryable answers all keys out of a dict; over UDP, without multicast scouting.
"""

from __future__ import annotations

import json
import sys
import threading
from random import Random
from time import perf_counter_ns

import zenoh
from bursts import Burst, wanted


def session(role: str, port: int) -> zenoh.Session:
    config = zenoh.Config()
    config.insert_json5("mode", '"peer"')
    config.insert_json5("scouting/multicast/enabled", "false")
    config.insert_json5(f"{role}/endpoints", json.dumps([f"udp/127.0.0.1:{port}"]))
    if role == "connect":
        config.insert_json5("listen/endpoints", "[]")
    return zenoh.open(config)


def serve(port: int, keys: int) -> None:
    values = {f"value/room{key:04}": b"v" * 1000 for key in range(keys)}

    def answer(query: zenoh.Query) -> None:
        with query:
            query.reply(query.key_expr, values[str(query.key_expr)])

    with session("listen", port) as server:
        server.declare_queryable("value/*", answer)
        print("ready", flush=True)
        sys.stdin.read()


def ask(port: int, outstanding: int, keys: int) -> None:
    random = Random(outstanding)
    with session("connect", port) as client:
        for seconds in wanted():
            burst = Burst(seconds)
            if outstanding == 1:
                while burst.goes_on():
                    sent = perf_counter_ns()
                    for reply in client.get(f"value/room{random.randrange(keys):04}"):
                        burst.note(sent, len(bytes(reply.ok.payload)) if reply.ok else 0)
            else:
                _ask_many(client, burst, random, outstanding, keys)
            burst.close()


def _ask_many(client: zenoh.Session, burst: Burst, random: Random, outstanding: int, keys: int) -> None:
    """Keep ``outstanding`` queries in flight; callbacks take the answers."""
    room = threading.Semaphore(outstanding)

    def send() -> None:
        sent = perf_counter_ns()

        def take(reply: zenoh.Reply) -> None:
            burst.note(sent, len(bytes(reply.ok.payload)) if reply.ok else 0)

        handler = zenoh.handlers.Callback(take, drop=room.release)
        client.get(f"value/room{random.randrange(keys):04}", handler)

    while burst.goes_on():
        room.acquire()
        send()
    for _ in range(outstanding):  # until all that was asked has been answered
        room.acquire()


if __name__ == "__main__":
    role, *numbers = sys.argv[1:]
    (serve if role == "serve" else ask)(*map(int, numbers))
