"""A toy system of two roles with costs of their own: fast servers and one slow server, both of which are called.

It counts messages by name, and the letters that the slow server reads.
"""

from __future__ import annotations

import socket

from overlay.core.service_times import Costs, Work
from overlay.systems.cores import OTHER, Meter
from overlay.systems.roles import Role
from telemetry.calibration.live import standing
from telemetry.calibration.plan import Anchor, Fitted, Plan, Probe
from telemetry.systems.contract import Telemetry
from tests.systems.echo import Echo, Server, Settings

CALL, PING = "Call", "Ping"
LETTERS = "letters read"
HARD = 20_000
CALLS = 40
QUIET = {"callers": 2, "interval_ms": 60_000, "duration_s": 3600}


class Slow(Server):
    """It works before it answers."""

    def receive_datagrams(self, datagrams, now):
        for _ in datagrams:
            sum(range(HARD))
        super().receive_datagrams(datagrams, now)


class CallMeter(Meter):
    def __init__(self, reads):
        self._reads = reads

    def work(self, received, sent):
        units = {LETTERS: sum(map(len, received))} if self._reads and received else {}
        return Work(_names(received), _names(sent), 0, units)


def _names(datagrams):
    return [CALL if data.isdigit() else PING if data == b"?" else OTHER for data in datagrams]


class TwoSpeeds(Echo):
    name, title = "two-speeds", "Two speeds"
    role_names = ("fast", "slow")
    work_units = {"slow": (LETTERS,)}
    telemetry = "tests.systems.two_speeds:TwoSpeedsTelemetry"

    def roles(self, setup):
        return (Role("fast", setup.graph.brokers), Role("slow", 1))

    def plan_clients(self, setup):
        servers = setup.graph.brokers + 1
        return {"callers-0": [(number, number % servers) for number in range(setup.workload.callers)]}

    def make_server(self, config, place, chances, wall_offset_ns, *, is_simulated=False):
        return (Slow if place.role == "slow" else Server)(Settings(), place.address)

    def make_meter(self, actor, role):
        return CallMeter(reads=role == "slow")


class TwoSpeedsPlan(Plan):
    anchors = (Anchor("two callers", "central", 1, {"callers": 2, "interval_ms": 50}),)

    def probes(self, scale):
        return [
            Probe(role, f"calls of {role} servers", 1.0, lambda client, _, at=at: self._call_us(client, at))
            for at, role in enumerate(TwoSpeeds.role_names)
        ]

    def _call_us(self, client, at):
        with standing(client, "probe", 1, {}, QUIET, SYSTEM.name) as servers, _asking() as sock:
            before = servers[at].processor_ns()
            for number in range(CALLS):
                sock.sendto(b"%d" % number, servers[at].address)
                sock.recv(100)
            return (servers[at].processor_ns() - before) / CALLS / 1000

    def fit(self, results):
        roles = {}
        for role in TwoSpeeds.role_names:
            us = min(results[f"calls of {role} servers"])
            roles[role] = Costs(batch_us=0, other_us=us, sent_us=0, received_us={CALL: us})
        return Fitted(roles)


def _asking():
    sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    sock.bind(("127.0.0.1", 0))
    sock.settimeout(5)
    return sock


class TwoSpeedsTelemetry(Telemetry):
    def calibration(self):
        return TwoSpeedsPlan()


SYSTEM = TwoSpeeds()
