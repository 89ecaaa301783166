"""The studies of seed 001: definitions are accepted, and made-up runs as published, alike in shape, or otherwise are
judged so."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache
from typing import Any

import pytest

from overlay.experiment.sweeps import configuration_hash
from telemetry.cli.study import orders_of
from telemetry.studies import drawing
from telemetry.studies.criteria import INCONCLUSIVE, NOT, NOT_JUDGED, REPRODUCED, SHAPE_ONLY, UNKNOWN
from telemetry.studies.judging import Result, judge, verdicts
from telemetry.studies.study import PAPER, QUICK, Row, Study
from telemetry.studies.telling import document
from telemetry.sweep.simulation import Order
from telemetry.systems.federation.published import find, slips, table
from telemetry.systems.federation.studies.ablation import ABLATION_STUDY
from telemetry.systems.federation.studies.calibrated import CALIBRATED_STUDY
from telemetry.systems.federation.studies.disappearance import DISAPPEARANCE_STUDY, vanishing
from telemetry.systems.federation.studies.energy import ENERGY_STUDY, MODES
from telemetry.systems.federation.studies.loaded import LOADED_STUDY
from telemetry.systems.federation.studies.wan import WAN_STUDY

STUDIES = {
    one.id: one
    for one in (LOADED_STUDY, CALIBRATED_STUDY, WAN_STUDY, ENERGY_STUDY, DISAPPEARANCE_STUDY, ABLATION_STUDY)
}
Measured = Callable[[Row, float], Mapping[str, float]]


@cache
def orders(name: str, scale: str = QUICK) -> list[Order]:
    return orders_of(STUDIES[name], scale)


def row_of(order: Order) -> Row:
    """Without measures."""
    configuration = order.configuration
    topology, key = configuration["topology"], configuration_hash(configuration)
    parts = configuration["settings"], configuration["workload"]
    return Row(topology["kind"], topology["brokers"], *parts, {}, order.replicate, key, configuration["faults"])


def judged(name: str, measured: Measured) -> Result:
    """Runs at the quick scale with these measures of a row and of its seed's deviation, -1 to 1."""
    study, found = STUDIES[name], orders(name)
    seeds = len({order.replicate for order in found})
    rows = []
    for order in found:
        row = row_of(order)
        by = 2 * order.replicate / (seeds - 1) - 1
        rows.append(replace(row, measures=dict(measured(row, by))))
    return judge(study, QUICK, rows, len({row.configuration for row in rows}))


def words(name: str, measured: Measured) -> dict[str, str]:
    return verdicts(judged(name, measured))


@pytest.mark.parametrize("study", STUDIES.values(), ids=STUDIES)
def test_each_says_what_it_asks_by_what_it_is_judged_and_where_it_is_from(study: Study) -> None:
    assert study.question.endswith("?")
    assert study.says and study.plots and study.quick_differs.endswith(".")
    assert study.sources or study.id == "E1.5"
    assert len({claim.id for claim in study.claims}) == len(study.claims)
    for claim in study.claims:
        assert all(text.endswith(".") for text in (claim.claim, claim.criterion, claim.shape)), claim.id
        assert claim.source or study.id == "E1.5"
    assert len({row["id"] for row in document(judge(study, QUICK, (), 1), "")["claims"]}) >= len(study.claims)


@pytest.mark.parametrize("name", STUDIES)
def test_its_definition_is_accepted_and_the_quick_scale_has_enough_replicates(name: str) -> None:
    quick = orders(name)
    assert {order.configuration["system"] for order in quick} == {"federation"}
    least = {"E1.3": 5}.get(name, 10)
    assert len({order.replicate for order in quick}) == least
    assert {order.configuration["settings"]["profile"] for order in quick} == {"published"}


def test_all_figures_of_the_paper_are_drawn() -> None:
    plots = {plot.id for study in STUDIES.values() for plot in study.plots}
    assert plots >= {"11a", "11b", "12a", "12b", "13-powertutor", "14a", "14b"}


# ---- what the paper says


def test_published_values_have_their_lines_and_slips_are_listed() -> None:
    assert find("e1_3", "reduction of energy of a query").number == 30
    assert find("setup", "cap of the cache hit ratio").line == "373"
    assert all(row.line for name in ("e1_1", "e1_2", "e1_3", "e1_4") for row in table(name))
    assert len(slips()) == 24
    with pytest.raises(KeyError):
        find("e1_1", "nothing")


# ---- E1.1


def loaded(row: Row, by: float) -> dict[str, float]:
    """As the prototype's, which have the published shape; flat without service times."""
    rate, is_one = row.workload["rate_per_s"], row.topology == "central"
    if not row.settings["service_ms"]:
        flat = 10e3 + by * (rate - 35)
        return {"ts_mean": flat, "ts_sd": 1e3 + by, "unsatisfied": 0.0, "cache_hit_share_max": 0.149}
    busy = rate / 60
    mean = 22e3 + 74e3 * busy**2 if is_one else 32e3 + 22e3 * busy**2
    deviation = 15e3 + 70e3 * busy**2 if is_one else 15e3 + 24e3 * busy**2
    return {
        "ts_mean": mean * (1 + by / 50),
        "ts_sd": deviation * (1 + by / 50),
        "unsatisfied": 0.0,
        "utilisation_max": busy,
        "cache_hit_share_max": 0.0 if is_one else 0.149,
    }


def test_fig_11_is_judged_once_for_each_service_time() -> None:
    found = words("E1.1", loaded)
    assert {found[id] for id in ("A", "B", "E", "C")} == {REPRODUCED}
    assert found["fig-11-7"] == REPRODUCED
    assert found["fig-11-0"] == NOT, "flat, whatever the arm"
    assert found["fig-11-2-1"] == found["F-one"] == UNKNOWN, "not at this scale"


def test_fig_11_is_the_shape_only_where_three_are_never_faster() -> None:
    def slow(row: Row, by: float) -> dict[str, float]:
        return {**loaded(row, by), "ts_mean": loaded(row, by)["ts_mean"] + (70e3 if row.topology == "line" else 0)}

    found = words("E1.1", slow)
    assert (found["fig-11-7"], found["D"]) == (SHAPE_ONLY, NOT)


def test_each_quantity_has_one_unit() -> None:
    result = judged("E1.1", loaded)
    units = {value.name.partition(" at ")[0]: value.unit for one in result.judged for value in one.values}
    assert units["B: rise of three / rise of one"] == units["C: SD with one"] == "ratio"
    assert units["C: SD of three − of one"] == units["A: one broker, 60 − 10"] == "ms"
    assert (units["(hits − 1) / subscriptions"], units["unsatisfied queries"]) == ("share", "queries")
    assert not [unit for unit in units.values() if " or " in unit]


def test_an_unsatisfied_query_leaves_fig_11_open_and_is_counted() -> None:
    result = judged(
        "E1.1", lambda row, by: {**loaded(row, by), "unsatisfied": float(row.topology == "line" and by == 1)}
    )
    assert verdicts(result)["fig-11-7"] == INCONCLUSIVE
    counted = next(one for one in result.judged if one.claim.id == "fig-11-7").values
    assert next(one.found["value"] for one in counted if one.name == "unsatisfied queries") == 4 / 10


def test_sentences_are_made_of_the_values() -> None:
    said = LOADED_STUDY.tell(judged("E1.1", loaded))
    assert said[0].startswith("With 7 ms a visit, exponential, three brokers with a cache are faster from 30 queries")
    assert "longer at 10" in said[0] and "shorter at 60" in said[0]
    assert not LOADED_STUDY.tell(judge(LOADED_STUDY, QUICK, (), 1))
    assert document(judged("E1.1", loaded), "")["sentences"] == list(said)


def test_measured_service_times_are_judged_at_the_rates_of_the_paper_and_at_rates_that_load_a_broker() -> None:
    rates = sorted({order.configuration["workload"]["rate_per_s"] for order in orders("E1.1-calibrated")})
    highest = rates[-1]

    def measured(row: Row, by: float) -> dict[str, float]:
        rate, is_one = row.workload["rate_per_s"], row.topology == "central"
        busy = 0.0 if rate <= 60 else rate / highest
        mean, deviation = (1 + 9 * busy**2, 1 + 9 * busy**2) if is_one else (2 + 2 * busy**2, 1 + 2 * busy**2)
        flat = by * (rate - 35 if rate <= 60 else 0.01)
        return {
            "ts_mean": 1e3 * (mean + flat / 10),
            "ts_sd": 1e3 * (deviation + flat / 10),
            "unsatisfied": 0.0,
            "cache_hit_share_max": 0.0 if is_one else 0.149,
        }

    found = words("E1.1-calibrated", measured)
    assert found == {"fig-11-calibrated": NOT, "fig-11-saturation": REPRODUCED}
    said = CALIBRATED_STUDY.tell(judged("E1.1-calibrated", measured))
    assert "faster at no measured rate" in said[0]
    assert "rates as shares of what a broker bears" in said[1] and f"faster from {rates[-3]:g}" in said[1]


# ---- E1.2


def overlapping(row: Row, by: float, added: float = 0.0) -> dict[str, float]:
    is_wan = row.workload["client_delay_ms"] == 10
    shares = (1, 5, 10, 20, 25, 30, 40, 50, 60, 70, 75, 80, 90, 95, 99)
    more = {share: (added if share < 99 else 300.0 + added) * is_wan for share in shares}
    return {"unsatisfied": 0.0, **{f"ts_p{share}": 1e3 * (share + more[share]) + by for share in shares}}


def test_fig_12_is_reproduced_or_its_shape_if_long_links_only_shift_it() -> None:
    assert set(words("E1.2", overlapping).values()) == {REPRODUCED}
    assert set(words("E1.2", lambda row, by: overlapping(row, by, 40.0)).values()) == {SHAPE_ONLY}
    (said, *_) = WAN_STUDY.tell(judged("E1.2", lambda row, by: overlapping(row, by, 40.0)))
    assert "differ by up to 40.0 ms, 0.80 of the quartile distance of 50.0 ms" in said
    drawn = judged("E1.2", overlapping).drawn[0]
    assert {place for _, place in drawn.values} >= {1.0, 50.0, 99.0}, "quantiles are numbers along the axis"
    assert "T_S, LAN, 1 ms, 50 % quantile" in {value.name for value in drawn.values.values()}


# ---- E1.3


def energies(row: Row, by: float) -> dict[str, float]:
    (mode,) = [name for name, chosen in MODES.items() if all(row.settings[key] == chosen[key] for key in chosen)]
    value = {"none": 1.0, "mcxb": 0.9, "bulk": 0.95, "bulk-ipc": 0.7, "mcxb-ipc": 0.8}[mode]
    return {"energy_per_query": value * (1 + by / 100), "unsatisfied": 0.0}


def test_fig_13_is_judged_in_each_model() -> None:
    result = judged("E1.3", energies)
    found = verdicts(result)
    assert {found[f"{id}-{model}-30"] for id in ("fig-13", "L", "K") for model in ("powertutor", "transfer")} == {
        REPRODUCED
    }
    assert found["fig-13-transfer-60"] == UNKNOWN
    assert "saves 30 % of the energy at 30 queries per second" in ENERGY_STUDY.tell(result)[0]


# ---- E1.4


def disappearing(row: Row, by: float) -> dict[str, float]:
    found = vanishing(row)
    if found is None:
        hops = row.brokers - 1
        known = 4.0 if row.settings["out_of_turn"] else 2.0 + 2.0 * hops
        return {"settle": 0.0, "disappearance_known_max": known + by / 100, "disappearance_unknown": 0.0}
    is_proper = found[1] == "proper"
    graces = {} if is_proper else {"grace_min": 4.0, "grace_max": 4.0}
    return {
        "disappearance_known_mean": (0.005 if is_proper else 3.0) + by / 1e4,
        "disappearance_known_max": 4.0,
        "disappearance_unknown": 0.0,
        "settle": 3.0,
        "disappearance_told_mean": 0.005 + by / 1e4,
        **graces,
    }


def test_fig_14_and_the_bound_are_judged() -> None:
    result = judged("E1.4", disappearing)
    found = verdicts(result)
    assert found.pop("Q-periodic") == SHAPE_ONLY
    assert set(found.values()) == {REPRODUCED}
    said = DISAPPEARANCE_STUDY.tell(result)
    assert said[0].startswith("A provider that leaves properly is known to be gone after 5.0 ms")
    assert said[-1].endswith("fails from 4 hops on, by the means over seeds.")


def test_a_grace_that_is_not_kept_and_a_slow_removal_leave_the_shape_or_nothing() -> None:
    def late(row: Row, by: float) -> dict[str, float]:
        return {**disappearing(row, by), "grace_max": 4.5}

    assert words("E1.4", late)["fig-14a"] == SHAPE_ONLY
    assert words("E1.4", late)["N-broker"] == NOT

    def slow(row: Row, by: float) -> dict[str, float]:
        return {**disappearing(row, by), "disappearance_known_mean": 3.0 + by / 10}

    assert words("E1.4", slow)["fig-14b"] == NOT


def test_a_return_that_takes_longer_than_the_bound_breaks_it() -> None:
    def late(row: Row, by: float) -> dict[str, float]:
        return {**disappearing(row, by), "settle": 24.5 if by == 1 else 3.0}

    assert (words("E1.4", late)["Q-faults"], words("E1.4", late)["fig-14b"]) == (NOT, REPRODUCED)


def test_a_disappearance_that_is_never_known_breaks_the_bound() -> None:
    def unknown(row: Row, by: float) -> dict[str, float]:
        return {**disappearing(row, by), "disappearance_unknown": float(row.brokers == 9)}

    assert words("E1.4", unknown)["Q"] == UNKNOWN, "there is no interval with an infinite time"


# ---- E1.5


def ablated(row: Row, by: float) -> dict[str, float]:
    if row.workload["kind"] == "stream":
        per = {"notifications": 0.0, "flooding": 14.0, "advertisements": 3.0}[row.settings["routing"]]
        losses = dict.fromkeys(("lost", "duplicates", "duplicates_cached", "spurious", "in_window"), 0.0)
        return {"messages_per_subscription": per + by / 10, "messages_per_notification": 2.0, **losses}
    rate, settings = row.workload["rate_per_s"], row.settings
    mean = 20e3 if settings["processors"] == 3 else 22e3 + rate * (1200 if row.topology == "central" else 500)
    mean += 0 if row.topology == "central" else 15e3 * settings["mobile_factor"] ** 2
    return {"ts_mean": mean * (0.8 if settings["cache_cap"] else 1) * (1 + by / 100), "unsatisfied": 0.0}


def test_hypotheses_are_judged_by_signs() -> None:
    result = judged("E1.5", ablated)
    assert set(verdicts(result).values()) == {REPRODUCED}
    assert "the cache alone 20 % shorter" in ABLATION_STUDY.tell(result)[0]
    assert {chart["id"] for chart in drawing.charts(result)} >= {"study-E1.5-ablation", "study-E1.5-mobile-factor"}


def test_each_arm_and_routing_that_is_run_is_drawn() -> None:
    rows = {row.configuration: row for order in orders("E1.5", PAPER) if not order.replicate for row in [row_of(order)]}
    numbered = [
        replace(row, measures={"ts_mean": 1e3 * place, "messages_per_subscription": float(place)})
        for place, row in enumerate(rows.values())
    ]
    plots = {plot.id: plot for plot in ABLATION_STUDY.plots}

    def drawn(plot: str, own: list[Row]) -> set[float]:
        return set(plots[plot].values(own).values())

    queries = [row for row in numbered if row.workload["kind"] == "once" and row.settings["mobile_factor"] == 1]
    assert drawn("ablation", queries) == {row.measures["ts_mean"] / 1e3 for row in queries}
    routed = [row for row in numbered if row.workload["kind"] == "stream" and not row.faults and row.topology != "ring"]
    routed = [row for row in routed if row.settings["cycles"] == "tree"]
    assert drawn("routing-messages_per_subscription", routed) == {
        row.measures["messages_per_subscription"] for row in routed
    }


def test_a_notification_that_is_lost_and_a_phone_that_does_not_matter_refute_theirs() -> None:
    def otherwise(row: Row, by: float) -> dict[str, Any]:
        fast = {"ts_mean": 1e3 * (1 + by / 100)} if row.settings["mobile_factor"] > 1 else {}
        return {**ablated(row, by), **fast, "lost": float(bool(row.faults) and by == 1)}

    found = words("E1.5", otherwise)
    assert (found["H4"], found["cycles"]) == (NOT, NOT)


@pytest.mark.parametrize(("cached", "verdict"), [(1.0, REPRODUCED), (0.0, NOT)])
def test_what_comes_twice_refutes_unless_another_broker_had_it_in_its_cache(cached: float, verdict: str) -> None:
    def killed(row: Row, by: float) -> dict[str, float]:
        again = {"duplicates": 1.0, "duplicates_cached": cached} if row.faults and by == 1 else {}
        return {**ablated(row, by), **again}

    assert words("E1.5", killed)["cycles"] == verdict


def test_without_runs_nothing_is_known() -> None:
    for study in STUDIES.values():
        rows = document(judge(study, PAPER, (), 1), "")["claims"]
        assert {row["verdict"] for row in rows} <= {UNKNOWN, NOT_JUDGED}
