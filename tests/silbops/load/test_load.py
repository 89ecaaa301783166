"""What the clients of a SilboPS workload draw, do and report."""

from __future__ import annotations

from itertools import islice, pairwise
from statistics import fmean
from typing import Any

import pytest

from overlay.core.errors import InvalidSetting
from overlay.core.node import SECOND
from overlay.journal.facts import HandOver, Sample
from overlay.systems.silbops.load.draws import GROUP, PUBLISHERS, SUBSCRIBERS, Draws
from overlay.systems.silbops.rows import Advertised, ContextSet, Delivered, Published, Refused, Served, Subscribed
from overlay.systems.silbops.workload import Workload
from tests.silbops.load.world import FleetWorld

SMALL: dict[str, Any] = {
    "publishers": 2,
    "subscribers": 4,
    "filters_max": 3,
    "attribute_names": 12,
    "string_values": 3,
    "int_values": 3,
    "square_km": 60.0,
    "duration_s": 5.0,
}


def small(**changed: Any) -> Workload:
    return Workload(**{**SMALL, **changed})


# ---- the workload


@pytest.mark.parametrize(
    ("values", "field"),
    [
        ({"filters_min": 5, "filters_max": 4}, "filters_min"),
        ({"attributes_max": 10, "attribute_names": 9}, "attributes_max"),
        ({"type_mix": "0:0:0"}, "type_mix"),
        ({"type_mix": "1:2"}, "type_mix"),
        ({"number_ops": "1:2:x"}, "number_ops"),
        ({"subscribers": 0, "subscriptions": 5}, "subscriptions"),
        ({"subscribers": 1, "subscriptions": 200_000}, "subscriptions"),
        ({"changes": 5, "mobility": "fixed"}, "changes"),
        ({"publishers": 0, "notifications": 5}, "notifications"),
        ({"changing_subscribers": 951}, "changing_subscribers"),
        ({"publishers": 0, "subscribers": 0}, "publishers"),
    ],
)
def test_a_workload_that_cannot_be_run_is_refused_by_name(values: dict[str, Any], field: str) -> None:
    with pytest.raises(InvalidSetting) as caught:
        Workload(**values)
    assert caught.value.field == field


# ---- draws


def test_equal_seeds_draw_the_same_and_others_do_not() -> None:
    def drawn(seed: int) -> Any:
        draws = Draws(small(), seed)
        contexts = draws.contexts(SUBSCRIBERS, 1, 1.0)
        return draws.filters(1), list(islice(draws.notifications(0), 5)), list(islice(contexts, 5))

    assert drawn(1) == drawn(1)
    assert drawn(1) != drawn(2)


def test_what_is_drawn_has_the_given_numbers_names_and_operators() -> None:
    draws = Draws(Workload(), 3)
    several = [draws.filters(number) for number in range(200)]
    assert {len(one) for one in several} == set(range(1, 21))
    filters = [one for each in several for one in each]
    assert {len(one) for one in filters} == set(range(1, 6))
    constraints = [part for one in filters for part in one]
    assert {part.op for part in constraints if part.kind == "number"} == {"=", ">", "<"}
    assert {part.op for part in constraints if part.kind != "number"} == {"="}
    kinds: dict[str, Any] = {part.name: part.kind for part in constraints}
    assert all(kinds[part.name] == part.kind for part in constraints), "a name has one type"
    names = [part.name for part in constraints]
    assert names.count("a0") > 5 * names.count("a9") > 0, "Zipf"
    assert {len(one) for one in islice(draws.notifications(0), 200)} == set(range(1, 11))


def test_subscriptions_are_spread_evenly() -> None:
    draws = Draws(Workload(subscribers=3, subscriptions=10), 1)
    assert [len(draws.filters(number)) for number in range(3)] == [4, 3, 3]


def test_few_names_can_all_be_drawn() -> None:
    draws = Draws(Workload(attribute_names=3, attributes_min=3, attributes_max=3, constraints_max=3), 1)
    assert sorted(next(draws.notifications(0))) == ["a0", "a1", "a2"]


def test_positions_jump_stay_or_walk_within_the_square() -> None:
    def path(kind: str = SUBSCRIBERS, count: int = 400, **values: Any) -> list[tuple[float, float]]:
        draws = Draws(small(square_km=10.0, **values), 1)
        return [(float(one["x"]), float(one["y"])) for one in islice(draws.contexts(kind, 0, 1.0), count)]

    assert len(set(path(PUBLISHERS))) == 1
    jumps = path()
    assert 4 < fmean(x for x, _ in jumps) < 6
    walk = path(mobility="walk", speed_m_s=100.0)
    assert all(0 <= x <= 10 and 0 <= y <= 10 for x, y in walk)
    steps = [((x2 - x1) ** 2 + (y2 - y1) ** 2) ** 0.5 for (x1, y1), (x2, y2) in pairwise(walk)]
    straight = [step for step in steps if abs(step - 0.1) < 1e-9]
    assert len(straight) > 380, "100 m each second, but where it is reflected"
    assert all(step <= 0.1 + 1e-9 for step in steps)


def test_below_a_share_of_one_each_subscriber_has_a_group_that_stays() -> None:
    draws = Draws(small(admitted_share=0.5), 1)
    groups = [[one[GROUP] for one in islice(draws.contexts(SUBSCRIBERS, number, 1), 3)] for number in range(50)]
    assert all(len(set(each)) == 1 for each in groups)
    assert 10 < sum(float(each[0]) < 0.5 for each in groups) < 40
    assert GROUP not in next(draws.contexts(PUBLISHERS, 0, 1))


# ---- a run


def test_clients_set_what_they_have_and_then_publish_and_move_at_their_intervals() -> None:
    world = FleetWorld(small())
    world.wait(world.windows.measuring / SECOND)
    assert len(world.rows(Advertised)) == 2
    assert len(world.rows(Subscribed)) == len(world.network.tables[0]._subscriptions)
    assert [one.is_new for one in world.rows(ContextSet)] == [True] * 6
    assert not world.rows(Published)
    world.finish()
    assert len(world.rows(Published)) == 10, "two publishers, five seconds"
    changes = [one for one in world.rows(ContextSet) if one.client.startswith("subscriber")]
    assert len(changes) == 4 + 20
    assert all(one.accepted_us >= one.called_us for one in changes)
    assert world.rows(Delivered)
    assert not world.rows(Refused)
    assert {one.outcome for one in world.facts(Sample)} == {"answered"}
    assert [(one.broker, one.until_us) for one in world.rows(Served)] == [(0, 0)] * 6


def test_all_arms_have_the_same_operations_at_the_same_instants() -> None:
    def operations(**settings: Any) -> Any:
        world = FleetWorld(small(), brokers=2, **settings)
        world.finish()
        published = [(one.client, one.notification, one.intended_us) for one in world.rows(Published)]
        changes = [(one.client, one.values, one.intended_us) for one in world.rows(ContextSet)]
        return sorted(published), sorted(changes)

    assert operations() == operations(arm="siena", index="counting")


def test_a_closed_experiment_ends_with_its_counts_and_clients_take_turns() -> None:
    world = FleetWorld(small(changes=10, changing_subscribers=3, notifications=7))
    world.finish()
    measuring = world.windows.measuring // 1_000
    changes = [
        one for one in world.rows(ContextSet) if one.client.startswith("subscriber") and one.called_us >= measuring
    ]
    by_client = sorted(one.client for one in changes)
    assert [by_client.count(f"subscriber-{number}") for number in range(4)] == [4, 3, 3, 0]
    assert len(world.rows(Published)) == 7
    assert {one.called_us for one in changes} == {measuring}, "as fast as brokers take them"


def test_subscribers_are_handed_over_to_another_broker() -> None:
    world = FleetWorld(small(handover_interval_s=2.0), brokers=3)
    world.finish()
    moves = world.facts(HandOver)
    assert len(moves) >= 8
    assert all(one.outcome == "done" and one.server != one.to_server for one in moves)
    assert {one.reason for one in world.rows(Served)} == {"moved", ""}


def test_publishers_admit_a_share_or_subscribers_tell_by_themselves() -> None:
    def delivered(**settings: Any) -> int:
        world = FleetWorld(small(admitted_share=0.5, subscribers=8), **settings)
        world.finish()
        assert not world.rows(Refused)
        return len(world.rows(Delivered))

    everyone = FleetWorld(small(subscribers=8))
    everyone.finish()
    assert 0 < delivered() < len(everyone.rows(Delivered))
