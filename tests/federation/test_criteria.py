"""Criteria A to Q and the sign tests, on made-up values on both sides of each threshold."""

from __future__ import annotations

from functools import partial

import pytest

from telemetry.statistics.intervals import SIGNED, interval
from telemetry.studies.criteria import INCONCLUSIVE, NOT, REPRODUCED, SHAPE_ONLY, Interval, word
from telemetry.systems.federation.studies import criteria

ENOUGH = 10


def about(value: float, spread: float = 0.01, seeds: int = ENOUGH) -> Interval:
    """Its mean is ``value``; seeds are this far apart on both sides."""
    return interval([value + spread * (2 * place - seeds + 1) / (seeds - 1) for place in range(seeds)], SIGNED)


def exactly(*values: float) -> Interval:
    return interval([*values, *[values[-1]] * (ENOUGH - len(values))], SIGNED)


def verdict(judge: criteria.Judge, figures: dict[str, Interval]) -> str:
    return word(*judge(figures))


# ---- E1.1


def rises(one: Interval, three: Interval, *between: Interval) -> bool:
    steps = {f"one broker, {20 + place} − {10 + place}": step for place, step in enumerate(between)}
    figures = {"one broker, 60 − 10": one, "three brokers, 60 − 10": three, **steps}
    return criteria.rises_with_rate(figures)


def test_a_needs_both_arms_to_rise_significantly_and_no_significant_fall() -> None:
    up, flat, down = about(5, 1), about(1, 30), about(-5, 1)
    assert rises(up, up)
    assert not rises(up, flat) and not rises(flat, up) and not rises(down, up)
    assert rises(up, up, about(-1, 30)), "a fall that is not significant is none"
    assert not rises(up, up, down)
    assert not criteria.rises_with_rate({"one broker, 990 − 165": flat, "three brokers, 990 − 165": up}), "other rates"


@pytest.mark.parametrize(
    ("ratio", "holds"),
    [(about(0.5, 0), True), (about(0.51, 0), False), (about(0.3, 0.5), True), (about(0.45, 3), False)],
)
def test_b_needs_a_ratio_of_a_half_that_is_below_one_with_its_interval(ratio: Interval, holds: bool) -> None:
    assert criteria.rises_less({"rise of three / rise of one": ratio}) == holds


@pytest.mark.parametrize(
    ("ratio", "difference", "holds"), [(1.5, -1, True), (1.49, -1, False), (1.5, 1, False), (1.5, -0.001, False)]
)
def test_c_needs_a_marked_increase_and_a_significantly_smaller_deviation(
    ratio: float, difference: float, holds: bool
) -> None:
    figures = {criteria.SD_RATIO: about(ratio), criteria.SD_DIFFERENCE: about(difference, 0.1)}
    assert criteria.spreads_less(figures) == holds


def test_d_needs_three_to_be_significantly_faster_at_both_rates() -> None:
    faster, equal = about(-5, 1), about(-1, 30)
    assert criteria.is_faster({"three − one at 50": faster, "three − one at 60": faster})
    assert not criteria.is_faster({"three − one at 50": equal, "three − one at 60": faster})
    assert not criteria.is_faster({"three − one at 50": faster, "three − one at 60": about(5, 1)})


def test_e_needs_the_cap_to_be_kept_in_every_run() -> None:
    assert criteria.keeps_cap({"at 60": exactly(0.15, 0.1)})
    assert not criteria.keeps_cap({"at 60": exactly(0.151, 0.1)})


def queries(narrow: float = 1.0, wide: float = 2.0, other: float = 100.0) -> dict[str, Interval]:
    same = {f"{number:,} queries": about(100, narrow) for number in (500, 1_000, 2_000, 2_500, 3_000)}
    return {**same, "100 queries": about(100, wide), "1,500 queries": about(other, narrow)}


def test_f_needs_means_within_a_tenth_and_an_interval_of_twice_the_width() -> None:
    assert criteria.queries_suffice(queries())
    assert criteria.queries_suffice(queries(other=110.0)) and criteria.queries_suffice(queries(other=90.0))
    assert not criteria.queries_suffice(queries(other=110.1)) and not criteria.queries_suffice(queries(other=89.9))
    assert not criteria.queries_suffice(queries(wide=1.9))


def fig_11(**parts: Interval) -> dict[str, Interval]:
    """As published, with some parts otherwise."""
    return {
        "A: one broker, 60 − 10": parts.get("a", about(70, 5)),
        "A: three brokers, 60 − 10": about(20, 5),
        "B: rise of three / rise of one": parts.get("b", about(0.3, 0.1)),
        f"C: {criteria.SD_RATIO}": parts.get("c", about(4, 1)),
        f"C: {criteria.SD_DIFFERENCE}": about(-40, 5),
        "D: three − one at 50": parts.get("d", about(-5, 1)),
        "D: three − one at 60": about(-40, 5),
        "E: at 60": parts.get("e", exactly(0.14)),
        criteria.UNSATISFIED: parts.get("unsatisfied", exactly(0.0)),
    }


def test_fig_11_is_reproduced_by_a_to_e_and_its_shape_by_a_b_and_e() -> None:
    judge = partial(verdict, criteria.together(criteria.A_TO_E, criteria.OF_SHAPE))
    assert judge(fig_11()) == REPRODUCED
    assert judge(fig_11(c=about(1.4))) == judge(fig_11(d=about(5, 1))) == SHAPE_ONLY
    assert judge(fig_11(a=about(0, 5))) == judge(fig_11(b=about(0.6))) == judge(fig_11(e=exactly(0.2))) == NOT


def test_an_unsatisfied_query_or_fewer_than_ten_replicates_leave_it_open() -> None:
    judge = partial(verdict, criteria.together(criteria.A_TO_E, criteria.OF_SHAPE))
    assert judge(fig_11(unsatisfied=exactly(0.0, 1.0))) == INCONCLUSIVE
    assert judge(fig_11(a=about(70, 5, seeds=9))) == INCONCLUSIVE
    alone = criteria.alone(criteria.rises_less)
    assert verdict(alone, {"r": about(0.3, 0.1, seeds=9)}) == INCONCLUSIVE
    assert verdict(alone, {"r": about(0.3, 0.1)}) == REPRODUCED
    assert verdict(alone, {"r": about(0.3, 0.1), criteria.UNSATISFIED: exactly(1.0)}) == INCONCLUSIVE


# ---- E1.2


def quantiles(inside: float, middle: float = 0.0, outside: float = 30.0) -> dict[str, Interval]:
    """Differences of an unequal sign inside, above the one of the median."""
    found = {f"{share} %": about(middle + (inside if share > 50 else -inside)) for share in (5, 25, 75, 95)}
    return {**found, "50 %": about(middle), "1 %": about(0), "99 %": about(outside), criteria.SPREAD: about(40)}


def test_g_needs_every_quantile_within_a_quarter_of_the_quartile_distance() -> None:
    assert criteria.overlaps(quantiles(10)) and not criteria.overlaps(quantiles(10.1))
    assert criteria.overlaps({**quantiles(10), "99 %": about(500)}), "ends do not count"
    shifted = quantiles(10, middle=18)
    assert not criteria.overlaps(shifted) and criteria.overlaps_shifted(shifted)
    assert not criteria.overlaps_shifted(quantiles(10.1, middle=18))


def test_h_needs_the_ends_to_differ_by_more_than_the_median_inside() -> None:
    assert criteria.differs_at_ends(quantiles(10, outside=10.1))
    assert not criteria.differs_at_ends(quantiles(10, outside=9.9))


# ---- E1.3


def energies(none: float = 1.0, mcxb: float = 0.9, bulk: float = 0.95, ipc: float = 0.7) -> dict[str, Interval]:
    modes = (criteria.NO_BROKER, criteria.HTTP, criteria.BULK, criteria.BULK_IPC)
    values = dict(zip(modes, (none, mcxb, bulk, ipc), strict=True))
    return {mode: about(value, 0.001, seeds=5) for mode, value in values.items()}


def test_i_j_and_k_need_their_order_and_size() -> None:
    assert criteria.saves_as_published(energies())
    assert criteria.saves(energies(mcxb=0.99)) and not criteria.saves(energies(mcxb=1.01))
    assert criteria.bulk_costs_little(energies(bulk=0.9 * 1.15)) and not criteria.bulk_costs_little(energies(bulk=1.04))
    assert not criteria.bulk_costs_little(energies(bulk=0.89))
    for kept, holds in ((0.65, True), (0.75, True), (0.649, False), (0.751, False)):
        assert criteria.ipc_saves_as_published(energies(ipc=kept)) == holds
        assert criteria.is_about_70({criteria.LEFT: about(kept, 0)}) == holds


def test_fig_13_has_the_shape_with_its_order_and_the_price_of_bulk() -> None:
    judge = partial(verdict, criteria.alone(criteria.saves_as_published, criteria.keeps_order, criteria.OF_ENERGY))
    assert judge(energies()) == REPRODUCED
    assert judge(energies(ipc=0.5)) == judge(energies(bulk=1.2)) == SHAPE_ONLY
    assert judge(energies(bulk=0.8)) == judge(energies(mcxb=1.1)) == judge(energies(ipc=0.92)) == NOT
    assert judge({mode: about(1, 0, seeds=4) for mode in energies()}) == INCONCLUSIVE


def test_l_needs_every_repetition_within_three_per_cent() -> None:
    assert criteria.repeats({"none": interval([0.97, 1.0, 1.03], SIGNED)})
    assert not criteria.repeats({"none": interval([0.96, 1.0, 1.04], SIGNED)})


# ---- E1.4


def test_m_o_and_p_need_their_thresholds() -> None:
    def known(proper: float, improper: float = 3.0) -> dict[str, Interval]:
        return {criteria.PROPER: about(proper, 0), criteria.IMPROPER: about(improper, 0)}

    assert criteria.is_quick(known(0.2), 2.0) and not criteria.is_quick(known(0.201), 2.0)
    assert criteria.takes_longer(known(0.3)) and not criteria.takes_longer(known(0.301))

    def told(improper: float) -> bool:
        return criteria.is_told_alike(
            {criteria.TOLD_PROPER: about(0.01, 0), criteria.TOLD_IMPROPER: about(improper, 0)}
        )

    assert told(0.005) and told(0.02)
    assert not told(0.0049) and not told(0.0201)


@pytest.mark.parametrize(
    ("shortest", "longest", "holds"), [(4.0, 4.001, True), (4.0, 4.0011, False), (3.9989, 4.0, False)]
)
def test_n_needs_every_removal_two_periods_after_the_last_sign_of_life(
    shortest: float, longest: float, holds: bool
) -> None:
    figures = {criteria.SHORTEST: exactly(4.0, shortest), criteria.LONGEST: exactly(4.0, longest)}
    assert criteria.is_exact(figures, 2.0) == holds


def test_q_needs_every_run_within_the_bound_or_those_of_two_hops() -> None:
    figures = {"1 hops": exactly(8.0), "2 hops": exactly(7.9), "8 hops": exactly(7.0, 8.1)}
    assert not criteria.settles(figures, 8.0)
    assert criteria.settles(figures, 8.0, diameter=2)
    assert criteria.settles({**figures, "8 hops": exactly(8.0)}, 8.0)
    assert criteria.settles(figures, 8.0, diameter=1)


# ---- sign tests


@pytest.mark.parametrize(
    ("values", "shown"),
    [
        ([1.0] * 5, True),
        ([1.0] * 4, None),
        ([1.0] * 9 + [-1.0], True),
        ([1.0] * 8 + [-1.0] * 2, None),
        ([-1.0] * 5, False),
        ([0.0] * 10, None),
        ([], None),
    ],
)
def test_a_sign_test_needs_as_many_equal_signs_as_chance_gives_once_in_twenty(
    values: list[float], shown: bool | None
) -> None:
    figure = interval(values, SIGNED)
    assert criteria.is_positive(figure) is shown
    assert criteria.is_negative(figure) is (None if shown is None else not shown)


def test_hypotheses_are_shown_refuted_or_open() -> None:
    down, up, mixed = exactly(-1.0), exactly(1.0), about(0, 1)
    assert verdict(criteria.by_signs, {"at 60, shorter": down, "at 10, longer": up}) == REPRODUCED
    assert verdict(criteria.by_signs, {"at 60, shorter": up, "at 10, longer": up}) == NOT
    assert verdict(criteria.by_signs, {"at 60, shorter": down, "at 10, longer": mixed}) == INCONCLUSIVE
    assert verdict(criteria.by_signs, {"at 60, shorter": down, criteria.UNSATISFIED: exactly(1.0)}) == INCONCLUSIVE
