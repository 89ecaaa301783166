"""Withdrawals that brokers have not confirmed, repeated at a client without sockets."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import pytest

from overlay.core.addresses import Address
from overlay.programs.context_broker.client import NoAnswer, Refused
from overlay.programs.context_broker.follower import wall_ms
from overlay.programs.context_broker.withdrawals import (
    OF_ONE_BROKER,
    Brokers,
    Pending,
    Repeater,
    Withdrawal,
    is_over,
    withdraw,
)

LIVE, FROZEN, OTHER, FULL = (("127.0.0.1", port) for port in range(1, 5))
LATER = wall_ms() + 10_000_000


class Client:
    """``FROZEN`` and ``OTHER`` are silent, ``FULL`` refuses."""

    def __init__(self) -> None:
        self.sent: Counter[Address] = Counter()
        self.silent = {FROZEN, OTHER}

    async def withdraw(
        self, provider: str, key: Any, until: int, stamp: int, broker: Address, deadline_s: float
    ) -> None:
        self.sent[broker] += 1
        if broker in self.silent:
            raise NoAnswer("silent")
        if broker == FULL:
            raise Refused(broker, 201, "full")


class Net:
    def __init__(self) -> None:
        self.client = Client()
        self.processes: dict[Address, int | None] | None = {LIVE: 1, FROZEN: 2, OTHER: 3, FULL: 4}
        self.ended: list[Pending] = []
        self.repeater = Repeater(self.look, self.end)

    async def look(self) -> Brokers | None:
        return None if self.processes is None else Brokers(self.client, self.processes, self.processes)  # type: ignore[arg-type]

    async def end(self, over: Sequence[Pending]) -> None:
        self.ended += over


def withdrawal(number: int, stamp: int = 1, until: int = LATER) -> Withdrawal:
    return Withdrawal("p", ("room", f"r{number}", "temp"), stamp, until)


@pytest.fixture
async def net() -> Any:
    made = Net()
    yield made
    made.repeater.close()


async def test_a_frozen_broker_costs_one_timeout_and_keeps_no_other_from_its_own(net: Net) -> None:
    processes = {LIVE: 1, FROZEN: 2, OTHER: 3, FULL: 4}
    net.repeater.add(Pending(withdrawal(n), at, pid) for at, pid in processes.items() for n in range(50))
    await net.repeater.again()
    assert net.client.sent == {LIVE: 50, FROZEN: OF_ONE_BROKER, OTHER: OF_ONE_BROKER, FULL: 50}
    assert {one.broker for one in net.ended} == {LIVE}
    assert (len(net.ended), len(net.repeater)) == (50, 150)
    net.client.silent.clear()
    await net.repeater.again()
    assert len(net.repeater) == 50, "what was refused is asked again"


async def test_it_ends_with_the_data_the_process_the_broker_or_the_network(net: Net) -> None:
    brokers = await net.look()
    assert brokers is not None
    for one, over in (
        (Pending(withdrawal(1), FROZEN, 2), False),
        (Pending(withdrawal(1), FROZEN, 7), True),
        (Pending(withdrawal(1, until=5), FROZEN, 2), True),
        (Pending(withdrawal(1, stamp=wall_ms(), until=0), FROZEN, 2), False),
        (Pending(withdrawal(1, until=0), FROZEN, 2), True),
        (Pending(withdrawal(1), ("127.0.0.1", 9), 2), True),
    ):
        assert is_over(one, brokers, wall_ms()) is over, one
    net.repeater.add([Pending(withdrawal(1), FROZEN, 2)])
    net.processes = None
    await net.repeater.again()
    assert (len(net.repeater), len(net.ended)) == (0, 1)


async def test_of_two_of_one_entry_the_later_one_is_repeated(net: Net) -> None:
    early, late = (Pending(withdrawal(1, stamp), FROZEN, 2) for stamp in (1, 2))
    assert net.repeater.add([late]) == []
    assert net.repeater.add([early]) == [early]
    assert len(net.repeater) == 1
    latest = Pending(withdrawal(1, 3), FROZEN, 2)
    assert net.repeater.add([latest]) == [late]


async def test_all_are_told_at_once(net: Net) -> None:
    told = await withdraw(net.client, withdrawal(1), (LIVE, FROZEN, FULL))  # type: ignore[arg-type]
    assert told[LIVE] is None
    assert isinstance(told[FROZEN], NoAnswer)
    assert isinstance(told[FULL], Refused)
