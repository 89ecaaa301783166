"""The deployment document, the phases it goes through, and the orders that make its overlay."""

import copy

import pytest
from hypothesis import given
from hypothesis import strategies as st

from overlay.core.errors import InvalidSetting
from overlay.core.links import Link
from overlay.core.node import SECOND
from overlay.deployment import fleet
from overlay.deployment.deployment import Deployment
from overlay.deployment.phases import (
    DRAIN_GRACE_S,
    LAUNCH_LIMIT_S,
    TRANSITIONS,
    Move,
    Seen,
    is_alive,
    next_move,
    schedule,
    wanted,
)
from overlay.systems.context_broker.assembly import ATTEMPTS, PATIENCE, RETRY, Assembly, Order

RUN = {
    "id": "run-1",
    "kind": "run",
    "epoch": 3,
    "directory": "/var/runs/run-1",
    "seed": 42,
    "system": "context-broker",
    "topology": {"brokers": 2, "links": [{"a": 0, "b": 1, "delay_ms": 2, "jitter_ms": 1, "loss": 0.1}]},
    "settings": {"walk_ttl": 8, "monitoring": False},
    "workload": {"providers": 1, "consumers": 1, "duration_s": 5, "stagger_ms": 100},
    "lease_s": 15,
}
NETWORK = RUN | {"kind": "network", "workload": None, "lease_s": None}


def changed(path, value):
    document = copy.deepcopy(RUN)
    *parents, name = path.split(".")
    inner = document
    for parent in parents:
        inner = inner[int(parent)] if parent.isdigit() else inner[parent]
    if value is KeyError:
        del inner[name]
    else:
        inner[int(name) if name.isdigit() else name] = value
    return document


def test_a_network_has_a_secret_which_no_error_shows():
    document = NETWORK | {"secret": "5e" * 32}
    deployment = Deployment.from_json(document)
    assert (deployment.setup.secret, deployment.to_json()["secret"]) == (b"\x5e" * 32, "5e" * 32)
    assert "secret" not in Deployment.from_json(NETWORK).to_json()
    for wrong in (RUN | {"secret": "5e" * 32}, NETWORK | {"secret": "5e5e"}):
        with pytest.raises(InvalidSetting) as refused:
            Deployment.from_json(wrong)
        assert refused.value.field == "secret"
        assert "5e" not in str(refused.value)


def test_a_document_is_read_and_written_back_equal():
    deployment = Deployment.from_json(RUN)
    assert deployment.graph.links == (Link(0, 1, 2, 1, 0.1),)
    assert (deployment.setup.settings.broker.walk_ttl, deployment.setup.settings.monitoring) == (8, False)
    assert deployment.server_names == ("broker-0", "broker-1")
    assert deployment.fleet_names == ("providers-0", "consumers-0")
    assert Deployment.from_json(deployment.to_json()) == deployment
    assert Deployment.from_json(Deployment.from_json(NETWORK).to_json()).fleet_names == ()


def test_a_network_says_which_brokers_should_not_run_and_a_system_of_fixed_servers_refuses():
    changed = NETWORK | {"version": 3, "members": {"1": "drained"}}
    written = Deployment.from_json(changed).to_json()
    assert (written["version"], written["members"]) == (3, {"1": "drained"})
    assert Deployment.from_json(written) == Deployment.from_json(changed)
    assert Deployment.from_json(changed).absent == {1}
    for wrong, sentence in (
        ({"members": {"7": "drained"}}, "has indices of servers, from 0 to 1, not '7'"),
        ({"members": {"1": "asleep"}}, "must be one of drained, removed, not 'asleep'"),
        ({"members": {"0": "drained", "1": "removed"}}, "leaves no broker; stop the network instead"),
        ({"members": {"1": "removed"}}, "names broker 1, which is removed"),
    ):
        with pytest.raises(InvalidSetting) as refused:
            Deployment.from_json(NETWORK | wrong)
        assert sentence in refused.value.sentence
    with pytest.raises(InvalidSetting, match="must be empty"):
        Deployment.from_json(RUN | {"members": {"1": "drained"}})


def test_positions_may_travel_with_the_topology_and_need_not():
    placed = changed("topology.positions", [[0, 0.5], [1, 0.25]])
    deployment = Deployment.from_json(placed)
    assert deployment.graph.positions == ((0, 0.5), (1, 0.25))
    assert deployment.to_json()["topology"]["positions"] == [[0, 0.5], [1, 0.25]]
    assert Deployment.from_json(deployment.to_json()) == deployment
    assert Deployment.from_json(changed("topology.positions", None)) == Deployment.from_json(RUN)
    placed["workload"]["assignment"] = "nearest"
    plans = Deployment.from_json(placed).client_plans()
    assert {plan.broker for fleet in plans.values() for plan in fleet} <= {0, 1}


@pytest.mark.parametrize(
    ("path", "value", "field", "sentence"),
    [
        ("id", "../escape", "id", "must be 1 to 64 letters"),
        ("id", KeyError, "id", "is missing"),
        ("colour", "red", "colour", "is unknown"),
        ("kind", "party", "kind", "must be one of run, network"),
        ("epoch", -1, "epoch", "must be from 0"),
        ("epoch", True, "epoch", "must be a whole number"),
        ("directory", "relative", "directory", "must be an absolute path"),
        ("directory", "/var/../etc", "directory", "must be an absolute path"),
        ("system", "teapot", "system", "must be one of context-broker"),
        ("topology", [], "topology", "must be an object"),
        ("topology.brokers", 0, "topology.brokers", "must be from 1 to 1000"),
        ("topology.links", None, "topology.links", "must be a list"),
        ("topology.links.0.b", 2, "topology.links.0.b", "must be from 0 to 1"),
        ("topology.links.0.b", 0, "topology.links.0", "joins broker 0 to itself"),
        ("topology.links.0.loss", 2, "topology.links.0.loss", "must be at most 1"),
        ("topology.links.0.colour", 1, "topology.links.0", "must have a and b"),
        ("topology.links", [{"a": 0, "b": 1}, {"a": 1, "b": 0}], "topology.links.1", "are linked already"),
        ("topology.positions", [[0, 0]], "topology.positions", "must be 2 pairs of numbers"),
        ("topology.positions", [[0, 0], [0, True]], "topology.positions", "must be 2 pairs of numbers"),
        ("topology.positions", [[0, 0], [0, 10**400]], "topology.positions", "must be 2 pairs of numbers"),
        ("workload.assignment", "nearest", "workload.assignment", "nearest needs the brokers' positions"),
        ("workload.churn", "file", "workload.churn_schedule", "is empty"),
        ("settings.walk_policy", "drunk", "settings.walk_policy", "must be one of"),
        ("settings.monitoring", 1, "settings.monitoring", "must be true or false"),
        ("workload.providers", "many", "workload.providers", "must be a whole number"),
        ("workload", None, "workload", "must be an object"),
        ("lease_s", None, "lease_s", "must be from 1 to 3600 s"),
    ],
)
def test_what_is_wrong_is_named(path, value, field, sentence):
    with pytest.raises(InvalidSetting) as refusal:
        Deployment.from_json(changed(path, value))
    assert refusal.value.field == field
    assert refusal.value.sentence.startswith(sentence) or sentence in refusal.value.sentence


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
PATHS = [
    *RUN,
    "topology.brokers",
    "topology.links",
    "topology.links.0",
    "topology.links.0.delay_ms",
    "settings.walk_ttl",
]


@given(st.sampled_from(PATHS), JSON)
def test_any_value_anywhere_is_either_fine_or_named(path, value):
    try:
        Deployment.from_json(changed(path, value))
    except InvalidSetting as refusal:
        assert refusal.field
        assert len(str(refusal)) < 1000


# --- phases ---------------------------------------------------------------------------------------------------------


UP = fleet.Process().started(0).ready(0)
DONE = UP.ended(0, "exit 0", well=True)
GIVEN_UP = fleet.Process().started(0).ended(0, "exit 1").gave_up(0, "exit 1: no room")


def see(deployment, phase, **changes):
    processes = dict.fromkeys(wanted(deployment, phase), UP) | changes.pop("processes", {})
    seen = {
        "phase": phase,
        "since": 0,
        "processes": processes,
        "is_assembled": True,
        "trouble": "",
        "renewed": 0,
        "stop_reason": None,
        "workload_start": 0,
    }
    return Seen(**seen | changes)


run, network = Deployment.from_json(RUN), Deployment.from_json(NETWORK)


def test_a_run_goes_from_launching_to_finished():
    measuring, end = schedule(run, 0)
    assert (measuring, end - measuring) == (1_100_000_000, 5 * SECOND)
    assert next_move(run, see(run, "launching", is_assembled=False), 0) is None
    assert next_move(run, see(run, "launching"), 0) == Move("assembled")
    assert next_move(run, see(run, "warming"), measuring - 1) is None
    assert next_move(run, see(run, "warming"), measuring) == Move("ramped")
    assert next_move(run, see(run, "measuring"), end) == Move("elapsed")
    half = see(run, "draining", processes={"providers-0": DONE})
    assert next_move(run, half, end) is None
    assert next_move(run, see(run, "draining", processes={"providers-0": DONE, "consumers-0": DONE}), end) == Move(
        "drained"
    )
    assert next_move(run, see(run, "finished"), 999 * SECOND) is None
    assert wanted(run, "finished") == {}


@pytest.mark.parametrize(
    ("phase", "changes", "now_s", "reason"),
    [
        ("measuring", {}, 15.1, "lease expired: not renewed for 15 s"),
        ("launching", {"processes": {"broker-1": GIVEN_UP}}, 0, "broker-1: exit 1: no room"),
        ("measuring", {"processes": {"consumers-0": GIVEN_UP}}, 0, "consumers-0: exit 1: no room"),
        ("measuring", {"processes": {"consumers-0": DONE}}, 2, "consumers-0 ended before the measurement did"),
        ("launching", {"trouble": "broker 0 could not join broker 1: no answer"}, 0, "broker 0 could not join"),
        ("launching", {"is_assembled": False, "renewed": 10**15}, LAUNCH_LIMIT_S + 1, "the overlay was not assembled"),
        ("draining", {"renewed": 10**15}, 10 + DRAIN_GRACE_S + 1, "clients did not end within 20 s"),
    ],
)
def test_a_run_that_cannot_go_on_fails_with_the_reason(phase, changes, now_s, reason):
    move = next_move(run, see(run, phase, **changes), round(now_s * SECOND))
    assert move.happened == "fail"
    assert move.reason.startswith(reason)


def test_a_broker_that_is_away_by_churn_is_not_wanted_and_no_reason_to_fail():
    assert list(wanted(run, "measuring", {1})) == ["broker-0", "providers-0", "consumers-0"]
    assert list(wanted(run, "draining", {0, 1})) == ["providers-0", "consumers-0"]
    gone = UP.sent_away().kill_sent(SECOND, "crashed by churn").ended(SECOND, "killed by SIGKILL")
    seen = see(run, "measuring", is_assembled=False, processes={"broker-1": gone}, trouble="broker 0 could not join")
    _, end = schedule(run, 0)
    assert next_move(run, seen, end - 1) is None
    assert next_move(run, seen, end) == Move("elapsed")


def test_a_network_is_degraded_while_a_broker_is_missing():
    died = UP.ended(SECOND, "killed by SIGKILL")
    missing = see(network, "running", processes={"broker-0": died})
    assert next_move(network, missing, SECOND) == Move("lost", "broker-0: killed by SIGKILL")
    assert next_move(network, see(network, "degraded", is_assembled=False), SECOND) is None
    assert next_move(network, see(network, "degraded"), SECOND) == Move("assembled")
    one = see(network, "degraded", is_assembled=False, processes={"broker-0": GIVEN_UP})
    assert next_move(network, one, SECOND) is None
    none = see(network, "degraded", is_assembled=False, processes={"broker-0": GIVEN_UP, "broker-1": GIVEN_UP})
    assert next_move(network, none, SECOND) == Move("fail", "broker-0: exit 1: no room")


def test_a_network_starts_without_a_broker_that_cannot_once_all_others_are_up():
    without = {"is_assembled": False, "processes": {"broker-0": GIVEN_UP}}
    assert next_move(network, see(network, "launching", **without), 0) == Move("lost", "broker-0: exit 1: no room")
    early = see(network, "launching", is_assembled=False, processes={"broker-0": GIVEN_UP, "broker-1": fleet.Process()})
    assert next_move(network, early, 0) is None


def test_a_stop_waits_until_everybody_is_gone():
    assert next_move(network, see(network, "running", stop_reason="enough"), 0) == Move("stop", "enough")
    assert next_move(network, see(network, "stopping", processes={"broker-0": UP}), 0) is None
    assert next_move(network, see(network, "stopping", stop_reason="enough"), 0) == Move("gone", "enough")


@given(
    st.sampled_from([run, network]),
    st.sampled_from(sorted({phase for _, phase, _ in TRANSITIONS} | {"finished", "stopped", "failed"})),
    st.dictionaries(
        st.sampled_from([*run.server_names, *run.fleet_names]),
        st.sampled_from([fleet.Process(), UP, DONE, GIVEN_UP]),
    ),
    st.booleans(),
    st.sampled_from(["", "trouble"]),
    st.sampled_from([None, "enough"]),
    st.integers(0, 300),
)
def test_every_move_is_legal(deployment, phase, processes, is_assembled, trouble, stop_reason, now_s):
    legal = {from_ for kind, from_, _ in TRANSITIONS if kind == deployment.kind} | {"finished", "stopped", "failed"}
    if phase not in legal:
        return
    seen = see(
        deployment, phase, processes=processes, is_assembled=is_assembled, trouble=trouble, stop_reason=stop_reason
    )
    move = next_move(deployment, seen, now_s * SECOND)
    if move is not None:
        assert (deployment.kind, phase, move.happened) in TRANSITIONS
        assert move.happened in ("assembled", "ramped", "elapsed", "drained", "gone") or move.reason
    if move is None and is_alive(deployment, phase) and deployment.lease_s:
        assert now_s <= deployment.lease_s


# --- assembly -------------------------------------------------------------------------------------------------------


LINE = [Link(0, 1), Link(1, 2)]


def obey(assembly, up, now=0):
    """Give every order that is due and acknowledge it, until there is none; the orders in their order."""
    given_orders = []
    while orders := assembly.due(up, now, room=99):
        for order in orders:
            assembly.done(order)
            given_orders.append((order.broker, *(order.joins or (None,))))
    return given_orders


def test_each_link_is_joined_once_and_then_everybody_watches():
    assembly = Assembly(3, LINE, monitoring=True)
    up = {0: 1, 1: 1, 2: 1}
    assert sorted(obey(assembly, up), key=str) == [(0, 1), (0, None), (1, 2), (1, None), (2, None)]
    assert assembly.is_complete(up)
    assert obey(assembly, up) == []


def test_a_broker_that_was_started_again_gets_its_joins_and_its_monitoring_again():
    assembly = Assembly(3, LINE, monitoring=True)
    obey(assembly, {0: 1, 1: 1, 2: 1})
    without = {0: 1, 2: 1}
    assert not assembly.is_complete(without)
    assert obey(assembly, without) == []
    assert sorted(obey(assembly, {0: 1, 1: 2, 2: 1}), key=str) == [(0, 1), (1, 2), (1, None)]


def test_without_monitoring_nobody_watches():
    assembly = Assembly(3, LINE, monitoring=False)
    assert obey(assembly, {0: 1, 1: 1, 2: 1}) == [(0, 1), (1, 2)]


def test_one_order_at_a_time_to_a_broker_and_no_more_than_there_is_room_for():
    assembly = Assembly(4, [Link(0, 1), Link(0, 2), Link(1, 2), Link(2, 3)], monitoring=False)
    up = dict.fromkeys(range(4), 1)
    first = assembly.due(up, 0, room=2)
    assert [(order.broker, *order.joins) for order in first] == [(0, 1), (1, 2)]
    assert [order.broker for order in assembly.due(up, 0, room=99)] == [2]
    assert assembly.due(up, 0, room=99) == []
    assert not assembly.is_complete(up)


def test_a_refused_order_is_given_again_later_and_said_after_a_while():
    assembly = Assembly(2, [Link(0, 1)], monitoring=False)
    up, now = {0: 1, 1: 1}, 0
    for _ in range(ATTEMPTS):
        assert assembly.trouble == ""
        [order] = assembly.due(up, now, room=9)
        assembly.refused(order, "no answer", now)
        assert assembly.due(up, now, room=9) == []
        now = assembly.next_retry(now)
    assert now == ATTEMPTS * RETRY
    assert assembly.trouble == "broker 0 could not join broker 1: no answer"
    assembly.done(*assembly.due(up, now, room=9))
    assert (assembly.trouble, assembly.is_complete(up)) == ("", True)


def test_those_that_choose_their_neighbours_get_all_their_links_in_one_order_when_all_are_up():
    assembly = Assembly(3, LINE, monitoring=True, searching=True)
    assert obey(assembly, {0: 1, 1: 1}) == []
    assert assembly.next_retry(0) == PATIENCE
    assert obey(assembly, {0: 1, 1: 1, 2: 1}, now=1) == [(0, 1), (1, 0, 2), (2, 1), (0, None), (1, None), (2, None)]
    assert assembly.is_complete({0: 1, 1: 1, 2: 1})
    assert obey(assembly, {0: 1, 1: 1}, now=2) == [], "who searches finds others without being told"
    assert obey(assembly, {0: 1, 1: 1, 2: 2}, now=3) == [(2, 1), (2, None)]


def test_those_that_choose_wait_a_while_for_others_and_no_longer():
    assembly = Assembly(3, LINE, monitoring=False, searching=True)
    assert obey(assembly, {0: 1, 1: 1}) == []
    assert obey(assembly, {0: 1, 1: 1}, now=PATIENCE) == [(0, 1), (1, 0, 2)]


def test_a_link_is_cut_by_a_leave_of_one_end_which_then_joins_its_other_neighbours_again():
    assembly, up = Assembly(3, [*LINE, Link(0, 2)], monitoring=False), {0: 1, 1: 1, 2: 1}
    obey(assembly, up)
    assembly.reshape(3, LINE, frozenset())
    assert not assembly.is_idle(up)
    [leave] = assembly.due(up, 0, 9)
    assert (leave.broker, leave.leaves, leave.words()) == (0, True, "leave its neighbours")
    assembly.done(leave)
    [join] = assembly.due(up, 0, 9)
    assert (join.broker, join.joins) == (0, (1,))
    assembly.done(join)
    assert assembly.is_complete(up)


def test_a_broker_that_is_absent_gets_no_orders_and_one_that_was_added_is_joined():
    assembly, up = Assembly(3, LINE, monitoring=False), {0: 1, 1: 1, 2: 1}
    obey(assembly, up)
    assembly.reshape(4, [*LINE, Link(2, 3)], frozenset({1}))
    assert [(order.broker, order.joins) for order in assembly.due({**up, 3: 1}, 0, 9)] == [(2, (3,))]
    assert not assembly.is_complete(up)


@given(st.data())
def test_whatever_dies_in_the_middle_the_overlay_is_whole_when_all_are_up_again(data):
    links = [Link(0, 1), Link(1, 2), Link(2, 3), Link(3, 0), Link(0, 2)]
    assembly = Assembly(4, links, monitoring=True)
    incarnation, running, busy = [1] * 4, set(), []
    joined: dict[tuple[int, int], tuple[int, int]] = {}
    watching: dict[int, int] = {}

    def acknowledge(order: Order):
        assembly.done(order)
        if not order.joins:
            watching[order.broker] = order.incarnations[0]
        else:
            joined[order.broker, order.joins[0]] = (order.incarnations[0], order.incarnations[1])

    for now in range(data.draw(st.integers(0, 40))):
        step = data.draw(st.sampled_from(["start", "die", "order", "acknowledge", "refuse"]))
        broker = data.draw(st.integers(0, 3))
        up = {index: incarnation[index] for index in running}
        if step == "start":
            running.add(broker)
        elif step == "die" and broker in running:
            running.remove(broker)
            incarnation[broker] += 1
        elif step == "order":
            busy += assembly.due(up, now * SECOND, room=3)
        elif busy and step == "acknowledge":
            acknowledge(busy.pop())
        elif busy and step == "refuse":
            assembly.refused(busy.pop(), "no answer", now * SECOND)
    for order in busy:
        assembly.refused(order, "no answer", 100 * SECOND)
    up = dict(enumerate(incarnation))
    while orders := assembly.due(up, 200 * SECOND, room=9):
        for order in orders:
            acknowledge(order)
    assert assembly.is_complete(up)
    assert all(joined[link.a, link.b] == (incarnation[link.a], incarnation[link.b]) for link in links)
    assert watching == up


def test_a_run_may_be_recorded_and_a_network_may_not() -> None:
    assert Deployment.from_json({**RUN, "record_mb": 8}).record_mb == 8
    with pytest.raises(InvalidSetting, match="record_mb: must be at most 4096 MB"):
        Deployment.from_json({**RUN, "record_mb": 5000})
    with pytest.raises(InvalidSetting, match="record_mb: a network records nothing"):
        Deployment.from_json({**NETWORK, "record_mb": 8})
