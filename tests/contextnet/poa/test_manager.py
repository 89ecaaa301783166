"""What a PoA manager tells gateways, over real records in virtual time."""

from __future__ import annotations

from collections.abc import Mapping

from overlay.core.node import SECOND
from overlay.systems.contextnet.poa.events import Acting, GatewayActive, GatewayLapsed, StandingBy
from overlay.systems.contextnet.poa.manager import GROUP
from overlay.systems.contextnet.poa.ranks import Load
from overlay.systems.contextnet.poa.settings import PoaSettings
from overlay.systems.contextnet.poa.statistics import Statistics
from overlay.systems.contextnet.records import names as n
from overlay.systems.contextnet.records.records import GatewayList, HandOver, PingConfig
from tests.contextnet.poa.bed import WALL_NS, Bed, address_of, node_id, started

QUICK = PoaSettings(ping_period_s=5, round_s=5, persistence=1, budget=1, smoothing=1, band=0, hold_s=60)
ALIKE = {"gateway-0": 100, "gateway-1": 100}


def lists(bed: Bed) -> list[list[str]]:
    found = []
    for _, value in bed.said(n.GATEWAY_LIST):
        assert isinstance(value, GatewayList)
        found.append([one.gateway for one in value.gateways])
    return found


def orders(bed: Bed) -> list[tuple[str, HandOver]]:
    return [(key, value) for key, value in bed.said(n.HANDOVER) if isinstance(value, HandOver)]


def test_a_gateway_that_starts_is_told_how_to_ping_and_is_listed_at_once() -> None:
    bed = Bed(QUICK, ALIKE)
    bed.start(0)
    bed.hello("gateway-0")
    bed.pump()
    (all_of_them, first), (own, second) = bed.said(n.PING_CONFIG)
    assert (all_of_them, own) == ("*", "gateway-0")
    assert first == second
    assert isinstance(first, PingConfig)
    assert (first.period_s, first.window_ms) == (5, 2_000)
    assert lists(bed) == [["gateway-0"]]
    assert bed.managers[0].events() == [Acting(), GatewayActive("gateway-0")]


def test_a_gateway_without_reports_leaves_the_list_after_the_missed_ones_and_comes_back_with_the_next() -> None:
    bed = started(QUICK, ALIKE, 10)
    bed.run(20)
    bed.gateways["gateway-1"].is_running = False
    bed.run(14)
    assert sorted(lists(bed)[-1]) == ["gateway-0", "gateway-1"]
    bed.run(2)
    assert lists(bed)[-1] == ["gateway-0"]
    assert GatewayLapsed("gateway-1") in bed.managers[0].events()
    bed.gateways["gateway-1"].is_running = True
    bed.run(5)
    assert sorted(lists(bed)[-1]) == ["gateway-0", "gateway-1"]


def test_the_list_is_repeated_each_list_s_and_when_a_score_moves() -> None:
    bed = started(PoaSettings(balancing=False, list_s=30), ALIKE, 10)
    bed.run(40)
    before = len(lists(bed))
    bed.run(65)
    assert len(lists(bed)) == before + 2
    for number in range(10, 20):
        bed.connect(node_id(number), "gateway-1")
    bed.run(15)
    assert len(lists(bed)) == before + 3
    assert lists(bed)[-1] == ["gateway-0", "gateway-1"], "the best first: the one with fewer connections"


def times(bed: Bed) -> list[int]:
    """Of the lists, in seconds."""
    return [(one.appended_us * 1_000 - WALL_NS) // SECOND for one in bed.log.records if one.topic == n.GATEWAY_LIST]


def test_the_list_is_repeated_each_list_s_though_rounds_are_longer() -> None:
    bed = started(PoaSettings(balancing=False, list_s=20, round_s=600), ALIKE, 10)
    bed.run(100)
    assert [second for second in times(bed) if second > 10] == [20, 40, 60, 80, 100]


def test_rounds_do_not_repeat_a_list_that_may_be_older() -> None:
    bed = started(PoaSettings(balancing=False, list_s=3_600, round_s=10), ALIKE, 10)
    bed.run(100)
    last = times(bed)[-1]
    bed.run(3_599 + last - 100)
    assert times(bed)[-1] == last
    bed.run(1)
    assert times(bed)[-1] == last + 3_600


def test_a_manager_that_takes_over_repeats_the_list_when_that_of_the_former_is_old() -> None:
    bed = started(PoaSettings(balancing=False, list_s=60, round_s=600), ALIKE, 10)
    standby, acting = bed.start(1, is_acting=False), bed.managers[0]
    bed.run(65)
    (common,) = (one for one in acting.subscriptions() if one.group == GROUP)
    acting.revoked([bed.owned(common)], bed.now)
    bed.let_act(standby)
    bed.run(119 - 65)
    assert times(bed)[-1] == 60
    bed.run(1)
    assert times(bed)[-1] == 120


def test_no_node_moves_while_balancing_is_off() -> None:
    bed = started(PoaSettings(balancing=False), ALIKE, 50)
    bed.run(200)
    assert bed.moves == []


def test_moves_wait_for_persistence_after_a_start_and_stay_within_the_budget_of_each_round() -> None:
    bed = started(PoaSettings(persistence=3, budget=0.1, round_s=10), ALIKE, 100)
    bed.run(39)
    assert bed.moves == []
    bed.run(60)
    assert {second: sum(at == second for at, _ in bed.moves) for second, _ in bed.moves} == dict.fromkeys(
        range(40, 80, 10), 10
    ) | {80: 6}
    assert len(bed.gateways["gateway-0"].nodes) == 54, "down to half the band above 50"


def test_the_worst_round_trip_moves_first_and_an_order_names_where_to() -> None:
    bed = started(QUICK, {"gateway-0": 100, "gateway-1": 100, "gateway-2": 50}, 10)
    bed.run(10)
    (source, first), *_ = orders(bed)
    assert source == "gateway-0"
    assert first.targets == (address_of("gateway-1"), address_of("gateway-2"))
    assert first.reason == "load"
    trips = {node: seat.rtt_us for node, seat in bed.managers[0].seats.nodes.items()}
    moved = [found.node for _, found in orders(bed)]
    assert sorted(moved, key=lambda node: -(trips[node] or 0)) == moved


def test_a_node_is_told_to_move_once_in_hold_s_though_it_stays() -> None:
    bed = started(QUICK, ALIKE, 10)
    bed.obeys = False
    bed.run(QUICK.hold_s)
    assert bed.most_moves() == 1
    assert len(bed.moves) == 10, "others are told in place of those that did not go"
    bed.run(QUICK.hold_s)
    assert bed.most_moves() == 2


def test_a_node_that_was_told_to_move_counts_at_its_target_for_two_rounds() -> None:
    bed = started(QUICK, ALIKE, 10)
    bed.obeys = False
    bed.run(11)
    (first, *_), seats = bed.moves, bed.managers[0].seats
    assert first[0] == 10
    assert seats.count() == {"gateway-0": 5, "gateway-1": 5}
    bed.run(10)
    assert seats.ordered < 10
    bed.run(30)
    assert seats.count() == {"gateway-0": 10, "gateway-1": 0}


def test_a_manager_that_takes_over_leaves_alone_who_was_told_to_move_before() -> None:
    bed = started(QUICK, ALIKE, 20)
    standby = bed.start(1, is_acting=False)
    bed.run(12)
    told = {node for _, node in bed.moves}
    assert len(told) == 10
    assert standby.records_to_append() == []
    acting = bed.managers[0]
    (common,) = (one for one in acting.subscriptions() if one.group == GROUP)
    acting.revoked([bed.owned(common)], bed.now)
    assert acting.events()[-1] == StandingBy()
    bed.let_act(standby)
    assert standby.events()[-1] == Acting()
    for node in told:
        bed.gateways["gateway-1"].nodes.pop(node)
        bed.connect(node, "gateway-0")
    bed.run(40)
    assert bed.most_moves() == 1
    assert len(bed.moves) == 20, "the others go in their place"
    standby.check_invariants()


def test_a_gateway_that_an_operator_drains_is_emptied_within_the_budget_and_takes_no_more() -> None:
    settings = PoaSettings(balancing=False, budget=0.1, hold_s=0)
    bed = started(settings, ALIKE, 20)
    bed.run(60)
    assert bed.moves == []
    bed.gateways["gateway-0"].limit = 0
    bed.hello("gateway-0")
    bed.run(200)
    assert len(bed.gateways["gateway-0"].nodes) == 0
    assert lists(bed)[-1] == ["gateway-1", "gateway-0"], "what is for its nodes still goes there"
    *_, (_, newest) = bed.said(n.GATEWAY_LIST)
    assert isinstance(newest, GatewayList)
    assert [bool(one.score) for one in newest.gateways] == [True, False]
    assert {found.reason for _, found in orders(bed)} == {"drain"}
    bed.gateways["gateway-0"].limit = 20_000
    bed.hello("gateway-0")
    bed.run(5)
    assert sorted(lists(bed)[-1]) == ["gateway-0", "gateway-1"]


def test_a_rank_that_fails_leaves_the_scores_as_they_were() -> None:
    def broken(statistics: Mapping[str, Statistics], loads: Mapping[str, Load]) -> Mapping[str, float]:
        raise ZeroDivisionError

    bed = started(QUICK, ALIKE, 10, rank=broken)
    bed.run(60)
    assert bed.managers[0].statistics(bed.now)["rank_failed"] > 0
    assert bed.unevenness() == 1, "all scores are alike"


def test_a_network_of_one_node_or_none_moves_nothing() -> None:
    for nodes in (0, 1):
        bed = started(PoaSettings(round_s=5, persistence=1), ALIKE, nodes)
        bed.run(100)
        assert len(bed.moves) == 0


def test_figures_of_a_round_are_told_once() -> None:
    bed = started(QUICK, ALIKE, 10)
    bed.run(10)
    *_, last = bed.managers[0].traces()
    assert (last.at, sum(last.wanted.values()), last.moves) == (10 * SECOND, 10, 5)
    assert bed.managers[0].traces() == []
