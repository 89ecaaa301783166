"""Listeners to the stream of a network, and the changes that they hear: ``python -m benchmarks.stream_load``.

One order and two answers, each a line of JSON. Order: ``{port, request, brokers, listeners, rate, seconds}``. When all
listen: ``{listening}``; then a line is awaited, and ``rate`` changes a second are sent to the brokers, each of another
entity. At the end: ``{sent, heard, least, p50_ms, p99_ms, seconds}``: changes acknowledged by brokers, events of all
listeners, those of the listener that heard fewest, and how long after its sending a change reached the first listener.
"""

from __future__ import annotations

import json
import selectors
import socket
import sys
import time
from contextlib import suppress
from typing import Any

EVENT = b"event: stored"
READY = b"event: ready"
STAMP = b'"t":"'
ACKNOWLEDGED = b"|ACK|Status:102|"
MOST_BYTES = 262_144
READY_S, TAIL_S = 120.0, 30.0
VALID_MS = 3_600_000


class Listener:
    """``heard`` counts events, also those that are cut by the end of a read."""

    __slots__ = ("heard", "is_ready", "rest", "sock")

    def __init__(self, port: int, request: bytes) -> None:
        self.sock = socket.create_connection(("127.0.0.1", port), READY_S)
        self.sock.sendall(request)
        self.sock.setblocking(False)
        self.heard = 0
        self.is_ready = False
        self.rest = b""

    def read(self) -> bytes:
        """What has come, behind what was left over by the last read."""
        data = self.rest + self.sock.recv(MOST_BYTES)
        self.rest = data[-(len(EVENT) - 1) :]
        self.heard += data.count(EVENT)
        self.is_ready = self.is_ready or READY in data
        return data


class Load:
    def __init__(self, port: int, request: str, brokers: list[int], listeners: int, rate: int, seconds: float) -> None:
        self._brokers = [("127.0.0.1", one) for one in brokers]
        self._rate, self._seconds = rate, seconds
        self._selector = selectors.DefaultSelector()
        self._listeners = [Listener(port, request.encode()) for _ in range(listeners)]
        for one in self._listeners:
            self._selector.register(one.sock, selectors.EVENT_READ, one)
        self._udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._udp.setblocking(False)
        self._selector.register(self._udp, selectors.EVENT_READ, None)
        self._acknowledged = 0
        self._took_ms: list[float] = []

    def wait_until_ready(self) -> None:
        end = time.monotonic() + READY_S
        while not all(one.is_ready for one in self._listeners):
            if time.monotonic() > end:
                raise SystemExit("not all listeners are ready")
            self._read(0.1)

    def run(self) -> dict[str, Any]:
        began, sent = time.monotonic(), 0
        while (passed := time.monotonic() - began) < self._seconds:
            while sent < passed * self._rate:
                self._send(sent)
                sent += 1
            self._read(0.002)
        end = time.monotonic() + TAIL_S
        while time.monotonic() < end and min(one.heard for one in self._listeners) < max(self._acknowledged, 1):
            self._read(0.05)
        seconds = time.monotonic() - began
        took = sorted(self._took_ms)
        p50, p99 = (took[int(share * len(took))] if took else 0.0 for share in (0.5, 0.99))
        heard = [one.heard for one in self._listeners]
        told = {"sent": self._acknowledged, "heard": sum(heard), "least": min(heard), "seconds": seconds}
        return {**told, "p50_ms": p50, "p99_ms": p99}

    def _send(self, number: int) -> None:
        now = time.time_ns() // 1_000_000
        payload = f"n={number};t={time.monotonic_ns()}"
        head = f"2|{now}|{len(payload)}|A|p{number % 10}|load|e{number}-{now}|s|{now}|{now + VALID_MS}|"
        self._udp.sendto((head + payload).encode(), self._brokers[number % len(self._brokers)])

    def _read(self, timeout_s: float) -> None:
        for key, _ in self._selector.select(timeout_s):
            one: Listener | None = key.data
            if one is None:
                self._count_acknowledged()
            else:
                data = one.read()
                if one is self._listeners[0]:
                    self._time(data)

    def _count_acknowledged(self) -> None:
        with suppress(BlockingIOError):
            while True:
                self._acknowledged += ACKNOWLEDGED in self._udp.recv(2_048)

    def _time(self, data: bytes) -> None:
        now = time.monotonic_ns()
        for part in data.split(STAMP)[1:]:
            stamp = part.split(b'"', 1)[0]
            if stamp.isdigit():
                self._took_ms.append((now - int(stamp)) / 1e6)


def main() -> None:
    load = Load(**json.loads(sys.stdin.readline()))
    load.wait_until_ready()
    print(json.dumps({"listening": len(load._listeners)}), flush=True)
    sys.stdin.readline()
    print(json.dumps(load.run()), flush=True)


if __name__ == "__main__":
    main()
