"""The recordings of a simulated overlay: the same files that live brokers write, which replay the same way."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path

from overlay.core.addresses import Address
from overlay.core.chance import Chances
from overlay.journal.recorded import RecordedBroker, recorder_of
from overlay.journal.recording import Recorder, recording_path, recordings_in
from overlay.sim.simulator import WALL_OFFSET_NS
from overlay.systems.context_broker.broker.broker import Broker
from overlay.systems.context_broker.broker.config import BrokerConfig


def fresh_broker(config: BrokerConfig, address: Address, seed: int) -> Broker:
    """A broker that is not recorded, at the beginning of a life; ``seed`` is of its chance."""
    broker = Broker(config, address, Chances.streams(seed), WALL_OFFSET_NS)
    broker.spare_scans()
    return broker


class Recorders:
    """Makes recorded brokers in place of ``fresh_broker``; ``clock`` tells simulated nanoseconds.

    Of a broker whose service takes time the datagrams are noted when its service begins: they leave when it ends.
    """

    def __init__(self, directory: Path, most_mb: int, clock: Callable[[], int]) -> None:
        """Recordings of an earlier run in ``directory`` go: they would be taken for brokers of this one."""
        for left in recordings_in(directory):
            left.unlink()
        self._directory = directory
        self._most_mb = most_mb
        self._clock = clock
        self._processes: dict[Address, str] = {}
        """The first lives of brokers begin in the order of their numbers."""
        self._lives = Counter[Address]()
        self._recorders: list[Recorder] = []

    def __call__(self, config: BrokerConfig, address: Address, seed: int) -> Broker:
        process = self._processes.setdefault(address, f"broker-{len(self._processes)}")
        self._lives[address] += 1
        life = self._lives[address]
        path = recording_path(self._directory / f"{process}.journal", life)
        recorder = recorder_of(
            config,
            address,
            ("streams", seed),
            WALL_OFFSET_NS,
            path=path,
            most_mb=self._most_mb,
            process=process,
            life=life,
        )
        self._recorders.append(recorder)
        chances = Chances.streams(seed)
        broker = RecordedBroker(config, address, chances, WALL_OFFSET_NS, recorder=recorder, clock=self._clock)
        broker.spare_scans()
        return broker

    def close(self) -> None:
        """The run is over. Raises ``OSError`` when the disk is full."""
        for recorder in self._recorders:
            recorder.close()
