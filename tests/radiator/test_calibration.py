"""The costs of Radiator's server and clients: counted by meters, measured by probes, fitted without a search."""

from __future__ import annotations

import pytest

from overlay.core.calibration import Measured
from overlay.core.chance import Chances
from overlay.core.curves import constant
from overlay.core.service_times import Costs
from overlay.journal.facts import Delivery, Tick
from overlay.journal.journal import read_journal
from overlay.plugins import VARIABLE
from overlay.runtime.calibrated import model_of, reference
from overlay.runtime.own_supervisor import own_supervisor
from overlay.sim.engine import journal_path, simulate
from overlay.systems.radiator.metering import MessageMeter, ServerMeter
from overlay.systems.radiator.system import SYSTEM
from overlay.systems.radiator.wire.codec import encode
from overlay.systems.radiator.wire.messages import Alive, RegisterAgain
from overlay.systems.roles import Place
from overlay.topologies import Graph
from telemetry.errors import TelemetryError
from telemetry.systems.radiator.calibration import plan, probes
from tests.radiator.runs import deployed

KNOWN = {
    "alive": 16.0,
    "alive, together": 5.0,
    "context": 60.0,
    "context, evaluated": 120.0,
    "context, pushed": 1_120.0,
    "context, chained": 400.0,
    "acknowledged": 30.0,
}


def fitted():
    memory = {"idle_rss": 4e7, "idle_pss": 1.5e7, "idle_uss": 4e6, "retained": 500.0, "clients": 1_800.0}
    return plan.RadiatorPlan().fit(
        {plan.COSTS: [KNOWN], plan.JOINING: [8.0], plan.MEMORY: [memory], plan.FLEET: [30.0]}
    )


def test_costs_are_differences_of_what_was_measured():
    found = fitted()
    server, clients = found.roles["server"], found.roles["clients"]
    batch = (16 - 5) * 32 / 31
    pushed = (1_120 - 60 - 8) / 52
    assert server.batch_us == pytest.approx(batch, abs=0.001)
    assert server.sent_us + server.extra_us["Push"] == pytest.approx(pushed, abs=0.001)
    assert server.received_us["Ack"] == pytest.approx(30 - 16 - batch, abs=0.001)
    assert server.work_us["evaluations"].at(0) == pytest.approx(0.6)
    assert server.work_us["messages joined"].at(0) == 8
    assert server.memory.sizes({"clients": 10, "retained": 2})[0] == 4e7 + 18_000 + 1_000
    assert (clients.other_us, clients.sent_us) == (30, 30)
    assert found.precision["costs"]["context"]["turns"] == 1


def test_the_slowest_round_does_not_count():
    results = {plan.COSTS: [KNOWN, {name: 3 * us for name, us in KNOWN.items()}], plan.JOINING: [8.0, 8.0]}
    memory = {"idle_rss": 4e7, "idle_pss": 1.5e7, "idle_uss": 4e6, "retained": 500.0, "clients": 1_800.0}
    found = plan.RadiatorPlan().fit({**results, plan.MEMORY: [memory, memory], plan.FLEET: [30.0, 90.0]})
    assert found.roles == fitted().roles


def test_a_meter_names_messages_and_counts_work(radiator):
    setup = radiator.setup({}, None, Graph(1, ()))
    address = ("127.0.0.1", 7000)
    place = Place("server-0", 0, address, (address,))
    server = radiator.make_server(radiator.config_of(setup), place, Chances.streams(1), 0)
    meter = radiator.make_meter(server, "server")
    assert isinstance(meter, ServerMeter)
    alive = encode(Alive(7))
    server.receive_datagrams([(alive, ("127.0.0.1", 9))], 5)
    sent = [data for data, _ in server.datagrams_to_send()]
    work = meter.work([alive, b"?"], sent)
    assert (work.received, work.sent, dict(work.units)) == (["Alive", ""], [RegisterAgain.__name__], {})
    assert type(radiator.make_meter(None, "clients")) is MessageMeter


def cpu_us(directory, radiator, services):
    simulate(deployed(directory, {"aggregability": "{volume: 5}", "chain_percent": 50, "echo": True}), services)
    facts = read_journal(journal_path(directory))
    return [fact.cpu_us for fact in facts if isinstance(fact, Tick) and fact.process == "server-0"][-1]


def test_simulated_servers_take_the_time_of_their_work(tmp_path, radiator):
    """50 messages in 10 propagations to 20 recipients, all of one class until they sent something."""
    free = {"batch_us": 0, "other_us": 0, "sent_us": 0}
    spent = {}
    for unit in SYSTEM.work_units["server"]:
        measured = Measured({"server": Costs(**free, work_us={unit: constant(1_000)}), "clients": Costs(**free)})
        services = model_of(reference().with_system("radiator", measured), radiator)
        spent[unit] = cpu_us(tmp_path / unit.replace(" ", "-"), radiator, services) / 1_000
    assert spent["messages joined"] == pytest.approx(50, abs=1)
    assert spent["members of chains"] == pytest.approx(200, abs=1)
    assert 50 <= spent["evaluations"] <= 50 * 20


def test_anchors_compare_the_lag_of_propagations():
    lag = Delivery("client", 1, 0, "measuring", "p", 1_000, 4_500, 1)
    assert plan.RadiatorPlan().took_us(lag, SYSTEM) == 3_500
    assert plan.RadiatorPlan().took_us(Tick("server-0", 1, {}, "", 0, 0, 0, 0), SYSTEM) is None


def test_a_datagram_of_clients_costs_what_they_used_while_pushes_arrived():
    """Their start is not counted, nor the processor time of the server."""

    def tick(process, at_us, cpu_us):
        return Tick(process, at_us, {}, "", 0, 0, 0, cpu_us)

    arrived = [
        Delivery("client", 1, 0, "measuring", "p", 0, 1_000_000 + 100_000 * number, 1) for number in range(1, 21)
    ]
    ticks = [
        tick("clients-0", 0, 500_000),
        tick("clients-0", 1_000_000, 700_000),
        tick("clients-0", 3_000_000, 701_200),
    ]
    assert probes.datagram_us([*ticks, *arrived, tick("server-0", 2_000_000, 9_000_000)]) == 1_200 / (2 * 20)
    with pytest.raises(TelemetryError, match="No push arrived"):
        probes.datagram_us(ticks)


def test_live_a_server_and_a_fleet_are_measured(tmp_path, radiator, monkeypatch):
    """With few messages; that costs are above nothing is all that so few can say."""
    for name, count in (("MESSAGES", 10), ("ROUNDS", 2), ("CLASSES", 5), ("PUSHED", 5), ("CHAINED", 5)):
        monkeypatch.setattr(probes, name, count)
    monkeypatch.setenv(VARIABLE, "overlay.systems.radiator.system:SYSTEM")
    with own_supervisor() as client:
        found = probes.server_costs(client, tmp_path)
        datagram = probes.fleet_cost(client, tmp_path / "fleet", 1.0)
    assert found.keys() == KNOWN.keys()
    assert min(found.values()) > 0
    assert datagram > 0
    assert probes.joining_cost(client, tmp_path) > 0
