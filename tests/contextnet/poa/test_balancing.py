"""The table of moves that was measured before (design/measured-004, hand-over): capacities 6,000, 6,000 and 3,000, all
nodes start at one gateway, loads have a noise of 0.05."""

from __future__ import annotations

from typing import NamedTuple

import pytest

from overlay.systems.contextnet.poa.settings import PoaSettings
from tests.contextnet.poa.bed import started
from tests.thorough import thoroughly

UNDAMPED = {"smoothing": 1, "band": 0, "persistence": 1, "budget": 1, "hold_s": 0}
SECONDS, LATER = 900, 300


class Found(NamedTuple):
    even_after_s: int
    per_minute_later: float
    most_per_node: int
    unevenness_later: float


def balanced(settings: PoaSettings, nodes: int, seed: int) -> Found:
    """With a tenth of the nodes, gateways have a tenth of the capacity."""
    capacities = {"gateway-0": nodes * 6 // 5, "gateway-1": nodes * 6 // 5, "gateway-2": nodes * 3 // 5}
    bed = started(settings, capacities, nodes, 0.05, seed)
    rounds = []
    for _ in range(SECONDS // 10):
        bed.run(10)
        rounds.append(bed.unevenness())
    even = next((10 * place for place, found in enumerate(rounds) if found <= 1.15), SECONDS)
    later = bed.moves_between(LATER, SECONDS) * 60 / (SECONDS - LATER)
    return Found(even, later, bed.most_moves(), sum(rounds[LATER // 10 :]) / ((SECONDS - LATER) // 10))


def test_damped_moves_even_out_and_cease_and_undamped_ones_go_on() -> None:
    damped = balanced(PoaSettings(), 500, 1)
    undamped = balanced(PoaSettings(rank="headroom", **UNDAMPED), 500, 1)
    assert damped.even_after_s <= 180
    assert damped.per_minute_later <= 1
    assert damped.unevenness_later <= 1.1
    assert undamped.per_minute_later >= 100
    assert damped.most_per_node <= 2 < undamped.most_per_node


@thoroughly
@pytest.mark.parametrize("seed", range(1, 4))
def test_the_measured_table_at_full_size(seed: int) -> None:
    """The manager learns of nodes with the first reports after 20 s; the table counts from then."""
    damped = balanced(PoaSettings(), 5_000, seed)
    assert 130 <= damped.even_after_s <= 160
    assert damped.per_minute_later <= 12
    assert damped.unevenness_later <= 1.08
    for rank in ("headroom", "capacity"):
        undamped = balanced(PoaSettings(rank=rank, **UNDAMPED), 5_000, seed)
        assert 1_290 <= undamped.per_minute_later <= 2_460
    assert balanced(PoaSettings(rank="headroom"), 5_000, seed).unevenness_later > 1.15, "no measure of capacity"
