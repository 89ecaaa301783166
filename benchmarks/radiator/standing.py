"""A server in this process, without sockets, whose clients have registered."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

from benchmarks.radiator.samples import bodies, people
from overlay.core.addresses import Address
from overlay.core.chance import Chances
from overlay.core.node import MILLISECOND, SECOND
from overlay.systems.radiator.load.population import client_id
from overlay.systems.radiator.server.service import Service
from overlay.systems.radiator.settings import ServerConfig, Settings
from overlay.systems.radiator.wire import messages as m
from overlay.systems.radiator.wire.codec import encode, parse
from overlay.systems.radiator.wire.compression import GZIP, deflate
from overlay.systems.radiator.wire.table import KINDS

PUSH = KINDS[m.Push]
BATCH = 32
PORTS = 50_000
Datagram = tuple[bytes, Address]


def address(number: int) -> Address:
    return f"127.0.0.{1 + number // PORTS}", 1_024 + number % PORTS


class Standing:
    """``settings`` are those of the server, with ``echo``. All clients have the attributes of the workload."""

    def __init__(self, clients: int, **settings: Any) -> None:
        config = ServerConfig(Settings(**{"echo": True, **settings}))
        self.service = Service(config, ("127.0.0.1", 7_000), Chances.of_one(random.Random(1)))
        self._clients, self._reqs, self._now = clients, 10, SECOND
        population = people()
        for number in range(clients):
            attributes, token = population.attributes(number % 1_000), 0
            for req in (1, 2):
                request = m.Register(req, number + 1, token, 1, client_id(number), attributes)
                ((answer, _),) = self.receive((encode(request), address(number)))
                registered: Any = parse(answer)
                token = registered.token

    def contexts(self, count: int) -> list[Datagram]:
        """Further messages, each of another client."""
        found = []
        for number, body in enumerate(bodies(200) * (count // 200 + 1)):
            if number == count:
                break
            client = number % self._clients
            self._reqs += 1
            data = encode(m.Context(self._reqs, client + 1, 0, GZIP, deflate(body, GZIP)))
            found.append((data, address(client)))
        return found

    def receive(self, datagram: Datagram) -> Sequence[Datagram]:
        """What the server sends for it."""
        self._now += MILLISECOND
        self.service.receive_datagrams((datagram,), self._now)
        self.service.next_timer()
        return self.service.datagrams_to_send()

    def acknowledgements(self, sent: Sequence[Datagram]) -> list[Datagram]:
        """For the pushes in ``sent``. What the server has noted is discarded, as a journal would."""
        self.service.traces()
        return [(encode(_acknowledgement(parse(data))), to) for data, to in sent if data[3] == PUSH]

    def receive_all(self, datagrams: Sequence[Datagram]) -> int:
        """In batches, as a driver receives under load. Returns how many they are."""
        service = self.service
        for at in range(0, len(datagrams), BATCH):
            service.receive_datagrams(datagrams[at : at + BATCH], self._now)
            service.next_timer()
            service.datagrams_to_send()
        return len(datagrams)


def _acknowledgement(push: Any) -> m.Ack:
    return m.Ack(push.epoch, push.propagation, push.chain, push.attempt, 1, bytes(m.WINDOW // 8))
