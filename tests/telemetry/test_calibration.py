"""Calibration: from live brokers to a model, and from anchors to a page that says how far to believe it."""

import json
from pathlib import Path
from subprocess import PIPE, Popen
from typing import Any

import numpy as np
import pytest

from overlay.core.calibration import Calibration, Measured
from overlay.core.errors import InvalidSetting
from overlay.runtime.calibrated import FILE, model_of, reference, stored_services
from overlay.runtime.own_supervisor import own_supervisor
from overlay.systems.context_broker.system import SYSTEM
from telemetry.__main__ import main
from telemetry.calibration.anchors import Compared, Ran, compare, document_for, run_simulated
from telemetry.calibration.live import Running
from telemetry.calibration.page import write_page
from telemetry.calibration.plan import Anchor
from telemetry.calibration.residuals import part_of, read_residuals, residuals_path, write_residuals
from telemetry.cli.calibrate import reading_of
from telemetry.errors import TelemetryError
from telemetry.lake.storage import write_json
from telemetry.systems.context_broker.calibration import probes
from telemetry.systems.context_broker.calibration.anchors import ANCHORS, GROWTH
from telemetry.systems.context_broker.calibration.fit import fit, median_interval
from telemetry.systems.context_broker.calibration.plan import ContextBrokerPlan
from telemetry.systems.context_broker.calibration.stages import FAST, FAST_QUIET, Pace, Stages, observe

READING = reading_of(ContextBrokerPlan(), SYSTEM)
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


def costs(**changed: float) -> probes.Turns:
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
    """Twenty equal requests of each kind after that sleep, ``later_us`` later in every leg."""

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
    roles = fit(costs(), MEMORY, RUNS).roles
    broker, consumers = roles["broker"], roles["consumers"]
    assert (broker.sent_us, broker.batch_us) == (2.0, 8.0)
    assert dict(broker.received_us) == {
        "Ping": 3.0,
        "ContextUpdateAdvertisement": 10.0,
        "ContextRequest": 6.0,
        "ContextResponse": 10.0,
        "QuietRequest": 6.0,
    }
    assert broker.extra_us["ContextRequest"] == broker.extra_us["QuietRequest"] == pytest.approx(38 - 8 - 6 - 2 * 2)
    warm = 100_000
    assert broker.work_us["compared"].at(warm) == pytest.approx(0.1)
    assert broker.work_us["matched"].at(warm) == pytest.approx(0.3)
    assert (consumers.other_us, consumers.sent_us) == (5.0, 35.0)
    assert roles.keys() == set(SYSTEM.timed_roles)


def test_an_entry_scanned_costs_more_after_a_sleep() -> None:
    work = fit(costs(), MEMORY, RUNS).roles["broker"].work_us
    for slept_ms, scanned, matched in ((3, 0.2, 0.5), (30, 0.3, 0.7), (3000, 0.3, 0.7)):
        assert work["compared"].at(slept_ms * 1_000_000) == pytest.approx(scanned)
        assert work["matched"].at(slept_ms * 1_000_000) == pytest.approx(matched)


def test_legs_come_apart_into_service_and_delivery() -> None:
    """A relayed answer took 45 µs, of which 25 the relaying; an own answer 65 µs, of which 25 the answering."""
    fitted = fit(costs(), MEMORY, RUNS)
    delays = fitted.deliveries
    assert delays is not None
    short, long = 1_000_000, 100_000_000
    assert delays.to_client.ns(short // 10, 0.5) == 20_000
    assert fitted.roles["broker"].cold_us.at(short) == 65 - 25 - 20
    assert delays.between.ns(short, 0.5) == (100 - 40 - 20) * 1000
    assert delays.to_server.ns(short, 0.5) == 30_000
    assert delays.to_server.ns(long, 0.5) == 130_000
    assert delays.timer.ns(long, 0.5) == 110_000


def test_what_cannot_be_is_not_made_of_noise() -> None:
    """Where noise makes a part come out below nothing, it is nothing."""
    fitted = fit(costs(**{"usual: quiet": 30.0, "scanned 1000": 10.0, "usual: passed on": 1.0}), MEMORY, RUNS)
    broker = fitted.roles["broker"]
    assert broker.sent_us == broker.work_us["compared"].values[0] == broker.extra_us["ContextRequest"] == 0.0
    assert {"sent_us", "extra_us"} <= set(fitted.precision["below_nothing"])


def received(known: probes.Turns) -> Any:
    return fit(known, MEMORY, RUNS).roles["broker"].received_us


def test_costs_that_are_told_apart_are_of_one_turn() -> None:
    """In the first turn processors slept deeply, in the second something else ran, and the third is taken."""
    turns = {name: [3 * us, 1.1 * us, us] for name, (us, *_) in costs().items()}
    turns["usual: ping"][1] = 5.0  # luck: of a turn that was dearer in all
    assert received(turns) == received(costs())


def test_costs_after_a_rest_are_of_the_median_turn() -> None:
    turns = costs()
    turns["matched 1000, rested 3 ms"] = [100.0, 760.0, 790.0]
    taken, usual = (fit(known, MEMORY, RUNS).roles["broker"].work_us["matched"] for known in (turns, costs()))
    assert taken == usual


def test_too_few_requests_are_no_calibration() -> None:
    few = stages(0.001)
    few.hop = few.hop[:3]
    with pytest.raises(TelemetryError, match="Too few traced requests"):
        fit(costs(), MEMORY, {FAST: few, FAST_QUIET: few})


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
    fitted = fit(measured, MEMORY, {FAST: seen, FAST_QUIET: seen})
    calibration = Calibration({SYSTEM.name: Measured(fitted.roles, MEASURED)}, fitted.deliveries)
    write_json(tmp_path / FILE, calibration.to_json())
    model = stored_services(tmp_path, SYSTEM)
    assert (model, model.unmeasured) == (model_of(calibration, SYSTEM), ())
    document = document_for(ANCHORS[1], READING.plan, SYSTEM, tmp_path / "simulated", 1, 2)
    found = run_simulated(model, document, READING).figures
    assert 10 < found["p50"] < 100_000
    assert 0 < found["cores of broker"] < 1
    assert {one.name for one in READING.further} <= found.keys()


def test_without_a_calibration_the_reference_is_used_and_says_of_which_machine(tmp_path: Path) -> None:
    assert stored_services(tmp_path, SYSTEM) == model_of(reference(), SYSTEM)
    assert stored_services(tmp_path, SYSTEM).measured["name"]


def test_a_damaged_calibration_is_refused_and_never_passed_over(tmp_path: Path) -> None:
    (tmp_path / FILE).write_text("{")
    with pytest.raises(InvalidSetting, match=f"calibration: .*{FILE} cannot be read"):
        stored_services(tmp_path, SYSTEM)


def residuals_of(compared: list[Compared]) -> dict[str, Any]:
    fitted = fit(costs(), MEMORY, RUNS)
    return part_of(compared, Measured(fitted.roles, {**MEASURED, **fitted.precision}), READING)


def ran(*medians: float) -> list[Ran]:
    return [Ran({"p50": us, "p95": 3 * us}) for us in medians]


def test_the_page_says_where_the_simulator_is_not_to_be_believed(tmp_path: Path) -> None:
    close = compare(ANCHORS[0], ran(100, 104, 102), ran(110, 111, 112))
    wrong = compare(ANCHORS[1], ran(200, 210, 190), ran(300, 310, 320))
    assert close.is_close and not wrong.is_close
    residuals = residuals_of([close, wrong])
    write_json(tmp_path / "residuals.json", residuals)
    page = tmp_path / "calibration.md"
    write_page(page, json.loads((tmp_path / "residuals.json").read_bytes()))
    text = page.read_text()
    assert "1 of 2 simulated medians are within 20 % of the live ones." in text
    assert f"**Not within 20 %: {ANCHORS[1].name} (+55 %).**" in text
    assert "| +9 % |" in text
    assert "Estimated below zero" not in text
    assert (tmp_path / "calibration.svg").read_text().count("<circle") == 2 + 2 * 2  # the legend's, and each median


def test_the_page_shows_further_measures_and_names_suspect_runs(tmp_path: Path) -> None:
    def with_cores(found: list[Ran], *cores: float, reasons: tuple[str, ...] = ()) -> list[Ran]:
        return [Ran({**one.figures, "cores of broker": used}, reasons) for one, used in zip(found, cores, strict=True)]

    live = with_cores(ran(100, 104), 0.2, 0.2, reasons=("Generator late",))
    compared = compare(
        ANCHORS[0], live, with_cores(ran(90, 95), 0.3, 0.3), {"topology": "t", "settings": {"a": 1}, "workload": {}}
    )
    stored = json.loads(json.dumps(residuals_of([compared])))
    write_page(tmp_path / "page.md", stored)
    text = (tmp_path / "page.md").read_text()
    assert "| Busy cores of broker | 0.200 (0.200 to 0.200) | 0.300 (0.300 to 0.300) | +50 % |" in text
    assert "| +50 % |" in text
    assert f"- {ANCHORS[0].name}: Generator late\n" in text
    assert "Busy cores of consumers" not in text, "which no run has"


def test_configurations_of_questions_are_compared_later_and_all_else_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def growth(name: str, **changed: Any) -> Anchor:
        load = {"consumers": 2, "providers": 2, "request_interval_s": 0.05}
        return Anchor(name, "central", 1, load, question="What grows? Much.", seconds=1, rounds=1, **changed)

    model = tmp_path / FILE
    command = ["calibrate", "--system", SYSTEM.name, "--only-growth", "--model", str(model)]
    assert main(command) == 1
    assert f"needs the costs of {SYSTEM.name}, which are not in {model}: calibrate it first" in capsys.readouterr().err
    assert not model.exists()
    with pytest.raises(SystemExit):
        main([*command, "--growth"])
    assert main(["calibrate", "--system", "radiator", *command[3:]]) == 1
    assert "radiator has no configurations of this kind" in capsys.readouterr().err

    before = compare(ANCHORS[0], ran(100, 104), ran(110, 111))
    earlier = [before, compare(growth("more"), ran(100, 104), ran(110, 111))]
    fitted = fit(costs(), MEMORY, RUNS)
    measured = Measured(fitted.roles, {**MEASURED, **fitted.precision})
    write_json(model, Calibration({SYSTEM.name: measured}, fitted.deliveries).to_json())
    written = model.read_bytes()
    write_residuals(residuals_path(model), {SYSTEM.name: part_of(earlier, measured, READING)})
    monkeypatch.setattr(ContextBrokerPlan, "more_anchors", (growth("more"), growth("most")))
    assert main([*command, "--page", str(tmp_path / "page.md")]) == 0
    assert model.read_bytes() == written, "no costs were measured"
    rows = read_residuals(residuals_path(model))[SYSTEM.name]["anchors"]
    assert [(row["anchor"], row["live"]["p50"]["n"]) for row in rows] == [(before.anchor, 2), ("more", 1), ("most", 1)]
    assert [row["origin"].get("rounds") for row in rows] == [None, 3, 3]
    page = (tmp_path / "page.md").read_text()
    assert "n = 2 or 1 runs each (1 where no interval is shown)" in page
    assert page.count("with the costs of this page, on ") == 1


def test_a_linear_table_that_is_a_fifth_off_counts_among_what_is_not_near(tmp_path: Path) -> None:
    linear = next(anchor for anchor in GROWTH if anchor.settings["table"] == "linear")
    compared = [compare(ANCHORS[0], ran(100), ran(104)), compare(linear, ran(1000, 1010), ran(760, 750))]
    residuals = residuals_of(compared)
    write_page(tmp_path / "calibration.md", residuals)
    text = (tmp_path / "calibration.md").read_text()
    assert "1 of 2 simulated medians are within 20 % of the live ones." in text
    assert f"**Not within 20 %: {linear.name} (-25 %).**" in text


def test_intervals_of_an_earlier_method_are_taken_again_from_the_runs(tmp_path: Path) -> None:
    now = residuals_of([compare(ANCHORS[0], ran(100, 130, 90), ran(110, 111, 112))])
    before = json.loads(json.dumps(now))
    before["anchors"][0]["live"]["p50"] |= {"value": 1.0, "low": 0.0, "high": 2.0, "method": "95 % by bootstrap"}
    for name, document in (("now", now), ("before", before)):
        write_page(tmp_path / f"{name}.md", document)
    now_page, before_page = ((tmp_path / f"{name}.md").read_text() for name in ("now", "before"))
    assert before_page.replace("before.", "now.") == now_page


def test_what_was_written_on_the_page_by_hand_stays(tmp_path: Path) -> None:
    page = tmp_path / "calibration.md"
    compared = [compare(ANCHORS[0], ran(100), ran(100))]
    residuals = residuals_of(compared)
    write_page(page, residuals)
    marker = "<!-- written by hand -->"
    page.write_text(page.read_text().replace(f"{marker}\n\n\n\n{marker}", f"{marker}\n\nQuiet machine.\n\n{marker}"))
    write_page(page, residuals)
    assert "Quiet machine." in page.read_text()


def test_a_process_that_got_nothing_to_do_is_no_measurement():
    """A broker that nothing reached once had costs of 0 in the model."""
    with Popen(["cat"], stdin=PIPE, stdout=PIPE) as process:
        assert process.stdin and process.stdout
        process.stdin.write(b"ready\n")
        process.stdin.flush()
        assert process.stdout.readline() == b"ready\n"
        idle = Running(process.pid)
        spent = [-1, idle.processor_ns()]
        while spent[-1] != spent[-2]:  # until it sleeps
            spent.append(idle.processor_ns())
        with pytest.raises(TelemetryError, match=f"Process {process.pid} took no processor time"):
            idle.cheapest_us(lambda: None, 5, warming=0, portions=5)
