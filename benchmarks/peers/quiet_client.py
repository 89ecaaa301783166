"""``python -m benchmarks.peers.quiet_client PORT OUTSTANDING KEYS``: quiet requests from Python over one socket.

What a program in Python does that wants data and no acknowledgements; counterpart of the clients in ``programs``. Every
answer is parsed.
"""

from __future__ import annotations

import socket
import struct
import sys
import time
from contextlib import suppress
from random import Random
from time import perf_counter_ns

from benchmarks.peers.programs.bursts import Burst, wanted
from overlay.systems.context_broker.wire.codec import parse
from overlay.systems.context_broker.wire.messages import ContextResponse

LOST_US = 200_000
"""A datagram that is away for so long is asked for again."""


def main(port: int, outstanding: int, keys: int) -> None:
    random = Random(outstanding)
    sent: dict[str, int] = {}
    """When each key that is in flight was asked for."""

    with socket.socket(type=socket.SOCK_DGRAM) as sock:
        sock.connect(("127.0.0.1", port))
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, struct.pack("@ll", 0, LOST_US))
        stamp = time.time_ns() // 1_000_000

        def ask() -> None:
            nonlocal stamp
            stamp += 1
            key = f"room{random.randrange(keys):04}"
            while key in sent:
                key = f"room{random.randrange(keys):04}"
            sent[key] = perf_counter_ns()
            sock.send(b"32|%d|temperature|%b|building1" % (stamp, key.encode()))

        def take(burst: Burst) -> None:
            try:
                message = parse(sock.recv(65_535))
            except BlockingIOError:
                burst.lost += len(sent)
                sent.clear()
                return
            if not isinstance(message, ContextResponse) or message.entity_id not in sent:
                burst.bad += 1
                return
            burst.note(sent.pop(message.entity_id), len(message.payload))

        def forget() -> None:
            """Throw away what came after the last burst had given it up."""
            with suppress(BlockingIOError):
                while True:
                    sock.recv(65_535, socket.MSG_DONTWAIT)

        for seconds in wanted():
            forget()
            burst = Burst(seconds)
            while burst.goes_on():
                while len(sent) < outstanding:
                    ask()
                take(burst)
            while sent:
                take(burst)
            burst.close()


if __name__ == "__main__":
    main(*map(int, sys.argv[1:4]))
