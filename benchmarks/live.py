"""Section (f): what a sample costs on its way into the journal and past the live page, and what an open page costs.

The house is the real one: livefeed, the web process and Redis as ``make up`` starts them. This process writes the
journals that ten brokers and 1,050 clients write at the published load, second by second, and opens the pages.
"""

from __future__ import annotations

import asyncio
import random
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import AsyncExitStack, contextmanager
from dataclasses import dataclass, fields
from pathlib import Path
from tempfile import TemporaryDirectory

import msgpack
from hdrh.histogram import HdrHistogram
from websockets.asyncio.client import ClientConnection, connect

from benchmarks.figures import RATIO, Figure, Unavailable, figure
from benchmarks.house import House, house
from overlay.journal.facts import Event, Sample, Start, Tick
from overlay.journal.journal import JournalTail, JournalWriter
from overlay.load.response_times import HISTOGRAM_DIGITS, LONGEST_US
from telemetry.lake.runs import RunFiles

TITLE = "Journal and live page, at the published load: 10 brokers, 50 providers, 1,000 consumers, 1 request/s each"

SECOND_US = 1_000_000
BROKERS = 10
CLIENTS = {"consumer": 1_000, "provider": 50}
BURST = 20_000
"""Samples of one burst of the journal."""
WINDOW_S = 5.0
"""How long processor time is counted with so many pages open."""
SETTLE_S = 1.5
"""From opening pages until all have had their first picture."""
BEFORE_S = 30
"""Seconds that the run has behind it when pages are opened: the published runs last as long."""
PAGES = (0, 1, 5)
PARTS = ("livefeed", "web", "redis")
COUNTERS = tuple(f"{way}_{code}" for way in ("in", "out") for code in (1, 2, 3, 4, 6, 7, 8))
GAUGES = {"entries": 50, "bytes": 50_000, "neighbours": 2, "pending": 4}


def measure(rounds: int, say: Callable[[str], None]) -> Iterator[Figure]:
    """Yield the figures of the section."""
    say("samples into a journal and past a live window")
    yield from _journal(rounds)
    say(f"livefeed, web and Redis with {', '.join(map(str, PAGES))} pages open")
    yield from _pages(rounds)


# --- the journal --------------------------------------------------------------------------------------------------


def _journal(rounds: int) -> Iterator[Figure]:
    samples = [_sample("consumer", number % 1_000, number // 1_000, number) for number in range(BURST)]
    bodies = [[1, *(getattr(sample, field.name) for field in fields(Sample))] for sample in samples]
    packed, written, passed = [], [], []
    with TemporaryDirectory() as directory:
        path = Path(directory) / "consumers-0.journal"
        writer = JournalWriter(path, _start("consumers-0"))
        tail = JournalTail(path, (Tick, Event))
        began = path.stat().st_size
        for _ in range(rounds):
            packed.append(_cpu_us(lambda: [msgpack.packb(body) for body in bodies]))
            written.append(_cpu_us(lambda: _write(writer, samples)))
            passed.append(_cpu_us(tail.read_new))
        writer.close()
        size = (path.stat().st_size - began) / rounds / BURST
    for name, costs in (("into the journal", written), ("past the live window", passed)):
        yield figure("live", f"a sample {name}", "µs", costs, "lower")
        ratios = [one / other for one, other in zip(costs, packed, strict=True)]
        yield figure("live", f"a sample {name} / packing it by msgpack", RATIO, ratios, "lower")
    yield figure("live", "a sample in the journal", "bytes", [size], "lower")


def _cpu_us(work: Callable[[], object]) -> float:
    """Processor time of each of the ``BURST`` samples that ``work`` is about."""
    began = time.process_time()
    work()
    return (time.process_time() - began) * 1e6 / BURST


def _write(writer: JournalWriter, samples: list[Sample]) -> None:
    for sample in samples:
        writer.write(sample)
    writer.flush()


# --- the live page ------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Watched:
    """Some seconds with so many pages open: cores used by each part, and the size of every snapshot that came."""

    cores: Mapping[str, float]
    frames: list[int]

    @property
    def all_cores(self) -> float:
        return sum(self.cores.values())


def _pages(rounds: int) -> Iterator[Figure]:
    watched: dict[int, list[Watched]] = {pages: [] for pages in PAGES}
    with loaded_house() as (here, run):
        asyncio.run(_watch(here, run, 1))  # until livefeed has begun
        for _ in range(rounds):
            for pages in PAGES:
                seen = asyncio.run(_watch(here, run, pages))
                if len(seen.frames) < pages * WINDOW_S / 2:
                    raise Unavailable(f"only {len(seen.frames)} snapshots came to {pages} pages in {WINDOW_S:.0f} s")
                watched[pages].append(seen)
    most = watched[max(PAGES)]
    yield figure("live", "a snapshot", "bytes", [one for each in most for one in each.frames], "lower")
    for pages, each in watched.items():
        words = f"{pages} page{'s' * (pages != 1)} open"
        for part in PARTS:
            yield figure("live", f"{part}, {words}", "% of a core", [100 * one.cores[part] for one in each], "lower")
        goal = 5.0 if pages == 1 else None
        whole = [100 * one.all_cores for one in each]
        yield figure("live", f"all three, {words}", "% of a core", whole, "lower", at_most=goal)
    growth = [many.all_cores / one.all_cores for many, one in zip(most, watched[1], strict=True)]
    yield figure("live", f"all three, {max(PAGES)} pages / 1 page", RATIO, growth, "lower")


async def _watch(here: House, run: str, pages: int) -> Watched:
    frames: list[int] = []
    address = f"ws://127.0.0.1:{here.port}/ws/runs/{run}/"
    headers = {"Cookie": here.cookie, "Origin": f"http://127.0.0.1:{here.port}"}
    async with AsyncExitStack() as stack, asyncio.TaskGroup() as group:
        sockets = [await stack.enter_async_context(connect(address, additional_headers=headers)) for _ in range(pages)]
        readers = [group.create_task(_read(socket, frames)) for socket in sockets]
        await asyncio.sleep(SETTLE_S)
        frames.clear()
        before, began = {part: here.cpu_s(part) for part in PARTS}, time.monotonic()
        await asyncio.sleep(WINDOW_S)
        after, took = {part: here.cpu_s(part) for part in PARTS}, time.monotonic() - began
        for reader in readers:
            reader.cancel()
    return Watched({part: (after[part] - before[part]) / took for part in PARTS}, frames)


async def _read(socket: ClientConnection, frames: list[int]) -> None:
    async for frame in socket:
        frames.append(len(frame))


@contextmanager
def loaded_house() -> Iterator[tuple[House, str]]:
    """A house with Redis, web and livefeed, and its run that measures the published load until the block ends."""
    with house() as here:
        here.start_redis()
        run = here.furnish("live")["run"]
        with load(here.var / "runs" / run):
            here.start_web()
            here.start("livefeed")
            yield here, run


@contextmanager
def load(directory: Path) -> Iterator[None]:
    """Journals under ``directory`` as the published load writes them, going on until the block ends."""
    files, ended = RunFiles(directory), threading.Event()
    names = [*(f"{role}s-0" for role in CLIENTS), *(f"broker-{index}" for index in range(BROKERS)), "supervisor"]
    writers = {name: JournalWriter(files.journal(name), _start(name)) for name in names}
    for second, phase in enumerate(("launching", "warming", "measuring")):
        writers["supervisor"].write(Event("supervisor", second * SECOND_US, "phase", {"phase": phase}))
    writers["supervisor"].flush()
    for second in range(BEFORE_S):
        _write_second(writers, second)

    def go_on() -> None:
        second, due = BEFORE_S, time.monotonic()
        while not ended.wait(max(0.0, due - time.monotonic())):
            _write_second(writers, second)
            second, due = second + 1, due + 1

    thread = threading.Thread(target=go_on)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()
        for writer in writers.values():
            writer.close()


def _write_second(writers: Mapping[str, JournalWriter], second: int) -> None:
    """What every process writes about one second; the numbers are made up, their amount is not."""
    at_us, chance = (second + 1) * SECOND_US, random.Random(second)
    memory = (9_000_000, 3_000_000, 2_000_000 + 100 * second)
    for role, count in CLIENTS.items():
        writer, histogram = writers[f"{role}s-0"], HdrHistogram(1, LONGEST_US, HISTOGRAM_DIGITS)
        for client in range(count):
            took_us = int(300 + chance.lognormvariate(6.5, 0.8))
            histogram.record_value(took_us)
            writer.write(_sample(role, client, second, took_us))
        ended = count * (second + 1)
        counters = {"requests": ended, "answered": ended, "not_found": 0, "refused": 0, "timed_out": 0}
        encoded = histogram.encode().decode()
        writer.write(Tick(f"{role}s-0", at_us, counters, encoded, *memory, 80_000 * second))
        writer.flush()
    for index in range(BROKERS):
        counters = {**dict.fromkeys(COUNTERS, 100 * second), "forwards": 50 * second, "hits": 50 * second, **GAUGES}
        writer = writers[f"broker-{index}"]
        writer.write(Tick(f"broker-{index}", at_us, counters, "", *memory, 30_000 * second))
        writer.flush()


def _sample(role: str, client: int, second: int, took_us: int) -> Sample:
    due = second * SECOND_US + 900 * client
    entity, stamp_ms = f"temperature|room{client % 50:04d}|building1", 1_790_000_000_000 + second
    times = (due, due + 20, due + 20 + took_us)
    return Sample(role, client, client % BROKERS, "measuring", "answered", 102, 1, *times, entity, stamp_ms)


def _start(process: str) -> Start:
    return Start(process, 1, 1_790_000_000_000_000, "bench")
