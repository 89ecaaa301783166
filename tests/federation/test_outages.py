"""Which datagrams of a broker pass while it is offline or has vanished."""

from __future__ import annotations

from overlay.systems.federation.broker.outages import Outages

SERVER, CLIENT = ("127.1.0.2", 7000), ("127.3.0.1", 1025)
BOTH = ((b"a", SERVER), (b"b", CLIENT))


def test_an_offline_broker_reaches_its_clients_only() -> None:
    outages = Outages()
    assert not outages
    assert outages.passing(BOTH, {SERVER}, 0) == BOTH
    for _ in range(2):
        outages.offline(True)
    outages.offline(False)
    assert outages.is_offline, "another fault goes on"
    assert outages.passing(BOTH, {SERVER}, 0) == [(b"b", CLIENT)]
    outages.offline(False)
    assert not outages
    assert outages.passing(BOTH, {SERVER}, 0) == BOTH


def test_a_broker_that_vanishes_properly_takes_its_leave_first() -> None:
    outages = Outages()
    outages.vanish(silent_from=10)
    assert outages.has_vanished
    assert (outages.silences(9), outages.silences(10)) == (False, True)
    outages.vanish(silent_from=5)
    assert outages.passing(BOTH, (), 5) == ()
    outages.come_back()
    assert outages.has_vanished
    assert outages.passing(BOTH, (), 5) == BOTH
    outages.come_back()
    assert not outages
