"""Publish to notify over three brokers, compared with Mosquitto (bridges) and NATS (cluster, leaf nodes).

This process publishes at the first broker and waits for the notification of the last one, one message after the other,
with blocking sockets. Nothing is pinned, as in practice: the system places the processes on the cores there are. The
floor is a bare datagram through three Python processes (``channel_echo``), which neither read nor acknowledge it.

The other servers acknowledge nothing. A federation's brokers acknowledge each message hop by hop. Where there is
no subscriber, it is counted what the first broker sends to others, by its own counters.
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from functools import partial
from pathlib import Path
from random import Random
from statistics import quantiles
from typing import NamedTuple, Protocol
from urllib.request import urlopen

from benchmarks.channel import HOPS, LOOK_S, DatagramClient, udp
from benchmarks.figures import Figure, Unavailable, figure
from benchmarks.servers import START_S, Server, announced, cores, deployed, scratch
from brokerweb.up.environment import find_mosquitto, find_nats
from overlay.core.addresses import Address, format_address, parse_address
from overlay.journal.facts import Tick
from overlay.journal.journal import read_journal
from overlay.peers.peers import Heard
from overlay.runtime.lifeline import die_with_parent
from overlay.runtime.redis_server import free_port
from overlay.systems.federation.peers import Peers
from overlay.systems.federation.settings import Settings
from overlay.systems.federation.wire import messages, values

TITLE = "Federation compared with others: publish to notify over three brokers"

BURST = 2_000
"""Messages of a burst, one after the other."""
UNWANTED = 200
"""Messages without a subscriber."""
PAYLOAD = "x" * 400
WAIT_S = 10.0
WANTED, OTHER = "climate", "noise"

Say = Callable[[str], None]


class Chain(Protocol):
    """Three running brokers, a publisher at the first and a subscriber at the last."""

    servers: Sequence[Server]

    def publish(self, topic: str) -> None: ...

    def hear(self) -> None:
        """Wait for the next notification. Raises ``TimeoutError``."""
        ...

    def sent_on(self) -> int | None:
        """Messages that the first broker has sent to others so far; ``None`` if nothing counts them."""
        ...


class Burst(NamedTuple):
    p50_us: float
    p99_us: float
    processor_us: float
    """Of all three brokers per message."""


def measure(rounds: int, say: Say) -> Iterator[Figure]:
    """Yield the figures of the section; a server that is missing is left out."""
    for name, start in CHAINS.items():
        try:
            with start() as chain:
                say(name)
                _burst(chain)
                bursts = [_burst(chain) for _ in range(rounds)]
                sent_on = _sent_on_unwanted(chain)
        except Unavailable as reason:
            say(f"{name}: {reason}")
            continue
        made = partial(figure, "chains")
        is_ours, p50s = name == OURS, [one.p50_us for one in bursts]
        yield made(f"{name}, p50", "us", p50s, "lower", at_most=150 if is_ours else None)
        yield made(f"{name}, p99", "us", [one.p99_us for one in bursts], "lower")
        yield made(f"{name}, processor of three brokers", "us", [one.processor_us for one in bursts], "lower")
        if sent_on is not None:
            at_most = 0 if is_ours else None
            yield made(f"{name}, sent on without a subscriber", "share", [sent_on], "lower", at_most=at_most)


def _burst(chain: Chain) -> Burst:
    before, took = _processor_ns(chain), []
    for _ in range(BURST):
        began = time.perf_counter_ns()
        chain.publish(WANTED)
        chain.hear()
        took.append((time.perf_counter_ns() - began) / 1e3)
    spent = _processor_ns(chain) - before
    cuts = quantiles(took, n=100)
    return Burst(cuts[49], cuts[98], spent / BURST / 1e3)


def _processor_ns(chain: Chain) -> int:
    """Of all threads of all brokers so far."""
    tasks = [task for server in chain.servers for task in Path(f"/proc/{server.pid}/task").iterdir()]
    return sum(int((task / "schedstat").read_text(encoding="ascii").split()[0]) for task in tasks)


def _sent_on_unwanted(chain: Chain) -> float | None:
    """Of messages without a subscriber. The last one is wanted, so that all before it have been served."""
    before = chain.sent_on()
    if before is None:
        return None
    for _ in range(UNWANTED):
        chain.publish(OTHER)
    chain.publish(WANTED)
    chain.hear()
    return ((chain.sent_on() or 0) - before - 1) / UNWANTED


# ---- a federation


class Federation:
    """A provider at the first broker and a consumer at the last, with bare cores and blocking sockets."""

    def __init__(self, servers: Sequence[Server], directory: Path) -> None:
        self.servers, self._directory = servers, directory
        offset = time.time_ns() - time.monotonic_ns()
        self._number = time.time_ns() // 1_000
        first, last = (parse_address(servers[at].address) for at in (0, -1))
        self._provider = _Peer("p1000", "b0", first, offset)
        self._consumer = _Peer("c1000", f"b{len(servers) - 1}", last, offset)
        provided = values.Advertisement("p1000", self._number, values.Role.PROVIDER, "", (WANTED, OTHER))
        self._provider.ask(messages.Register(1, provided))
        self._consumer.ask(messages.Register(1, values.Advertisement("c1000", self._number, values.Role.CONSUMER)))
        wanted = values.Subscription(
            values.SubscriptionId("c1000", self._number), (WANTED,), time.time_ns() // 1_000_000 + 3_600_000
        )
        self._consumer.ask(messages.Subscribe(2, (wanted,)))
        self._provider.wait_for(messages.Offer)

    def publish(self, topic: str) -> None:
        self._number += 1
        unix_ms, nid = time.time_ns() // 1_000_000, values.NotificationId("p1000", self._number)
        note = values.Notification(nid, "room", "r1", topic, unix_ms, unix_ms + 60_000, {"text": PAYLOAD})
        self._provider.take()
        self._provider.say(messages.Publish(0, (values.Publication(note),)))

    def hear(self) -> None:
        self._consumer.wait_for(messages.Notify, meanwhile=self._provider)

    def sent_on(self) -> int:
        time.sleep(2.5)  # counters are in the journal once a second
        facts = read_journal(self._directory / "journal" / "broker-0.journal")
        return max(fact.counters.get("out_forward", 0) for fact in facts if isinstance(fact, Tick))


class _Peer:
    def __init__(self, name: str, broker: str, address: Address, wall_offset_ns: int) -> None:
        self._broker = broker
        self._sock = udp(LOOK_S)
        self._peers = Peers(name, Settings(), Random(), wall_offset_ns)
        self._peers.now = time.monotonic_ns()
        self._peers.open(broker, address)

    def say(self, message: messages.Message) -> None:
        self._peers.now = time.monotonic_ns()
        self._peers.send(self._broker, message)
        self._send()

    def ask(self, message: messages.Message) -> None:
        self.say(message)
        self.wait_for(messages.Ack)

    def take(self, *, wait: bool = False) -> list[messages.Message]:
        """What has come."""
        try:
            data, source = self._sock.recvfrom(65_535, 0 if wait else socket.MSG_DONTWAIT)
        except BlockingIOError:
            found = []
        else:
            self._peers.now = time.monotonic_ns()
            self._peers.receive(data, source)
            found = [event.message for event in self._peers.events() if isinstance(event, Heard)]
        self._send()
        return found

    def wait_for(self, kind: type, meanwhile: _Peer | None = None) -> None:
        deadline = time.monotonic() + WAIT_S
        while not any(isinstance(message, kind) for message in self.take(wait=True)):
            if meanwhile is not None:
                meanwhile.take()
            if time.monotonic() > deadline:
                raise Unavailable(f"nothing like {kind.__name__} within {WAIT_S:g} s")

    def _send(self) -> None:
        channel, now = self._peers.channel, time.monotonic_ns()
        if (timer := channel.next_timer()) is not None and timer <= now:
            channel.handle_timer(now)
        for data, to in channel.datagrams_to_send():
            self._sock.sendto(data, to)


@contextmanager
def _federation() -> Iterator[Chain]:
    links = [{"a": at, "b": at + 1} for at in range(HOPS - 1)]
    workload = {"providers": 1, "consumers": 1, "scopes": 1, "queries": 0, "duration_s": 86_400}
    settings = {"keepalive_s": 3_600}  # the clients here send no keep-alives, and a busy machine may need minutes
    run = {"brokers": HOPS, "links": links, "system": "federation", "workload": workload, "settings": settings}
    with deployed(run) as (servers, directory):
        yield Federation(servers[:HOPS], directory)


# ---- Mosquitto


class MqttClient:
    """MQTT 3.1.1 with quality of service 0, as far as a topic needs it (OASIS, sections 3.1, 3.3 and 3.8)."""

    def __init__(self, port: int, name: str) -> None:
        self._sock, self._read = _tcp(port)
        self._say(0x10, _text("MQTT") + b"\x04\x02\x00\x00" + _text(name))
        self.hear()

    def subscribe(self, topic: str) -> None:
        self._say(0x82, b"\x00\x01" + _text(topic) + b"\x00")
        self.hear()

    def publish(self, topic: str, payload: str) -> None:
        self._say(0x30, _text(topic) + payload.encode())

    def hear(self) -> bytes:
        """The body of the next packet. Raises ``TimeoutError``."""
        length = shift = 0
        self._read(1)
        while True:
            (byte,) = self._read(1)
            length |= (byte & 127) << shift
            if byte < 128:
                return self._read(length)
            shift += 7

    def _say(self, kind: int, body: bytes) -> None:
        length, size = len(body), b""
        while True:
            length, low = divmod(length, 128)
            size += bytes([low | 128 * (length > 0)])
            if not length:
                break
        self._sock.sendall(bytes([kind]) + size + body)


def _text(text: str) -> bytes:
    return len(text).to_bytes(2, "big") + text.encode()


class Mosquitto:
    def __init__(self, servers: Sequence[Server], ports: Sequence[int]) -> None:
        self.servers = servers
        self._publisher, self._subscriber = MqttClient(ports[0], "publisher"), MqttClient(ports[-1], "subscriber")
        self._watcher, self._seen = MqttClient(ports[1], "watcher"), 0
        self._subscriber.subscribe(WANTED)
        self._watcher.subscribe(OTHER)  # of no interest to a bridge, which sends what its configuration says

    def publish(self, topic: str) -> None:
        self._publisher.publish(topic, PAYLOAD)

    def hear(self) -> None:
        self._subscriber.hear()

    def sent_on(self) -> int:
        """All that the second broker has got, whatever it was. The wanted one at the end is not seen, so one more."""
        for _ in range(UNWANTED if self._seen else 0):
            self._watcher.hear()
        self._seen += 1 + UNWANTED * (self._seen > 0)
        return self._seen


@contextmanager
def _mosquitto() -> Iterator[Chain]:
    program = find_mosquitto()
    if program is None:
        raise Unavailable("needs Mosquitto (make test-environment installs it)")
    with ExitStack() as stack:
        directory, ports = stack.enter_context(scratch()), [free_port() for _ in range(HOPS)]
        servers = []
        for at, port in enumerate(ports):
            lines = [f"listener {port} 127.0.0.1", "allow_anonymous true", "set_tcp_nodelay true"]
            if at + 1 < HOPS:
                lines += [f"connection on{at}", f"address 127.0.0.1:{ports[at + 1]}", "topic # out 0"]
            path = directory / f"{at}.conf"
            path.write_text("\n".join(lines), encoding="utf-8")
            servers.append(stack.enter_context(_started([program, "-c", str(path)], port)))
        yield _ready(lambda: Mosquitto(servers, ports))


# ---- NATS


class NatsClient:
    """NATS's text protocol, as far as one subject needs it."""

    def __init__(self, port: int) -> None:
        self._sock, self._read = _tcp(port)
        self._line = self._sock.makefile("rb").readline
        self._line()
        self._sock.sendall(b'CONNECT {"verbose":false,"pedantic":false}\r\n')
        self.ping()

    def ping(self) -> None:
        """What was said before has been taken."""
        self._sock.sendall(b"PING\r\n")
        while self._line() != b"PONG\r\n":
            pass

    def subscribe(self, subject: str) -> None:
        self._sock.sendall(f"SUB {subject} 1\r\n".encode())
        self.ping()

    def publish(self, subject: str, payload: str) -> None:
        self._sock.sendall(f"PUB {subject} {len(payload)}\r\n{payload}\r\n".encode())

    def hear(self) -> None:
        """Raises ``TimeoutError``."""
        while True:
            line = self._line()
            if line.startswith(b"MSG"):
                length = int(line.split()[-1])
                left = length + 2
                while left > 0:
                    left -= len(self._line())
                return
            if line.startswith(b"PING"):
                self._sock.sendall(b"PONG\r\n")


class Nats:
    def __init__(self, servers: Sequence[Server], ports: Sequence[int], monitor: int) -> None:
        self.servers, self._monitor = servers, monitor
        self._publisher, self._subscriber = NatsClient(ports[0]), NatsClient(ports[-1])
        self._subscriber.subscribe(WANTED)

    def publish(self, topic: str) -> None:
        self._publisher.publish(topic, PAYLOAD)

    def hear(self) -> None:
        self._subscriber.hear()

    def sent_on(self) -> int:
        with urlopen(f"http://127.0.0.1:{self._monitor}/varz", timeout=WAIT_S) as answer:
            return int(json.load(answer)["out_msgs"])


@contextmanager
def _nats(kind: str) -> Iterator[Chain]:
    """``cluster``: each server knows each other, so one link; ``leaf``: two leaf nodes at a hub, the second server."""
    program = find_nats()
    if program is None:
        raise Unavailable("needs NATS (make bench-peers installs it)")
    with ExitStack() as stack:
        directory, monitor = stack.enter_context(scratch()), free_port()
        ports, others = [free_port() for _ in range(HOPS)], [free_port() for _ in range(HOPS)]
        servers = {}
        for at in (1, 0, 2):  # the hub first
            lines = [f"listen: 127.0.0.1:{ports[at]}", f"server_name: s{at}"]
            if at == 0:
                lines.append(f"http: 127.0.0.1:{monitor}")
            if kind == "cluster":
                routes = ", ".join(f'"nats://127.0.0.1:{other}"' for other in others if other != others[at])
                lines.append(f"cluster {{ name: c, listen: 127.0.0.1:{others[at]}, routes: [{routes}] }}")
            elif at == 1:
                lines.append(f"leafnodes {{ listen: 127.0.0.1:{others[1]} }}")
            else:
                lines.append(f'leafnodes {{ remotes: [{{ url: "nats://127.0.0.1:{others[1]}" }}] }}')
            path = directory / f"{at}.conf"
            path.write_text("\n".join(lines), encoding="utf-8")
            servers[at] = stack.enter_context(_started([program, "-c", str(path)], ports[at]))
        yield _ready(lambda: Nats([servers[at] for at in range(HOPS)], ports, monitor))


# ---- the floor


class Bare:
    """Bare datagrams through Python processes, which need no address of a peer."""

    def __init__(self, client: DatagramClient, servers: Sequence[Server]) -> None:
        self._client, self.servers = client, servers

    def publish(self, topic: str) -> None:
        assert self._client.to is not None
        self._client.sock.sendto(PAYLOAD.encode(), self._client.to)

    def hear(self) -> None:
        self._client.sock.recv(65_535)

    def sent_on(self) -> None:
        return None


@contextmanager
def _bare() -> Iterator[Chain]:
    with ExitStack() as stack:
        client, servers = DatagramClient(), list[Server]()
        following = format_address(client.sock.getsockname())
        for _ in range(HOPS):
            command = [sys.executable, "-m", "benchmarks.channel_echo", "datagram", following, "none"]
            servers.append(stack.enter_context(announced(command)))
            following = servers[-1].address
            os.sched_setaffinity(servers[-1].pid, cores())
        client.to = parse_address(following)
        yield Bare(client, servers)


# ---- processes


@contextmanager
def _started(command: list[str], port: int) -> Iterator[Server]:
    """A server that ends with this process, once it listens."""
    end = partial(die_with_parent, os.getpid())
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, preexec_fn=end)
    try:
        deadline = time.monotonic() + START_S
        while True:
            try:
                socket.create_connection(("127.0.0.1", port), 1).close()
                break
            except OSError:
                if process.poll() is not None or time.monotonic() > deadline:
                    raise Unavailable(f"{command[0]} did not start") from None
                time.sleep(0.05)
        yield Server(f"127.0.0.1:{port}", process.pid)
    finally:
        process.kill()
        process.wait()


def _ready(connect: Callable[[], Chain]) -> Chain:
    """Once a message comes through: links between servers, and interest, take a moment."""
    deadline = time.monotonic() + START_S
    while time.monotonic() < deadline:
        time.sleep(1)
        chain = connect()
        chain.publish(WANTED)
        try:
            chain.hear()
        except TimeoutError:
            continue
        return chain
    raise Unavailable(f"the servers did not pass on a message within {START_S:g} s")


def _tcp(port: int) -> tuple[socket.socket, Callable[[int], bytes]]:
    sock = socket.create_connection(("127.0.0.1", port), WAIT_S)
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return sock, sock.makefile("rb").read


OURS = "federation, acknowledged"
CHAINS: Mapping[str, Callable[[], AbstractContextManager[Chain]]] = {
    OURS: _federation,
    "Mosquitto, bridges": _mosquitto,
    "NATS, cluster": partial(_nats, "cluster"),
    "NATS, leaf nodes": partial(_nats, "leaf"),
    "bare datagrams": _bare,
}
