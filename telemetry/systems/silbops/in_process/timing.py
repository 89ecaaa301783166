"""Processor time of this thread, for contenders that take turns."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from random import Random
from typing import TypeVar

from overlay.systems.silbops.tables import Link
from telemetry.errors import TelemetryError
from telemetry.systems.silbops.in_process.brokers import Clients, Message

Name = TypeVar("Name", bound=Hashable)
Operation = Callable[[Clients], Sequence[tuple[Link, Message]]]
"""The messages that it takes in an arm."""
BLOCK = 50
"""Operations after which it is the next one's turn."""


def in_turn(contenders: Mapping[Name, Clients], operations: Sequence[Operation], chance: Random) -> dict[Name, float]:
    """Microseconds that each broker took for all operations.

    Raises ``TelemetryError`` if not all brokers have notified the same number of clients.
    """
    spent_ns = dict.fromkeys(contenders, 0)
    with undisturbed():
        for at in range(0, len(operations), BLOCK):
            block, notified = operations[at : at + BLOCK], set[int]()
            for name in chance.sample(list(contenders), len(contenders)):
                clients = contenders[name]
                messages = [message for operation in block for message in operation(clients)]
                before, began = clients.broker.notified, time.thread_time_ns()
                clients.play(messages)
                spent_ns[name] += time.thread_time_ns() - began
                notified.add(clients.broker.notified - before)
            if len(notified) > 1:
                raise TelemetryError(f"Brokers differ in whom they notify: {sorted(notified)} clients of one block.")
    return {name: spent / 1_000 for name, spent in spent_ns.items()}


@contextmanager
def kept() -> Iterator[None]:
    """What there is now is not looked through by the collector of cycles, which takes seconds for millions of
    objects."""
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()


@contextmanager
def undisturbed() -> Iterator[None]:
    """Without the collector of cycles, which would count against whoever happens to run it, and take about
    half of the time of loading subscriptions."""
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
