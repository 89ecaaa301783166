"""Others with the same exchange: nodes send messages, an application answers each, over a server that stores both.

Mosquitto and NATS by their MQTT, QoS 1 and kept sessions; NATS keeps them in JetStream files. ContextNet is a live run:
gateway and log (Valkey, ``everysec``) count as its server. Plain echoes over UDP say what no server can be ahead of.
Clients are in Python, in another process; those of ContextNet in several, with its transport. Times are from when a
message was due.
"""

from __future__ import annotations

import json
import sys
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from benchmarks.contextnet.live import live
from benchmarks.figures import Figure, Unavailable, figure
from benchmarks.peers.contenders import RIVALS, Stage
from benchmarks.peers.processes import STARTS_WITHIN_S, Failed, Process, free_port
from benchmarks.programs import program
from benchmarks.servers import scratch

NODES = (200, 1_000)
RATE_PER_MIN = 4.0
MESSAGES = 1
FULL_ROUNDS = 4
SOURCES = Path(__file__).resolve().parent
CONNECTS_WITHIN_S = 120.0
make = partial(figure, "contextnet")


@dataclass(frozen=True)
class Result:
    answered_share: float
    p50_ms: float
    p99_ms: float
    server_us: float
    """Processor time of the server for each message with its answer."""
    bytes: float | None = None
    """Of its memory (RSS), per node that connected."""


def _mosquitto(port: int, directory: Path) -> str:
    listens = f"listener {port} 127.0.0.1\nallow_anonymous true\nset_tcp_nodelay true\n"
    return f"{listens}log_type none\nmax_inflight_messages 0\n"


def _nats(port: int, directory: Path) -> str:
    return (
        f'server_name: "bench"\nlisten: "127.0.0.1:{free_port()}"\njetstream {{ store_dir: "{directory}/store" }}\n'
        f'mqtt {{ listen: "127.0.0.1:{port}"\nmax_ack_pending: 65535 }}\n'
    )


PEERS: Mapping[str, Callable[[int, Path], str]] = {"Mosquitto": _mosquitto, "NATS": _nats}
"""Configurations by the names of rivals."""


def measure(rounds: int, say: Callable[[str], None]) -> Iterator[Figure]:
    """Raises ``Unavailable`` at the end, with what is not installed or gave up."""
    is_full = rounds >= FULL_ROUNDS
    found: dict[str, list[Result]] = defaultdict(list)
    lacking: dict[str, str] = {}
    for _ in range(3 if is_full else 1):
        for nodes in NODES if is_full else NODES[:1]:
            for name, play in _contenders().items():
                what = f"{nodes:,} nodes, {RATE_PER_MIN:g} messages/min: {name}"
                say(what)
                try:
                    found[what].append(play(nodes))
                except (Failed, Unavailable) as reason:
                    lacking[name] = str(reason)
    for what, results in found.items():
        yield from _figures(what, results)
    if lacking:
        raise Unavailable("; ".join(f"{name}: {reason}" for name, reason in lacking.items()))


def _figures(what: str, results: list[Result]) -> Iterator[Figure]:
    yield make(f"{what}: answered", "%", [100 * one.answered_share for one in results], "higher")
    yield make(f"{what}: response time, p50", "ms", [one.p50_ms for one in results], "lower")
    yield make(f"{what}: response time, p99", "ms", [one.p99_ms for one in results], "lower")
    yield make(f"{what}: server, processor", "µs/message", [one.server_us for one in results], "lower")
    if sizes := [one.bytes / 1_000 for one in results if one.bytes is not None]:
        yield make(f"{what}: server, memory per node", "kB", sizes, "lower")


def _contenders() -> Mapping[str, Callable[[int], Result]]:
    return {
        "echo in C": lambda nodes: _echoed([str(program("echo", SOURCES))], nodes),
        "echo in Python": lambda nodes: _echoed([sys.executable, "-m", "benchmarks.contextnet.echo", "serve"], nodes),
        **{f"{name}, MQTT": partial(_over_mqtt, name) for name in PEERS},
        "ContextNet": _over_contextnet,
    }


def _seconds() -> float:
    return MESSAGES * 60 / RATE_PER_MIN


def _echoed(command: list[str], nodes: int) -> Result:
    with scratch() as directory, Stage(directory) as stage:
        server = stage.start(*command)
        port = int(server.line().rpartition(":")[2])
        return _played(stage, server, "udp", port, nodes)


def _over_mqtt(name: str, nodes: int) -> Result:
    """Raises ``Failed`` or ``Unavailable``."""
    rival = next(one for one in RIVALS if one.name == name)
    program_of = rival.find()
    if program_of is None:
        raise Unavailable(f"not installed: {rival.install}")
    with scratch() as directory, Stage(directory) as stage:
        port, settings = free_port(), directory / "server.conf"
        settings.write_text(PEERS[name](port, directory), encoding="utf-8")
        server = stage.start(program_of, "-c", settings)
        server.wait_until_it_listens(port)
        return _played(stage, server, "mqtt", port, nodes)


def _played(stage: Stage, server: Process, kind: str, port: int, nodes: int) -> Result:
    """Raises ``Failed``."""
    idle = server.resident_bytes()
    numbers = map(str, (port, nodes, RATE_PER_MIN, _seconds()))
    load = stage.start(sys.executable, "-m", "benchmarks.contextnet.echo", kind, *numbers)
    if load.line(CONNECTS_WITHIN_S) != "ready":
        raise Failed("its nodes are not connected")
    before, grown = server.cpu_seconds(), server.resident_bytes() - idle
    load.tell("")
    told: Mapping[str, float] = json.loads(load.line(_seconds() + STARTS_WITHIN_S))
    server_us = (server.cpu_seconds() - before) * 1e6 / max(1.0, told["answers"])
    has_connections = kind != "udp"
    return Result(
        told["answers"] / told["messages"],
        told["p50_ms"],
        told["p99_ms"],
        server_us,
        grown / nodes if has_connections else None,
    )


def _over_contextnet(nodes: int) -> Result:
    """Raises ``Unavailable``."""
    run = live({"nodes": nodes, "rate_per_min": RATE_PER_MIN, "messages": MESSAGES})
    delivered = max(1.0, run["delivered"])
    share = run["delivered"] / max(1.0, run["sent"])
    return Result(share, run["rtt_p50_us"] / 1e3, run["rtt_p99_us"] / 1e3, run.servers_s * 1e6 / delivered)
