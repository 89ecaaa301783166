"""A toy system with bugs: the echo, whose servers cannot be made, or whose orders or pings fail."""

from __future__ import annotations

from overlay.systems.cores import NoOrders
from tests.systems.echo import Echo


class FaultyServers(Echo):
    name, title = "faulty-servers", "Echo that cannot be made"

    def make_server(self, *arguments, **options):
        raise ZeroDivisionError("a bug in a server")


class FaultyOrders(Echo):
    name, title = "faulty-orders", "Echo that cannot be assembled"

    def make_assembly(self, setup):
        class Orders(NoOrders):
            def is_complete(self, up):
                raise ZeroDivisionError("a bug in an assembly")

        return Orders(setup.graph.brokers)


class FaultyPings(Echo):
    name, title = "faulty-pings", "Echo that cannot be pinged"

    def ping(self, unix_ms):
        raise ZeroDivisionError("a bug in a ping")


class FaultyPlans(Echo):
    name, title = "faulty-plans", "Echo whose clients cannot be planned"

    def plan_clients(self, setup):
        raise ZeroDivisionError("a bug in a plan")


SERVERS, ORDERS, PINGS = FaultyServers(), FaultyOrders(), FaultyPings()
