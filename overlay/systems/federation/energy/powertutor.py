"""The model of PowerTutor for the Nexus One: each second, the radio's state by its packets, and its power by the state.

The power of the low or idle state counts for the whole duration, also without packets: a longer run costs more.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from overlay.core.node import SECOND
from overlay.systems.federation.energy.constants import CPU_W, MBIT, POWERTUTOR_THREE_G, POWERTUTOR_WIFI, Radio
from overlay.systems.federation.energy.usage import Energy, Usage


def powertutor(usage: Usage, radio: Radio = Radio.WIFI) -> Energy:
    """Raises ``ValueError`` for GSM, which it does not model."""
    powers = _POWERS.get(radio)
    if powers is None:
        raise ValueError(f"PowerTutor has no model of {radio}")
    seconds, rest = divmod(usage.duration_ns, SECOND)
    lengths = [1.0] * seconds + [rest / SECOND]
    return Energy(
        sum(power * length for power, length in zip(powers(_by_second(usage, len(lengths))), lengths, strict=True)),
        usage.cpu_ns / SECOND * CPU_W,
    )


def _by_second(usage: Usage, count: int) -> list[tuple[int, int]]:
    """Packets, and bytes of the uplink."""
    packets, uplink = [0] * count, [0] * count
    for one in usage.exchanges:
        second = one.at_ns // SECOND
        packets[second] += one.packets
        uplink[second] += one.up_bytes
    return list(zip(packets, uplink, strict=True))


def _wifi(seconds: list[tuple[int, int]]) -> Iterator[float]:
    """Power in each second."""
    wifi, is_high = POWERTUTOR_WIFI, False
    for packets, uplink in seconds:
        is_high = packets > wifi.high_above or (is_high and packets >= wifi.low_below)
        yield wifi.high_w + wifi.w_per_mbit_s * uplink * 8 / MBIT if is_high else wifi.low_w


def _three_g(seconds: list[tuple[int, int]]) -> Iterator[float]:
    model = POWERTUTOR_THREE_G
    powers, patience = (model.idle_w, model.fach_w, model.dch_w), (0, model.fach_to_idle_s, model.dch_to_fach_s)
    state = silent = 0
    for packets, _ in seconds:
        silent = 0 if packets else silent + 1
        if packets:
            state = min(state + 1, 2)
        elif state and silent >= patience[state]:
            state, silent = state - 1, 0
        yield powers[state]


_POWERS: dict[Radio, Callable[[list[tuple[int, int]]], Iterator[float]]] = {Radio.WIFI: _wifi, Radio.THREE_G: _three_g}
