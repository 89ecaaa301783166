"""The section of Radiator, as small as it gets. What is fast is for the table to say, never for a test."""

from __future__ import annotations

import json
import shutil
import socket
import sys
import threading
from base64 import b64encode
from contextlib import nullcontext

import pytest

from benchmarks import radiator
from benchmarks.figures import Unavailable
from benchmarks.peers.contenders import Rival
from benchmarks.peers.processes import Process
from benchmarks.radiator import codecs, exchange, fanout, hot_paths, memory, peers, pushes, runs
from tests.thorough import thoroughly

SMALL = {
    hot_paths: {
        "QUICK_SIZES": ((5, 3),),
        "MANY": 50,
        "GROWTH": (5, 50),
        "RECIPIENTS": (5, 10),
        "PUSHES": 20,
        "CHAIN": 20,
        "CALLS": 10,
    },
    memory: {"CLIENTS": (50,)},
    codecs: {"MESSAGES": 100, "SEEDS": 2},
    exchange: {"CLIENTS": 5, "BURST_S": 0.02, "MESSAGES": 10},
    pushes: {"CLIENTS": 3, "QUICK_RATES": (30, 60), "DURATION_S": 1.0},
    peers: {"CLIENTS": (20,), "DELIVERIES_PER_S": {1: 20, 20: 400}, "DURATION_S": 1.0, "PEERS": ()},
    runs: {"LOAD": {"stagger_ms": 1, "drain_s": 0}},
}


@pytest.mark.skipif(not shutil.which("gcc"), reason="gcc is not installed")
@thoroughly
def test_all_rows_are_measured_of_a_tiny_size(monkeypatch):
    for module, values in SMALL.items():
        for name, value in values.items():
            monkeypatch.setattr(module, name, value)
    real, known = runs.live, []

    def live(*arguments):
        """One run is real; it stands for all."""
        known.append(known[0] if known else real(*arguments))
        return known[0]

    monkeypatch.setattr(pushes, "live", live)
    monkeypatch.setattr(peers, "live", live)
    monkeypatch.setattr(peers, "supervisor", nullcontext)
    said = []
    measured = list(radiator.measure(1, said.append))
    figures = {each.name: each for each in measured}

    assert len(figures) == len(measured), "names are unique, for comparisons"
    assert {each.section for each in figures.values()} == {"radiator"}
    assert figures["an arrival, 5 recipients, 3 retained: literal"].value > 0
    assert figures["a message of 20 in a body, dictionary"].goal == "<= 53"
    assert figures["push and acknowledgement, 5 clients, processor: server / C"].unit == "ratio"
    assert figures["30 pushes/s: server, processor"].value > 0
    assert known[0]["pairs_delivered"] > 0
    assert figures["20 clients, 20 a batch: Radiator, chains of 10: sent"].value > 0
    assert "20 clients, 100 messages/s: Radiator, 20 a batch or 100 ms: lag, p95" in figures
    assert "30 pushes/s to 3 clients" in said


def test_the_rate_that_is_held_is_the_last_one_before_pairs_or_time_are_lost(monkeypatch):
    lags_ms = {5_000: 10, 10_000: 20, 15_000: 5_000}

    def pushed(client, rate):
        pairs = {"pairs_due": 10, "pairs_delivered": 10, "pushes": 10, "lag_p95_us": 1e3 * lags_ms[rate]}
        return runs.Run(pairs, 1.0, 0.1, 0.2)

    monkeypatch.setattr(pushes, "RATES", tuple(lags_ms))
    monkeypatch.setattr(pushes, "supervisor", nullcontext)
    monkeypatch.setattr(pushes, "_pushed", pushed)
    figures = {each.name: each for each in pushes.measure(pushes.FULL_ROUNDS, lambda _: None)}
    held = figures[f"pushes delivered live, {pushes.CLIENTS} clients"]
    assert (held.value, held.met, held.rounds) == (10_000, False, 1)
    assert figures["15,000 pushes/s: lag, p95"].value == 5_000


def test_peers_that_are_not_installed_are_named(monkeypatch):
    monkeypatch.setattr(peers, "live", lambda *_: runs.Run({}, 1.0, 0.0, 0.0))
    monkeypatch.setattr(peers, "supervisor", nullcontext)
    absent = Rival("Absent", lambda *_: None, lambda: None, "apt-get install absent")
    monkeypatch.setattr(peers, "RIVALS", (absent,))
    monkeypatch.setattr(peers, "PEERS", (peers.Peer("Absent", "nats", str),))
    with pytest.raises(Unavailable, match="Absent: not installed: apt-get install absent"):
        list(peers.measure(1, lambda _: None))


def test_what_arrives_at_subscribers_is_counted_and_timed(tmp_path):
    """Next to a server that passes on what is published, in the protocol of NATS."""
    bodies, clients = [b"first", b"another one"], 3
    plan = tmp_path / "plan"
    payloads = [b64encode(body).decode() for body in bodies]
    plan.write_text(json.dumps({"clients": clients, "payloads": payloads, "due_s": [[0.0], [0.01, 0.02]]}))
    with socket.create_server(("127.0.0.1", 0)) as listening:
        thread = threading.Thread(target=_pass_on, args=(listening, clients, len(bodies)))
        thread.start()
        command = [
            sys.executable,
            "-m",
            "benchmarks.radiator.fanout",
            "nats",
            str(listening.getsockname()[1]),
            str(plan),
        ]
        load = Process(command, tmp_path / "words")
        try:
            assert load.line() == "ready"
            load.tell("")
            told = json.loads(load.line())
        finally:
            load.end()
            thread.join()
    frames = [b"MSG contexts 1 %d\r\n%b\r\n" % (len(body), body) for body in bodies]
    assert told["deliveries"] == told["due"] == clients * 3
    assert told["bytes"] == clients * sum(map(len, frames)) + clients * len(b"PING\r\n")
    assert 0 <= told["p50_ms"] <= told["p95_ms"]


def _pass_on(listening, clients, messages):
    connections = [listening.accept()[0] for _ in range(1)]
    streams = []
    while True:
        connection = connections[-1]
        connection.sendall(b"INFO {}\r\n")
        stream = connection.makefile("rb")
        streams.append(stream)
        assert stream.readline().startswith(b"CONNECT") and stream.readline().startswith(b"SUB contexts 1")
        assert stream.readline() == b"PING\r\n"
        connection.sendall(b"PONG\r\n")
        if len(connections) == clients:
            break
        connections.append(listening.accept()[0])
    for connection in connections:
        connection.sendall(b"PING\r\n")
    published = streams[0]
    while messages:
        line = published.readline()
        if line.startswith(b"PUB"):
            payload = published.read(int(line.split()[2]) + 2)
            for connection in connections:
                connection.sendall(line.replace(b"PUB contexts", b"MSG contexts 1") + payload)
            messages -= 1
    while published.readline():  # until the client has all and goes
        pass
    for connection in connections:
        connection.close()


def test_frames_of_mqtt_have_lengths_of_several_bytes():
    wire = fanout.Mqtt()
    assert wire.published(b"x" * 117)[:3] == b"\x30\x7f\0"
    assert wire.published(b"x" * 118)[:4] == b"\x30\x80\x01\0"
    assert wire.received(b"x" * 118) == len(wire.published(b"x" * 118)) == 131
