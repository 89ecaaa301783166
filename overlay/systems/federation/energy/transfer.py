"""The model of transfers: energy by bytes, a ramp from idle, and a tail that the next transfer cuts short.

An additional transfer may cost less than nothing: if it keeps the radio from falling idle, it saves a ramp.
"""

from __future__ import annotations

from overlay.core.node import SECOND
from overlay.systems.federation.energy.constants import CPU_W, TRANSFERS, Radio
from overlay.systems.federation.energy.usage import Energy, Usage


def transfer(usage: Usage, radio: Radio = Radio.WIFI) -> Energy:
    """The last tail counts to its end, also after the end of the record."""
    model, joules = TRANSFERS[radio], 0.0
    instants = sorted({one.at_ns for one in usage.exchanges})
    previous = None
    for at in instants:
        gap = float("inf") if previous is None else (at - previous) / SECOND
        if gap > model.tail_s or previous is None:
            joules += model.ramp_j
        if previous is not None:
            joules += model.tail_w * min(gap, model.tail_s)
        previous = at
    if previous is not None and model.tail_w:
        joules += model.tail_w * model.tail_s
    kilobytes = sum(one.up_bytes + one.down_bytes for one in usage.exchanges) / 1024
    return Energy(joules + model.j_per_kb * kilobytes, usage.cpu_ns / SECOND * CPU_W)
