"""A client and a neighbour in a few lines of plain sockets, written from the wire protocol's page alone.

Nothing here imports ``overlay``: what these tests check is what a stranger's program would see.
"""

from __future__ import annotations

import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

from tests.waiting import BOUND_S

Address = tuple[str, int]


def now_ms() -> int:
    return time.time_ns() // 1_000_000


class Peer:
    """One UDP socket that speaks the protocol as text."""

    def __init__(self) -> None:
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.bind(("127.0.0.1", 0))
        self.socket.settimeout(BOUND_S)
        self.address: Address = self.socket.getsockname()

    @property
    def name(self) -> str:
        return f"{self.address[0]}:{self.address[1]}"

    @property
    def hop(self) -> str:
        return f"{self.address[0]}|{self.address[1]}"

    def send(self, text: str | bytes, to: Address) -> None:
        self.socket.sendto(text.encode() if isinstance(text, str) else text, to)

    def hear(self) -> str:
        """The next datagram, whoever sent it."""
        return self.socket.recvfrom(65_535)[0].decode()

    def hear_from(self) -> tuple[str, Address]:
        data, source = self.socket.recvfrom(65_535)
        return data.decode(), source

    def hear_code(self, code: int) -> str:
        """The next datagram of this code; others (pings, say) are passed over, for as long as patience lasts."""
        until = time.monotonic() + BOUND_S
        while time.monotonic() < until:
            text = self.hear()
            if text.split("|", 1)[0] == str(code):
                return text
        raise AssertionError(f"no message {code} came")

    def hears_nothing(self, broker: Address) -> bool:
        """Whether the broker sent nothing before it answered a ping that was sent just now."""
        self.send(f"1|{now_ms()}", broker)
        return self.hear().startswith("9|")

    def close(self) -> None:
        self.socket.close()


@contextmanager
def running_broker(*flags: str) -> Iterator[Address]:
    """A broker daemon of ours on a free port, ended when the block ends."""
    process = subprocess.Popen(
        [sys.executable, "-m", "overlay", "broker", "--bind", "127.0.0.1:0", *flags],
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout is not None
        word, address = process.stdout.readline().split()
        assert word == "ready"
        host, port = address.rsplit(":", 1)
        yield host, int(port)
    finally:
        process.terminate()
        assert process.wait(BOUND_S) == 0
        assert process.stdout is not None
        process.stdout.close()


def store(
    peer: Peer,
    broker: Address,
    payload: str = "degC=21.5",
    *,
    provider: str = "p1",
    entity: str = "room|r1|temp",
    stamp: int | None = None,
    valid: tuple[int, int] | None = None,
    flag: str = "A",
) -> tuple[int, int, int]:
    """Give a broker data and hear both acknowledgements; answers (stamp, ValidBegin, ValidEnd)."""
    stamp = now_ms() if stamp is None else stamp
    begin, end = valid or (stamp - 1000, stamp + 120_000)
    size = len(payload.encode())
    peer.send(f"2|{stamp}|{size}|{flag}|{provider}|{entity}|{begin}|{end}|{payload}", broker)
    assert acknowledged(peer.hear()) == (101, "ContextUpdateAdvertisement", peer.name)
    assert acknowledged(peer.hear()) == (102, "ContextUpdateAdvertisement", peer.name)
    return stamp, begin, end


def acknowledged(text: str) -> tuple[int, str, str]:
    """(status, operation, requester) of an ACK, field by field."""
    code, stamp, word, status, operation, requester = text.split("|")
    assert (code, word) == ("5", "ACK") and stamp.isdigit()
    assert status.startswith("Status:") and operation.startswith("Operation ") and requester.startswith("Requested by ")
    return int(status[7:]), operation[10:], requester[13:]


def refused(text: str) -> tuple[int, str, str, list[str]]:
    """(status, operation, requester, hops) of a NACK."""
    code, stamp, word, status, operation, requester, *hops = text.split("|")
    assert (code, word) == ("6", "NACK") and stamp.isdigit()
    assert status.startswith("Status:") and operation.startswith("Operation ") and requester.startswith("Requested by ")
    return int(status[7:]), operation[10:], requester[13:], hops


def ask(peer: Peer, broker: Address, entity: str = "room|r1|temp", stamp: int | None = None) -> str:
    """Ask and hear the whole exchange; the Response, or the NACK, as it came."""
    stamp = now_ms() if stamp is None else stamp
    peer.send(f"3|{stamp}|{entity}", broker)
    assert acknowledged(peer.hear()) == (101, "ContextRequest", peer.name)
    answer = peer.hear()
    if answer.startswith("4|"):
        assert acknowledged(peer.hear()) == (102, "ContextRequest", peer.name)
    return answer


def join(controller: Peer, broker: Address, *others: Address) -> None:
    """Order a broker to join others and hear that it did."""
    names = "|".join(f"{host}:{port}" for host, port in others)
    controller.send(f"8|{now_ms()}|{names}", broker)
    assert acknowledged(controller.hear()) == (101, "BrokerJoining", controller.name)
    assert acknowledged(controller.hear()) == (102, "BrokerJoining", controller.name)


def neighbours(controller: Peer, broker: Address) -> set[str]:
    controller.send(f"18|{now_ms()}", broker)
    return set(controller.hear_code(19).split("|")[2:])


def befriend(controller: Peer, broker: Address, neighbour: Peer) -> None:
    """Make a plain socket a neighbour of a broker: order the join and answer it as a broker would."""
    controller.send(f"8|{now_ms()}|{neighbour.name}", broker)
    assert acknowledged(controller.hear())[0] == 101
    text = neighbour.hear_code(8)
    assert text.split("|")[2:] == [neighbour.name, "*"]
    host, port = broker
    reply = f"5|{now_ms()}|ACK|Status:101|Operation BrokerJoining|Requested by {host}:{port}"
    neighbour.send(reply, broker)
    assert acknowledged(controller.hear())[0] == 102
