"""NATS and Mosquitto next to Radiator: the same messages to the same number of clients, each to all.

Three rows for each number of clients: a peer with single messages, a peer whose publisher batches 20 and compresses
them (what one would do without Radiator), and Radiator, directly and with chains of ten. Bytes are those that the
server sends for each message at each recipient: of peers the payload of TCP, of Radiator also UDP and IP headers. The
lag is from when a message was due, so it includes the wait for a full batch. A last pair of rows has Kafka's
``linger``: a batch leaves when it is full or when its oldest message has waited for ``LINGER_S``, which is
``retain_max_s`` of Radiator.
"""

from __future__ import annotations

import json
import sys
from base64 import b64encode
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from benchmarks.figures import Figure, Unavailable
from benchmarks.peers.contenders import RIVALS, Stage
from benchmarks.peers.processes import STARTS_WITHIN_S, Failed, Process, free_port
from benchmarks.radiator.runs import Run, live
from benchmarks.radiator.samples import contexts
from benchmarks.radiator.timing import make
from benchmarks.servers import scratch, supervisor
from overlay.runtime.supervisor_client import SupervisorClient
from overlay.systems.radiator.context import join
from overlay.systems.radiator.wire.compression import GZIP, deflate

VOLUMES = (1, 20)
CLIENTS = (200, 1_000)
DELIVERIES_PER_S = {1: 10_000, 20: 100_000}
"""Messages at recipients, by the messages in a batch."""
DURATION_S = 4.0
CHAIN = 10
LINGER_S, LINGER_RATE = 0.1, 100.0
FULL_ROUNDS = 4


@dataclass(frozen=True)
class Result:
    """Of one run: what was delivered, bytes and processor time of the server for each delivery, the lag."""

    delivered_share: float
    bytes: float
    server_us: float
    p50_ms: float
    p95_ms: float

    @classmethod
    def of(cls, run: Run) -> Result:
        lags = (run[f"lag_{name}_us"] / 1e3 for name in ("p50", "p95"))
        return cls(run.delivered_share, run["bytes_per_pair"], run.server_us, *lags)


@dataclass(frozen=True)
class Peer:
    """A server of publish and subscribe, and the protocol of its clients (``fanout``)."""

    name: str
    protocol: str
    settings: Callable[[int], str]

    @property
    def rival(self) -> Any:
        """How the section ``peers`` finds it."""
        return next(rival for rival in RIVALS if rival.name == self.name)


PEERS = (
    Peer("NATS", "nats", lambda port: f'listen: "127.0.0.1:{port}"\nping_interval: "10h"\n'),
    Peer(
        "Mosquitto",
        "mqtt",
        lambda port: f"listener {port} 127.0.0.1\nallow_anonymous true\nset_tcp_nodelay true\nlog_type none\n",
    ),
)


def measure(rounds: int, say: Callable[[str], None]) -> Iterator[Figure]:
    """Raises ``Unavailable`` at the end, with the peers that are not installed or gave up."""
    is_full = rounds >= FULL_ROUNDS
    turns = max(1, rounds // 3) if is_full else 1
    found: dict[str, list[Result]] = defaultdict(list)
    lacking: dict[str, str] = {}
    with supervisor() as client:
        for _ in range(turns):
            for clients in CLIENTS if is_full else CLIENTS[:1]:
                for volume in VOLUMES:
                    _of_peers(clients, volume, found, lacking, say)
                    _of_radiator(client, clients, volume, found, say)
            _of_linger(client, found, say)
    for what, results in found.items():
        yield from _figures(what, results)
    if lacking:
        raise Unavailable("; ".join(f"{name}: {reason}" for name, reason in lacking.items()))


def _figures(what: str, results: list[Result]) -> Iterator[Figure]:
    yield make(f"{what}: delivered", "%", [100 * each.delivered_share for each in results], "higher")
    yield make(f"{what}: sent", "bytes/delivery", [each.bytes for each in results], "lower")
    yield make(f"{what}: lag, p50", "ms", [each.p50_ms for each in results], "lower")
    yield make(f"{what}: lag, p95", "ms", [each.p95_ms for each in results], "lower")
    yield make(f"{what}: server, processor", "µs/delivery", [each.server_us for each in results], "lower")


def _named(clients: int, volume: int, who: str) -> str:
    return f"{clients:,} clients, {volume} a batch: {who}"


def _rate(clients: int, volume: int) -> float:
    return DELIVERIES_PER_S[volume] / clients


# --- peers ------------------------------------------------------------------------------------------------------------


def _of_peers(
    clients: int,
    volume: int,
    found: dict[str, list[Result]],
    lacking: dict[str, str],
    say: Callable[[str], None],
) -> None:
    for peer in PEERS:
        program = peer.rival.find()
        if program is None:
            lacking[peer.name] = f"not installed: {peer.rival.install}"
            continue
        what = _named(clients, volume, peer.name)
        say(what)
        try:
            found[what].append(_fanned_out(peer, program, clients, volume))
        except Failed as reason:
            lacking[peer.name] = str(reason)


def _fanned_out(peer: Peer, program: str, clients: int, volume: int) -> Result:
    """Raises ``Failed``."""
    with scratch() as directory, Stage(directory) as stage:
        port, settings = free_port(), directory / "server.conf"
        settings.write_text(peer.settings(port), encoding="utf-8")
        server = stage.start(program, "-c", settings)
        server.wait_until_it_listens(port)
        plan = directory / "plan.json"
        plan.write_text(json.dumps(_plan(clients, volume)), encoding="utf-8")
        load = stage.start(sys.executable, "-m", "benchmarks.radiator.fanout", peer.protocol, str(port), plan)
        return _played(server, load)


def _played(server: Process, load: Process) -> Result:
    if load.line() != "ready":
        raise Failed("the subscribers are not ready")
    before = server.cpu_seconds()
    load.tell("")
    told: Mapping[str, float] = json.loads(load.line(DURATION_S + STARTS_WITHIN_S))
    deliveries = max(1.0, told["deliveries"])
    server_us = (server.cpu_seconds() - before) * 1e6 / deliveries
    share = told["deliveries"] / told["due"]
    return Result(share, told["bytes"] / deliveries, server_us, told["p50_ms"], told["p95_ms"])


def _plan(clients: int, volume: int) -> dict[str, Any]:
    """For ``fanout``: batches of joined messages, compressed as Radiator's."""
    rate = _rate(clients, volume)
    messages = contexts(int(rate * DURATION_S) // volume * volume)
    batches = [range(at, at + volume) for at in range(0, len(messages), volume)]
    bodies = [deflate(join([messages[number] for number in batch]).encode(), GZIP) for batch in batches]
    return {
        "clients": clients,
        "payloads": [b64encode(body).decode() for body in bodies],
        "due_s": [[number / rate for number in batch] for batch in batches],
    }


# --- Radiator ---------------------------------------------------------------------------------------------------------


def _of_radiator(
    client: SupervisorClient,
    clients: int,
    volume: int,
    found: dict[str, list[Result]],
    say: Callable[[str], None],
) -> None:
    workload = {"clients": clients, "messages_per_s": _rate(clients, volume), "duration_s": DURATION_S}
    settings = {"echo": True, "aggregability": f"{{volume: {volume}}}"}
    for who, more in {"Radiator": {}, f"Radiator, chains of {CHAIN}": {"chain_percent": 100 * CHAIN / clients}}.items():
        what = _named(clients, volume, who)
        say(what)
        found[what].append(Result.of(live(client, {**settings, **more}, workload)))


def _of_linger(client: SupervisorClient, found: dict[str, list[Result]], say: Callable[[str], None]) -> None:
    clients = CLIENTS[0]
    workload = {"clients": clients, "messages_per_s": LINGER_RATE, "duration_s": DURATION_S}
    full = {"echo": True, "aggregability": "{volume: 20}"}
    for who, more in {"20 a batch": {}, f"20 a batch or {LINGER_S * 1e3:g} ms": {"retain_max_s": LINGER_S}}.items():
        what = f"{clients:,} clients, {LINGER_RATE:g} messages/s: Radiator, {who}"
        say(what)
        found[what].append(Result.of(live(client, {**full, **more}, workload)))
