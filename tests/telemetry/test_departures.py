"""How long neighbours took to know that a broker was gone."""

from __future__ import annotations

from typing import Any

from overlay.journal.facts import Event, Start
from telemetry.systems.context_broker.departures import known

STARTS = [Start(f"broker-{index}", 0, 0, "1", f"10.0.0.{index}:7001") for index in range(4)]


def event(at_s: float, process: str, name: str, **detail: Any) -> Event:
    return Event(process, int(at_s * 1e6), name, detail)


def noticed(at_s: float, by: int, broker: int, name: str = "NeighbourLost") -> Event:
    return event(at_s, f"broker-{by}", name, neighbour=f"10.0.0.{broker}:7001")


def test_a_departure_is_known_when_its_last_neighbour_noticed_it() -> None:
    events = [
        event(10, "supervisor", "churn_crashed", broker=1),
        noticed(13, by=0, broker=1),
        noticed(12, by=2, broker=1),
        noticed(12.5, by=2, broker=3),
        event(20, "supervisor", "churn_left", broker=2),
        noticed(20.1, by=0, broker=2, name="NeighbourLeft"),
    ]
    assert known(events, STARTS) == {"count": 2, "noticed": 2, "known_ms": (3000 + 100) / 2}


def test_what_is_noticed_after_the_return_is_of_another_departure() -> None:
    events = [
        event(10, "supervisor", "churn_crashed", broker=1),
        event(11, "supervisor", "churn_returned", broker=1),
        noticed(13, by=0, broker=1),
    ]
    assert known(events, STARTS) == {"count": 1, "noticed": 0, "known_ms": None}
