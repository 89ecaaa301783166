"""Section (n): the data plane of a network through REST and NGSI-v2, next to HTTP alone, Redis behind HTTP, and etcd.

etcd is a store that answers JSON over HTTP, in Go: the nearest to FIWARE Orion that Debian has (Orion itself needs
a MongoDB and images of containers). Its writes are synchronised to the disk; entries of a broker are in memory.

All are served by uvicorn as ``make up`` starts it, on one core; brokers, Redis and the load are on the other one. The
front has the settings of the project: tokens from the database, requests counted in Redis, real brokers behind it. Each
burst on one of them is between two bursts on the application that answers from memory.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from base64 import b64encode
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from random import Random
from statistics import fmean
from typing import Any

from benchmarks import streams
from benchmarks.figures import RATIO, Figure, Unavailable, figure
from benchmarks.house import House, house
from benchmarks.record import ROOT
from benchmarks.servers import CLIENT_CORE, SERVER_CORE, brokers, cores
from benchmarks.web_apps import ENTRY
from overlay.runtime.lifeline import die_with_parent
from overlay.runtime.redis_server import free_port

TITLE = "REST front of a network: asks through HTTP, next to HTTP alone, Redis behind HTTP, and etcd"

BROKERS = 3
GOAL_P50_US = 1_500.0
GOAL_ASKS_A_SECOND = 2_500.0
BURST = 400
"""Requests of a burst: about a fifth of a second."""
MANY = 8
"""Connections of a burst that keeps the server busy."""
NO_LIMIT = "1000000"
"""Requests a second and token: counted, but never refused."""
SEED = 16
REFERENCE = "HTTP alone"


@dataclass(frozen=True)
class Target:
    """What is asked: a process of the house, its port and the whole request."""

    process: str
    port: int
    request: str


@dataclass(frozen=True)
class Burst:
    """``processor_us`` is the processor time of the asked process per request."""

    rate: float
    processor_us: float
    p50_us: float
    p95_us: float


Values = dict[str, list[Burst]]


def measure(rounds: int, say: Callable[[str], None]) -> Iterator[Figure]:
    """Yield the figures of the section."""
    with brokers(BROKERS) as servers, house() as here, _load() as load:
        for server in servers:
            _pin(server.pid, CLIENT_CORE)
        say("starting web processes")
        ports = [int(server.address.rpartition(":")[2]) for server in servers]
        made = _furnish(here, ports)
        targets = _targets(here, made, say)
        for name in here.processes:
            _pin(here.processes[name].pid, CLIENT_CORE if name == "redis" else SERVER_CORE)
        shoot = partial(_shoot, here, load)
        for target in targets.values():
            shoot(target, MANY)  # once, so that nothing is read or compiled for the first time
        for connections in (MANY, 1):
            say(f"asking over {connections} connections")
            found, before = _interleaved(targets, partial(shoot, connections=connections), rounds)
            yield from _figures(found, before, connections)
        say("streaming")
        path = made["path"].partition("context/")[0] + "stream/"
        yield from streams.measure(here, path, made["token"], ports, rounds, partial(_pin, core=CLIENT_CORE))


def _furnish(here: House, ports: list[int]) -> Mapping[str, Any]:
    """What ``benchmarks.rows`` says of the network of the brokers at these ports."""
    here.start_redis()
    limits = ("WAXWING_REST_RATE", "WAXWING_CONTEXT_RATE", "WAXWING_STREAMS")
    here.environment.update(dict.fromkeys(limits, NO_LIMIT))
    made = here.furnish("network", *map(str, ports))
    here.start_web()
    return made


def _targets(here: House, made: Mapping[str, Any], say: Callable[[str], None]) -> Mapping[str, Target]:
    said = {"Authorization": f"Bearer {made['token']}"}
    web, body = here.port, {"provider": "sensor", "payload": {"degC": "21.5"}}
    network = made["path"].partition("context/")[0]
    targets = {
        "front, put": Target("web", web, _request("PUT", made["path"], said, body)),
        "front, ask": Target("web", web, _request("GET", made["path"], said)),
        "front, NGSI-v2, ask": Target(
            "web", web, _request("GET", f"{network}ngsi/v2/entities/rENTITY?type=room", said)
        ),
    }
    for name, app in [(REFERENCE, "dictionary"), ("Redis behind HTTP", "through_redis")]:
        port = free_port()
        here.serve(app, f"benchmarks.web_apps:{app}", port)
        targets[name] = Target(app, port, _request("GET", "/r1", {}))
    if here.start_etcd(port := free_port()):
        key, value = (b64encode(one.encode()).decode() for one in ("/r1", json.dumps(ENTRY)))
        targets["etcd, put"] = Target("etcd", port, _request("POST", "/v3/kv/put", {}, {"key": key, "value": value}))
        targets["etcd, ask"] = Target("etcd", port, _request("POST", "/v3/kv/range", {}, {"key": key}))
    else:
        say("without etcd (apt-get install etcd-server)")
    return targets


def _request(method: str, path: str, headers: Mapping[str, object], body: Mapping[str, object] | None = None) -> str:
    content = "" if body is None else json.dumps(body)
    told = {} if body is None else {"Content-Type": "application/json", "Content-Length": len(content)}
    lines = [f"{name}: {value}" for name, value in {"Host": "127.0.0.1", **headers, **told}.items()]
    return "\r\n".join([f"{method} {path} HTTP/1.1", *lines, "", content])


def _interleaved(
    targets: Mapping[str, Target], shoot: Callable[[Target], Burst], rounds: int
) -> tuple[Values, dict[str, list[float]]]:
    """Bursts by name, and the processor time of the reference around each."""
    chance, reference = Random(SEED), targets[REFERENCE]
    found: Values = {name: [] for name in targets}
    around: dict[str, list[float]] = {name: [] for name in targets}
    for _ in range(rounds):
        before = shoot(reference)
        for name in chance.sample(sorted(targets), len(targets)):
            if name == REFERENCE:
                continue
            found[name].append(shoot(targets[name]))
            after = shoot(reference)
            around[name].append(fmean((before.processor_us, after.processor_us)))
            found[REFERENCE].append(after)
            before = after
    return found, around


def _figures(found: Values, around: Mapping[str, list[float]], connections: int) -> Iterator[Figure]:
    for name, bursts in found.items():
        is_goal = name == "front, ask"
        what = f"{name}, {connections} connections" if connections > 1 else f"{name}, one connection"
        if connections > 1:
            # Of a burst that is shorter than the kernel's tick there may be no processor time.
            a_core = [1e6 / one.processor_us for one in bursts if one.processor_us]
            goal = GOAL_ASKS_A_SECOND if is_goal else None
            yield figure("front", what, "1/s", [one.rate for one in bursts], "higher")
            if a_core:
                yield figure("front", f"{what}, per core in use", "1/s", a_core, "higher", at_least=goal)
        else:
            goal = GOAL_P50_US if is_goal else None
            yield figure("front", f"{what}, p50", "us", [one.p50_us for one in bursts], "lower", at_most=goal)
            yield figure("front", f"{what}, p95", "us", [one.p95_us for one in bursts], "lower")
        yield figure("front", f"{what}, processor", "us", [one.processor_us for one in bursts], "lower")
        ratios = [one.processor_us / other for one, other in zip(bursts, around[name], strict=False) if other]
        if ratios:
            yield figure("front", f"{what}, processor / {REFERENCE}", RATIO, ratios, "lower")


def _shoot(here: House, load: subprocess.Popen[str], target: Target, connections: int) -> Burst:
    order = {"port": target.port, "request": target.request, "connections": connections, "count": BURST}
    assert load.stdin and load.stdout
    before = here.cpu_s(target.process)
    load.stdin.write(json.dumps(order) + "\n")
    load.stdin.flush()
    told: dict[str, Any] = json.loads(load.stdout.readline() or '{"wrong": "the load ended"}')
    spent = here.cpu_s(target.process) - before
    if "wrong" in told:
        raise Unavailable(f"{target.process}: {told['wrong']}")
    requests = told["requests"]
    return Burst(requests / told["seconds"], spent / requests * 1e6, told["p50_us"], told["p95_us"])


@contextmanager
def _load() -> Iterator[subprocess.Popen[str]]:
    process = subprocess.Popen(
        [sys.executable, "-m", "benchmarks.web_load"],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        preexec_fn=partial(die_with_parent, os.getpid()),
    )
    try:
        _pin(process.pid, CLIENT_CORE)
        yield process
    finally:
        process.kill()
        process.wait()


def _pin(pid: int, core: int) -> None:
    """With all of its threads."""
    if len(cores()) > 1:
        for thread in Path(f"/proc/{pid}/task").iterdir():
            os.sched_setaffinity(int(thread.name), {core})
