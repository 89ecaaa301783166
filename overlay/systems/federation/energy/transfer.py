"""The model of transfers: energy by bytes, a ramp from idle, and a tail that the next transfer cuts short.

An additional transfer may cost less than nothing: if it keeps the radio from falling idle, it saves a ramp.
"""

from __future__ import annotations

from overlay.core.node import SECOND
from overlay.systems.federation.energy.constants import TRANSFERS, Radio
from overlay.systems.federation.energy.usage import Exchange


class Transfers:
    """``add`` in the order of time; ``joules`` up to an instant that is not before the last exchange."""

    def __init__(self, radio: Radio = Radio.WIFI) -> None:
        self._model = TRANSFERS[radio]
        self._joules = 0.0
        """Without the tail of the last transfer."""
        self._last: int | None = None

    def add(self, one: Exchange) -> None:
        model = self._model
        if self._last is None or (one.at_ns - self._last) / SECOND > model.tail_s:
            self._joules += model.ramp_j
        self._joules += self._tail(one.at_ns) + model.j_per_kb * (one.up_bytes + one.down_bytes) / 1024
        self._last = one.at_ns

    def joules(self, now_ns: int) -> float:
        return self._joules + self._tail(now_ns)

    def _tail(self, now_ns: int) -> float:
        model = self._model
        return 0 if self._last is None else model.tail_w * min((now_ns - self._last) / SECOND, model.tail_s)
