"""A form that several send at once, or one person twice: one is taken, the others are told that the name is taken."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import User

from brokerweb.networks import services as networks
from brokerweb.networks.models import Desired, Network, NetworkState
from brokerweb.notices import services as notices
from brokerweb.runlist import saved_views
from brokerweb.topologies import services as topologies
from brokerweb.topologies import studio
from brokerweb.topologies.models import Topology
from overlay.core.errors import InvalidSetting
from tests.at_once import at_once


def outcomes(send: Callable[[], Any], times: int = 6) -> list[str]:
    """What each of so many that send at once is told."""

    def told() -> str:
        try:
            send()
        except InvalidSetting as refused:
            return refused.field
        return "taken"

    return sorted(at_once(told, times))


@pytest.mark.django_db(transaction=True)
def test_one_is_taken_and_the_others_are_told_so() -> None:
    olga = User.objects.create_user("olga")
    hook = {"name": "ops", "channel": "webhook", "address": "http://127.0.0.1:9/", "kinds": ["run_failed"]}
    expected = ["name"] * 5 + ["taken"]
    assert outcomes(lambda: saved_views.save(olga, "runs", "Slow", "q=p95 > 2ms")) == expected
    assert outcomes(lambda: notices.create(**hook)) == expected
    assert outcomes(lambda: topologies.create(name="ring", kind="ring", brokers=4)) == expected
    ring = Topology.objects.get(name="ring")
    text, form = topologies.export_text(topologies.to_graph(ring), "csv")[0], "csv"
    assert outcomes(lambda: topologies.import_text(name="sent", text=text, form=form)) == expected
    assert outcomes(lambda: networks.deploy(name="campus", topology=ring)) == expected
    others = [topologies.create(name=f"ring {number}", kind="ring", brokers=4) for number in range(6)]
    assert outcomes(lambda: topologies.update(others.pop(), name="best")) == expected


@pytest.mark.django_db(transaction=True)
def test_copies_that_are_made_at_once_have_names_of_their_own() -> None:
    olga = User.objects.create_user("olga")
    ring = topologies.create(name="ring", kind="ring", brokers=4)
    assert outcomes(lambda: studio.clone(ring, olga), 3) == ["taken"] * 3
    names = Topology.objects.order_by("name").values_list("name", flat=True)
    assert list(names) == ["ring", "ring, copy", "ring, copy 2", "ring, copy 3"]


@pytest.mark.django_db(transaction=True)
def test_quotas_are_kept_however_many_deploy_or_start_at_once(settings: Any) -> None:
    olga = User.objects.create_user("olga")
    ring = topologies.create(name="ring", kind="ring", brokers=4)
    numbers = iter(range(100))

    def deploy() -> None:
        networks.deploy(name=f"campus {next(numbers)}", topology=ring, owner=olga)

    settings.MAX_NETWORKS = 4
    assert outcomes(deploy) == ["name"] * 2 + ["taken"] * 4
    settings.MAX_NETWORKS, settings.MAX_HOST_BROKERS = 100, 24
    assert outcomes(deploy) == ["taken"] * 2 + ["topology"] * 4
    Network.objects.update(desired=Desired.STOPPED, state=NetworkState.STOPPED)
    settings.MAX_HOST_BROKERS = 8
    stopped = list(Network.objects.all())
    assert outcomes(lambda: networks.start(stopped.pop())) == ["network"] * 4 + ["taken"] * 2
    read_before = Network.objects.filter(desired=Desired.RUNNING).first()
    assert read_before is not None
    Network.objects.filter(pk=read_before.pk).update(desired=Desired.STOPPED, state=NetworkState.STOPPED)
    settings.MAX_HOST_BROKERS = 4
    with pytest.raises(InvalidSetting):
        networks.start(read_before)
