"""Changes of a network that runs: with processes that start and end at once, and one live network."""

from __future__ import annotations

import json

from overlay.core.addresses import parse_address
from overlay.core.node import SECOND
from overlay.deployment import fleet, phases
from overlay.deployment.deployment import Deployment
from overlay.programs.context_broker.client import ContextClient
from overlay.runtime.kept_networks import Kept, KeptNetworks
from overlay.runtime.network_changes import NetworkChanges
from overlay.systems.cores import NoOrders
from tests.waiting import BOUND_S, wait_for

RING = [[0, 1], [1, 2], [2, 3], [0, 3]]


def document(brokers=4, links=RING, version=0, members=None, **settings):
    return {
        "id": "net",
        "kind": "network",
        "epoch": 1,
        "directory": "/nowhere",
        "seed": 7,
        "system": "context-broker",
        "topology": {"brokers": brokers, "links": [{"a": a, "b": b} for a, b in links]},
        "settings": {"profile": "improved", **settings},
        "workload": None,
        "lease_s": None,
        "version": version,
        "members": members or {},
    }


class Stage:
    """Processes that start and end within one turn; those in ``broken`` cannot start."""

    def __init__(self, **first):
        self.deployment, self.broken, self.log, self.now = Deployment.from_json(document(**first)), set(), [], 0
        self.states = {name: fleet.Process() for name in self.deployment.server_names}
        self.changes = self.made({})
        self.settle()

    def made(self, older):
        return NetworkChanges(self.deployment, self, NoOrders(len(self.states)), lambda *_: None, older)

    def change(self, **newer):
        self.deployment = Deployment.from_json(document(**newer))
        self.changes.accept(self.deployment, self.now)
        return self.settle()

    def settle(self):
        """What happened until nothing does."""
        before, self.log, begun = None, [], self.now
        while before != (before := (dict(self.states), len(self.log))) or self.now < begun + 20 * SECOND:
            self.now += SECOND
            self.changes.turn(self.up(), frozenset(), self.now)
            self.run()
            if self.now > begun + 2_000 * SECOND:
                raise AssertionError(self.log)
        return self.log

    def run(self):
        for name, process in self.states.items():
            if process.state == fleet.STOPPING:
                self.states[name] = process.ended(self.now, "ended", well=True)
        names = self.deployment.server_names
        wanted = phases.wanted(self.deployment, phases.RUNNING, self.changes.away)
        for action in fleet.plan(wanted, self.states, self.now + 10**12):
            process = self.states[action.name]
            if isinstance(action, fleet.Start):
                self.changes.settings_of(names.index(action.name))
                started = process.started(self.now)
                is_broken = action.name in self.broken
                self.states[action.name] = started.ended(self.now, "no") if is_broken else started.ready(self.now)
                self.log.append(f"start {action.name[7:]}")
            elif isinstance(action, fleet.GiveUp):
                self.states[action.name] = process.gave_up(self.now, action.reason)

    def up(self):
        up = (name for name in self.deployment.server_names if self.states[name].state == fleet.UP)
        return {self.deployment.server_names.index(name): self.states[name].launches for name in up}

    def status(self):
        return self.changes.status(self.up(), frozenset())

    # As ``DeploymentProcesses``.

    def drain(self, name, now):
        self.log.append(f"drain {name[7:]}")
        self.states[name] = self.states[name].stop_sent(now, fleet.DRAIN_GRACE)

    def replace(self, name, reason, now):
        self.log.append(f"replace {name[7:]}")
        self.states[name] = self.states[name].restart_asked(now, reason, fleet.DRAIN_GRACE).renewed()

    def forget(self, name, now):
        self.log.append(f"forget {name[7:]}")
        self.states[name] = fleet.Process(since=now, launches=self.states[name].launches)


def test_another_broker_is_up_before_the_one_that_it_replaces_leaves():
    stage = Stage()
    links = [[0, 4], [2, 4], [2, 3], [0, 3]]
    assert stage.change(version=1, brokers=5, links=links, members={"1": "removed"}) == ["start 4", "drain 1"]
    assert stage.status() == {"version": 1, "is_done": True, "steps": 4, "left": [], "waits_for": ""}
    assert stage.changes.excused() == {"broker-1"}


def test_a_drained_broker_returns_with_its_links_and_a_failed_one_is_only_forgotten():
    stage = Stage()
    assert stage.change(version=1, members={"1": "drained"}) == ["drain 1"]
    assert stage.change(version=2) == ["start 1"]
    assert sorted(stage.up()) == [0, 1, 2, 3]
    stage.states["broker-2"] = stage.states["broker-2"].ended(0, "killed").gave_up(0, "killed five times")
    assert stage.change(version=3, members={"2": "drained"}) == ["forget 2"]


def test_settings_roll_one_broker_at_a_time_pause_at_one_that_fails_and_roll_back_from_there():
    stage = Stage()
    stage.broken = {"broker-1"}
    assert stage.change(version=1, walk_ttl=9) == ["replace 0", "start 0", "replace 1", "start 1"]
    status = stage.status()
    assert (status["is_done"], status["waits_for"]) == (False, "broker-1 has failed: no")
    assert status["left"] == [{"step": "replace", "brokers": [2]}, {"step": "replace", "brokers": [3]}]
    assert sorted(stage.changes.older) == [2, 3]
    stage.broken = set()
    assert stage.change(version=2) == ["replace 1", "start 1", "replace 0", "start 0"]
    assert (stage.status()["is_done"], stage.changes.older) == (True, {})


def test_after_a_crash_of_the_supervisor_a_rolling_change_goes_on_where_it_was():
    stage = Stage()
    stage.broken = {"broker-1"}
    stage.change(version=1, walk_ttl=9)
    stage.broken, older = set(), stage.changes.older
    stage.states = {name: fleet.Process(was_ready=True) for name in stage.states}
    stage.changes = stage.made(older)
    assert stage.settle() == [
        *(f"start {index}" for index in range(4)),
        *("replace 2", "start 2", "replace 3", "start 3"),
    ]


def test_a_live_network_keeps_its_data_while_a_broker_is_replaced_a_link_cut_and_a_setting_rolls(host):
    def ask(row):
        return ContextClient([parse_address(row["address"])], deadline_s=BOUND_S)

    def changed(document):
        host.client.deploy(json.loads(json.dumps(document)))

        def is_done():
            status = host.client.status("net")
            return status["rollout"]["is_done"] and status["version"] == document["version"] and status

        return wait_for(is_done, "the network is changed")

    before = host.deploy(host.network(brokers=4, settings={"profile": "improved"}))["brokers"]
    names = [("room", f"r{index}", "temp") for index in range(8)]
    for index, name in enumerate(names):
        ask(before[index % 4]).provide("p1", name, b"degC=21.5", valid_ms=10 * 60_000)
    links = [{"a": 0, "b": 4}, {"a": 2, "b": 4}, {"a": 0, "b": 3}]
    desired = host.network(topology={"brokers": 5, "links": links}, settings={"profile": "improved"}, version=1)
    rows = changed(desired | {"members": {"1": "removed"}})["brokers"]
    assert [(row["index"], row["state"]) for row in rows] == [(0, "up"), (2, "up"), (3, "up"), (4, "up")]
    assert [row["address"] for row in rows[:3]] == [before[index]["address"] for index in (0, 2, 3)]
    numbers = {parse_address(row["address"]): row["index"] for row in rows}
    neighbours = {row["index"]: {numbers[at] for at in ask(row).neighbors()} for row in rows}
    assert neighbours == {0: {3, 4}, 2: {4}, 3: {0}, 4: {0, 2}}

    settings = {"profile": "improved", "walk_ttl": 9}
    rows = changed(desired | {"members": {"1": "removed"}, "settings": settings, "version": 2})["brokers"]
    assert [(row["state"], row["restarts"], row["is_old"]) for row in rows] == [("up", 1, False)] * 4
    assert [ask(rows[-1]).ask(name).text for name in names] == ["degC=21.5"] * 8


def test_what_a_rolling_change_has_not_reached_is_kept_on_disk(tmp_path):
    deployment = Deployment.from_json(document(version=2, members={"3": "drained"}, walk_ttl=9))
    older = Deployment.from_json(document()).setup.settings
    kept = Kept(deployment, tuple(("127.0.0.1", 20_000 + index) for index in range(4)), {2: older})
    KeptNetworks(tmp_path).write([kept])
    assert KeptNetworks(tmp_path).read() == ([kept], "")
