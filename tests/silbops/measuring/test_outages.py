"""What excuses a loss: a link or broker that was down, on the way of the publication and then."""

from __future__ import annotations

from typing import Any

from overlay.journal.facts import Event
from overlay.systems.silbops.measuring.absences import Stays
from overlay.systems.silbops.measuring.outages import Outages
from overlay.systems.silbops.rows import Served

S = 1_000_000
PARENTS = [-1, 0, 1, 1, 3]
"""0 to 1, which has 2 and 3; 3 has 4."""


def event(at: float, name: str, by: str = "supervisor", /, **detail: Any) -> Event:
    return Event(by, round(at * S), name, detail)


def at(*stays: tuple[int, float, float]) -> Stays:
    return Stays([Served("client", broker, round(since * S), round(until * S), "") for broker, since, until in stays])


def excused(events: list[Event], one: int, other: int, at_s: float) -> bool:
    outages = Outages(events, PARENTS, 2 * S)
    return outages.on_way(at((one, 0, 0)), at((other, 0, 0)), at_s * S, (at_s + 0.1) * S)


def test_a_cut_link_excuses_what_goes_over_it_while_it_is_cut() -> None:
    cut = [event(10, "fault_began", what="partition", islands=[[0, 1, 2], [3, 4]], at_s=0, until_s=5)]
    assert excused(cut, 0, 4, 12)
    assert not excused(cut, 0, 2, 12), "on its side of the cut"
    assert not excused(cut, 3, 4, 12)
    assert not excused(cut, 0, 4, 9)
    assert not excused(cut, 0, 4, 16), "no session was lost: all of it comes late"


def test_a_slow_link_excuses_only_if_its_session_is_lost_until_tables_are_told_again() -> None:
    slow = [event(10, "fault_began", what="slow", links=[[1, 3]], at_s=0, until_s=5)]
    assert not excused(slow, 2, 4, 12)
    lost = [
        *slow,
        event(14, "NeighbourLost", "broker-1", broker="b3", reason="tries"),
        event(15, "NeighbourLost", "broker-3", broker="b1", reason="tries"),
        event(17, "NeighbourConnected", "broker-3", broker="b1"),
        event(18, "NeighbourConnected", "broker-1", broker="b3"),
    ]
    assert excused(lost, 2, 4, 11), "what was under way when the session was lost"
    assert excused(lost, 2, 4, 19.5)
    assert not excused(lost, 2, 4, 21)
    assert not excused(lost, 3, 4, 15)


def test_a_broker_without_a_process_excuses_what_goes_through_it() -> None:
    killed = [event(10, "process_ended", process="broker-1"), event(12, "process_started", process="broker-1")]
    assert excused(killed, 0, 2, 11)
    assert not excused(killed, 3, 4, 11)
    assert not excused(killed, 0, 2, 15)
    assert excused(killed[:1], 0, 2, 500)


def test_a_client_that_moves_is_reached_by_each_of_its_brokers() -> None:
    cut = [event(10, "fault_began", what="impaired", links=[[0, 1]], partition=True, at_s=0)]
    mover = at((4, 0, 20), (0, 21, 0))

    def is_excused(from_s: float, until_s: float) -> bool:
        return Outages(cut, PARENTS, 2 * S).on_way(at((2, 0, 0)), mover, from_s * S, until_s * S)

    assert not is_excused(12, 13)
    assert is_excused(19, 20.5), "it is away, and comes back at 0"
    assert is_excused(22, 23)
