"""A system with the context of one network in memory."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from brokerweb.ngsi.times import read_time
from brokerweb.systems.contract import Absent, Held, Listed, StoredValue, Taken

FUTURE = "2999-01-01T00:00:00Z"
Name = tuple[str, str, str, str]


def value_of(row: Mapping[str, Any]) -> StoredValue:
    key = row["type"], row["entity"], row["scope"]
    return StoredValue(key, row["provider"], row["payload"], row["text"], 1, read_time(row["valid_end"]) or 0)


class FakeFollowing:
    def __init__(self, rows: Mapping[Name, Mapping[str, Any]]) -> None:
        self.rows = rows
        self.log: list[tuple[str, Mapping[str, Any], Mapping[str, Any] | None]] = []
        """What happened, its row, and the one before."""
        self.forgotten = 0
        self.listeners: list[Callable[[], Any]] = []
        self.is_complete = True

    @property
    def last(self) -> int:
        return len(self.log)

    def id_of(self, number: int) -> str:
        return str(number)

    def number_of(self, id: str) -> int | None:
        return int(id)

    def changes(self, after: int, most: int) -> Sequence[Any] | None:
        return None if after < self.forgotten else self.log[after : after + most]

    def values(self, key: Any) -> Sequence[StoredValue]:
        return [value_of(row) for name, row in self.rows.items() if name[:3] == key]

    def values_of(self, change: Any) -> tuple[StoredValue | None, StoredValue | None]:
        what, row, before = change
        return before and value_of(before), value_of(row) if what == "stored" else None

    def missing(self, snapshot: Any) -> Sequence[Mapping[str, Any]]:
        return [] if self.is_complete else [{"broker": None, "broker_index": 1, "reason": "silent"}]

    def listen(self, listener: Callable[[], Any]) -> Callable[[], None]:
        self.listeners.append(listener)
        return lambda: self.listeners.remove(listener)


class FakeContext:
    """``brokerweb.systems.contract.Context`` of a system whose only server answers at once."""

    operations = frozenset({"get", "put", "delete", "list"})
    names = ("type", "entity", "scope")
    longest_valid_ms = 1_000_000

    def __init__(self) -> None:
        self.rows: dict[Name, dict[str, Any]] = {}
        self.following = FakeFollowing(self.rows)
        self.lists = 0

    def store(self, type: str, entity: str, scope: str, provider: str = "p", **pairs: str) -> None:
        """As a provider does it that does not come through REST."""
        names = {"type": type, "entity": entity, "scope": scope, "provider": provider}
        text = ";".join(f"{name}={value}" for name, value in pairs.items())
        row = {**names, "payload": pairs, "text": text, "valid_end": FUTURE, "age_ms": 0}
        before = self.rows.get((type, entity, scope, provider))
        self.rows[type, entity, scope, provider] = row
        self._tell("stored", row, before)

    def withdraw(self, type: str, entity: str, scope: str, provider: str = "p") -> None:
        before = self.rows.pop((type, entity, scope, provider))
        self._tell("withdrawn", before, before)

    def _tell(self, what: str, row: Mapping[str, Any], before: Mapping[str, Any] | None) -> None:
        self.following.log.append((what, row, before))
        for listener in list(self.following.listeners):
            listener()

    def selection(self, parameters: Mapping[str, str]) -> Any:
        return None

    def key(self, first: str, second: str, third: str) -> Any:
        return first, second, third

    def read(self, key: Any, body: Any) -> Any:
        return key, body

    async def put(self, snapshot: Any, change: Any, how: Any) -> Taken:
        key, body = change
        self.store(*key, body["provider"], **body["payload"])
        return Taken({"broker_index": 0}, "")

    async def get(self, snapshot: Any, key: Any, how: Any) -> Held:
        found = [row for name, row in self.rows.items() if name[:3] == key]
        if not found:
            raise Absent("Nothing.")
        return Held(found[-1], "v", 1)

    async def delete(self, snapshot: Any, key: Any, which: Mapping[str, str], how: Any, check: Any) -> Taken:
        if (*key, which["provider"]) not in self.rows:
            raise Absent("Nothing.")
        self.withdraw(*key, which["provider"])
        return Taken({}, "")

    async def list(self, snapshot: Any, selection: Any, after: str, most: int) -> Listed:
        self.lists += 1
        names = sorted(name for name in self.rows if str(name) > after)[:2]
        more = str(names[-1]) if names and any(str(name) > str(names[-1]) for name in self.rows) else ""
        last = self.following.id_of(self.following.last)
        return Listed([self.rows[name] for name in names], more, last, [])

    async def follow(self, snapshot: Any) -> FakeFollowing:
        return self.following
