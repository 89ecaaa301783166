"""Webhooks whose listeners behave badly: each attempt ends in time and says why, and keeps nothing that is too much."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator

import pytest

from brokerweb.notices import transport

Says = Callable[[socket.socket], None]


@pytest.fixture
def listener() -> Iterator[Callable[..., int]]:
    """Listens on a port of its own; whoever connects is told what ``says`` says."""
    opened: list[socket.socket] = []

    def serve(server: socket.socket, says: Says) -> None:
        try:
            connection, _ = server.accept()
            with connection:
                says(connection)
        except OSError:
            pass  # cut by the other end, which is what is tried

    def listen(says: Says, host: str = "127.0.0.1") -> int:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        server = socket.create_server((host, 0), family=family)
        opened.append(server)
        threading.Thread(target=serve, args=(server, says), daemon=True).start()
        return int(server.getsockname()[1])

    yield listen
    for server in opened:
        server.close()


def post(url: str, time_out_s: float = 2.0) -> str:
    try:
        return transport.post(url, b"{}", {"Content-Type": "application/json"}, time_out_s)
    except transport.NotDelivered as refused:
        return str(refused)


def drip(piece: bytes) -> Says:
    """A piece now and then, for as long as anybody listens."""

    def says(connection: socket.socket) -> None:
        gone = threading.Event()
        while not gone.wait(0.05):
            connection.sendall(piece)

    return says


@pytest.mark.parametrize(("scheme", "piece"), [("http", b"H"), ("https", b"\x16\x03\x03\x40\x00")])
def test_who_answers_or_greets_a_byte_at_a_time_is_cut(listener: Callable[..., int], scheme: str, piece: bytes) -> None:
    def says(connection: socket.socket) -> None:
        connection.sendall(piece)
        drip(b"\0" if scheme == "https" else b"H")(connection)

    said = post(f"{scheme}://127.0.0.1:{listener(says)}/", 0.4)
    assert said == "No answer within 0.4 s."


def test_of_a_long_answer_the_first_words_are_kept(listener: Callable[..., int]) -> None:
    def says(connection: socket.socket) -> None:
        connection.recv(65_536)
        connection.sendall(b"HTTP/1.1 500 " + b"o\x1b[31m" * 9_000 + b"\r\n\r\n" + b"no " * 3_000_000)

    said = post(f"http://127.0.0.1:{listener(says)}/")
    assert said.startswith("Answered 500 o")
    assert (len(said) < 500, said.isprintable()) == (True, True)


def test_an_ipv6_address_is_reached_with_and_without_a_port(listener: Callable[..., int]) -> None:
    def says(connection: socket.socket) -> None:
        connection.recv(65_536)
        connection.sendall(b"HTTP/1.1 204 No Content\r\n\r\n")

    assert post(f"http://[::1]:{listener(says, '::1')}/hook") == "Answered 204 No Content."
    assert "name is not known" not in post("http://[::1]/hook", 0.5)
