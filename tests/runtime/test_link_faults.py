"""Shapers of real brokers follow the faults that their supervisor tells, and only those that a fault may strike."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest

from overlay.core.addresses import Address
from overlay.core.links import MAX_COPIES, LinkShape
from overlay.core.node import MILLISECOND
from overlay.deployment.deployment import Deployment
from overlay.faults.faults import IMPAIRED, LOSSY, PARTITION, SLOW, Fault
from overlay.runtime.link_faults import FaultyShaper, SharedFaults, faulty_directions
from tests.sim.test_engine import document

ADDRESSES: tuple[Address, ...] = tuple(("127.0.0.1", 4000 + index) for index in range(6))
LOST = Fault(LOSSY, 1, 2, links=frozenset([(0, 1)]), shape=LinkShape(loss=1.0))
SLOWER = Fault(SLOW, 1, 2, shape=LinkShape(delay_ms=30))
CUT = Fault(PARTITION, 1, 2, islands=((0,), (1,)))


@pytest.fixture
def shared() -> Iterator[SharedFaults]:
    shared = SharedFaults((LOST, SLOWER, CUT))
    yield shared
    shared.close()


def test_a_direction_is_lost_slow_or_cut_while_a_fault_lasts_and_as_before_when_it_is_over(
    shared: SharedFaults,
) -> None:
    shaper = FaultyShaper(LinkShape(delay_ms=5), Random(1), (0, 1), shared)
    went = []
    for active in ((), (0,), (1,), (2,), (1, 2), ()):
        shared.tell(active)
        went.append([at // MILLISECOND for at, _ in shaper.transmit(b"0|", 0)])
    assert went == [[5], [], [35], [], [], [5]]


def test_a_direction_is_spared_by_a_fault_of_the_other() -> None:
    one_way = SharedFaults((Fault(LOSSY, 1, 2, links=frozenset([(1, 0)]), one_way=True, shape=LinkShape(loss=1.0)),))
    there, back = (FaultyShaper(LinkShape(delay_ms=5), Random(1), way, one_way) for way in ((0, 1), (1, 0)))
    one_way.tell((0,))
    went = [len(shaper.transmit(b"0|", 0)) for shaper in (there, back)]
    one_way.close()
    assert went == [1, 0]


def test_an_impaired_direction_does_all_that_a_link_can() -> None:
    link = frozenset([(0, 1)])
    doubled = Fault(IMPAIRED, 1, 2, links=link, shape=LinkShape(duplication=1, rate_bytes_per_s=1000))
    cut = Fault(IMPAIRED, 1, 2, links=link, shape=LinkShape(partition=True))
    impaired = SharedFaults((doubled, cut))
    shaper = FaultyShaper(LinkShape(delay_ms=5), Random(1), (0, 1), impaired)
    went = []
    for active in ((), (0,), (0, 1), ()):
        impaired.tell(active)
        went.append([at // MILLISECOND for at, _ in shaper.transmit(b"0|", 0)])
    impaired.close()
    assert went == [[5], [7] * MAX_COPIES, [], [5]]


def test_a_broker_looks_for_faults_only_where_one_may_strike(tmp_path: Path) -> None:
    def struck(broker: int, *faults: dict[str, Any]) -> set[int]:
        deployment = Deployment.from_json(document(tmp_path, faults=list(faults)))  # a ring of six
        return {ADDRESSES.index(address) for address in faulty_directions(deployment, broker, ADDRESSES)}

    kill = {"what": "kill", "brokers": [0], "at_s": 1}
    slow = {"what": "slow", "links": [[0, 1]], "delay_ms": 5, "at_s": 1}
    cut = {"what": "partition", "islands": [[0, 1], [2, 3]], "at_s": 1}
    assert struck(0) == struck(0, kill) == set()
    assert (struck(0, slow), struck(1, slow), struck(2, slow)) == ({1}, {0}, set())
    assert struck(0, {**slow, "links": "all"}) == {1, 5}
    assert (struck(0, {**slow, "one_way": True}), struck(1, {**slow, "one_way": True})) == ({1}, set())
    assert (struck(0, cut), struck(3, cut), struck(4, cut)) == ({2, 3}, {0, 1}, set())
