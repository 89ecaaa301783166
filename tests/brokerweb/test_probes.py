"""How a network answered over time: measured of real brokers, kept in a file of fixed size, and told by REST."""

from __future__ import annotations

import os
import signal
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from django.contrib.auth.models import User
from hypothesis import given, settings
from hypothesis import strategies as st
from rest_framework.test import APIClient

from brokerweb.networks import probing, sweep
from brokerweb.networks.models import Network, NetworkState
from brokerweb.networks.probes import FIGURES, RECORD, SECONDS, TIERS, Probes, Records, records_of
from brokerweb.networks.probing import Prober, pinged, probe_file
from brokerweb.networks.seconds import LASTS, Second
from brokerweb.networks.thinning import COARSER, Thinning, merged
from brokerweb.topologies import services as topologies
from overlay.systems.context_broker.system import SYSTEM
from tests.runtime.daemons import Daemon
from tests.thorough import examples

NOW = 1_795_400_400
"""Where a step of every tier begins."""


@pytest.fixture
def daemons() -> Iterator[list[Daemon]]:
    found = [Daemon(), Daemon()]
    yield found
    for daemon in found:
        daemon.end()


@pytest.fixture
def network(daemons: list[Daemon], operator: User, settings: Any) -> Network:
    """Two running brokers, and a third that was not started."""
    three = topologies.create(name="three", kind="ring", brokers=3, params={}, seed=1, owner=operator)
    rows = [
        {"index": index, "state": "up", "address": daemon.text, "pid": daemon.process.pid, "restarts": 0}
        for index, daemon in enumerate(daemons)
    ]
    return Network.objects.create(
        name="n",
        topology=three,
        deployed=topologies.document(three),
        state=NetworkState.DEGRADED,
        host=settings.HOST_NAME,
        brokers=[*rows, {"index": 2, "state": "failed", "address": "127.0.0.1:9", "pid": None, "restarts": 5}],
    )


def test_who_answers_is_timed_and_who_hangs_or_is_not_there_is_not(daemons: list[Daemon]) -> None:
    os.kill(daemons[1].process.pid, signal.SIGSTOP)
    took = pinged(SYSTEM, {"there": daemons[0].address, "hangs": daemons[1].address, "gone": ("127.0.0.1", 9)}, 0.5)
    assert took["there"] is not None
    assert 0 < took["there"] < 500_000
    assert (took["hangs"], took["gone"]) == (None, None)


def test_an_answer_to_an_earlier_ping_is_none_to_the_next(daemons: list[Daemon]) -> None:
    late = {"late": daemons[0].address}
    os.kill(daemons[0].process.pid, signal.SIGSTOP)
    assert pinged(SYSTEM, late, 0.2) == {"late": None}
    assert pinged(SYSTEM, late, 0.2) == {"late": None}
    os.kill(daemons[0].process.pid, signal.SIGCONT)  # and now it answers all of them
    assert (pinged(SYSTEM, late)["late"] or 0) > 0


def test_every_broker_is_asked_however_many_before_it_are_silent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sweep, "AT_ONCE", 1)
    silent = [socket.socket(socket.AF_INET, socket.SOCK_DGRAM) for _ in range(4)]
    for one in silent:
        one.bind(("127.0.0.1", 0))
        one.setblocking(False)
    took = pinged(SYSTEM, {number: one.getsockname() for number, one in enumerate(silent)}, 0.02)
    assert took == dict.fromkeys(range(4))
    for one in silent:
        assert one.recv(100).startswith(b"1|")
        one.close()


@given(st.integers(1, 100), st.floats(0.1, 2.0))
def test_the_last_batch_has_half_of_the_time(batches: int, deadline_s: float) -> None:
    passed_s = 0.0
    for left in range(batches - 1, 0, -1):
        passed_s += sweep._patience_s(passed_s, left, deadline_s)
    assert passed_s <= deadline_s / 2 + 1e-9
    last_s = sweep._patience_s(passed_s, 0, deadline_s)
    assert deadline_s / 2 - 1e-9 <= last_s <= deadline_s - passed_s


@pytest.mark.django_db(transaction=True)
def test_a_broker_that_was_drained_is_not_probed(network: Network, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(probing, "DEADLINE_S", 0.02)
    asked: dict[Any, Any] = {}
    monkeypatch.setattr(probing, "pinged", lambda _system, brokers, _deadline: asked.update(brokers) or {})
    network.brokers[2]["wanted"] = "drained"
    network.save()
    Prober(network.host).round()
    assert [index for _, index in asked] == [0, 1]


@pytest.mark.django_db(transaction=True)
def test_the_course_of_a_network_is_told_by_broker_and_in_all(
    network: Network, api: APIClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = [NOW + 0.5]
    monkeypatch.setattr(probing.time, "time", lambda: clock[0])
    monkeypatch.setattr(probing, "DEADLINE_S", 0.3)
    prober = Prober(network.host)
    for second in range(11):  # a step of ten seconds, and the first of the next, which closes it
        clock[0] = NOW + second + 0.5
        prober.round()
    url = f"/api/networks/{network.pk}/series/"
    first = api.get(f"{url}?broker=0&range=3h").json()
    assert (first["step_s"], first["broker"], first["t"]) == (10, 0, [NOW])
    assert (first["asked"], first["answered"], first["answered_share"]) == ([10], [10], [1.0])
    assert 0 < first["p50_us"][0] <= first["p95_us"][0] < 500_000
    assert first["private_bytes"][0] > 1_000_000
    gone = api.get(f"{url}?broker=2&step=10").json()
    assert (gone["asked"], gone["answered"], gone["p50_us"], gone["private_bytes"]) == ([10], [0], [None], [None])
    both = api.get(f"{url}?range=3h&step=10").json()
    assert (both["broker"], both["asked"], both["answered"]) == (None, [30], [20])
    assert both["private_bytes"][0] > first["private_bytes"][0]
    seconds = api.get(url).json()
    assert (seconds["range"], seconds["t"]) == ("15m", list(range(NOW, NOW + 10)))
    assert seconds["asked"] == [3] * 10
    assert api.get(f"{url}?range=1d").json()["t"] == [], "its first minute is not over"
    wrongs = ("broker=3", "broker"), ("broker=x", "broker"), ("step=7", "step"), ("range=1y", "range")
    for wrong, field in (*wrongs, ("range=3h&step=1", "step")):
        answer = api.get(f"{url}?{wrong}")
        assert (answer.status_code, answer.json()["field"]) == (400, field)


@pytest.mark.django_db(transaction=True)
def test_a_network_that_nobody_probed_yet_has_no_course_and_a_deleted_one_leaves_no_file(
    network: Network, api: APIClient
) -> None:
    assert api.get(f"/api/networks/{network.pk}/series/").json()["t"] == []
    probe_file(network).write(SECONDS, NOW, {None: {"asked": 1}})
    Network.objects.filter(pk=network.pk).update(state=NetworkState.STOPPED)
    assert api.delete(f"/api/networks/{network.pk}/").status_code == 204
    assert not list(Path(network_directory(network)).rglob("*"))


def network_directory(network: Network) -> Path:
    return probe_file(network)._path.parent


def test_what_was_not_measured_is_a_gap_and_what_is_too_old_is_gone(tmp_path: Path) -> None:
    probes, tier = Probes(tmp_path / "probes"), TIERS[1]
    for at_s in (NOW, NOW + 10, NOW + 40):
        probes.write(tier, at_s, {1: {"asked": 10, "answered": 8, "p50_us": 80.0, "p95_us": 90.0, "sum_us": 640.0}})
    found = probes.read(tier, 1, NOW + 44)
    assert found["t"] == [NOW, NOW + 10, NOW + 20, NOW + 30, NOW + 40]
    assert found["answered"] == [8, 8, None, None, 8]
    assert found["p50_us"] == [80.0, 80.0, None, None, 80.0]
    assert (found["mean_us"][0], found["answered_share"][0]) == (80.0, 0.8)
    assert probes.read(tier, 0, NOW + 44)["t"] == []
    assert probes.read(tier, 1, NOW + 40 + tier.covers_s)["t"] == []


@given(st.lists(st.integers(0, 5_000), min_size=1, max_size=30, unique=True))
def test_the_file_never_outgrows_its_size_and_tells_the_newest(tmp_path_factory: Any, steps: list[int]) -> None:
    path = tmp_path_factory.mktemp("ring") / "probes"
    probes = Probes(path)
    for step in sorted(steps):
        for tier in TIERS:
            probes.write(tier, NOW + step * tier.step_s, {None: {"asked": step}, 0: {"asked": step}})
    assert path.stat().st_size <= 2 * sum(tier.slots for tier in TIERS) * RECORD.itemsize
    for tier in TIERS:
        found = probes.read(tier, None, NOW + max(steps) * tier.step_s)
        kept = [step for step in sorted(steps) if step > max(steps) - tier.slots]
        assert [asked for asked in found["asked"] if asked is not None] == kept
        assert found["t"][-1] == NOW + max(steps) * tier.step_s
        assert len(found["t"]) <= tier.slots <= 2_016


RESTART = "restart"
PROBES = st.one_of(
    st.none(), st.just(RESTART), st.lists(st.one_of(st.none(), st.integers(1, 10**6)), min_size=2, max_size=2)
)


@settings(max_examples=examples(200))
@given(st.integers(0, 1_200), st.lists(PROBES, max_size=40), st.integers(0, 700))
def test_thinning_leaves_no_gap_and_preserves_counts_and_sums(
    tmp_path_factory: Any, begin: int, seconds: list[Any], pause_s: int
) -> None:
    """Seconds with a probe of each of two brokers, seconds without any, and restarts of the process; then a pause."""
    probes = Probes(tmp_path_factory.mktemp("ring") / "probes")
    thinning, second, now_s, took = Thinning(probes), Second(), NOW + begin, dict[int, list[float | None]]()
    for probed in seconds:
        if probed == RESTART:
            thinning = Thinning(probes)
            continue
        for broker, took_us in enumerate(probed or ()):
            second.take_probe(broker, took_us)
        if figures := second.closed():
            took[now_s] = list(probed)
            probes.write(SECONDS, now_s, figures)
        now_s += 1
        thinning.go_on(now_s, (0, 1))
    end_s = now_s + pause_s
    Thinning(probes).go_on(end_s, (0, 1))
    for tier in COARSER:
        complete_s = end_s // tier.step_s * tier.step_s
        for broker in (None, 0, 1):
            found = probes.read(tier, broker, end_s)
            expected = dict[int, list[float | None]]()
            for at_s, both in took.items():
                if at_s < complete_s:
                    expected.setdefault(at_s // tier.step_s * tier.step_s, []).extend(
                        both if broker is None else both[broker : broker + 1]
                    )
            known = [at for at, asked in enumerate(found["asked"]) if asked is not None]
            assert [found["t"][at] for at in known] == sorted(expected)
            for at in known:
                answered = [one for one in expected[found["t"][at]] if one is not None]
                assert found["asked"][at] == len(expected[found["t"][at]])
                assert found["answered"][at] == len(answered)
                if answered:
                    assert found["mean_us"][at] * len(answered) == pytest.approx(sum(answered))
                    assert found["p50_us"][at] == pytest.approx(float(np.quantile(answered, 0.5)), rel=1e-6)
                    assert found["p95_us"][at] == pytest.approx(float(np.quantile(answered, 0.95)), rel=1e-6)


def test_all_brokers_together_are_the_sum_of_loads_and_the_spread_of_all_times() -> None:
    second = Second()
    for took_us in (100.0, 200.0, 300.0):
        second.take_probe(0, took_us)
    second.take_probe(1, 1_000.0)
    second.take_probe(1, None)
    second.take_look(0, {"load_per_s": 20.0, "cores": None, "private_bytes": 2e6, "answers_per_s": 1.0, "hops": 4.0})
    second.take_look(1, {"load_per_s": 5.0, "answers_per_s": 3.0, "hops": 0.0})
    found = second.closed()
    assert (found[1]["asked"], found[1]["answered"], found[1]["p50_us"], found[1]["load_per_s"]) == (2, 1, 1_000.0, 5.0)
    assert (found[None]["asked"], found[None]["answered"], found[None]["sum_us"]) == (5, 4, 1_600.0)
    assert (found[None]["load_per_s"], found[None]["private_bytes"], found[None]["hops"]) == (25.0, 2e6, 1.0)
    assert "cores" not in found[None]
    assert second.closed() == {}, "nothing was measured since"


def test_a_look_counts_until_the_next_one_but_not_for_ever() -> None:
    second, known = Second(), list[bool]()
    second.take_look(0, {"load_per_s": 7.0})
    for _ in range(LASTS + 2):
        second.take_probe(0, None)
        known.append("load_per_s" in second.closed()[0])
    assert known == [True] * LASTS + [False] * 2


def test_what_was_known_for_longer_weighs_more() -> None:
    found: Records = records_of(0, [{"load_per_s": 9.0, "looks_s": 1}, {"load_per_s": 3.0, "looks_s": 2}, {"asked": 4}])
    assert merged(found) == {"asked": 4, "answered": 0, "sum_us": 0.0, "looks_s": 3.0, "load_per_s": 5.0}
    assert set(merged(found)) <= {*(RECORD.names or ()), *FIGURES}


def test_gauges_of_a_system_are_kept_with_the_figures(tmp_path: Path) -> None:
    second = Second(("stored",))
    for broker, stored in enumerate((3, 4)):
        second.take_probe(broker, 100.0)
        second.take_look(broker, {"load_per_s": 1, "stored": stored, "of no chart": 9})
    ring = Probes(tmp_path / "series", ("stored",))
    found = second.closed()
    for at_s in range(NOW, NOW + 10):
        ring.write(SECONDS, at_s, found)
    Thinning(ring).go_on(NOW + 10, (0, 1))
    assert ring.read(SECONDS, 1, NOW)["stored"] == [4]
    assert ring.read(TIERS[1], None, NOW)["stored"] == [7], "of all brokers, the sum"
    assert ring.read(TIERS[1], None, NOW)["load_per_s"] == [2]
    plain = Probes(tmp_path / "series")
    assert plain.read(SECONDS, 1, NOW)["t"] == [], "records with other fields are in another file"
