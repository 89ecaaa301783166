"""A crowd of neighbours for a broker, played by one C program that answers at every address of 127/8."""

from __future__ import annotations

import socket
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from benchmarks.bursts import Wrong, fill
from benchmarks.servers import Server, c_server
from overlay.core.addresses import parse_address

FIRST_ABSENT = 1_000_000
KEYS = 1000
WAIT_S = 2.0


@contextmanager
def many_neighbours(wanted: Mapping[Server, int]) -> Iterator[int]:
    """Give each broker so many neighbours, all of which have a thousand entries: the first of their keys.

    Raises ``Wrong`` where a broker does not take one in.
    """
    port = free_port()
    for server, count in wanted.items():
        for number in range(count):
            join(server, (f"127.7.{number // 250}.{number % 250 + 1}", port))
    with c_server("--bind", f"0.0.0.0:{port}", "--everywhere") as crowd:
        fill(Server(f"127.7.0.1:{port}", crowd.pid), KEYS, first=FIRST_ABSENT)
        yield FIRST_ABSENT


def join(broker: Server, neighbour: tuple[str, int]) -> None:
    """Introduce ``neighbour``, where no process listens yet, as it would itself. Raises ``Wrong`` without an ACK."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        sock.bind(neighbour)
        _ask(sock, broker, f"8|{_unix_ms()}|{broker.address}|*", b"Status:101")


def order_join(broker: Server, other: Server) -> None:
    """Have two brokers join each other, as a controller orders it. Raises ``Wrong`` where they do not."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        _ask(sock, broker, f"8|{_unix_ms()}|{other.address}", b"Status:102")


def _ask(sock: socket.socket, broker: Server, message: str, awaited: bytes) -> None:
    sock.settimeout(WAIT_S)
    sock.sendto(message.encode(), parse_address(broker.address))
    answer = b"nothing"
    while awaited not in answer:
        try:
            answer = sock.recv(2048)
        except TimeoutError:
            raise Wrong(f"the broker at {broker.address} answers {message!r} last with {answer!r}") from None


def free_port() -> int:
    """A port that no UDP socket of this machine has just now."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        sock.bind(("0.0.0.0", 0))
        port: int = sock.getsockname()[1]
        return port


def _unix_ms() -> int:
    return time.time_ns() // 1_000_000
