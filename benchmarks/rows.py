"""Fills the installation in ``WAXWING_VAR`` and prints its contents as JSON: ``python -m benchmarks.rows KIND …``.

It is a separate process, because Django has settings for one installation only. ``many CONFIGURATIONS REPLICATES``
creates the data for ``pages`` and prints every address with its number of database queries. ``matrix`` creates the data
for ``browser``, 251 configurations of ten runs. ``live`` creates a run that is measuring. ``network PORT …`` creates a
network of running brokers at these ports, for ``front``.
"""

from __future__ import annotations

import json
import logging
import sys
from collections.abc import Callable, Iterator
from typing import Any

import django
from django.core.management import call_command

OPERATOR = "operator"
SWEPT = 10
"""Configurations of one experiment."""


def main(what: str, *numbers: str) -> None:
    django.setup()
    call_command("migrate", verbosity=0)
    makers: dict[str, Callable[..., dict[str, Any]]]
    makers = {"many": many, "matrix": matrix, "live": live, "network": network}
    made = makers[what](*map(int, numbers))
    sys.stdout.write(json.dumps({**made, "cookie": _cookie()}))


def many(configurations: int, replicates: int) -> dict[str, Any]:
    """``{"runs", "addresses": {name: [address, queries]}}``."""
    from benchmarks.many_runs import addresses, seed

    made = seed(_operator(), things=configurations // SWEPT, swept=SWEPT, replicates=replicates)
    return {"runs": made.runs, "addresses": dict(_asked(addresses(made)))}


def matrix() -> dict[str, Any]:
    """``{"runs", "addresses": {name: [address, queries]}}`` for a browser."""
    from benchmarks.matrix import seed

    made = seed(_operator())
    addresses = {
        "home": "/",
        "runs": "/runs/",
        "runs, filtered": "/runs/?q=topology+%3D+ring+and+p95+%3C+20ms",
        "comparison": "/compare/?q=state+%3D+done",
        "a report": f"/reports/{made.report.pk}/",
        "an experiment": f"/experiments/{made.experiment.pk}/",
    }
    return {"runs": made.runs, "addresses": dict(_asked(addresses))}


def _asked(addresses: dict[str, str]) -> Iterator[tuple[str, list[Any]]]:
    """By name of each page: ``[address, number of database queries]``."""
    from django.db import connection
    from django.test import Client
    from django.test.utils import CaptureQueriesContext

    logging.disable(logging.ERROR)
    browser = Client(headers={"host": "localhost"})
    browser.force_login(_operator())
    for name, address in addresses.items():
        with CaptureQueriesContext(connection) as queries:
            answer = browser.get(address)
            count = len(queries)
        if answer.status_code == 200:
            yield name, [address, count]


def live() -> dict[str, Any]:
    """``{"run"}``: the id of a run of the published load. The caller starts its brokers and clients."""
    from datetime import timedelta

    from django.conf import settings
    from django.utils import timezone

    from benchmarks.many_runs import SHAPED, WORKLOAD
    from brokerweb.experiments import services as experiments
    from brokerweb.experiments.models import Run, RunState
    from brokerweb.topologies import services as topologies

    ring = topologies.create(name="Ring of 10", kind="ring", brokers=10, params=SHAPED)
    body = {"name": "Live", "topology": ring.id, "workload": {**WORKLOAD, "request_interval_s": 1.0}}
    run = experiments.launch(experiments.create(body, _operator())).runs[0]
    now = timezone.now()
    brokers = [{"index": index, "state": "up", "address": f"127.0.0.1:{7000 + index}"} for index in range(10)]
    Run.objects.filter(pk=run.pk).update(
        state=RunState.MEASURING,
        host=settings.HOST_NAME,
        lease_expires=now + timedelta(hours=1),
        launched_at=now,
        measuring_at=now,
        ends_at=now + timedelta(hours=1),
        observed={"brokers": [{**row, "restarts": 0, "reason": ""} for row in brokers]},
    )
    return {"run": run.pk}


def network(*ports: int) -> dict[str, Any]:
    """``{"path", "token"}``: the URL of an entity's context, its number as ``ENTITY``, and a token that may write."""
    from brokerweb.accounts.services import make_token
    from brokerweb.networks.models import Network
    from brokerweb.topologies import services as topologies

    mesh = topologies.create(name="Mesh", kind="full-mesh", brokers=len(ports))
    rows = [{"index": index, "address": f"127.0.0.1:{port}", "state": "up"} for index, port in enumerate(ports)]
    made = Network.objects.create(
        name="Front", topology=mesh, deployed=topologies.document(mesh), state="running", brokers=rows
    )
    return {"path": f"/api/networks/{made.pk}/context/room/rENTITY/temp/", "token": make_token(_operator())[1]}


def _operator() -> Any:
    from django.contrib.auth.models import User

    return User.objects.filter(username=OPERATOR).first() or User.objects.create_superuser(OPERATOR)


def _cookie() -> str:
    """The session cookie of the operator."""
    from django.conf import settings
    from django.test import Client

    browser = Client()
    browser.force_login(_operator())
    return f"{settings.SESSION_COOKIE_NAME}={browser.cookies[settings.SESSION_COOKIE_NAME].value}"


if __name__ == "__main__":
    main(*sys.argv[1:])
