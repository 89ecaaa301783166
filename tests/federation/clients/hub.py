"""A scripted broker that offers, matches and notifies by itself, and a world with the fleet of a workload at it."""

from __future__ import annotations

from overlay.load.windows import Windows
from overlay.systems.contract import Setup
from overlay.systems.federation.load.fleet import Fleet
from overlay.systems.federation.load.plans import fleets, plan_clients
from overlay.systems.federation.load.times import schedule
from overlay.systems.federation.wire import messages as m
from overlay.topologies import Graph
from tests.federation.clients.world import WALL, ScriptedBroker, World


class Hub(ScriptedBroker):
    """All subscriptions are offered to all providers of their scopes, and end with their first notification."""

    def _answer(self, peer, message):
        super()._answer(peer, message)
        if isinstance(message, m.Subscribe):
            for provider, registered in self.registrations.items():
                if new := tuple(one for one in message.added if set(one.scopes) & set(registered.scopes)):
                    self.peers.send(provider, m.Offer(new))
        elif isinstance(message, m.Publish) and peer in self.registrations:
            for publication in message.publications:
                self._route(publication.notification)

    def _route(self, notification):
        for client, told in self.told.items():
            sids = [sid for sid in self.live(client) if notification.scope in told[sid].scopes]
            if sids:
                self.notify(client, notification, sids)


class Driven:
    """A client of a fleet as a node, whose facts are kept."""

    def __init__(self, client):
        self.client, self.facts = client, []

    def receive_datagrams(self, datagrams, now):
        for data, source in datagrams:
            self.client.receive_datagram(0, data, source, now)
        self.facts += self.client.facts()

    def handle_timer(self, now):
        self.client.handle_timer(now)
        self.facts += self.client.facts()

    def next_timer(self):
        return self.client.next_timer()

    def datagrams_to_send(self):
        return [(data, to) for _, data, to in self.client.datagrams_to_send()]

    def check_invariants(self):
        if self.client.core is not None:
            self.client.core.check_invariants()


class FleetWorld(World):
    """Brokers are hubs that do not know each other."""

    def __init__(self, workload, brokers=1, seed=1, **settings):
        super().__init__(brokers, **settings)
        graph = Graph(brokers, ())
        self.setup = Setup(self.settings, workload, graph, seed)
        self.windows = Windows.of(schedule(self.setup), 0, 0)
        servers = [*(one.address for one in self.brokers), self.service.address]
        plans = fleets(plan_clients(self.settings, workload, graph, seed))
        self.fleets = {
            process: Fleet(of_process, servers, self.settings, workload, self.windows, seed=seed, wall_offset_ns=WALL)
            for process, of_process in plans.items()
        }
        self.clients = {}
        for fleet in self.fleets.values():
            for client in fleet.clients:
                driven = self.clients["{}-{}".format(*client.identity)] = Driven(client)
                self.nodes["10.0.2.1", 2000 + len(self.clients)] = driven

    def _server(self, name, index):
        node = Hub(name, ("10.0.0.1", 7000 + index), self.settings)
        self.nodes[node.address] = node
        return node

    def finish(self):
        """To the end of draining."""
        self.run((self.windows.drained - self.now) / 1e9)
        for driven in self.clients.values():
            if not driven.client.is_finished:
                driven.client.abandon(self.now)
                driven.facts += driven.client.facts()

    def facts(self, kind, role=""):
        return [
            fact
            for name, driven in self.clients.items()
            if name.startswith(role)
            for fact in driven.facts
            if isinstance(fact, kind)
        ]

    def rows(self, table):
        from overlay.journal.facts import Row
        from overlay.systems.federation.rows import TABLES

        return [TABLES[table](*row.values) for row in self.facts(Row) if row.table == table]
