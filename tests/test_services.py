"""The service-time model: what it charges, what it draws, and what it refuses to read."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from overlay.core.calibration import Calibration, Measured
from overlay.core.curves import RANKS, Curve, Delays
from overlay.core.errors import InvalidSetting
from overlay.core.node import MILLISECOND, SECOND
from overlay.core.service_times import (
    DEFAULT_CLIENT,
    DEFAULT_SERVER,
    Costs,
    Deliveries,
    Memory,
    Work,
    missing_costs,
)
from overlay.runtime.calibrated import FILE, as_written_now, stored_services
from overlay.systems.context_broker.system import SYSTEM as CONTEXT_BROKER


def even(low: float, high: float) -> tuple[float, ...]:
    """The quantiles of an even distribution from ``low`` to ``high``."""
    return tuple(low + (high - low) * rank for rank in RANKS)


DELAYS = Delays((0.001, 1.0), (even(10, 30), even(100, 300)))

BROKER = Costs(
    batch_us=10,
    other_us=6,
    sent_us=3,
    kilobyte_us=1,
    received_us={"Update": 5, "Request": 4},
    extra_us={"Request": 20},
    work_us={"compared": Curve((0.001, 0.1), (0.1, 0.2)), "matched": Curve((0.001, 0.1), (0.5, 0.8))},
    cold_us=Curve((0.001, 1.0), (0.0, 40.0)),
    memory=Memory(6e6, 2e6, 1e6, {"pending": 400, "bytes": 1, "entries": 250}),
)
CALIBRATION = Calibration(
    {"toy": Measured({"broker": BROKER}, {"name": "a machine of the test's"})},
    Deliveries(DELAYS, DELAYS, DELAYS, DELAYS),
)

ANSWERED = Work(["Request"], ["Ack", "Answer", "Ack"], 0)
ranks = st.floats(0, 1)
idles = st.integers(0, 100 * SECOND)


def test_a_request_costs_what_its_parts_do() -> None:
    assert BROKER.cost_ns(ANSWERED, 0) == (10 + 4 + 3 * 3) * 1000
    assert BROKER.cost_ns(ANSWERED._replace(moved_bytes=2000), 0) == (23 + 2) * 1000


def test_a_request_sent_on_costs_more_than_its_datagrams() -> None:
    assert BROKER.cost_ns(Work(["Request"], ["Ack", "Request"], 0), 0) == (10 + 4 + 2 * 3 + 20) * 1000


def test_a_message_that_was_not_measured_costs_what_the_others_do() -> None:
    assert BROKER.cost_ns(Work(["Ping"], [], 0), 0) == (10 + 6) * 1000


def test_after_a_sleep_it_takes_longer() -> None:
    assert BROKER.cost_ns(ANSWERED, 5 * SECOND) == BROKER.cost_ns(ANSWERED, MILLISECOND) + 40_000


def test_a_scan_is_charged_by_the_entry() -> None:
    plain = BROKER.cost_ns(ANSWERED, 0)
    assert BROKER.cost_ns(ANSWERED._replace(units={"compared": 1000}), 0) == plain + 100_000
    assert BROKER.cost_ns(ANSWERED._replace(units={"compared": 1000, "matched": 1000}), 0) == plain + 600_000


def test_after_a_sleep_each_entry_of_a_scan_costs_more() -> None:
    scan = ANSWERED._replace(units={"compared": 1000, "matched": 1000})
    assert BROKER.cost_ns(scan, 5 * SECOND) == BROKER.cost_ns(ANSWERED, 5 * SECOND) + 1_000_000


@given(st.integers(0, 10**6), st.integers(0, 10**6), idles)
def test_more_entries_never_cost_less(few: int, more: int, idle: int) -> None:
    costs = [
        BROKER.cost_ns(ANSWERED._replace(units={"compared": n, "matched": n}), idle) for n in sorted((few, few + more))
    ]
    assert costs == sorted(costs)


@given(idles, ranks)
def test_a_delay_lies_within_what_was_measured(idle: int, rank: float) -> None:
    assert 10_000 <= DELAYS.ns(idle, rank) <= 300_000


@given(ranks)
def test_a_delay_comes_out_at_its_rank(rank: float) -> None:
    assert DELAYS.ns(0, rank) == pytest.approx((10 + 20 * rank) * 1000, abs=2)
    assert DELAYS.ns(SECOND, rank) == pytest.approx((100 + 200 * rank) * 1000, abs=2)


@given(idles, ranks, ranks)
def test_a_higher_rank_is_never_a_shorter_delay(idle: int, one: float, other: float) -> None:
    low, high = sorted((one, other))
    assert DELAYS.ns(idle, low) <= DELAYS.ns(idle, high)


def test_work_without_a_measured_cost_takes_no_time() -> None:
    assert BROKER.cost_ns(ANSWERED._replace(units={"compressed": 1000}), 0) == BROKER.cost_ns(ANSWERED, 0)


def test_memory_is_that_of_an_idle_process_and_of_each_thing_that_it_keeps() -> None:
    kept = 110_000 + 25_000 + 2_000
    counters = {"entries": 100, "bytes": 110_000, "pending": 5, "hits": 7}
    assert BROKER.memory is not None
    assert BROKER.memory.sizes(counters) == (6_000_000 + kept, 2_000_000 + kept, 1_000_000 + kept)


def test_a_role_without_measured_costs_has_the_default_and_is_named() -> None:
    model = CALIBRATION.model("toy", ("broker", "registry", "callers"), {"broker": ("compared", "compressed")})
    assert (model.server("broker"), model.server("registry"), model.client("callers")) == (
        BROKER,
        DEFAULT_SERVER,
        DEFAULT_CLIENT,
    )
    assert model.unmeasured == ("registry", "callers", "compressed of broker")
    assert missing_costs(model.unmeasured) == (
        "No measured service times for registry, callers: default costs are used. "
        "No measured cost of compressed of broker: it counts as no time."
    )
    assert missing_costs(CALIBRATION.model("toy", ("broker",), {}).unmeasured) == ""


def test_clients_that_take_no_time_are_neither_measured_nor_default() -> None:
    model = CALIBRATION.model("toy", ["broker", "callers"], {"callers": ["rows"]}).with_idle(["callers"])
    assert model.server("broker") == BROKER
    assert (model.client("callers").cost_ns(ANSWERED, 5 * SECOND), model.unmeasured) == (1, ())
    assert model.deliveries_from(["callers"]).to_server == model.deliveries.between, "sending took part of it"


def test_what_one_file_lacks_is_of_the_other() -> None:
    cheap = Measured({"callers": DEFAULT_CLIENT})
    own = Calibration({"other": cheap})
    assert own.over(CALIBRATION) == Calibration({**CALIBRATION.systems, "other": cheap}, CALIBRATION.deliveries)
    assert CALIBRATION.with_system("toy", cheap).over(CALIBRATION).systems == {"toy": cheap}


def test_a_calibration_survives_being_written_and_read() -> None:
    for calibration in (CALIBRATION, Calibration({"toy": Measured({"callers": DEFAULT_CLIENT})})):
        assert Calibration.from_json(json.loads(json.dumps(calibration.to_json()))) == calibration


def without(name: str) -> dict[str, Any]:
    return {key: value for key, value in CALIBRATION.to_json().items() if key != name}


def changed(**fields: Any) -> dict[str, Any]:
    """The document with other fields of the broker's costs; ``None`` leaves one out."""
    document = CALIBRATION.to_json()
    costs = {**document["systems"]["toy"]["roles"]["broker"], **fields}
    known = {name: value for name, value in costs.items() if value is not None}
    return {**document, "systems": {"toy": {"roles": {"broker": known}, "measured": {}}}}


def timed(timer: Any) -> dict[str, Any]:
    document = CALIBRATION.to_json()
    return {**document, "deliveries": {**document["deliveries"], "timer": timer}}


@pytest.mark.parametrize(
    ("document", "sentence"),
    [
        (without("format"), "format: must be 3"),
        (without("systems"), "systems: must be an object"),
        ({**CALIBRATION.to_json(), "price": 3}, "price: is unknown"),
        ({**CALIBRATION.to_json(), "systems": {"toy": {"roles": {}}}}, "toy: must have the objects roles and measured"),
        (changed(sent_us=None), "toy.broker.sent_us: is missing"),
        (changed(price=3), "toy.broker.price: is unknown"),
        (changed(sent_us=-1), "toy.broker.sent_us: must be made of numbers of at least 0, not -1"),
        (changed(sent_us=float("nan")), "toy.broker.sent_us: must be made of numbers"),
        (changed(received_us={"Ping": "three"}), "toy.broker.received_us: must be made of numbers"),
        (changed(received_us=3), "toy.broker.received_us: must be an object"),
        (changed(memory={"idle_rss": 1}), "toy.broker.memory.idle_pss: is missing"),
        (changed(cold_us={"idle_s": [1, 0.1], "values": [1, 1]}), "toy.broker.cold_us.idle_s: must be one or more"),
        (changed(cold_us={"idle_s": 1, "values": [1, 1]}), "toy.broker.cold_us: must be made of"),
        (changed(sends_last="no"), "toy.broker.sends_last: must be true or false"),
        (timed({"idle_s": [1], "quantiles_us": [[3]]}), "timer.quantiles_us: must have"),
        (timed({"idle_s": [1], "quantiles_us": [list(reversed(even(1, 2)))]}), "timer.quantiles_us: must not fall"),
    ],
)
def test_what_is_no_calibration_is_refused_by_name(document: Any, sentence: str) -> None:
    with pytest.raises(InvalidSetting) as refusal:
        Calibration.from_json(document)
    assert str(refusal.value).startswith(sentence)


OLD = Path(__file__).parent / "old_calibration.json"
"""As version 0.1 wrote it, with fewer idle times."""


def test_a_file_of_the_version_with_one_system_still_opens(tmp_path: Path) -> None:
    (tmp_path / FILE).write_bytes(OLD.read_bytes())
    old = json.loads(OLD.read_bytes())
    model = stored_services(tmp_path, CONTEXT_BROKER)
    broker, consumers = model.server("broker"), model.client("consumers")
    assert model.unmeasured == ()
    assert model.measured == old["measured"]
    assert broker.received_us["ContextResponse"] == old["received_us"]["4"]
    assert broker.extra_us == {"ContextRequest": old["forwarded_us"], "QuietRequest": old["forwarded_us"]}
    assert broker.work_us["scans"].at(SECOND) == old["scan_us"]
    assert consumers.cost_ns(Work([""], ["", ""], 900), SECOND) == 36_885 + 2 * 120_055
    assert model.deliveries.to_server.quantiles_us[0][0] == old["to_broker"]["quantiles_us"][0][0]
    assert broker.memory is not None
    assert broker.memory.kept["entries"] == old["memory"]["per_entry"]


def test_a_manifest_of_that_version_has_the_same_service_times(tmp_path: Path) -> None:
    (tmp_path / FILE).write_bytes(OLD.read_bytes())
    now = stored_services(tmp_path, CONTEXT_BROKER).to_json()
    assert as_written_now(json.loads(OLD.read_bytes())) == as_written_now(now) == now
    assert as_written_now(None) is None


def test_a_damaged_file_of_that_version_is_refused(tmp_path: Path) -> None:
    old = {name: value for name, value in json.loads(OLD.read_bytes()).items() if name != "timer"}
    (tmp_path / FILE).write_text(json.dumps(old))
    with pytest.raises(InvalidSetting, match="format: is 2, and 'timer' is missing or wrong; calibrate again"):
        stored_services(tmp_path, CONTEXT_BROKER)
