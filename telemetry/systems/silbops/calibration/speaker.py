"""A client of SilboPS, message by message."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from random import SystemRandom
from typing import Any

from overlay.systems.silbops.content.filters import EVERYTHING, Filter, read_filter
from overlay.systems.silbops.content.values import Values
from overlay.systems.silbops.names import broker_name
from overlay.systems.silbops.peers import Peers
from overlay.systems.silbops.scope.text import parse
from overlay.systems.silbops.settings import Settings
from overlay.systems.silbops.wire import messages as m
from telemetry.calibration import speaking as common
from telemetry.calibration.live import Standing

SQUARE = parse("this.x - 20 <= pub.x <= this.x + 20 and this.y - 20 <= pub.y <= this.y + 20")
"""The function of the workload."""
HERE: Values = {"x": 500.0, "y": 500.0}
"""Of the publisher, and of those that are near."""


class Speaker(common.Speaker[bytes]):
    def __init__(self, name: str, broker: int, standing: Standing, settings: Settings) -> None:
        id = name.encode().rjust(16, b"-")
        peers = Peers(id, settings, SystemRandom(), time.time_ns() - time.monotonic_ns())
        super().__init__(name, broker_name(broker).encode(), standing, peers)
        self.say(m.Attach(id))
        self.hear(m.Attached)

    def refusal(self, message: Any) -> str:
        return message.text if isinstance(message, m.Refused) else ""

    def change(self) -> m.SetCtx:
        """To another place near the publisher."""
        number = self.draw()
        return m.SetCtx(number, {"x": 490.0 + number % 1_000 / 100, "y": 500.0})

    def set_context(self, times: int = 1, *, first: Sequence[m.Message] = ()) -> None:
        """With other messages ahead of it, in one datagram; all are handled when this returns."""
        self.say(*first, *(self.change() for _ in range(times)))
        for _ in range(times):
            self.hear(m.Ok)

    def go(self, place: Values) -> None:
        self.say(m.SetCtx(self.draw(), place))
        self.hear(m.Ok)

    def advertise(self) -> None:
        """Everything, again under the same number."""
        self.say(m.Advertise(self.draw(), 1, EVERYTHING, frozenset(HERE)))
        self.hear(m.Ok)

    def subscribe(self, kind: str, *, is_near: bool = True) -> int:
        """To a kind of notifications; ``is_near``: of publishers near the context. Returns its number."""
        number = self.draw()
        one = read_filter([["kind", "=", kind]])
        self.say(m.Subscribe(number, number, one, SQUARE if is_near else None))
        self.hear(m.Ok)
        return number

    def unsubscribe(self, number: int) -> None:
        self.say(m.Unsubscribe(self.draw(), number))
        self.hear(m.Ok)

    def replace(self, numbers: Sequence[int], kind: str) -> Sequence[int]:
        """As a change of context in SIENA, in one datagram: other boxes instead of those of ``numbers``. Returns
        theirs."""
        place = self.draw() % 1_000
        boxes = {self.draw(): self._box(f"{kind} {turn}", place) for turn in range(len(numbers))}
        old = [m.Unsubscribe(self.draw(), number) for number in numbers]
        new = [m.Subscribe(number, number, box) for number, box in boxes.items()]
        self.say(*(message for pair in zip(old, new, strict=True) for message in pair))
        for _ in range(2 * len(boxes)):
            self.hear(m.Ok)
        return [*boxes]

    def _box(self, kind: str, place: float) -> Filter:
        """``SQUARE`` around a place."""
        sides = [[axis, op, place + by] for axis in HERE for op, by in ((">=", -20.0), ("<=", 20.0))]
        return read_filter([["kind", "=", kind], *sides], is_siena=True)

    def publication(self, kind: str) -> m.Publish:
        return m.Publish(self.draw(), {"kind": kind}, HERE)

    def publish(self, kind: str, times: int = 1) -> None:
        """And change the context, whose answer says that it was handled, in one datagram."""
        self.set_context(first=[self.publication(kind) for _ in range(times)])


@contextmanager
def speaking(standing: Standing, settings: Settings, names: Sequence[str], broker: int = 0) -> Iterator[list[Speaker]]:
    """Clients of one broker."""
    with common.closing([Speaker(name, broker, standing, settings) for name in names]) as found:
        yield [*found]
