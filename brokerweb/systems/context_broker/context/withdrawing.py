"""Withdraws data at all brokers of a network, and again at those that did not confirm.

A broker that is down may come back with older data only if it was cut off; one that starts again has an empty table.
Kept in the web process: after its restart, what is left over ends with the data's validity.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass

from brokerweb.networks.sight import Sight
from brokerweb.systems.contract import Key
from overlay.core.addresses import Address, parse_address
from overlay.programs.context_broker.client import NoAnswer, Refused
from overlay.programs.context_broker.follower import wall_ms
from overlay.programs.context_broker.pool import PoolClient
from overlay.systems.context_broker.pool.pool import TooMany

ONE_S = 1.0
"""Timeout of one broker."""
AT_ONCE = 32
MOST_PENDING = 10_000
"""Withdrawals at one broker each; the oldest are given up."""
FIRST_S, LONGEST_S = 1.0, 30.0
"""Pauses between two attempts."""
UNKNOWN_MS = 3_600_000
"""How long one is repeated whose data have no known end."""

log = logging.getLogger(__name__)
Client = Callable[[Sight], PoolClient]
Look = Callable[[str], Awaitable[Sight | None]]


@dataclass(frozen=True, slots=True)
class Withdrawal:
    """Of one provider's entry. Times are Unix milliseconds."""

    network: str
    provider: str
    key: Key
    stamp: int
    until: int
    """The latest ValidEnd known; 0 if unknown."""

    @property
    def ends(self) -> int:
        return self.until or self.stamp + UNKNOWN_MS


class Withdrawing:
    """``client`` has the ports of a network; ``look`` reads it from the database."""

    def __init__(self, client: Client, look: Look) -> None:
        self._client = client
        self._look = look
        self._pending: dict[tuple[Withdrawal, Address], object] = {}
        """With the process that the broker had."""
        self._task: asyncio.Task[None] | None = None

    @property
    def pending(self) -> int:
        return len(self._pending)

    async def send(self, sight: Sight, one: Withdrawal) -> Mapping[Address, bool]:
        """Whether each broker has confirmed; raises ``WireError``. Those that have not are asked again later, if one
        has."""
        processes = {parse_address(row["address"]): row.get("pid") for row in sight.rows if row.get("address")}
        confirmed = await self._send_all(self._client(sight), one, sight.addresses)
        told = {broker: confirmed.get(broker, False) for broker in processes}
        if any(told.values()):
            for broker in [broker for broker, is_done in told.items() if not is_done]:
                self._pending[one, broker] = processes[broker]
            while len(self._pending) > MOST_PENDING:
                self._pending.pop(next(iter(self._pending)))
            self._start()
        return told

    def close(self) -> None:
        if self._task is not None:
            self._task.cancel()
            self._task = None
        self._pending.clear()

    @staticmethod
    async def _send_all(client: PoolClient, one: Withdrawal, brokers: tuple[Address, ...]) -> dict[Address, bool]:
        slots = asyncio.Semaphore(AT_ONCE)

        async def send(broker: Address) -> bool:
            async with slots:
                try:
                    await client.withdraw(one.provider, one.key, one.until, one.stamp, broker, ONE_S)
                except (Refused, NoAnswer, TooMany):
                    return False
            return True

        return dict(zip(brokers, await asyncio.gather(*map(send, brokers)), strict=True))

    def _start(self) -> None:
        if self._pending and (self._task is None or self._task.done()):
            self._task = asyncio.get_running_loop().create_task(self._repeat())

    async def _repeat(self) -> None:
        pause = FIRST_S
        while self._pending:
            await asyncio.sleep(pause)
            pause = min(2 * pause, LONGEST_S)
            try:
                for network in {one.network for one, _ in self._pending}:
                    await self.again(network)
            except Exception:
                log.exception("withdrawals were not repeated")

    async def again(self, network: str) -> None:
        """Try the pending ones of a network once more, and forget those that are no longer needed."""
        sight = await self._look(network)
        up = {} if sight is None else sight.up
        there = set() if sight is None else {parse_address(row["address"]) for row in sight.rows if row.get("address")}
        for (one, broker), process in list(self._pending.items()):
            if one.network != network:
                continue
            is_over = one.ends <= wall_ms() or broker not in there
            if is_over or (broker in up and up[broker].get("pid") != process):  # it started again, without data
                self._pending.pop((one, broker), None)
            elif sight is not None and broker in up:
                confirmed = await self._send_all(self._client(sight), one, (broker,))
                if confirmed[broker]:
                    self._pending.pop((one, broker), None)
