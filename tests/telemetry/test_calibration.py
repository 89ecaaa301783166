"""Calibration: from live brokers to a model, and from anchors to a page that says how far to believe it."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from overlay.core.errors import InvalidSetting
from overlay.core.service_times import ServiceModel
from overlay.runtime.calibrated import FILE, REFERENCE, read_model, stored_services
from overlay.runtime.own_supervisor import own_supervisor
from telemetry.calibration.anchors import compare, run_simulated
from telemetry.calibration.page import residuals_of, write_page
from telemetry.errors import TelemetryError
from telemetry.lake.storage import write_json
from telemetry.systems.context_broker.calibration import probes
from telemetry.systems.context_broker.calibration.anchors import ANCHORS, GROWTH
from telemetry.systems.context_broker.calibration.fit import fit, median_interval
from telemetry.systems.context_broker.calibration.stages import FAST, FAST_QUIET, Pace, Stages, observe

MEASURED: dict[str, Any] = {
    "name": "a machine of the test's",
    "date": "2026-11-22",
    "rounds": 1,
    "machine": {
        "processor": "P",
        "usable_cores": 2,
        "kernel": "K",
        "datagrams": "plain",
        "load_average": [0.0, 0.0, 0.0],
    },
    "code": {"version": "0", "commit": None},
}


def costs(**changed: float) -> probes.Costs:
    """What messages cost on a machine of round numbers: 2 µs a datagram, 8 µs to wake, 0.1 µs an entry scanned."""
    known = {
        "usual: request": 20.0,
        "usual: quiet": 16.0,
        "usual: quiet, small": 16.0,
        "usual: quiet, large": 16.0,
        "usual: ping": 13.0,
        "usual: ping, halted": 5.25,
        "usual: update": 22.0,
        "usual: passed on": 38.0,
        "usual: passed on and back": 60.0,
        "traced: request": 25.0,
        "traced: quiet": 20.0,
        "traced: passed on": 40.0,
        "traced: passed on and back": 65.0,
        "scanned 0": 20.0,
        "scanned 1000": 120.0,
        "matched 0": 20.0,
        "matched 1000": 420.0,
        "scanned 0, rested 3 ms": 60.0,
        "scanned 1000, rested 3 ms": 260.0,
        "matched 0, rested 3 ms": 60.0,
        "matched 1000, rested 3 ms": 760.0,
        "scanned 0, rested 30 ms": 100.0,
        "scanned 1000, rested 30 ms": 400.0,
        "matched 0, rested 30 ms": 100.0,
        "matched 1000, rested 30 ms": 1100.0,
    }
    return {name: [us] * 3 for name, us in {**known, **changed}.items()}


MEMORY = {name: [1000.0] for name in ("idle_rss", "idle_pss", "idle_uss", "per_entry", "per_pending")}


def stages(idle_s: float, later_us: float = 0.0, fleet_us: float = 50.0) -> Stages:
    """Twenty requests of each kind after that sleep, all alike, and ``later_us`` later in every leg."""

    def leg(us: float, slept_s: float = idle_s) -> Any:
        return np.tile([slept_s, us + later_us], (20, 1))

    return Stages(
        timer=leg(10),
        first=leg(30),
        last=leg(65),
        hop=leg(100),
        back_us=leg(60)[:, 1],
        relayed=leg(45, idle_s / 10),
        fleet_us=fleet_us,
    )


RUNS = {FAST: stages(0.001), FAST_QUIET: stages(0.001, fleet_us=40.0), "10 a second": stages(0.1, 100.0)}


def test_costs_come_apart_into_what_they_are_made_of() -> None:
    model = fit(costs(), MEMORY, RUNS, MEASURED)
    assert (model.sent_us, model.batch_us) == (2.0, 8.0)
    assert dict(model.received_us) == {1: 3.0, 2: 10.0, 3: 6.0, 4: 10.0, 32: 6.0}
    assert model.forwarded_us == pytest.approx(38 - 8 - 6 - 2 * 2)
    warm = 100_000
    assert (model.scanned_us.at(warm), model.matched_us.at(warm)) == (pytest.approx(0.1), pytest.approx(0.3))
    assert (model.client_receives_us, model.client_sends_us) == (5.0, 35.0)


def test_an_entry_scanned_costs_more_after_a_sleep() -> None:
    model = fit(costs(), MEMORY, RUNS, MEASURED)
    for slept_ms, scanned, matched in ((3, 0.2, 0.5), (30, 0.3, 0.7), (3000, 0.3, 0.7)):
        assert model.scanned_us.at(slept_ms * 1_000_000) == pytest.approx(scanned)
        assert model.matched_us.at(slept_ms * 1_000_000) == pytest.approx(matched)


def test_legs_come_apart_into_service_and_delivery() -> None:
    """A relayed answer took 45 µs, of which 25 the relaying; an own answer 65 µs, of which 25 the answering."""
    model = fit(costs(), MEMORY, RUNS, MEASURED)
    short, long = 1_000_000, 100_000_000
    assert model.to_client.ns(short // 10, 0.5) == 20_000
    assert model.cold_us.at(short) == 65 - 25 - 20
    assert model.between.ns(short, 0.5) == (100 - 40 - 20) * 1000
    assert model.to_broker.ns(short, 0.5) == 30_000
    assert model.to_broker.ns(long, 0.5) == 130_000
    assert model.timer.ns(long, 0.5) == 110_000


def test_what_cannot_be_is_not_made_of_noise() -> None:
    """Where noise makes a part come out below nothing, it is nothing."""
    model = fit(costs(**{"usual: quiet": 30.0, "scanned 1000": 10.0, "usual: passed on": 1.0}), MEMORY, RUNS, MEASURED)
    assert model.sent_us == model.scanned_us.values[0] == model.forwarded_us == 0.0
    assert {"sent_us", "forwarded_us"} <= set(model.measured["below_nothing"])


def test_costs_that_are_told_apart_are_of_one_turn() -> None:
    """In the first turn processors slept deeply, in the second something else ran, and the third is taken."""
    turns = {name: [3 * us, 1.1 * us, us] for name, (us, *_) in costs().items()}
    turns["usual: ping"][1] = 5.0  # luck: of a turn that was dearer in all
    assert fit(turns, MEMORY, RUNS, MEASURED).received_us == fit(costs(), MEMORY, RUNS, MEASURED).received_us


def test_costs_after_a_rest_are_of_the_median_turn() -> None:
    turns = costs()
    turns["matched 1000, rested 3 ms"] = [100.0, 760.0, 790.0]
    assert fit(turns, MEMORY, RUNS, MEASURED).matched_us == fit(costs(), MEMORY, RUNS, MEASURED).matched_us


def test_too_few_requests_are_no_calibration() -> None:
    few = stages(0.001)
    few.hop = few.hop[:3]
    with pytest.raises(TelemetryError, match="Too few traced requests"):
        fit(costs(), MEMORY, {FAST: few, FAST_QUIET: few}, MEASURED)


def test_the_interval_of_a_median_holds_it_and_narrows() -> None:
    few, many = median_interval(range(21)), median_interval(np.linspace(0, 20, 2001))
    assert few[0] < 10 < few[1]
    assert few[0] < many[0] < 10 < many[1] < few[1]


def test_live_brokers_are_measured_into_a_model_that_simulates(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    small = {"MESSAGES": 30, "TURNS": 1, "PORTIONS": 1, "RESTED": 5, "UPKEEP_S": 0.1, "ENTRIES": (0, 100)}
    for name, value in small.items():
        monkeypatch.setattr(probes, name, value)
    with own_supervisor() as client:
        measured = probes.probe(client)
        seen = observe(client, Pace("100 a second", 0.1, 1.5), tmp_path / "pace")
    assert min(measured["matched 0"] + measured["matched 100"]) > 0
    assert len(seen.last) and len(seen.hop), "the asked brokers are the holder and its neighbour, in turn"
    assert np.nanmin(seen.first[:, 0]) > 0, "each slept before"
    monkeypatch.setattr("telemetry.systems.context_broker.calibration.fit.ENTRIES", (0, 100))
    model = fit(measured, MEMORY, {FAST: seen, FAST_QUIET: seen}, MEASURED)
    path = tmp_path / FILE
    write_json(path, model.to_json())
    assert stored_services(tmp_path) == model
    found = run_simulated(model, ANCHORS[1], tmp_path / "simulated", seed=1, duration_s=2)
    assert 10 < found["p50"] < 100_000


def test_without_a_calibration_the_reference_is_used_and_says_of_which_machine(tmp_path: Path) -> None:
    assert stored_services(tmp_path) == read_model(REFERENCE)
    assert stored_services(tmp_path).measured["name"]


def test_a_damaged_calibration_is_refused_and_never_passed_over(tmp_path: Path) -> None:
    (tmp_path / FILE).write_text("{")
    with pytest.raises(InvalidSetting, match=f"calibration: .*{FILE} cannot be read"):
        stored_services(tmp_path)


def ran(*medians: float) -> list[dict[str, float]]:
    return [{"p50": us, "p95": 3 * us} for us in medians]


def test_the_page_says_where_the_simulator_is_not_to_be_believed(tmp_path: Path) -> None:
    close = compare(ANCHORS[0], ran(100, 104, 102), ran(110, 111, 112))
    wrong = compare(ANCHORS[1], ran(200, 210, 190), ran(300, 310, 320))
    assert close.is_close and not wrong.is_close
    model: ServiceModel = fit(costs(), MEMORY, RUNS, MEASURED)
    residuals = residuals_of([close, wrong], model)
    write_json(tmp_path / "residuals.json", residuals)
    page = tmp_path / "calibration.md"
    write_page(page, json.loads((tmp_path / "residuals.json").read_bytes()))
    text = page.read_text()
    assert "1 of 2 simulated medians are within 20 % of the live ones." in text
    assert f"**Not within 20 %: {ANCHORS[1].name} (+55 %).**" in text
    assert "| +9 % |" in text
    assert "Estimated below zero" not in text
    assert (tmp_path / "calibration.svg").read_text().count("<circle") == 2 + 2 * 2  # the legend's, and each median


def test_a_linear_table_that_is_a_fifth_off_counts_among_what_is_not_near(tmp_path: Path) -> None:
    linear = next(anchor for anchor in GROWTH if anchor.settings["table"] == "linear")
    compared = [compare(ANCHORS[0], ran(100), ran(104)), compare(linear, ran(1000, 1010), ran(760, 750))]
    residuals = residuals_of(compared, fit(costs(), MEMORY, RUNS, MEASURED))
    write_page(tmp_path / "calibration.md", residuals)
    text = (tmp_path / "calibration.md").read_text()
    assert "1 of 2 simulated medians are within 20 % of the live ones." in text
    assert f"**Not within 20 %: {linear.name} (-25 %).**" in text


def test_intervals_of_an_earlier_method_are_taken_again_from_the_runs(tmp_path: Path) -> None:
    model: ServiceModel = fit(costs(), MEMORY, RUNS, MEASURED)
    now = residuals_of([compare(ANCHORS[0], ran(100, 130, 90), ran(110, 111, 112))], model)
    before = json.loads(json.dumps(now))
    before["anchors"][0]["live"]["p50"] |= {"value": 1.0, "low": 0.0, "high": 2.0, "method": "95 % by bootstrap"}
    for name, document in (("now", now), ("before", before)):
        write_page(tmp_path / f"{name}.md", document)
    now_page, before_page = ((tmp_path / f"{name}.md").read_text() for name in ("now", "before"))
    assert before_page.replace("before.svg", "now.svg") == now_page


def test_what_was_written_on_the_page_by_hand_stays(tmp_path: Path) -> None:
    page = tmp_path / "calibration.md"
    compared = [compare(ANCHORS[0], ran(100), ran(100))]
    residuals = residuals_of(compared, fit(costs(), MEMORY, RUNS, MEASURED))
    write_page(page, residuals)
    marker = "<!-- written by hand -->"
    page.write_text(page.read_text().replace(f"{marker}\n\n\n\n{marker}", f"{marker}\n\nQuiet machine.\n\n{marker}"))
    write_page(page, residuals)
    assert "Quiet machine." in page.read_text()
