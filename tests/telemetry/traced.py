"""Queries that never were: what the brokers of a synthetic run would have reported of three of them."""

from __future__ import annotations

from overlay.journal.facts import Start, Trace
from overlay.journal.journal import JournalWriter
from telemetry.lake.runs import RunFiles
from telemetry.systems.context_broker.traces import id_of
from tests.telemetry.synthetic import MEASURING_FROM, ZERO_UNIX_US

CONSUMER = "127.0.0.1:40123"
ANSWERED = ("room|r0|climate", MEASURING_FROM + 100_000)
FAILED = ("room|r7|climate", MEASURING_FROM + 200_000)
LOST = ("room|r3|climate", MEASURING_FROM + 300_000)


ANSWERED_ID = id_of((CONSUMER, (ZERO_UNIX_US + ANSWERED[1]) // 1000, ANSWERED[0]))


def address(index: int) -> str:
    return f"127.0.0.1:{7000 + index}"


def write_traces(files: RunFiles, way: list[int]) -> None:
    """Let a query go along ``way`` and be answered, its replica kept at the second; one fail; one lose its broker."""
    reported: dict[int, list[Trace]] = {index: [] for index in way}

    def tell(index: int, query: tuple[str, int], *steps: tuple[int, str, str, str]) -> None:
        entity, at = query
        rows = [[at + after, step, peer, detail] for after, step, peer, detail in steps]
        stamp = (ZERO_UNIX_US + at) // 1000
        reported[index].append(Trace(f"broker-{index}", CONSUMER, stamp, entity, rows))

    for place, index in enumerate(way):
        sender = address(way[place - 1]) if place else CONSUMER
        there, back = 300 * place, 300 * (2 * len(way) - place)
        tell(index, ANSWERED, (there, "received", sender, ""))
        if place == len(way) - 1:
            tell(index, ANSWERED, (there + 20, "found", sender, ""))
            break
        following = address(way[place + 1])
        tell(index, ANSWERED, (there + 20, "forwarded", following, ""), (back, "answered", following, ""))
        if place == 1:
            tell(index, ANSWERED, (back + 10, "replicated", "", ""))
        tell(index, ANSWERED, (back + 20, "replied", sender, ""))
    first, second = way[:2]
    tell(first, FAILED, (0, "received", CONSUMER, ""), (30, "forwarded", address(second), ""))
    tell(second, FAILED, (400, "received", address(first), ""), (430, "passed back", address(first), "202"))
    tell(first, FAILED, (800, "refused", address(second), "202"), (830, "passed back", CONSUMER, "202"))
    tell(first, LOST, (0, "received", CONSUMER, ""), (30, "forwarded", address(way[-1]), ""), (900, "expired", "", ""))
    for index, traces in reported.items():
        process = f"broker-{index}"
        writer = JournalWriter(files.journal(process), Start(process, 100, ZERO_UNIX_US, "0.1.0", address(index)))
        for trace in traces:
            writer.write(trace)
        writer.close()
