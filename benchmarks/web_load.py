"""A closed loop of HTTP requests over keep-alive connections: ``python -m benchmarks.web_load``.

One process for a whole section, so that bursts do not pay for its start. Orders and answers are lines of JSON: ``{port,
request, connections, count}``, and ``{requests, seconds, p50_us, p95_us}``, or ``{wrong}`` with the first answer that
is not 200. ``ENTITY`` in a request is the number of its connection.
"""

from __future__ import annotations

import json
import selectors
import socket
import sys
import time
from typing import Any, cast

MOST_BYTES = 65_536
SILENCE_S = 10.0


def main() -> None:
    for line in sys.stdin:
        print(json.dumps(burst(**json.loads(line))), flush=True)


def burst(port: int, request: str, connections: int, count: int) -> dict[str, Any]:
    """Send ``request`` ``count`` times, always one on each connection."""
    raw: dict[socket.socket, bytes] = {}
    began: dict[socket.socket, float] = {}
    took: list[float] = []
    with selectors.DefaultSelector() as selector:
        try:
            for number in range(connections):
                sock = socket.create_connection(("127.0.0.1", port), SILENCE_S)
                sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                selector.register(sock, selectors.EVENT_READ, bytearray())
                raw[sock] = request.replace("ENTITY", str(number)).encode()
                began[sock] = time.perf_counter()
                sock.sendall(raw[sock])
            start = time.perf_counter()
            while len(took) < count:
                ready = selector.select(SILENCE_S)
                if not ready:
                    return {"wrong": f"no answer within {SILENCE_S:g} s"}
                for one, _ in ready:
                    sock, heard = cast(socket.socket, one.fileobj), one.data
                    heard += sock.recv(MOST_BYTES)
                    if not _is_whole(heard):
                        continue
                    now = time.perf_counter()
                    if not heard.startswith(b"HTTP/1.1 200"):
                        return {"wrong": heard[:200].decode("latin1")}
                    took.append(now - began[sock])
                    heard.clear()
                    began[sock] = time.perf_counter()
                    sock.sendall(raw[sock])
            seconds = time.perf_counter() - start
        finally:
            for sock in began:
                sock.close()
    took.sort()
    p50, p95 = (took[int(share * len(took))] * 1e6 for share in (0.5, 0.95))
    return {"requests": len(took), "seconds": seconds, "p50_us": p50, "p95_us": p95}


def _is_whole(heard: bytearray) -> bool:
    """Whether it is an answer with all of its body, whose length is in a header."""
    head, end, body = heard.partition(b"\r\n\r\n")
    if not end:
        return False
    length = head.lower().partition(b"content-length:")[2].split(b"\r\n", 1)[0]
    return len(body) >= int(length or 0)


if __name__ == "__main__":
    main()
