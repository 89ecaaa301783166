"""Clients at brokers of a modelled tree: the tables are real, messages wait where a test wants them to."""

from __future__ import annotations

from collections import defaultdict
from hashlib import blake2b
from random import Random
from typing import Any

from overlay.core.node import SECOND
from overlay.systems.silbops.clients.client import Client
from overlay.systems.silbops.clients.events import Notified
from overlay.systems.silbops.clients.terms import Site, Terms
from overlay.systems.silbops.clients.wires import Ended, Heard
from overlay.systems.silbops.publishing import Refusal, permitted
from overlay.systems.silbops.wire import messages as m
from tests.silbops.tree import Client as Model
from tests.silbops.tree import Network


class Wire:
    """Messages wait in ``sent`` until the world delivers them."""

    def __init__(self, world: World) -> None:
        self._world = world
        self.sent: dict[str, list[Any]] = {}
        """By broker with a session."""
        self.news: list[Any] = []

    def open(self, broker: str, address: Any, now: int) -> bool:
        if any(isinstance(one, Ended) and one.broker == broker for one in self.news):
            return False
        self.sent.setdefault(broker, [])
        return True

    def send(self, broker: str, message: Any, now: int) -> bool:
        if broker not in self.sent or message in self._world.too_large:
            return False
        self.sent[broker].append(message)
        return True

    def has_session(self, broker: str) -> bool:
        return broker in self.sent

    def is_full(self, broker: str) -> bool:
        return len(self.sent[broker]) >= self._world.room

    def close(self, broker: str, now: int) -> None:
        if broker in self.sent:
            self.end(broker, "closed")

    def end(self, broker: str, reason: str) -> None:
        publications = [one for one in self.sent.pop(broker) if isinstance(one, m.Publish)]
        self.news.append(Ended(broker, reason, publications))

    def receive(self, datagrams: Any, now: int) -> None: ...
    def handle_timer(self, now: int) -> None: ...
    def next_timer(self) -> None: ...
    def check_invariants(self) -> None: ...
    def datagrams_to_send(self) -> Any:
        return ()

    def events(self) -> Any:
        news, self.news = self.news, []
        return news


class World:
    """Brokers b0, b1, …; ``settings`` are those of ``Terms``."""

    def __init__(self, brokers: int = 1, **settings: Any) -> None:
        links = [(index, index + 1) for index in range(brokers - 1)]
        self.network = Network(links, brokers, Random(1))
        self.terms = Terms(**settings)
        self.now = 0
        self.room = 1_000
        self.too_large: list[Any] = []
        self.refuse_next: list[m.Code] = []
        """For the next requests but ATTACH, in order."""
        self.is_mute = False
        """Whether brokers answer nothing."""
        self.down: set[str] = set()
        self.clients: list[Client] = []
        self.wires: list[Wire] = []
        self.models: dict[bytes, Model] = {}
        """What the brokers know, by client."""
        self.heard: dict[int, list[Any]] = defaultdict(list)
        """All messages of a client but ATTACH, by its place."""

    def add(self, broker: int | None = 0) -> Client:
        wire = Wire(self)
        client = Client(self.terms, bytes([len(self.clients)]) * 16, wire, self.now)
        self.clients.append(client)
        self.wires.append(wire)
        if broker is not None:
            client.attach(self.site(broker), self.now)
            self.settle()
        return client

    def site(self, broker: int) -> Site:
        return Site(f"b{broker}", ("10.0.0.1", broker))

    def wire_of(self, client: Client) -> Wire:
        return self.wires[self.clients.index(client)]

    # ---- time and messages

    def wait(self, seconds: float) -> None:
        """With the timers of clients, which see all that brokers answer."""
        until = self.now + round(seconds * SECOND)
        self.settle()
        while (at := min((t for one in self.clients if (t := one.next_timer()) is not None), default=until)) < until:
            self.now = max(self.now, at)
            for client in self.clients:
                client.handle_timer(self.now)
            self.settle()
        self.now = until

    def settle(self) -> None:
        while any(self._deliver(place) for place in range(len(self.clients))):
            pass
        self.network.settle()

    def lose(self, client: Client, *, but: int = 0) -> None:
        """Its session ends; the broker has received all but the last ``but`` messages, and no answer comes."""
        wire = self.wire_of(client)
        (broker,) = wire.sent
        waiting = wire.sent[broker]
        for message in waiting[: len(waiting) - but]:
            self._answer(client, broker, message)
        wire.news = []
        wire.end(broker, "unreachable")

    def forget(self, client: Client) -> None:
        """The brokers, all that it has set."""
        model = self.models.pop(client.id)
        self.network.leave(model)

    def _deliver(self, place: int) -> bool:
        client, wire = self.clients[place], self.wires[place]
        is_some = False
        for broker in list(wire.sent):
            if broker in self.down:
                wire.end(broker, "unreachable")
                continue
            waiting, wire.sent[broker] = wire.sent[broker], []
            for message in waiting:
                is_some = True
                if not isinstance(message, m.Attach):
                    self.heard[place].append(message)
                self._answer(client, broker, message)
        is_some = is_some or bool(wire.news)
        client.receive_datagrams((), self.now)
        client.check_invariants()
        return is_some

    # ---- brokers

    def _answer(self, client: Client, broker: str, message: Any) -> None:
        answer = self._act(client, broker, message)
        if answer is not None and not self.is_mute:
            self.wire_of(client).news.append(Heard(broker, answer))
        self.network.settle()

    def _act(self, client: Client, broker: str, message: Any) -> Any:
        network, model = self.network, self.models.get(client.id)
        if isinstance(message, m.Attach):
            return self._attach(client, int(broker[1:]), message)
        assert model is not None
        number = message.number if isinstance(message, m.Publish) else message.req
        if self.refuse_next:
            return m.Refused(number, self.refuse_next.pop(0), "as scripted")
        match message:
            case m.SetCtx(_, values):
                network.set_context(model, values)
            case m.Subscribe(_, id, content, scope):
                network.subscribe(model, id, content, scope)
            case m.Unsubscribe(req, id):
                if model.key(id) not in model.subscriptions:
                    return m.Refused(req, m.Code.UNKNOWN_ID)
                network.unsubscribe(model, id)
            case m.Advertise(_, id, content, variables):
                network.advertise(model, id, content, variables)
            case m.Unadvertise(_, id):
                network.unadvertise(model, id)
            case m.Publish():
                return self._publish(client, model, message)
        return m.Ok(number)

    def _attach(self, client: Client, broker: int, message: m.Attach) -> m.Attached:
        model = self.models.get(client.id)
        if model is not None and message.mode is m.Mode.NEW:
            self.forget(client)
            model = None
        if model is None:
            model = self.models[client.id] = self.network.attach(broker)
            return m.Attached(False)
        if model.broker != broker:
            self._move(model, broker)
            old = self.wire_of(client)
            if message.old in old.sent:
                old.end(message.old, "closed")
        return m.Attached(True)

    def _move(self, model: Model, broker: int) -> None:
        network = self.network
        kept, subscriptions, advertisements = (model.context, dict(model.subscriptions), dict(model.advertisements))
        network.leave(model)
        network.clients.append(model)
        model.broker = broker
        for one in advertisements.values():
            network.advertise(model, one.key[1], one.filter, one.variables)
        if kept is not None:
            network.set_context(model, kept)
        for each in subscriptions.values():
            network.subscribe(model, each.key[1], each.filter, each.scope)

    def _publish(self, client: Client, model: Model, message: m.Publish) -> m.Refused | None:
        offers = [m.Advertise(0, one.key[1], one.filter, one.variables) for one in model.advertisements.values()]
        try:
            permitted(offers, message.notification, {}, None)
        except Refusal as error:
            return m.Refused(message.number, error.code, error.sentence)
        model.context, before = message.context, model.context
        found = self.network.publish(model, message.notification) or {}
        model.context = before
        for other in self.clients:
            link = self.models[other.id].link if other.id in self.models else None
            if link is not None and (keys := found.get(link.name)):
                told = m.Notify(
                    publisher_key(client.id), message.number, message.notification, tuple(sorted(id for _, id in keys))
                )
                self.wire_of(other).news.append(Heard(f"b{self.models[other.id].broker}", told))
        return None


def publisher_key(client: bytes) -> int:
    """As brokers make it of a name of their own."""
    return int.from_bytes(blake2b(client, digest_size=8).digest(), "big")


def names(messages: list[Any]) -> list[str]:
    return [type(one).__name__ for one in messages]


def came(client: Client) -> list[tuple[int, Any, tuple[int, ...]]]:
    """What it was notified of, taken from its events: number, notification, ids."""
    return [(one.number, dict(one.notification), one.ids) for one in client.events() if isinstance(one, Notified)]
