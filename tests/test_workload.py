"""The workload: who is attached where, when each starts, and what data look like."""

from collections import Counter

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from overlay.core.chance import Stream
from overlay.core.errors import InvalidSetting
from overlay.core.settings import build
from overlay.load.popularity import Popularity
from overlay.systems.context_broker.workload import (
    LEAD_S,
    Workload,
    entity_name,
    fleets,
    make_payload,
    plan_clients,
)


def test_equal_seeds_give_equal_plans_and_others_differ() -> None:
    workload = Workload(providers=10, consumers=10)
    assert plan_clients(workload, 10, 7) == plan_clients(workload, 10, 7)
    assert plan_clients(workload, 10, 7) != plan_clients(workload, 10, 8)


@given(st.integers(0, 200), st.integers(0, 200), st.floats(0, 1000))
@example(0, 51, 1e-05)
def test_every_client_starts_within_the_ramp(providers: int, consumers: int, stagger_ms: float) -> None:
    workload = Workload(providers=providers, consumers=consumers or 1, stagger_ms=stagger_ms)
    plans = plan_clients(workload, 10, 3)
    assert len(plans) == providers + (consumers or 1)
    assert max(p.start_us for p in plans) <= workload.ramp_s() * 1e6
    assert min(p.start_us for p in plans if p.role == "consumer") >= LEAD_S * 1e6


@pytest.mark.parametrize(
    ("values", "field"),
    [
        ({"providers": 0, "consumers": 0}, "consumers"),
        ({"entities": 51}, "entities"),
        ({"payload_bytes": 2}, "payload_bytes"),
        ({"payload_bytes": 60_001}, "payload_bytes"),
        ({"popularity": "pareto"}, "popularity"),
        ({"request_interval_s": 0}, "request_interval_s"),
        ({"request_interval_s": "1"}, "request_interval_s"),
        ({"acknowledgements": 1}, "acknowledgements"),
        ({"requests": 1}, "requests"),
    ],
)
def test_a_wrong_value_is_refused_naming_its_field(values: dict[str, object], field: str) -> None:
    with pytest.raises(InvalidSetting) as caught:
        build(Workload, values)
    assert caught.value.field == field


@given(st.integers(3, 60_000))
def test_a_payload_has_exactly_its_size_and_the_usual_form(size: int) -> None:
    payload = make_payload(size)
    assert len(payload.encode()) == size
    for pair in payload.split(";"):
        key, equals, value = pair.partition("=")
        assert key
        assert equals
        assert value
        assert "=" not in value


def test_fleets_hold_at_most_a_thousand_clients_and_none_is_lost() -> None:
    plans = plan_clients(Workload(providers=50, consumers=2300), 10, 1)
    processes = fleets(plans)
    assert {name: len(part) for name, part in processes.items()} == {
        "providers-0": 50,
        "consumers-0": 1000,
        "consumers-1": 1000,
        "consumers-2": 300,
    }


def test_zipf_asks_for_the_first_entity_as_often_as_its_weight_says() -> None:
    popularity, chance, draws = Popularity(4, "zipf"), Stream(1), 20_000
    counts = Counter(popularity.draw(chance) for _ in range(draws))
    harmonic = 1 + 1 / 2 + 1 / 3 + 1 / 4
    for entity in range(4):
        assert counts[entity] / draws == pytest.approx(1 / (entity + 1) / harmonic, abs=0.02)


def test_uniform_asks_for_every_entity_and_entities_have_distinct_names() -> None:
    popularity, chance = Popularity(4, "uniform"), Stream(1)
    assert {popularity.draw(chance) for _ in range(200)} == {0, 1, 2, 3}
    assert len({entity_name(i) for i in range(100)}) == 100
