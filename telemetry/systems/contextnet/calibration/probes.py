"""Processor time of each role for what it receives and writes. ``plan`` takes differences::

gateway
  ping                     PING and PONG, a datagram each way      ping, together: of ``TOGETHER`` nodes in one batch
  message                  of a node, written, durable and acknowledged, and not read     message, together
  context                  the same with another context, which is a record of its own, and makes no other groups
  delivered                a record for a node, sent and acknowledged, and its position committed with others
  delivered, together      ``TOGETHER`` of them, without the acknowledgements
  cast                     one record for ``TOGETHER`` nodes, the same
  presence                 a record without a message              presence, together
  connected                a handshake
applications
  answered                 a message of a node, answered           answered, together       presence, the same
mtd, poa, definer
  one kind of record that each reads mostly, and many of them together

While a process is halted, records that come wait for it. It then reads the first one, which ended its last request, and
after it all others.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from itertools import count
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

from overlay.runtime.supervisor_client import SupervisorClient
from overlay.systems.contextnet import names as roles
from overlay.systems.contextnet.load.draws import context
from overlay.systems.contextnet.names import node_id
from overlay.systems.contextnet.profiles import resolved
from overlay.systems.contextnet.records import names
from overlay.systems.contextnet.records.records import (
    ALL,
    Amount,
    ContextReport,
    Groupcast,
    Inbound,
    LoadReport,
    Outbound,
    Presence,
    Reason,
    Unsent,
)
from overlay.systems.contextnet.settings import Settings
from overlay.systems.contextnet.system import SYSTEM
from overlay.systems.contextnet.transport.events import Acknowledged, Answered, Arrived
from telemetry.calibration.live import Running, Standing, clients_of_run, standing
from telemetry.calibration.speaking import RESTS_S, SETTLED_S, rested, rested_us
from telemetry.systems.contextnet.calibration.speakers import (
    CONTEXT,
    Speaker,
    Writer,
    message_of,
    speaking,
    writing,
)

MESSAGES, WARMING, PORTIONS = 200, 20, 5
ROUNDS = 20
"""Of messages that lead to many."""
TOGETHER = 16
RESTED = 12
"""Messages after each of ``RESTS_S``."""
CONNECTED, STORED = 300, 1_000
"""Connections and messages for which memory is measured."""
READ_S = 0.01
"""Until a process has read what was written while it was halted, and sleeps again."""
UNREAD = "unread"
"""A topic that nodes may publish to, without a reader."""
SEED = 1
"""Of runs of ``standing``."""
CLEAR = {"link_delay_ms": 0, "link_jitter_ms": 0}
"""Links in virtual time, as those between processes of one machine."""
QUIET = {
    **CLEAR,
    "nodes": 1,
    "definers": 1,
    "rate_per_min": 0.02,
    "duration_s": 3_600,
    "connect_interval_ms": 0,
}
PATIENT = {
    "ack_delay_ms": 0,
    "allowed_topics": UNREAD,
    "trace_one_in": 0,
    "balancing": False,
    "rto_min_ms": 5_000,
    "member_timeout_s": 60,
    "load_report_s": 300,
    "ping_period_s": 1_800,
    "keepalive_s": 600,
    "idle_s": 3_600,
}
"""Acknowledgements are sent at once, and nothing happens by itself."""
FLEET = {**CLEAR, "nodes": 100, "rate_per_min": 300, "connect_interval_ms": 3, "drain_s": 1}
"""Of runs that measure nodes."""
SLOW = {**FLEET, "rate_per_min": 30}
"""The same with sleep before each datagram."""
Found = dict[str, float]
"""Microseconds of processor time by what was done; bytes in ``memory``."""
_numbers = count(1_000)
"""Of nodes that no workload has."""


class _Network(NamedTuple):
    """A gateway and what belongs to it."""

    gateway: Standing
    poa: Standing
    mtd: Standing
    definer: Standing
    application: Running
    writer: Writer
    settings: Settings

    @contextmanager
    def speaking(self, nodes: int) -> Iterator[list[Speaker]]:
        numbers = [next(_numbers) for _ in range(nodes)]
        with speaking(self.gateway, self.settings, numbers, SEED) as found:
            yield found


@contextmanager
def _network(client: SupervisorClient) -> Iterator[_Network]:
    settings = Settings(**resolved(PATIENT))
    topics = names.topics(("gateway-0",), ("application-0",), settings.partitions, 1, (UNREAD,))
    with ExitStack() as stack:
        servers = stack.enter_context(standing(client, SYSTEM.name, 1, PATIENT, QUIET, SYSTEM.name))
        run = servers[0].run
        (application,) = clients_of_run(client, run, roles.APPLICATIONS)
        gateway, poa, mtd, definer = servers
        network = _Network(gateway, poa, mtd, definer, application, stack.enter_context(writing(run, topics)), settings)
        with network.speaking(1) as (one,):  # whose answer says that all are ready
            one.ask(names.INBOUND)
        yield network


def gateway_costs(client: SupervisorClient, _: Path) -> Found:
    """Raises ``TelemetryError``, as do the next ones."""
    with _network(client) as network, network.speaking(TOGETHER) as nodes:
        return (
            _pings(network.gateway, nodes)
            | _messages(network.gateway, nodes)
            | _deliveries(network, nodes)
            | _of_others(network, network.gateway, _presence)
            | {"connected": _connections(network)}
        )


def application_costs(client: SupervisorClient, _: Path) -> Found:
    with _network(client) as network, network.speaking(1) as (one,):
        process = network.application

        def written() -> tuple[str, bytes, Inbound]:
            return names.INBOUND, one.id, Inbound(one.message(names.INBOUND), "gateway-0", 1)

        def answered() -> None:
            network.writer.write(written())
            one.hear(Arrived)

        def together() -> None:
            with process.halted():
                network.writer.write(*(written() for _ in range(TOGETHER)))
            for _ in range(TOGETHER):
                one.hear(Arrived)
            time.sleep(READ_S)

        return {
            "answered": _us(process, answered),
            "answered, together": _us(process, together, ROUNDS) / TOGETHER,
            **_after_rests(process, "answered", answered, one),
            **_of_others(network, process, _presence),
        }


def log_server_costs(client: SupervisorClient, _: Path) -> dict[str, Found]:
    """By role."""
    with _network(client) as network:
        return {
            roles.MTD: {
                **_of_others(network, network.mtd, _presence),
                **_of_others(network, network.mtd, _unsent, "unsent"),
            },
            roles.POA: _of_others(network, network.poa, _load_report),
            roles.DEFINER: _of_others(network, network.definer, _context_report),
        }


def memory(client: SupervisorClient, _: Path) -> dict[str, Found]:
    """Bytes by role: of an idle process, and of what it keeps most of."""
    with _network(client) as network:
        servers = {roles.GATEWAY: network.gateway, roles.POA: network.poa, roles.MTD: network.mtd}
        servers[roles.DEFINER] = network.definer
        found: dict[str, Found] = {}
        for role, server in servers.items():
            sizes = map(float, server.memory())
            found[role] = dict(zip(("idle_rss", "idle_pss", "idle_uss"), sizes, strict=True))
        with network.speaking(CONNECTED):
            full = network.gateway.memory()[2]
        found[roles.GATEWAY]["each"] = max(0.0, (full - found[roles.GATEWAY]["idle_uss"]) / CONNECTED)
        network.writer.write(*(_unsent() for _ in range(STORED)))
        time.sleep(10 * READ_S)
        full = network.mtd.memory()[2]
        found[roles.MTD]["each"] = max(0.0, (full - found[roles.MTD]["idle_uss"]) / STORED)
        return found


def _us(process: Running, act: Callable[[], object], times: int = MESSAGES) -> float:
    return process.cheapest_us(act, times, warming=min(WARMING, times), portions=PORTIONS)


def _after_rests(process: Running, what: str, act: Callable[[], object], *speakers: Speaker) -> Found:
    return {rested(what, rest_s): rested_us(process, act, rest_s, RESTED, speakers) for rest_s in RESTS_S}


def _settled_us(process: Running, act: Callable[[], object], then: Callable[[], object] = lambda: None) -> float:
    """Of one ``act`` until the process sleeps again, the median; without what ``then`` leads to."""
    spent = []
    for _ in range(ROUNDS):
        before = process.processor_ns()
        act()
        time.sleep(READ_S)
        spent.append(process.processor_ns() - before)
        then()
        time.sleep(SETTLED_S)
    return median(spent) / 1_000


# ---- gateways


def _pings(gateway: Standing, nodes: list[Speaker]) -> Found:
    def together() -> None:
        with gateway.halted():
            for one in nodes:
                one.say(one.draw())
        for one in nodes:
            one.hear(Answered)

    return {
        "ping": _us(gateway, nodes[0].ping),
        "ping, together": _us(gateway, together, ROUNDS) / TOGETHER,
        **_after_rests(gateway, "ping", nodes[0].ping, nodes[0]),
    }


def _messages(gateway: Standing, nodes: list[Speaker]) -> Found:
    one = nodes[0]
    contexts = count()

    def message() -> None:
        one.say(one.message(UNREAD))
        one.hear(Acknowledged)

    def with_context() -> None:
        one.say(one.message(UNREAD, CONTEXT[:-1] + bytes([next(contexts) % 100])))
        one.hear(Acknowledged)

    def together() -> None:
        with gateway.halted():
            for each in nodes:
                each.say(each.message(UNREAD))
        for each in nodes:
            each.hear(Acknowledged)

    return {
        "message": _us(gateway, message),
        "message, together": _us(gateway, together, ROUNDS) / TOGETHER,
        **_after_rests(gateway, "message", message, one),
        "context": _us(gateway, with_context),
    }


def _deliveries(network: _Network, nodes: list[Speaker]) -> Found:
    gateway, writer, topic = network.gateway, network.writer, names.gateway_topic("gateway-0")

    def to(node: Speaker) -> tuple[str, bytes, Outbound]:
        return topic, node.id, Outbound(message_of(node.draw(), "application-0", node.name))

    def delivered() -> None:
        writer.write(to(nodes[0]))
        nodes[0].hear(Arrived)

    def together() -> None:
        with gateway.halted():
            writer.write(*map(to, nodes))

    def cast() -> None:
        writer.write((names.BROADCAST, ALL.encode(), Groupcast(message_of(nodes[0].draw(), "application-0", ALL), ALL)))

    def hear() -> None:
        for one in nodes:
            one.hear(Arrived)

    return {
        "delivered": _us(gateway, delivered),
        "delivered, unacknowledged": _settled_us(
            gateway, lambda: writer.write(to(nodes[0])), lambda: nodes[0].hear(Arrived)
        ),
        "delivered, together": _settled_us(gateway, together, hear) / TOGETHER,
        "cast": _settled_us(gateway, cast, hear),
        **_after_rests(gateway, "delivered", delivered, nodes[0]),
    }


def _connections(network: _Network) -> float:
    """The median of one."""
    spent = []
    for _ in range(ROUNDS):
        before = network.gateway.processor_ns()
        with network.speaking(1):
            time.sleep(READ_S)
            spent.append(network.gateway.processor_ns() - before)
    return median(spent) / 1_000


# ---- records that are read, and answered by nothing

_Written = tuple[str, bytes, Any]


def _presence() -> _Written:
    node = node_id(next(_numbers))
    return names.PRESENCE, node, Presence(node, "gateway-9", 1, True)


def _unsent() -> _Written:
    number = next(_numbers)
    message = message_of(number, "application-0", node_id(number).hex())
    return names.UNSENT, node_id(number), Unsent(message, "gateway-0", 0, Reason.ABSENT)


def _load_report() -> _Written:
    amount = Amount(1 << 34, 1 << 33)
    at = time.time_ns() // 1_000
    report = LoadReport("gateway-0", next(_numbers), at, 256, 0, 0.1, amount, amount, 1, 1, 1, 0, 0)
    return names.LOAD_REPORT, b"gateway-0", report


def _context_report() -> _Written:
    """Of a node that is new to its group."""
    number = next(_numbers)
    found = ContextReport(node_id(number), 1, context([number % 4], 64, None), time.time_ns() // 1_000)
    return names.CONTEXT_REPORT, found.node, found


def _of_others(network: _Network, process: Running, make: Callable[[], _Written], what: str = "other") -> Found:
    writer = network.writer

    def together() -> None:
        with process.halted():
            writer.write(*(make() for _ in range(TOGETHER)))

    return {
        what: _settled_us(process, lambda: writer.write(make())),
        f"{what}, together": _settled_us(process, together) / TOGETHER,
    }
