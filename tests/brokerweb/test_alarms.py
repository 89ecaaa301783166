"""Alarms of networks: when they fire and are resolved, who is told, and who may set them."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.conf import settings
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from hypothesis import given
from hypothesis import strategies as st
from rest_framework.test import APIClient

from brokerweb.alarms import evaluation, services
from brokerweb.alarms.evaluation import REST_S, WATCHED, Watch
from brokerweb.alarms.models import Alarm, AlarmEvent
from brokerweb.alarms.rules import ABOVE, BELOW, COMPARISONS, PATIENCE_S, Rule, State, Status, clearing, step
from brokerweb.changelog.models import Change
from brokerweb.networks.models import Desired, Network
from brokerweb.networks.probing import Prober, probe_file
from brokerweb.notices import detection
from brokerweb.notices import services as notices
from brokerweb.notices.models import Delivery
from tests.brokerweb.test_front import deployed

NOW = 1_795_400_400

VALUES = st.lists(st.tuples(st.integers(1, 100), st.one_of(st.none(), st.integers(0, 20))), max_size=60)
"""Seconds since the one before, and what was measured."""


@given(VALUES, st.sampled_from(COMPARISONS), st.integers(0, 20), st.integers(0, 5), st.integers(0, 90))
def test_an_alarm_fires_and_ends_only_after_its_time_without_interruption(
    measured: list[tuple[int, int | None]], comparison: str, value: int, band: int, for_s: int
) -> None:
    clears = value - band if comparison == ABOVE else value + band
    rule, status, at_s = Rule(comparison, value, clears, for_s), Status(), 0
    beyond_s: int | None = None
    clear_s: int | None = None
    known_s = 0
    for seconds, found in measured:
        at_s += seconds
        if at_s - known_s > PATIENCE_S:
            beyond_s = clear_s = None
        if found is not None:
            known_s = at_s
            beyond_s = (at_s if beyond_s is None else beyond_s) if rule.is_beyond(found) else None
            clear_s = (at_s if clear_s is None else clear_s) if rule.is_clear(found) else None
        before, status = status, step(status, rule, at_s, found)
        if status.state is State.FIRING and before.state is not State.FIRING:
            assert beyond_s is not None
            assert at_s - beyond_s >= for_s
        if before.state is State.FIRING and status.state is not State.FIRING:
            assert status.state is State.RESOLVED
            assert clear_s is not None
            assert at_s - clear_s >= for_s
        if found is None:
            assert (status.state is State.FIRING) == (before.state is State.FIRING)
        if status.state is State.PENDING:
            assert beyond_s is not None
            assert at_s - beyond_s < for_s or found is None
        if beyond_s is not None and found is not None and at_s - beyond_s >= for_s:
            assert status.state is State.FIRING, "and then it does fire"


@given(st.lists(st.floats(0.9, 1.0), min_size=1, max_size=40), st.sampled_from([State.QUIET, State.FIRING]))
def test_between_its_two_values_an_alarm_stays_what_it_is(found: list[float], state: State) -> None:
    rule, status = Rule(ABOVE, 1.0, 0.9 - 1e-9, 0), Status(state)
    for at_s, value in enumerate(found):
        status = step(status, rule, at_s, value)
    assert status.state is state


@given(st.sampled_from(COMPARISONS), st.floats(0, 1), st.booleans())
def test_the_default_clearing_value_is_on_the_good_side(comparison: str, value: float, is_share: bool) -> None:
    found = clearing(comparison, value, is_share=is_share)
    assert found <= value if comparison == ABOVE else found >= value
    assert not is_share or 0 <= found <= 1


@pytest.fixture
def network(operator: User) -> Network:
    return deployed("127.0.0.1:9", owner=operator, host=settings.HOST_NAME)


def probed(network: Network, watch: Watch, begin: int, shares: list[float | None]) -> None:
    """Steps of ten seconds with these shares answered; nothing was measured where there is none."""
    probes = probe_file(network)
    for number, share in enumerate(shares, begin):
        at_s = NOW + number * WATCHED.step_s
        if share is not None:
            found = {"asked": 100, "answered": round(100 * share), "p95_us": 400.0}
            probes.write(WATCHED, at_s, {None: found, 0: found})
        watch.closed(network, probes, {WATCHED: [at_s]})


RULE = {"measure": "answered_share", "comparison": BELOW, "value": "99%", "for_s": 30}


@pytest.mark.django_db(transaction=True)
def test_an_alarm_is_pending_fires_and_is_resolved_and_targets_are_told(network: Network, api: APIClient) -> None:
    target = notices.create(name="t", channel="webhook", address="http://127.0.0.1:9/", kinds=["alarm"])
    url = f"/api/networks/{network.pk}/alarms/"
    made = api.post(url, RULE, format="json")
    assert (made.status_code, made.headers["Location"]) == (201, f"http://testserver{url}{made.json()['id']}/")
    assert made.json()["rule"] == "Probes answered below 99\u202f% for 30\u202fs"
    watch, states = Watch(), list[str]()
    for number, share in enumerate([1.0, 0.5, 0.5, None, 0.5, 0.5, 1.0, 0.99, 1.0, 1.0, 1.0, 1.0]):
        probed(network, watch, number, [share])
        states.append(api.get(made.headers["Location"]).json()["state"])
        watch = Watch() if number == 5 else watch  # another process goes on
    quiet, pending, firing, resolved = (state.value for state in State)
    assert states == [
        quiet,
        pending,
        pending,
        pending,
        firing,
        firing,
        firing,
        firing,
        firing,
        firing,
        firing,
        resolved,
    ]
    events = api.get(f"/api/networks/{network.pk}/alarm-events/").json()["results"]
    assert [event["state"] for event in events] == [resolved, firing]
    assert events[1]["words"] == "Probes answered below 99\u202f% for 30\u202fs fires. Now 50\u202f%."
    AlarmEvent.objects.update(at=timezone.now())
    assert detection.look(timezone.now()) == 2
    told = Delivery.objects.filter(target=target).order_by("notice__key").values_list("notice__title", flat=True)
    assert list(told) == ["one: alarm firing", "one: alarm resolved"]


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    now = [1000.0]
    monkeypatch.setattr(evaluation.time, "monotonic", lambda: now[0])
    return now


def rested(watch: Watch, clock: list[float]) -> State:
    clock[0] += REST_S
    watch.rest()
    return State(Alarm.objects.get().state)


@pytest.mark.django_db(transaction=True)
def test_a_network_that_is_stopped_resolves_its_alarms_though_no_other_one_runs(
    network: Network, clock: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(evaluation, "MOST_EVENTS", 2)
    alarm, watch = services.create(network, **{**RULE, "for_s": 0}), Watch()
    for turn in range(3):
        probed(network, watch, 2 * turn, [0.5, 1.0])
    assert AlarmEvent.objects.count() <= 3
    probed(network, watch, 9, [0.5])
    assert rested(watch, clock) is State.FIRING
    Network.objects.update(desired=Desired.STOPPED)
    Prober(network.host, watch.closed, watch.rest).round()
    assert Alarm.objects.get().state == State.FIRING.value, "it has just looked"
    clock[0] += REST_S
    Prober(network.host, watch.closed, watch.rest).round()
    assert Alarm.objects.get().state == State.RESOLVED.value
    assert AlarmEvent.objects.first().words.endswith("The network was stopped.")  # type: ignore[union-attr]
    services.delete(alarm)
    assert AlarmEvent.objects.exists(), "the log stays"


@pytest.mark.django_db(transaction=True)
def test_alarms_of_a_broker_that_was_drained_are_resolved_and_those_of_other_hosts_left_to_them(
    network: Network, clock: list[float]
) -> None:
    services.create(network, **{**RULE, "for_s": 0, "broker": 0})
    watch = Watch()
    probed(network, watch, 0, [0.5])
    Network.objects.update(members={"0": "drained"}, host="elsewhere")
    assert rested(watch, clock) is State.FIRING
    Network.objects.update(host=network.host)
    assert rested(watch, clock) is State.RESOLVED
    assert AlarmEvent.objects.first().words.endswith("is resolved. It was drained or removed.")  # type: ignore[union-attr]
    network.refresh_from_db()
    probed(network, watch, 1, [0.5])
    assert Alarm.objects.get().state == State.RESOLVED.value, "what it answered before it left"


@pytest.mark.django_db(transaction=True)
def test_of_two_processes_one_announces_a_change(network: Network, clock: list[float]) -> None:
    services.create(network, **{**RULE, "for_s": 0})
    first, second = Watch(), Watch()
    probed(network, first, 0, [1.0])
    probed(network, second, 0, [1.0])
    probed(network, first, 1, [0.5])
    probed(network, second, 1, [0.5])
    assert AlarmEvent.objects.count() == 1
    stale = Alarm.objects.get()
    Network.objects.update(desired=Desired.STOPPED)
    assert rested(first, clock) is State.RESOLVED
    assert not evaluation._change(stale, Status(State.RESOLVED, NOW, NOW), NOW, None)
    assert AlarmEvent.objects.count() == 2


@pytest.mark.django_db(transaction=True)
def test_what_was_beyond_the_threshold_too_briefly_is_not_resolved_again(network: Network) -> None:
    services.create(network, **{**RULE, "for_s": 10})
    probed(network, Watch(), 0, [0.5, 0.5, 1.0, 1.0, 0.5, 1.0])
    assert [event.state for event in AlarmEvent.objects.order_by("id")] == ["firing", "resolved"]


@pytest.mark.django_db
def test_rules_are_checked_counted_logged_and_deleted(network: Network, api: APIClient, viewer: User) -> None:
    url = f"/api/networks/{network.pk}/alarms/"
    good = {"measure": "p95_us", "comparison": ABOVE, "value": "2ms"}
    wrong: dict[str, dict[str, Any]] = {
        "measure": {"measure": "joy"},
        "comparison": {"comparison": "near"},
        "value": {"value": "5"},
        "clears": {"clears": "3ms"},
        "for_s": {"for_s": 100_000},
        "broker": {"broker": 1},
        "speed": {"speed": 1},
    }
    for field, change in wrong.items():
        answer = api.post(url, {**good, **change}, format="json")
        assert (answer.status_code, answer.json()["field"]) == (400, field), change
    for value in ("-1ms", "1e400ms", True, [1], {}, None, "5 parsecs", 1e16):
        assert api.post(url, {**good, "value": value}, format="json").status_code == 400, value
    assert api.post(url, {**RULE, "value": 1.5}, format="json").status_code == 400
    made = api.post(url, {**good, "clears": 1500, "broker": 0}, format="json").json()
    assert (made["value"], made["clears"], made["unit"], made["owner"]) == (2_000.0, 1_500.0, "us", "olga")
    looker = APIClient()
    looker.force_authenticate(viewer)
    assert (looker.get(url).status_code, looker.post(url, good, format="json").status_code) == (200, 403)
    assert [one["id"] for one in api.get(url).json()] == [made["id"]]
    assert api.delete(f"{url}{made['id']}/").status_code == 204
    assert api.delete(f"{url}{made['id']}/").status_code == 404
    log = [(one.action, one.after["alarm"]) for one in Change.objects.filter(kind="network").order_by("id")]
    assert [action for action, _ in log] == ["add alarm", "delete alarm"]
    assert log[0][1] == "broker 0: Probe response time, p95 above 2\u202fms for 1\u202fmin"
    for _ in range(services.MOST):
        services.create(network, **RULE)
    assert api.post(url, good, format="json").status_code == 400


@pytest.mark.django_db
def test_pages_show_alarms_and_have_a_form_for_them(network: Network, operator: User, viewer: User) -> None:
    browser, looker = Client(), Client()
    browser.force_login(operator)
    looker.force_login(viewer)
    page = f"/networks/{network.pk}/"
    form = {"measure": "p95_us", "comparison": "above", "value": "2 ms", "for": "1m30s", "of": "", "clears": ""}
    add = reverse("alarms:add", args=[network.pk])
    assert "Alarm added." in browser.post(add, form, follow=True).content.decode()
    assert "No alarm was added. Value:" in browser.post(add, {**form, "value": "2"}, follow=True).content.decode()
    assert "No alarm was added. For:" in browser.post(add, {**form, "for": "soon"}, follow=True).content.decode()
    alarm = Alarm.objects.get()
    assert (alarm.value, alarm.clears, alarm.for_s) == (2_000, 1_800, 90)
    shown = looker.get(page).content.decode()
    assert re.search("Probe response time, p95 above 2\u202fms\\s+for 90\u202fs", shown), shown
    assert "Add an alarm" not in shown
    Alarm.objects.update(state=State.FIRING.value)
    assert "1 alarm firing" in looker.get("/networks/").content.decode()
    assert "firing" in looker.get(reverse("alarms:part", args=[network.pk])).content.decode()
    delete = reverse("alarms:delete", args=[network.pk, alarm.pk])
    assert looker.post(delete).status_code == 403
    assert "Alarm deleted." in browser.post(delete, follow=True).content.decode()
    assert not Alarm.objects.exists()
