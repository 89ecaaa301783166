"""Rounds of pings, and the report of the connections after each (contract, section 4)."""

from __future__ import annotations

from typing import Final

from overlay.core.node import MILLISECOND, SECOND
from overlay.log.topics import Record
from overlay.systems.contextnet.gateway.rounds import Round
from overlay.systems.contextnet.gateway.station import Station
from overlay.systems.contextnet.records import codec, names
from overlay.systems.contextnet.records.kinds import MOST_NODES
from overlay.systems.contextnet.records.records import ALL, ConnectionReport, Held, PingConfig, Pong
from overlay.systems.contextnet.transport.events import Answered

MOST_SPREAD: Final = 5 * SECOND
_LEAST_WINDOW: Final = 10 * MILLISECOND


class Pings:
    def __init__(self, station: Station) -> None:
        config = station.config
        self._station = station
        self._config = PingConfig(config.ping_period_s, config.ping_window_ms, -1)
        self._number = 0
        """Of the round, and the value of its pings."""
        self._round: Round | None = None
        self._window = 0
        self._sent: dict[bytes, int] = {}
        """Of this round: when each node was pinged."""
        self._pongs: dict[bytes, int] = {}
        """Of this round: those in time, with their round trip in ns."""
        self._seq = 0

    def configure(self, record: Record) -> None:
        """From the next round on. Raises ``WireError``."""
        if record.key not in (self._station.name.encode(), ALL.encode()):
            return
        found: PingConfig = codec.read(record.topic, record.value)
        if found.version > self._config.version:
            self._config = found

    def start(self) -> None:
        """The first round is a period later, when nodes are there."""
        self._station.timers.set("pings", self._station.now + self._config.period_s * SECOND)

    def begin(self) -> None:
        """A round. The window of the one before may end just now."""
        if self._round is not None:
            self.report()
        station, now = self._station, self._station.now
        period = self._config.period_s * SECOND
        spread = min(period // 2, MOST_SPREAD)
        self._number += 1
        self._sent, self._pongs = {}, {}
        self._window = max(min(self._config.window_ms * MILLISECOND, period - spread), _LEAST_WINDOW)
        self._round = Round(station.end.opened(), now, spread, self._ping)
        station.timers.set("pings", now + period)
        station.timers.set("pongs", now + spread + self._window)
        self.tick()

    def tick(self) -> None:
        if self._round is not None and (at := self._round.run(self._station.now)) is not None:
            self._station.timers.set("ping", at)

    def _ping(self, node: bytes) -> None:
        if self._station.end.ping(node, self._number, self._station.now):
            self._sent[node] = self._station.now

    def answered(self, event: Answered) -> None:
        node, number = event.node, event.value
        if not 0 < number <= self._number:
            return  # of a keep-alive
        at = self._sent.get(node) if number == self._number else None
        took = self._station.now - at if at is not None else self._window + 1
        if took > self._window:
            self._station.counters["late_pongs"] += 1
        else:
            self._pongs.setdefault(node, took)

    def report(self) -> None:
        """All windows are over."""
        station, round_ = self._station, self._round
        if round_ is None:
            return
        members, at = station.end.members, station.wall_us
        nodes = [Held(node, members[node].epoch) for node in station.end.opened()]
        pongs = [Pong(node, took // 1_000) for node, took in self._pongs.items()]
        parts = max(1, -(-max(len(nodes), len(pongs)) // MOST_NODES))
        for part in range(parts):
            some = slice(part * MOST_NODES, (part + 1) * MOST_NODES)
            report = ConnectionReport(
                gateway=station.name,
                seq=self._seq,
                at=at,
                ping_sent_at=(round_.begun + station.wall_offset_ns) // 1_000,
                window_ms=self._window // MILLISECOND,
                pinged=len(self._sent),
                pongs=tuple(pongs[some]),
                nodes=tuple(nodes[some]),
                part=part,
                parts=parts,
            )
            station.tell(names.CONNECTION_REPORT, station.name.encode(), report)
        self._seq += 1
        self._round, self._sent, self._pongs = None, {}, {}

    def check_invariants(self) -> None:
        """(I8). Raises ``AssertionError``."""
        assert self._pongs.keys() <= self._sent.keys(), "a pong follows its ping"
        assert all(0 <= took <= self._window for took in self._pongs.values()), "no late pong counts"
