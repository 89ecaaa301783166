"""What a map of a run says of messages, from ticks of brokers."""

from __future__ import annotations

from typing import Any

from telemetry.systems.silbops.movements import SECOND, Sent, sent_each_second


def tick(process: str, second: float, setctx: int) -> dict[str, Any]:
    """As a row of the table."""
    return {"process": process, "at_us": round(second * SECOND), "counters": [("in_setctx", setctx), ("in_pub", 7)]}


def test_a_broker_that_starts_again_counts_from_0_and_what_it_had_counted_remains() -> None:
    ticks = [
        tick("broker-0", 1.0, 5),
        tick("broker-1", 1.0, 2),
        tick("broker-0", 2.0, 9),
        tick("broker-1", 2.1, 3),
        tick("broker-0", 3.0, 1),  # it has started again
        tick("subscriber-0", 3.0, 100),
        tick("broker-0", 4.0, 6),
    ]
    begin = from_us = 1 * SECOND
    assert sent_each_second(ticks, begin, from_us) == [
        Sent(2_100_000, setctx=5, subscribe=0, unsubscribe=0),
        Sent(3_000_000, setctx=6, subscribe=0, unsubscribe=0),
        Sent(4_000_000, setctx=11, subscribe=0, unsubscribe=0),
    ]
    assert [one.setctx for one in sent_each_second(ticks, begin, from_us=4 * SECOND)] == [6, 11], "a second before"


def test_a_broker_that_was_not_there_when_measuring_began_counts_from_its_start() -> None:
    assert [one.setctx for one in sent_each_second([tick("broker-1", 2.0, 4)], SECOND, SECOND)] == [4]
