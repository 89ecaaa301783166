"""How a network answered over time: measured of real brokers, kept in a file of fixed size, and told by REST."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from hypothesis import given
from hypothesis import strategies as st
from rest_framework.test import APIClient

from brokerweb.networks import probing
from brokerweb.networks.models import Network, NetworkState
from brokerweb.networks.probes import TIERS, Probes, Step
from brokerweb.networks.probing import Prober, pinged, probe_file
from brokerweb.topologies import services as topologies
from overlay.systems.context_broker.system import SYSTEM
from tests.runtime.daemons import Daemon

FINE, COARSE = TIERS
NOW = 1_795_400_000


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


@pytest.mark.django_db(transaction=True)
def test_the_course_of_a_network_is_told_by_broker_and_in_all(
    network: Network, api: APIClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = [NOW + 0.5]
    monkeypatch.setattr(probing.time, "time", lambda: clock[0])
    monkeypatch.setattr(probing, "DEADLINE_S", 0.3)
    prober = Prober(network.host)
    for second in range(6):  # a step of five seconds, and the first of the next, which closes it
        clock[0] = NOW + second + 0.5
        prober.round()
    url = f"/api/networks/{network.pk}/series/"
    first = api.get(f"{url}?broker=0").json()
    assert (first["step_s"], first["broker"], first["t"]) == (5, 0, [NOW])
    assert (first["asked"], first["answered"]) == ([5], [5])
    assert 0 < first["p50_us"][0] <= first["p95_us"][0] < 500_000
    assert first["private_bytes"][0] > 1_000_000
    gone = api.get(f"{url}?broker=2").json()
    assert (gone["asked"], gone["answered"], gone["p50_us"], gone["private_bytes"]) == ([5], [0], [None], [None])
    both = api.get(url).json()
    assert (both["broker"], both["asked"], both["answered"]) == (None, [15], [10])
    assert both["private_bytes"][0] > first["private_bytes"][0]
    assert api.get(f"{url}?step=60").json()["t"] == [], "its first minute is not over"
    for wrong, field in (("broker=3", "broker"), ("broker=x", "broker"), ("step=7", "step")):
        answer = api.get(f"{url}?{wrong}")
        assert (answer.status_code, answer.json()["field"]) == (400, field)


@pytest.mark.django_db(transaction=True)
def test_a_network_that_nobody_probed_yet_has_no_course_and_a_deleted_one_leaves_no_file(
    network: Network, api: APIClient
) -> None:
    assert api.get(f"/api/networks/{network.pk}/series/").json()["t"] == []
    probe_file(network).write(FINE, NOW, {None: {"asked": 1}})
    Network.objects.filter(pk=network.pk).update(state=NetworkState.STOPPED)
    assert api.delete(f"/api/networks/{network.pk}/").status_code == 204
    assert not list(Path(network_directory(network)).rglob("*"))


def network_directory(network: Network) -> Path:
    return probe_file(network)._path.parent


def test_what_was_not_measured_is_a_gap_and_what_is_too_old_is_gone(tmp_path: Path) -> None:
    probes = Probes(tmp_path / "probes")
    for at_s in (NOW, NOW + 5, NOW + 20):
        probes.write(FINE, at_s, {1: {"asked": 5, "answered": 4, "p50_us": 80.0, "p95_us": 90.0}})
    found = probes.read(FINE, 1, NOW + 22)
    assert found["t"] == [NOW, NOW + 5, NOW + 10, NOW + 15, NOW + 20]
    assert found["answered"] == [4, 4, None, None, 4]
    assert found["p50_us"] == [80.0, 80.0, None, None, 80.0]
    assert probes.read(FINE, 0, NOW + 22)["t"] == []
    assert probes.read(FINE, 1, NOW + 20 + FINE.step_s * FINE.slots)["t"] == []


@given(st.lists(st.integers(0, 5_000), min_size=1, max_size=60, unique=True))
def test_the_file_never_outgrows_its_size_and_tells_the_newest(tmp_path_factory: Any, steps: list[int]) -> None:
    path = tmp_path_factory.mktemp("ring") / "probes"
    probes = Probes(path)
    base = NOW // 60 * 60
    for step in sorted(steps):
        for tier in TIERS:
            probes.write(tier, base + step * tier.step_s, {None: {"asked": step}, 0: {"asked": step}})
    assert path.stat().st_size <= 2 * (FINE.slots + COARSE.slots) * 36
    for tier in TIERS:
        found = probes.read(tier, None, base + max(steps) * tier.step_s)
        kept = [step for step in sorted(steps) if step > max(steps) - tier.slots]
        assert [asked for asked in found["asked"] if asked is not None] == kept
        assert found["t"][-1] == base + max(steps) * tier.step_s


def test_all_brokers_together_are_the_sum_of_loads_and_the_spread_of_all_times() -> None:
    step = Step()
    for took_us in (100.0, 200.0, 300.0):
        step.take_probe(0, took_us)
    step.take_probe(1, 1_000.0)
    step.take_probe(1, None)
    step.take_look(0, {"load_per_s": 10.0, "cores": None, "private_bytes": 1e6})
    step.take_look(0, {"load_per_s": 20.0, "private_bytes": 3e6})
    step.take_look(1, {"load_per_s": 5.0})
    found = step.figures()
    assert found[1] == {"asked": 2, "answered": 1, "p50_us": 1_000.0, "p95_us": 1_000.0, "load_per_s": 5.0}
    assert (found[None]["asked"], found[None]["answered"], found[None]["p50_us"]) == (5, 4, 250.0)
    assert (found[None]["load_per_s"], found[None]["private_bytes"]) == (20.0, 2e6)
    assert "cores" not in found[None]
