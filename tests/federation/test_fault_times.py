"""Times of faults that are drawn for each run."""

from __future__ import annotations

from overlay.faults.faults import Fault
from overlay.systems.federation.fault_times import drawn
from overlay.systems.federation.system import SYSTEM
from overlay.topologies import Graph

FAULTS = (
    Fault("vanish", 10.0, 20.0, clients=("provider-0",), values={"way": "proper", "spread_s": 2.0}),
    Fault("vanish", 40.0, None, clients=("provider-1",), values={"way": "proper", "spread_s": 2.0}),
    Fault("vanish", 70.0, 80.0, clients=("provider-2",), values={"way": "proper", "spread_s": 0.0}),
    Fault("kill", 90.0, servers=(1,)),
)


def test_faults_with_a_spread_begin_and_end_later_by_less_than_it() -> None:
    first, second, third, kill = drawn(FAULTS, 1)
    assert 10 < first.at_s < 12 and first.until_s == first.at_s + 10
    assert 40 < second.at_s < 42 and second.until_s is None
    assert first.at_s - 10 != second.at_s - 40
    assert (third, kill) == FAULTS[2:]


def test_each_seed_has_its_own_times_and_equal_seeds_have_the_same() -> None:
    assert drawn(FAULTS, 1) == drawn(FAULTS, 1)
    assert len({drawn(FAULTS, seed)[0].at_s for seed in range(20)}) == 20


def faults_of(seed: int) -> tuple[Fault, ...]:
    document = {"what": "vanish", "clients": ["p0"], "way": "proper", "at_s": 10.0, "until_s": 20.0, "spread_s": 2.0}
    return SYSTEM.read_faults(SYSTEM.setup({}, {}, Graph(1, ()), seed), [document])


def test_the_faults_of_a_run_are_drawn_by_its_seed() -> None:
    (one,), (other,) = faults_of(1), faults_of(2)
    assert one.clients == ("provider-0",)
    assert one.at_s != other.at_s
    assert 10 < one.at_s < 12
