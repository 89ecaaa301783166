"""A broker that writes down what goes into it and what comes out. Counterpart: ``overlay.journal.recording`` is the
file.

It stands in a broker's place in either driver, so that a broker that is not recorded knows nothing of it and pays
nothing. Overridden is what a driver calls and what changes a broker, or drains it.
"""

from __future__ import annotations

import platform
from collections.abc import Callable, Sequence
from dataclasses import asdict
from functools import cache
from pathlib import Path

from overlay import __version__
from overlay.core.addresses import Address
from overlay.core.chance import Chances
from overlay.core.hashes import digest_of_code
from overlay.journal.recording import MEGABYTE, Begin, Recorder, What
from overlay.systems.context_broker import broker
from overlay.systems.context_broker.broker.broker import Broker
from overlay.systems.context_broker.broker.config import BrokerConfig
from overlay.systems.context_broker.broker.tracing import Step


class RecordedBroker(Broker):
    """``clock`` tells monotonic nanoseconds when it is drained."""

    def __init__(
        self,
        config: BrokerConfig,
        address: Address,
        chances: Chances,
        wall_offset_ns: int,
        *,
        recorder: Recorder,
        clock: Callable[[], int],
    ) -> None:
        super().__init__(config, address, chances, wall_offset_ns)
        self.recorder = recorder
        self._clock = clock

    def receive_datagrams(self, datagrams: Sequence[tuple[bytes, Address]], now: int) -> None:
        for data, source in datagrams:
            self.recorder.write(What.RECEIVED, now, *source, data)
        super().receive_datagrams(datagrams, now)

    def handle_timer(self, now: int) -> None:
        self.recorder.write(What.TIMER, now)
        super().handle_timer(now)

    def datagrams_to_send(self) -> list[tuple[bytes, Address]]:
        datagrams = super().datagrams_to_send()
        if datagrams:
            at = self._clock()
            for data, to in datagrams:
                self.recorder.write(What.SENT, at, *to, data)
        return datagrams

    def traces(self) -> list[Step]:
        self.recorder.write(What.TRACED)
        return super().traces()

    def set_wall_clock(self, offset_ns: int) -> None:
        self.recorder.write(What.CLOCK, offset_ns)
        super().set_wall_clock(offset_ns)

    def statistics(self, now: int) -> dict[str, int]:
        self.recorder.write(What.COUNTED, now)
        return super().statistics(now)

    def leave(self, now: int) -> None:
        self.recorder.write(What.LEAVING, now)
        super().leave(now)


@cache
def broker_code() -> str:
    """Names the code that makes a broker say what it says."""
    return digest_of_code(Path(broker.__file__).parent)


def recorder_of(
    config: BrokerConfig,
    address: Address,
    chance: tuple[str, int],
    wall_offset_ns: int,
    *,
    path: Path,
    most_mb: int,
    process: str,
    life: int = 1,
    zero_ns: int = 0,
) -> Recorder:
    """The recorder of a broker that is made with the same; ``chance`` is the kind of its chances and their seed."""
    begin = Begin(
        process=process,
        life=life,
        address=address,
        config=asdict(config),
        chance=chance[0],
        seed=chance[1],
        wall_offset_ns=wall_offset_ns,
        zero_ns=zero_ns,
        version=__version__,
        code=broker_code(),
        python=platform.python_version(),
    )
    return Recorder(path, begin, most_mb * MEGABYTE)
