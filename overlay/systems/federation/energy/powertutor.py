"""The model of PowerTutor for the Nexus One: each second, the radio's state by its packets, and its power by the state.

The power of the low or idle state counts all the time, also without packets: a longer run costs more.
"""

from __future__ import annotations

from copy import copy
from typing import Protocol

from overlay.core.node import SECOND
from overlay.systems.federation.energy.constants import MBIT, POWERTUTOR_THREE_G, POWERTUTOR_WIFI, Radio
from overlay.systems.federation.energy.usage import Exchange

_AT_REST = POWERTUTOR_THREE_G.dch_to_fach_s + POWERTUTOR_THREE_G.fach_to_idle_s + 1
"""Silent seconds after which no state changes any more."""


class _State(Protocol):
    def step(self, packets: int, uplink: int) -> float:
        """Power of a second with these packets and bytes of the uplink."""
        ...


class _Wifi:
    def __init__(self) -> None:
        self._is_high = False

    def step(self, packets: int, uplink: int) -> float:
        wifi = POWERTUTOR_WIFI
        self._is_high = packets > wifi.high_above or (self._is_high and packets >= wifi.low_below)
        return wifi.high_w + wifi.w_per_mbit_s * uplink * 8 / MBIT if self._is_high else wifi.low_w


class _ThreeG:
    _POWERS = POWERTUTOR_THREE_G.idle_w, POWERTUTOR_THREE_G.fach_w, POWERTUTOR_THREE_G.dch_w
    _PATIENCE = 0, POWERTUTOR_THREE_G.fach_to_idle_s, POWERTUTOR_THREE_G.dch_to_fach_s

    def __init__(self) -> None:
        self._state = self._silent = 0

    def step(self, packets: int, uplink: int) -> float:
        self._silent = 0 if packets else self._silent + 1
        if packets:
            self._state = min(self._state + 1, 2)
        elif self._state and self._silent >= self._PATIENCE[self._state]:
            self._state, self._silent = self._state - 1, 0
        return self._POWERS[self._state]


class PowerTutor:
    """``add`` in the order of time; ``joules`` up to an instant that is not before the last exchange."""

    def __init__(self, radio: Radio = Radio.WIFI) -> None:
        """Raises ``ValueError`` for GSM, which it does not model."""
        if radio is Radio.GSM:
            raise ValueError(f"PowerTutor has no model of {radio}")
        self._state: _State = _Wifi() if radio is Radio.WIFI else _ThreeG()
        self._second = self._packets = self._uplink = 0
        """The current second, and what it has so far."""
        self._joules = 0.0
        """Of the seconds before."""

    def add(self, one: Exchange) -> None:
        self._advance(one.at_ns // SECOND)
        self._packets += one.packets
        self._uplink += one.up_bytes

    def joules(self, now_ns: int) -> float:
        ahead = copy(self)
        ahead._state = copy(self._state)
        ahead._advance(now_ns // SECOND)
        return ahead._joules + ahead._state.step(ahead._packets, ahead._uplink) * (now_ns % SECOND) / SECOND

    def _advance(self, second: int) -> None:
        silent = second - self._second - 1
        if silent < 0:
            return
        step = self._state.step
        self._joules += step(self._packets, self._uplink)
        self._joules += sum(step(0, 0) for _ in range(min(silent, _AT_REST)))
        if silent > _AT_REST:
            self._joules += (silent - _AT_REST) * step(0, 0)
        self._second, self._packets, self._uplink = second, 0, 0
