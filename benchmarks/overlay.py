"""Ten brokers under the published load: what the whole of it costs a processor.

The load is that of ``docs/results/published-load.md`` (50 providers, 1,000 consumers, 1 kB, both intervals 1 s), with
clients that start 2 ms apart and some seconds measured in place of 60. The supervisor deploys it as it does for a run
of an experiment, and the journals of its processes say what they used.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import asdict
from functools import partial
from pathlib import Path
from statistics import fmean

from benchmarks.bursts import Wrong, burst, fill
from benchmarks.figures import RATIO, Figure, figure
from benchmarks.servers import SEED, c_server, scratch, supervisor
from overlay.deployment.phases import ENDED
from overlay.journal.facts import Sample, Start, Tick
from overlay.journal.journal import read_journal
from overlay.runtime.own_supervisor import document_of
from overlay.runtime.supervisor_client import Status, SupervisorClient, is_gone
from overlay.topologies import generate

TITLE = "Ten brokers under the published load"
TOPOLOGIES = ("ring", "full-mesh", "waxman")
BROKERS = 10
WORKLOAD = {
    "providers": 50,
    "consumers": 1000,
    "update_interval_s": 1,
    "request_interval_s": 1,
    "payload_bytes": 1024,
    "stagger_ms": 2,
    "duration_s": 6,
}
SHARE = 4
"""One round of this is so many of the others': each takes 15 s."""
LONGEST_S = 90

Say = Callable[[str], None]


def measure(rounds: int, say: Say) -> Iterator[Figure]:
    """Processor seconds for 1,000 requests, of the brokers together and of the clients, on each topology."""
    with scratch() as home, supervisor() as client, c_server() as reference:
        fill(reference, 1000)
        woken = partial(burst, reference, "full", 1)
        for topology in TOPOLOGIES:
            brokers, clients, ratios = [], [], []
            for number in range(max(1, rounds // SHARE)):
                say(f"{topology}, run {number + 1}")
                before = woken().processor_us
                spent = _run(client, topology, f"{topology}-{number}", home / f"{topology}-{number}")
                ratios.append(spent["broker"] * 1000 / fmean((before, woken().processor_us)))
                brokers.append(spent["broker"])
                clients.append(spent["client"])
            it = partial(figure, "overlay", better="lower")
            yield it(f"{topology}: brokers", "s of processor/1,000 requests", brokers)
            yield it(f"{topology}: clients", "s of processor/1,000 requests", clients)
            yield it(f"{topology}: brokers / one C, full, 1 outstanding", RATIO, ratios)


def _run(client: SupervisorClient, topology: str, id: str, directory: Path) -> dict[str, float]:
    """Deploy it, wait for its end, and read what it used. Raises ``Wrong`` where it fails or leaves unanswered."""
    links = [asdict(link) for link in generate(topology, BROKERS, seed=1).links]
    document = document_of(id, directory, brokers=BROKERS, settings={}, workload=WORKLOAD, seed=SEED, links=links)
    deadline = time.monotonic() + LONGEST_S
    status = client.deploy(document)
    while status["phase"] not in ENDED or not is_gone(status):
        if time.monotonic() > deadline:
            client.stop(id, 1, "it takes too long to be measured")
            raise Wrong(f"{id} is still {status['phase']} after {LONGEST_S} s")
        time.sleep(0.5)
        status = client.status(id)
    if status["phase"] != "finished":
        raise Wrong(f"{id} has {status['phase']}: {status['reason']}")
    return _spent(directory, status)


def _spent(directory: Path, status: Status) -> dict[str, float]:
    """Processor seconds for 1,000 requests, by kind of process, while it measured."""
    begin, end = status["measuring_unix_ms"] * 1000, status["ends_unix_ms"] * 1000
    shares = {"broker": 0.0, "client": 0.0}
    asked = unanswered = 0
    for path in sorted((directory / "journal").glob("*.journal")):
        zero, ticks = 0, []
        for fact in read_journal(path):
            match fact:
                case Start():
                    zero = fact.zero_unix_us
                case Tick() if begin <= zero + fact.at_us <= end:
                    ticks.append(fact)
                case Sample(role="consumer", phase="measuring"):
                    asked += 1
                    unanswered += fact.outcome != "answered"
        if len(ticks) > 1:
            of = ticks[-1].cpu_us - ticks[0].cpu_us
            kind = "broker" if path.stem.startswith("broker") else "client"
            shares[kind] += of / (ticks[-1].at_us - ticks[0].at_us)
    if not asked or unanswered > asked / 1000:
        raise Wrong(f"{unanswered} of {asked} requests were not answered")
    per_second = asked * 1e6 / (end - begin)
    return {kind: share * 1000 / per_second for kind, share in shares.items()}
