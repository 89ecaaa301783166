"""Brokers of a tree that tell each other the differences of their tables, over links with messages in flight."""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from collections.abc import Sequence
from random import Random
from typing import Any

from overlay.systems.silbops.content.filters import Filter, matches
from overlay.systems.silbops.content.values import Values
from overlay.systems.silbops.scope.evaluation import ScopeError, holds
from overlay.systems.silbops.scope.tree import Tree
from overlay.systems.silbops.tables import Advertisement, Key, Kind, Link, Subscription, Tables
from overlay.systems.silbops.tables.publishers import _group
from overlay.systems.silbops.tables.rows import Context, neighbour


class Client:
    """What an application has set, and at which broker."""

    def __init__(self, number: int, broker: int) -> None:
        self.owner, self.broker = bytes([number]) * 16, broker
        self.link = Link(Kind.CLIENT, f"{number}")
        self.subscriptions: dict[Key, Subscription] = {}
        self.advertisements: dict[Key, Advertisement] = {}
        self.context: Values | None = None
        self.version = 0

    def key(self, number: int) -> Key:
        return Key(self.owner, number)


class Network:
    def __init__(self, links: Sequence[tuple[int, int]], brokers: int, random: Random, **settings: Any) -> None:
        self.tables = [Tables(**settings) for _ in range(brokers)]
        self.clients: list[Client] = []
        self._random = random
        self._queues: dict[tuple[int, int], deque[tuple[Any, ...]]] = {}
        for one, other in links:
            for sender, receiver in ((one, other), (other, one)):
                self._queues[sender, receiver] = deque()
                self.tables[sender].connect(neighbour(f"{receiver}"))

    def attach(self, broker: int) -> Client:
        client = Client(len(self.clients), broker)
        self.clients.append(client)
        return client

    # ---- what clients do

    def subscribe(self, client: Client, number: int, content: Filter, scope: Tree | None) -> None:
        one = Subscription(client.key(number), content, scope)
        client.subscriptions[one.key] = one
        self.tables[client.broker].subscribe(client.link, one)
        self._tell(client.broker)

    def unsubscribe(self, client: Client, number: int) -> None:
        client.subscriptions.pop(client.key(number), None)
        self.tables[client.broker].unsubscribe(client.link, client.key(number))
        self._tell(client.broker)

    def advertise(self, client: Client, number: int, content: Filter, variables: frozenset[str]) -> None:
        one = Advertisement(client.key(number), content, variables)
        client.advertisements[one.key] = one
        self.tables[client.broker].advertise(client.link, one)
        self._tell(client.broker)

    def unadvertise(self, client: Client, number: int) -> None:
        client.advertisements.pop(client.key(number), None)
        self.tables[client.broker].unadvertise(client.link, client.key(number))
        self._tell(client.broker)

    def set_context(self, client: Client, values: Values) -> None:
        client.context, client.version = values, client.version + 1
        self.tables[client.broker].set_context(client.link, client.owner, Context(client.version, values))
        self._tell(client.broker)

    def leave(self, client: Client) -> None:
        self.clients.remove(client)
        self.tables[client.broker].drop_link(client.link)
        self._tell(client.broker)

    def cut(self, one: int, other: int) -> None:
        """The link is down at both ends, with what was in flight."""
        for sender, receiver in ((one, other), (other, one)):
            self._queues[sender, receiver].clear()
            self.tables[sender].drop_link(neighbour(f"{receiver}"))
        self._tell(one)
        self._tell(other)

    def mend(self, one: int, other: int) -> None:
        for sender, receiver in ((one, other), (other, one)):
            self.tables[sender].connect(neighbour(f"{receiver}"))
        self._tell(one)
        self._tell(other)

    # ---- links

    def step(self) -> bool:
        """One message arrives. Whether there was one."""
        waiting = sorted(pair for pair, queue in self._queues.items() if queue)
        if not waiting:
            return False
        sender, receiver = self._random.choice(waiting)
        kind, *fields = self._queues[sender, receiver].popleft()
        tables, link = self.tables[receiver], neighbour(f"{sender}")
        getattr(tables, kind)(link, *fields)
        self._tell(receiver)
        return True

    def settle(self) -> None:
        for _ in range(100_000):
            if not self.step():
                break
        else:
            raise AssertionError("not settled after 100,000 messages")
        for tables in self.tables:
            tables.check_invariants()
            check_publishers(tables)

    def _tell(self, broker: int) -> None:
        for link, one in self.tables[broker].differences():
            queue = self._queues[broker, int(link.name)]
            queue += [("advertise", each) for each in one.advertised]
            queue += [("unadvertise", key) for key in one.unadvertised]
            queue += [("set_context", owner, context) for owner, context in one.contexts]
            queue += [("subscribe", each) for each in one.subscribed]
            queue += [("unsubscribe", key) for key in one.unsubscribed]
            queue += [("forget", owner) for owner in one.forgotten]

    # ---- notifications, with no message in flight

    def publish(self, client: Client, content: Values) -> dict[str, tuple[Key, ...]] | None:
        """By client who gets it, the subscriptions that it satisfies; None if it is advertised nowhere."""
        context = permitted(client, content)
        if context is None:
            return None
        found: dict[str, tuple[Key, ...]] = {}
        waiting = [(client.broker, client.link)]
        while waiting:
            broker, came_by = waiting.pop()
            for link, keys in self.tables[broker].route(came_by, content, context):
                if link.kind is Kind.BROKER:
                    waiting.append((int(link.name), neighbour(f"{broker}")))
                else:
                    assert link.name not in found, "a client got it twice"
                    found[link.name] = keys
        return found

    def due(self, client: Client, content: Values) -> dict[str, tuple[Key, ...]]:
        """By brute force over what all clients have set."""
        context = permitted(client, content)
        assert context is not None
        found = {}
        for other in self.clients:
            rows = other.subscriptions.values() if other is not client else ()
            keys = [one.key for one in rows if is_satisfied(one, other, content, context)]
            if keys:
                found[other.link.name] = tuple(sorted(keys))
        return found


def check_publishers(tables: Tables) -> None:
    """That what neighbours call for is decided by the advertisements that came from them, all of them."""
    for link, outlet in tables._outlets.items():
        behind = {one.key: one for by, one in tables.all_advertisements() if by == link}
        known = outlet.publishers.keys()
        assert {key: outlet.publishers.get(key) for key in known} == behind
        of_one: dict[bytes, dict[Key, Advertisement]] = defaultdict(dict)
        for key, one in behind.items():
            of_one[key[0]][key] = one
        assert outlet.publishers._groups == Counter(map(_group, of_one.values()))


def permitted(client: Client, content: Values) -> Values | None:
    """The publisher's context, cut to what its advertisements of this notification allow."""
    several = [one for one in client.advertisements.values() if matches(one.filter, content)]
    if not several:
        return None
    names = frozenset[str]().union(*(one.variables for one in several))
    return {name: value for name, value in (client.context or {}).items() if name in names}


def is_satisfied(one: Subscription, subscriber: Client, content: Values, context: Values) -> bool:
    if not matches(one.filter, content):
        return False
    if one.scope is None:
        return True
    if subscriber.context is None:
        return False
    try:
        return holds(one.scope, context, subscriber.context)
    except ScopeError:
        return False
