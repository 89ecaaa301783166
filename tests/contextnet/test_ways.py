"""Messages of a small run in virtual time, collected: the list, one message's way, gateways and rounds."""

from __future__ import annotations

import json

import pytest

from overlay.core.engines import SIMULATED
from overlay.core.errors import InvalidSetting
from overlay.deployment.deployment import Deployment, run_document
from overlay.experiment.definition import checked
from overlay.sim.engine import simulate
from telemetry.collect import collect
from telemetry.lake.runs import Lake, RunFiles
from telemetry.systems.contextnet import messages, way_files
from telemetry.systems.contextnet.gateways import gateways

SETTINGS = {"trace_one_in": 1, "linger_s": 1, "retries": 2, "persistence": 1, "hold_s": 0, "smoothing": 1}
WORKLOAD = {
    "nodes": 8,
    "gateways": 2,
    "direction": "both",
    "rate_per_min": 20,
    "messages": 12,
    "start": "first",
    "connect_interval_ms": 10,
    "disconnecting_share": 0.5,
    "off_s": 12,
    "on_s": 6,
    "gateway_capacity": "8, 8",
}


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """Its files, and the lake."""
    directory = tmp_path_factory.mktemp("run")
    files, lake = RunFiles(directory / "r1"), Lake(directory / "lake")
    definition = {"name": "t", "system": "contextnet", "engine": SIMULATED, "settings": SETTINGS, "workload": WORKLOAD}
    configuration = checked(definition, {}.get)[1][0]
    document = run_document(configuration, run="r1", seed=1, directory=str(files.directory))
    simulate(Deployment.from_json(json.loads(json.dumps(document)), SIMULATED))
    parts = {name: configuration[name] for name in ("system", "settings", "workload", "topology")}
    files.write_manifest({**parts, "engine": SIMULATED})
    collect(files, lake)
    return files, lake


def rows_of(run, **chosen):
    return messages.listed(run[0], chosen, 0, 10_000)[1]


def test_every_message_is_listed_with_what_became_of_it(run):
    rows = rows_of(run)
    assert len(rows) == 8 * 12 * 2
    assert sum(messages.outcomes(run[0]).values()) == len(rows)
    assert {row["traced"] for row in rows} == {True}
    assert {row["node"] for row in rows_of(run, node="3")} == {3}
    assert {row["direction"] for row in rows_of(run, direction="inbound")} == {"inbound"}
    slowest = [row["us"] for row in rows_of(run, show="slowest")]
    assert slowest == sorted(slowest, reverse=True)
    stored = rows_of(run, show="stored")
    assert 0 < len(stored) < len(rows)
    assert {row["disconnecting"] for row in stored} == {True}
    assert rows_of(run, show="dropped") == rows_of(run, outcome="expired") == []


@pytest.mark.parametrize("chosen", [{"show": "nothing"}, {"direction": "up"}, {"outcome": "eaten"}, {"node": "x"}])
def test_what_cannot_be_chosen_is_named(run, chosen):
    with pytest.raises(InvalidSetting, match="must be"):
        messages.listed(run[0], chosen, 0, 1)


def told(way):
    return [(one.kind, one.sender.partition("-")[0], one.receiver.partition("-")[0]) for one in way.passages]


def test_a_message_of_a_node_goes_over_the_log_and_its_answer_comes_back(run):
    row = next(row for row in rows_of(run, direction="inbound") if not row["disconnecting"])
    way = way_files.find(*run, row["id"])
    to_gateway, to_log, to_application, *back = told(way)
    assert to_gateway == ("DATA", "node", "gateway")
    assert to_log == ("inbound [0]", "gateway", "log")
    assert to_application == ("inbound [0]", "log", "application")
    assert [(sender, receiver) for _, sender, receiver in back] == [
        ("application", "log"),
        ("log", "gateway"),
        ("gateway", "node"),
    ]
    assert way.passages[-1].arrived_us - row["at_us"] == row["us"], "the passages take the RTT"
    assert all(one.sent_us <= one.arrived_us for one in way.passages)
    assert way.places[0] == f"node-{row['node']}"
    assert way_files.find(*run, "0" * 32) is None


def test_what_could_not_be_delivered_is_stored_and_sent_on_when_the_node_is_back(run):
    rows = [row for row in rows_of(run, show="stored", direction="outbound") if row["outcome"] == "delivered"]
    ways = [way_files.find(*run, row["id"]) for row in rows]
    way = next(way for way in ways if any(one.step == "unsent" and one.detail == "broken" for one in way.steps))
    lost = next(one for one in way.passages if one.is_lost)
    assert (lost.kind, lost.arrived_us, lost.receiver) == ("DATA", None, f"node-{way.row['node']}")
    steps = [one.step for one in way.steps]
    assert steps.index("unsent") < steps.index("stored") < steps.index("sent on") < steps.index("acknowledged")
    assert ("log", "mtd") in [(sender, receiver) for _, sender, receiver in told(way)]


def test_gateways_and_rounds_are_known_over_time(run):
    found = gateways(run[1], "r1")
    assert set(found.moments) == {0, 1}
    begin = {at: [one.connections for one in some if one.at_us >= found.begin_us] for at, some in found.moments.items()}
    assert begin[0][0] > begin[1][0], "all nodes connect to the first gateway"
    moved = [one for one in found.rounds if one.moves]
    assert moved
    for one in moved:
        given, taken = (sum(getattr(seat, name) for seat in one.seats) for name in ("given", "taken"))
        assert 0 < given == taken <= one.budget
        assert sum(seat.wanted for seat in one.seats) == sum(seat.nodes for seat in one.seats)
