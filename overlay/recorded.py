"""A broker that writes down what goes into it and what comes out. Counterpart: ``overlay.recording`` is the file.

It stands in a broker's place at the seam of ``overlay.node``, in either driver, so that a broker that is not recorded
knows nothing of it and pays nothing. Only what drivers call is here.
"""

from __future__ import annotations

import platform
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

from overlay import __version__
from overlay.addresses import Address
from overlay.broker.broker import Broker
from overlay.broker.messages import Key
from overlay.broker.tracing import Step
from overlay.recording import MEGABYTE, Begin, Recorder, What


class RecordedBroker:
    """``broker`` and its recorder. ``clock`` tells monotonic nanoseconds when something is drained."""

    def __init__(self, broker: Broker, recorder: Recorder, clock: Callable[[], int]) -> None:
        self.broker = broker
        self.recorder = recorder
        self._clock = clock
        self.next_timer = broker.next_timer
        self.events = broker.events
        self.check_invariants = broker.check_invariants

    @property
    def address(self) -> Address:
        return self.broker.address

    @property
    def neighbours(self) -> tuple[Address, ...]:
        return self.broker.neighbours

    def receive_datagram(self, data: bytes, source: Address, now: int) -> None:
        self.recorder.write(What.RECEIVED, now, *source, data)
        self.broker.receive_datagram(data, source, now)

    def handle_timer(self, now: int) -> None:
        self.recorder.write(What.TIMER, now)
        self.broker.handle_timer(now)

    def datagrams_to_send(self) -> list[tuple[bytes, Address]]:
        datagrams = self.broker.datagrams_to_send()
        if datagrams:
            at = self._clock()
            for data, to in datagrams:
                self.recorder.write(What.SENT, at, *to, data)
        return datagrams

    def traces(self) -> list[Step]:
        self.recorder.write(What.TRACED)
        return self.broker.traces()

    def set_wall_clock(self, offset_ns: int) -> None:
        self.recorder.write(What.CLOCK, offset_ns)
        self.broker.set_wall_clock(offset_ns)

    def statistics(self, now: int) -> dict[str, int]:
        self.recorder.write(What.COUNTED, now)
        return self.broker.statistics(now)

    def held_keys(self, now: int) -> dict[Key, bool]:
        return self.broker.held_keys(now)

    def leave(self, now: int) -> None:
        self.recorder.write(What.LEAVING, now)
        self.broker.leave(now)


def begin_of(
    broker: Broker,
    chance: tuple[str, int],
    wall_offset_ns: int,
    *,
    process: str,
    life: int = 1,
    zero_ns: int = 0,
) -> Begin:
    """How the recording of a broker begins that was just made; ``chance`` is the kind and the seed of its own."""
    return Begin(
        process=process,
        life=life,
        address=broker.address,
        config=asdict(broker.config),
        chance=chance[0],
        seed=chance[1],
        wall_offset_ns=wall_offset_ns,
        zero_ns=zero_ns,
        version=__version__,
        python=platform.python_version(),
    )


def record(
    broker: Broker, begin: Begin, path: Path, most_mb: int, clock: Callable[[], int]
) -> tuple[RecordedBroker, Recorder]:
    """``broker``, which must be fresh, recorded into ``path``."""
    recorder = Recorder(path, begin, most_mb * MEGABYTE)
    return RecordedBroker(broker, recorder, clock), recorder
