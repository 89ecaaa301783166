"""Webhooks whose listeners behave badly: each attempt ends in time and says why, and keeps nothing that is too much."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator
from ipaddress import ip_network
from typing import Any

import pytest

from brokerweb.notices import services, transport
from overlay.core.address_policy import refusal
from overlay.core.errors import InvalidSetting

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
                connection.shutdown(socket.SHUT_WR)
                while connection.recv(65_536):  # what comes after the answer: closing with it unread would be a reset
                    pass
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


def test_a_listener_hears_out_who_sends_the_body_after_the_answer(listener: Callable[..., int]) -> None:
    """Else what it left unread would be a reset, by which the answer may be lost."""

    def says(connection: socket.socket) -> None:
        connection.recv(65_536)
        connection.sendall(b"HTTP/1.1 204 No Content\r\n\r\n")

    with socket.create_connection(("127.0.0.1", listener(says))) as client:
        client.sendall(b"POST / HTTP/1.1\r\n\r\n")
        assert client.recv(65_536).startswith(b"HTTP/1.1 204")
        for _ in range(3):
            client.sendall(b"{}")
        client.shutdown(socket.SHUT_WR)
        assert client.recv(65_536) == b""


def drip(piece: bytes) -> Says:
    """A piece now and then, while the other end reads."""

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
    assert "unknown host name" not in post("http://[::1]/hook", 0.5)


LINK_LOCAL = ["169.254.169.254", "fe80::1", "fe80::1%lo", "::ffff:169.254.169.254", "64:ff9b::a9fe:a9fe", "2002:a9fe::"]
NO_HOST = ["0.0.0.0", "::", "224.0.0.1", "ff02::1", "::ffff:0.0.0.0"]
PRIVATE = [
    *("127.0.0.1", "127.1.2.3", "10.0.0.1", "172.16.0.1", "192.168.1.1", "100.64.0.1", "192.0.2.1", "255.255.255.255"),
    *("::1", "fd00:ec2::254", "fec0::1", "::ffff:127.0.0.1", "::7f00:1", "64:ff9b::10.0.0.1", "64:ff9b:1::a00:1"),
    *("2002:7f00:1::", "2001:0:1:2:3:4:80ff:fffe", "::ffff:0:127.0.0.1", "::ffff:0:10.0.0.1"),
    *("192.0.0.8", "192.0.0.9", "192.0.0.192", "192.88.99.1", "3fff::1", "5f00::1", "4000::1", "2001:db8::1"),
]
PUBLIC = ["1.1.1.1", "8.8.8.8", "2606:4700::1111", "::ffff:8.8.8.8", "64:ff9b::8.8.8.8", "2002:808:808::"]
EVERYWHERE = [ip_network("0.0.0.0/0"), ip_network("::/0")]


def test_an_address_is_judged_by_where_it_leads() -> None:
    assert [one for one in PUBLIC if refusal(one, [])] == []
    assert [one for one in (*PRIVATE, *LINK_LOCAL, *NO_HOST) if not refusal(one, [])] == []
    assert [one for one in PRIVATE if refusal(one, EVERYWHERE)] == []
    assert [one for one in (*LINK_LOCAL, *NO_HOST) if not refusal(one, EVERYWHERE)] == []
    assert not refusal("::ffff:10.1.2.3", [ip_network("10.1.0.0/16")])
    assert refusal("10.2.0.1", [ip_network("10.1.0.0/16")])


HIDDEN = ["127.1", "0177.0.0.1", "0x7f.0.0.1", "2130706433", "0x7f000001", "[::ffff:127.0.0.1]", "0", "0xa9fea9fe"]


@pytest.mark.parametrize("host", [*HIDDEN, "127.0.0.1", "[::1]", "169.254.169.254", "10.0.0.1"])
def test_an_address_however_it_is_spelt_is_refused_at_once_and_when_sending(settings: Any, host: str) -> None:
    settings.WEBHOOK_NETWORKS = []
    with pytest.raises(InvalidSetting) as refused:
        services.check_url(f"http://{host}:9/hook")
    assert refused.value.field == "address"
    assert post(f"http://{host}:9/hook").startswith("Nothing was sent: ")


@pytest.mark.parametrize("host", ["[fe80::1%25eth0]", "[fe80::1%25nowhere]", "[fe80::1%lo]", "[2606:4700::1%251]"])
def test_an_address_with_an_interface_is_refused(host: str) -> None:
    with pytest.raises(InvalidSetting, match="must not name a network interface"):
        services.check_url(f"http://{host}/hook")


def test_a_name_is_looked_up_once_and_what_it_means_is_checked(
    listener: Callable[..., int], settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []
    real = socket.getaddrinfo

    def changing(host: str, port: int, *more: Any, **how: Any) -> Any:
        """First one answer, then another: what a name server of an attacker does."""
        asked.append(host)
        return real("127.0.0.1" if len(asked) == 1 else "127.0.0.9", port, *more, **how)

    def says(connection: socket.socket) -> None:
        connection.recv(65_536)
        connection.sendall(b"HTTP/1.1 204 No Content\r\n\r\n")

    port = listener(says)
    monkeypatch.setattr(socket, "getaddrinfo", changing)
    settings.WEBHOOK_NETWORKS = [ip_network("127.0.0.1/32")]
    assert post(f"http://hooks.example:{port}/") == "Answered 204 No Content."
    assert asked == ["hooks.example"]
    assert post(f"http://hooks.example:{port}/").startswith("Nothing was sent: 127.0.0.9 is a private address")


def test_of_several_addresses_those_that_may_be_reached_are(
    listener: Callable[..., int], settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = socket.getaddrinfo

    def both(host: str, port: int, *more: Any, **how: Any) -> Any:
        return [*real("169.254.169.254", port, *more, **how), *real("127.0.0.1", port, *more, **how)]

    def says(connection: socket.socket) -> None:
        connection.recv(65_536)
        connection.sendall(b"HTTP/1.1 204 No Content\r\n\r\n")

    port = listener(says)
    monkeypatch.setattr(socket, "getaddrinfo", both)
    assert post(f"http://hooks.example:{port}/") == "Answered 204 No Content."


def test_a_redirect_to_a_private_address_is_not_followed(listener: Callable[..., int]) -> None:
    heard: list[bytes] = []
    inner = listener(lambda connection: heard.append(connection.recv(65_536)))

    def says(connection: socket.socket) -> None:
        connection.recv(65_536)
        connection.sendall(f"HTTP/1.1 307 Go\r\nLocation: http://127.0.0.1:{inner}/\r\n\r\n".encode())

    assert "Redirects are not followed" in post(f"http://127.0.0.1:{listener(says)}/")
    assert heard == []
