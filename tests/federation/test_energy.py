"""The models of energy: their constants, properties, and the order of E1.3 that follows from an assumption."""

from __future__ import annotations

import itertools
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from overlay.core.node import SECOND
from overlay.core.settings import describe
from overlay.systems.federation.config import ServerConfig
from overlay.systems.federation.energy import constants as c
from overlay.systems.federation.energy.meter import DeviceMeter, device_meter
from overlay.systems.federation.energy.models import LABELS, MODELS, energy
from overlay.systems.federation.energy.usage import Energy, Exchange, Usage, cpu_time_ns
from overlay.systems.federation.load.plans import device_clients
from overlay.systems.federation.settings import Settings
from overlay.systems.federation.wire import messages as m
from overlay.systems.federation.workload import Workload
from telemetry.systems.federation.measures import MEASURES
from telemetry.systems.federation.studies.energy import ENERGY_STUDY
from tests.thorough import examples

DURATION = 30 * SECOND
EXCHANGES = st.lists(
    st.builds(
        Exchange,
        st.integers(0, DURATION),
        st.integers(0, 5_000),
        st.integers(0, 5_000),
        st.integers(0, 30),
    ),
    min_size=1,
    max_size=25,
)
POWERTUTOR, TRANSFER = MODELS
CASES = [(POWERTUTOR, c.Radio.WIFI), (POWERTUTOR, c.Radio.THREE_G), *((TRANSFER, radio) for radio in c.Radio)]


def joules(model, radio, *exchanges, duration=DURATION, cpu=0):
    return energy(model, Usage(exchanges, duration, cpu), radio)


def each_second(packets, count=30, up=0):
    return [Exchange(second * SECOND, up, 0, packets) for second in range(count)]


def test_every_model_of_the_setting_is_there_with_its_label_and_every_constant_with_its_source():
    (model,) = [info for info in describe(Settings) if info.name == "energy_model"]
    assert set(model.choices) == {"none", *MODELS}
    assert set(LABELS) == set(MODELS)
    assert all(label.startswith("modelled") for label in LABELS.values())
    assert [plot.title.partition(", ")[2] for plot in ENERGY_STUDY.plots] == list(LABELS.values())
    (shown,) = [one.definition for one in MEASURES if one.name == "energy_per_query"]
    assert all(label in shown for label in LABELS.values())
    named = {name for name in vars(c) if name.isupper()} - {"SOURCES"}
    assert set(c.SOURCES) == named
    assert c.SOURCES["TRANSFERS"] is c.Source.FROM_MEMORY


def test_a_device_that_does_nothing_needs_its_radio_alone():
    assert joules(POWERTUTOR, c.Radio.WIFI) == pytest.approx(Energy(30 * 0.03437, 0))
    assert joules(POWERTUTOR, c.Radio.THREE_G) == pytest.approx(Energy(30 * 0.010, 0))
    assert joules(TRANSFER, c.Radio.THREE_G) == Energy(0, 0)


@pytest.mark.parametrize(("packets", "power"), [(7, 0.03437), (15, 0.03437), (16, 0.40446)])
def test_wifi_is_high_above_15_packets_a_second(packets, power):
    assert joules(POWERTUTOR, c.Radio.WIFI, *each_second(packets)).radio_j == pytest.approx(30 * power)


def test_wifi_stays_high_until_there_are_fewer_than_8_packets_a_second():
    busy = each_second(16, 1) + [Exchange(second * SECOND, 0, 0, 8) for second in range(1, 29)]
    falling = [*busy, Exchange(29 * SECOND, 0, 0, 7)]
    assert joules(POWERTUTOR, c.Radio.WIFI, *falling).radio_j == pytest.approx(29 * 0.40446 + 0.03437)


def test_the_uplink_costs_in_the_high_state_only():
    rate = (1 << 20) // 8
    low, high = each_second(1, up=rate), each_second(16, up=rate)
    assert joules(POWERTUTOR, c.Radio.WIFI, *low).radio_j == pytest.approx(30 * 0.03437)
    assert joules(POWERTUTOR, c.Radio.WIFI, *high).radio_j == pytest.approx(30 * (0.40446 + 0.006427122))


def test_three_g_goes_up_with_traffic_and_back_after_4_and_6_s_of_silence():
    one = joules(POWERTUTOR, c.Radio.THREE_G, *each_second(1, 2))
    # FACH, DCH, three silent seconds of DCH, six of FACH, then idle
    assert one.radio_j == pytest.approx(0.40581 + 4 * 0.90203 + 6 * 0.40581 + 19 * 0.010)


def test_part_of_a_second_counts_by_its_length():
    one = joules(POWERTUTOR, c.Radio.WIFI, duration=SECOND // 2)
    assert one.radio_j == pytest.approx(0.03437 / 2)


def test_a_processor_that_is_always_busy_has_the_power_of_100_percent():
    assert joules(POWERTUTOR, c.Radio.WIFI, cpu=DURATION).cpu_j == pytest.approx(30 * 100 * 0.0054818)
    assert joules(TRANSFER, c.Radio.GSM, cpu=DURATION).cpu_j == pytest.approx(30 * 0.54818)


def test_a_transfer_has_a_ramp_its_bytes_and_one_tail():
    one = joules(TRANSFER, c.Radio.THREE_G, Exchange(0, 1_024, 1_024))
    assert one.radio_j == pytest.approx(3.5 + 2 * 0.025 + 12.5 * 0.62)
    wifi = joules(TRANSFER, c.Radio.WIFI, Exchange(0, 1_024), Exchange(20 * SECOND, 1_024))
    assert wifi.radio_j == pytest.approx(5.9 + 2 * 0.007)


@pytest.mark.parametrize(("gap_s", "expected"), [(5, 3.5 + (5 + 12.5) * 0.62), (20, 2 * (3.5 + 12.5 * 0.62))])
def test_a_tail_ends_with_the_next_transfer_and_is_not_counted_twice(gap_s, expected):
    both = joules(TRANSFER, c.Radio.THREE_G, Exchange(0, 0), Exchange(gap_s * SECOND, 0), duration=2 * DURATION)
    assert both.radio_j == pytest.approx(expected)


@settings(max_examples=examples(200))
@given(EXCHANGES, st.integers(0, 24), st.integers(1, 30), st.integers(1, 5_000), st.sampled_from(CASES))
def test_more_packets_and_bytes_at_the_same_instants_never_cost_less(exchanges, place, packets, size, case):
    place %= len(exchanges)
    more = list(exchanges)
    before = more[place]
    more[place] = before._replace(packets=before.packets + packets, up_bytes=before.up_bytes + size)
    assert joules(*case, *more).radio_j >= joules(*case, *exchanges).radio_j - 1e-9


@settings(max_examples=examples(200))
@given(EXCHANGES, st.integers(0, DURATION), st.sampled_from(list(c.Radio)))
def test_a_transfer_costs_at_most_itself_alone_and_saves_at_most_a_ramp(exchanges, at, radio):
    model = c.TRANSFERS[radio]
    end = 2 * DURATION
    without = joules(TRANSFER, radio, *exchanges, duration=end).radio_j
    together = joules(TRANSFER, radio, *exchanges, Exchange(at, 100), duration=end).radio_j
    alone = joules(TRANSFER, radio, Exchange(at, 100), duration=end).radio_j
    assert without - model.ramp_j - 1e-9 <= together <= without + alone + 1e-9


@settings(max_examples=examples(100))
@given(EXCHANGES, st.randoms(use_true_random=False), st.sampled_from(CASES))
def test_the_order_of_the_record_does_not_matter(exchanges, chance, case):
    mixed = list(exchanges)
    chance.shuffle(mixed)
    assert joules(*case, *mixed) == pytest.approx(joules(*case, *exchanges))


def test_collected_transfers_cost_less_than_single_ones_on_cellular_radios():
    singles = [Exchange(second * 2 * SECOND, 500) for second in range(15)]
    collected = [Exchange(14 * SECOND, 15 * 500)]
    for radio in (c.Radio.THREE_G, c.Radio.GSM):
        fewer, more = (joules(TRANSFER, radio, *some, duration=2 * DURATION) for some in (collected, singles))
        assert fewer.radio_j < more.radio_j


def test_local_calls_have_the_price_of_their_interface():
    http = Settings(mobile_brokers="0", device="mcxb", http_ms=4, ipc_ms=0.4, service_ms=2, mobile_factor=3)
    ipc = replace(http, local_interface="ipc")
    assert cpu_time_ns(http, 2, 10, 5) == (2 * 4 + 10 * 4 + 5 * 6) * 1_000_000
    assert cpu_time_ns(ipc, 2, 10, 5) == (2 * 4 + 10 * 0.4 + 5 * 6) * 1_000_000


@pytest.mark.parametrize(
    "values",
    [
        ((Exchange(2, 0),), 1, 0),
        ((Exchange(-1, 0),), 1, 0),
        ((Exchange(0, -1),), 1, 0),
        ((), -1, 0),
        ((), 1, -1),
    ],
)
def test_impossible_records_are_refused(values):
    with pytest.raises(ValueError, match=r"(negative|outside)"):
        Usage(*values)


def test_powertutor_has_no_gsm():
    with pytest.raises(ValueError, match="gsm"):
        joules(POWERTUTOR, c.Radio.GSM)


@settings(max_examples=examples(100))
@given(EXCHANGES, st.lists(st.integers(0, DURATION), max_size=6), st.sampled_from(CASES))
def test_reading_a_model_on_the_way_changes_nothing_and_never_falls(exchanges, instants, case):
    name, radio = case
    one, found = MODELS[name](radio), [0.0]
    steps = sorted(
        [(each.at_ns, 0, each) for each in exchanges] + [(at, 1, None) for at in instants], key=lambda step: step[:2]
    )
    for at, _, exchange in steps:
        if exchange is not None:
            one.add(exchange)
        found.append(one.joules(at))
    found.append(one.joules(DURATION))
    assert all(after >= before - 1e-9 for before, after in itertools.pairwise(found))
    assert found[-1] == pytest.approx(joules(*case, *exchanges).radio_j)


def device(clients=None, **values):
    chosen = Settings(mobile_brokers="2", device="mcxb", energy_model="transfer", **values)
    return DeviceMeter(chosen, {"b0", "b1", "b2", "bdrs"}, clients)


def test_a_broker_on_the_device_sends_to_brokers_by_radio_and_to_clients_by_local_calls():
    one = device(local_interface="ipc", service_ms=2)
    one.count("b1", m.SubTable, 1_024, 5, is_sent=True)
    one.count("b1", m.Forward, 1_024, 6, is_sent=False)
    one.count("c0", m.Subscribe, 500, 7, is_sent=False)
    one.count("c0", m.Ack, 10, 7, is_sent=True)
    assert (one.remote, one.local) == (2, 1)
    found = one.energy(SECOND, visits=3)
    assert found.radio_j == pytest.approx(5.9 + 2 * 0.007)
    assert found.cpu_j == pytest.approx((2 * 0.004 + 0.0004 + 3 * 0.002) * 0.54818)


def test_without_one_the_broker_of_the_devices_clients_counts_their_messages_as_theirs():
    one = device({"c4", "p8"}, service_ms=2)
    one.count("b1", m.SubTable, 1_024, 5, is_sent=True)
    one.count("c0", m.Subscribe, 500, 5, is_sent=False)
    one.count("c4", m.Subscribe, 1_024, 6, is_sent=False)
    one.count("c4", m.Ack, 1_024, 6, is_sent=True)
    one.count("c4", m.Notify, 1_024, 7, is_sent=True)
    assert (one.remote, one.local) == (2, 0)
    assert one.energy(SECOND, visits=9) == pytest.approx(Energy(5.9 + 3 * 0.007, 2 * 0.004 * 0.54818))


def test_an_answer_has_bytes_and_no_packets_of_its_own_and_time_begins_with_the_first_message():
    one = DeviceMeter(Settings(mobile_brokers="2", device="mcxb", energy_model="powertutor"), {"b1"})
    begin = 10**15
    for _ in range(2):
        one.count("b1", m.SubTable, 100, begin, is_sent=True)
        one.count("b1", m.Ack, 100, begin, is_sent=False)
    assert one.energy(begin + SECOND, 0).radio_j == pytest.approx(0.40446 + 0.006427122 * 200 * 8 / (1 << 20))


def config(clients=(), **values):
    return ServerConfig(Settings(**values), 3, device_clients=clients)


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (config(), []),
        (config(mobile_brokers="2", device="mcxb", energy_model="transfer"), [2]),
        (config(("c4",), mobile_brokers="2", energy_model="transfer"), [0]),
        (config(mobile_brokers="2", energy_model="transfer"), []),
    ],
)
def test_one_broker_counts_for_the_device(given, expected):
    assert [broker for broker in range(3) if device_meter(given, broker) is not None] == expected


def test_the_clients_of_a_device_without_a_broker_are_those_that_a_broker_on_it_would_have():
    none = Settings(mobile_brokers="2", energy_model="transfer")
    workload = Workload(providers=6, consumers=3, scopes=6)
    assert device_clients(none, workload, 3, None, 1) == ("p4", "p5", "c2")
    assert device_clients(replace(none, device="mcxb"), workload, 3, None, 1) == ()
    assert device_clients(Settings(mobile_brokers="2"), workload, 3, None, 1) == ()


def test_statistics_are_by_part_and_in_microjoules():
    one = device()
    one.count("b1", m.SubTable, 1_024, 0, is_sent=True)
    assert one.statistics(SECOND, 0) == {"radio_uj": 5_907_000, "cpu_uj": 2_193, "energy_uj": 5_909_193}
