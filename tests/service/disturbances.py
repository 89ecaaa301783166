"""What happens to an installation and its network while clients use them. Each is one entry of a schedule."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from random import Random
from typing import NamedTuple

from tests.service.ledger import Ledger
from tests.stack.house import House, kill
from tests.stack.runs import is_ready
from tests.test_rest_journey import Api
from tests.waiting import wait_for

Disturbance = tuple[str, Callable[[], object]]


class Done(NamedTuple):
    """Monotonic seconds at which it began and at which all was mended, and what it was."""

    begun: float
    mended: float
    name: str


PARTS = ("worker", "redis", "web")
PAUSE_S = 4.0
"""Between two disturbances, each of which waits until its own is mended."""


class Disturbances:
    """Of one network."""

    def __init__(
        self, house: House, api: Api, path: str, ledger: Ledger, chance: Random, *, has_changes: bool = True
    ) -> None:
        """``has_changes``: brokers are replaced, bridges killed and a setting rolled, too."""
        self._has_changes = has_changes
        self._house = house
        self._api = api
        self._path = path
        self._ledger = ledger
        self._chance = chance
        self._rolls = 0
        self.changes = 0
        """Changes of the network that were accepted; each is to be in the change log."""
        self.done: list[Done] = []

    def until(self, end: float) -> None:
        """One after another, again and again."""
        for name, act in self._schedule():
            if time.monotonic() >= end:
                return
            begun = time.monotonic()
            act()
            self.done.append(Done(begun, time.monotonic(), name))
            time.sleep(PAUSE_S)

    def _schedule(self) -> Iterator[Disturbance]:
        round_ = 0
        while True:
            yield "kill a broker", self.kill_a_broker
            part = PARTS[round_ % len(PARTS)]
            yield f"kill {part}", lambda part=part: self.kill_part(part)  # type: ignore[misc]
            if self._has_changes:
                yield "kill a bridge", self.kill_a_bridge
            yield "kill a broker", self.kill_a_broker
            if self._has_changes and round_ < 2:
                yield "replace a broker", self.replace_a_broker
            if self._has_changes and round_ == 2:
                yield "change a setting", self.change_a_setting
            round_ += 1

    def kill_a_broker(self) -> None:
        one = self._chance.choice([one for one in self._brokers() if one["state"] == "up"])
        self._ledger.deaths.append((time.monotonic(), one["index"]))
        kill(one["pid"])
        wait_for(lambda: self._all_up(), "all brokers are up again")

    def kill_a_bridge(self) -> None:
        """If the network has one."""
        for one in [one for one in self._bridges() if one["pid"]]:
            kill(one["pid"])

            def is_back(number: int = one["number"], pid: int = one["pid"]) -> bool:
                states = {each["number"]: each for each in self._bridges()}
                return states[number]["state"] == "connected" and states[number]["pid"] != pid

            wait_for(is_back, lambda: f"the bridge is back: {self._bridges()}")

    def kill_part(self, part: str) -> None:
        self._house.kill(part)
        wait_for(lambda: is_ready(self._api), f"it is ready without the former {part}")

    def replace_a_broker(self) -> None:
        """Add one with two links, then drain and remove another."""
        indices = [one["index"] for one in self._brokers()]
        self._api.post(f"{self._path}brokers/", {"links": self._chance.sample(indices, 2)})
        self.changes += 1
        self._settled()
        gone = self._chance.choice(indices)
        self._ledger.moves.append((time.monotonic(), gone))
        answer = self._api.http.delete(f"{self._path}brokers/{gone}/", params={"allow_split": "true"})
        assert answer.is_success, answer.text
        self.changes += 1
        self._settled()

    def change_a_setting(self) -> None:
        """All brokers restart one after another, each giving its entries away first."""
        self._rolls += 1
        self._ledger.moves += [(time.monotonic(), one["index"]) for one in self._brokers()]
        answer = self._api.http.patch(self._path, json={"settings": {"pending_capacity": 10_000 + self._rolls}})
        assert answer.is_success, answer.text
        self.changes += 1
        self._settled()

    def _brokers(self) -> list[dict]:  # type: ignore[type-arg]
        return list(self._api.get(self._path)["brokers"])

    def _bridges(self) -> list[dict]:  # type: ignore[type-arg]
        return list(self._api.http.get(f"{self._path}bridges/").json())

    def _all_up(self) -> bool:
        return {one["state"] for one in self._brokers()} == {"up"}

    def _settled(self) -> None:
        def rollout() -> dict:  # type: ignore[type-arg]
            return self._api.get(f"{self._path}rollout/")

        wait_for(lambda: rollout()["state"] == "done" and self._all_up(), lambda: f"it is done: {rollout()}", every=0.5)
