"""Whoever looks and then writes does so alone, on either database; on PostgreSQL by a lock of ours."""

from __future__ import annotations

import threading
from typing import Any

import pytest
from django.core.exceptions import BadRequest
from django.db import OperationalError, connection, connections, transaction
from django.test import Client
from rest_framework.test import APIClient

from brokerweb.control import runs
from brokerweb.experiments.models import Run, RunState
from brokerweb.topologies import services as topologies
from brokerweb.topologies.models import Topology
from tests.at_once import at_once
from tests.waiting import wait_for

pytestmark = pytest.mark.django_db(transaction=True)

on_postgresql = pytest.mark.skipif("connection.vendor != 'postgresql'", reason="of PostgreSQL")


def test_of_reconcilers_that_claim_at_once_one_has_a_run_and_its_lease(api: APIClient, ring: dict[str, Any]) -> None:
    body = {"name": "three", "topology": ring["id"], "replicates": 3}
    made = api.post("/api/experiments/", body, format="json").json()
    assert api.post(f"/api/experiments/{made['id']}/launch/").status_code in (200, 201)
    owners = iter(["a", "b", "c", "d"])
    claimed = [run for run in at_once(lambda: runs.claim("here", next(owners)), 4) if run is not None]
    assert len(claimed) == 1
    launching = Run.objects.get(state=RunState.LAUNCHING)
    assert (launching.pk, launching.lease_epoch) == (claimed[0].pk, 1)
    assert launching.lease_owner == claimed[0].lease_owner
    assert Run.objects.filter(state=RunState.QUEUED).count() == 2


def test_a_lease_is_taken_over_by_one(api: APIClient, ring: dict[str, Any]) -> None:
    made = api.post("/api/experiments/", {"name": "one", "topology": ring["id"]}, format="json").json()
    api.post(f"/api/experiments/{made['id']}/launch/")
    run = runs.claim("here", "gone")
    assert run is not None
    at_once(lambda: runs.adopt("here", "new"), 4)
    run.refresh_from_db()
    assert (run.lease_owner, run.lease_epoch) == ("new", 2)
    assert run.events.filter(name="adopted").count() == 1


def test_what_is_refused_within_leaves_nothing_and_the_next_goes_on() -> None:
    ring = topologies.create(name="ring", kind="ring", brokers=4)
    with pytest.raises(RuntimeError), transaction.atomic():
        Topology.objects.filter(pk=ring.pk).update(name="other")
        raise RuntimeError
    assert Topology.objects.get().name == "ring"
    topologies.update(ring, name="third")
    assert Topology.objects.get().name == "third"


def waiting() -> bool:
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted")
        return bool(cursor.fetchone()[0])


@on_postgresql
def test_a_statement_of_its_own_waits_for_who_decides() -> None:
    ring = topologies.create(name="ring", kind="ring", brokers=4)

    def rename() -> None:
        try:
            Topology.objects.filter(pk=ring.pk).update(name="renamed")
        finally:
            connections.close_all()

    other = threading.Thread(target=rename)
    with transaction.atomic():
        other.start()
        wait_for(waiting, "the other waits")
        assert Topology.objects.get().name == "ring"
    other.join()
    assert Topology.objects.get().name == "renamed"


@on_postgresql
def test_waiting_has_an_end_and_the_connection_can_be_used_after_it() -> None:
    holder = connections.create_connection("default")
    topologies.create(name="ring", kind="ring", brokers=4)
    holder.set_autocommit(False)
    try:
        with connection.cursor() as cursor:
            cursor.execute("SET lock_timeout = '50ms'")
        with pytest.raises(OperationalError, match="lock timeout"), transaction.atomic():
            raise AssertionError("no other process may write")
        assert Topology.objects.get().name == "ring"
    finally:
        holder.close()
    Topology.objects.update(name="free")
    assert Topology.objects.get().name == "free"


@on_postgresql
def test_text_that_it_cannot_keep_is_refused_by_every_surface(api: APIClient, operator: Any) -> None:
    answer = api.get("/api/topologies/", {"name": "\0"})
    assert answer.status_code == 400
    refused = api.get("/api/runs/", {"q": "note ~ '\0'"})
    assert (refused.status_code, bool(refused.json()["sentence"])) == (400, True)
    browser = Client()
    browser.force_login(operator)
    for address in ("/topologies/?q=%00", "/experiments/?q=%00", "/networks/?q=%00", "/reports/?q=%00", "/runs/%00/"):
        assert browser.get(address).status_code in (400, 404), address
    ring = topologies.create(name="ring", kind="ring", brokers=4)
    with pytest.raises(BadRequest):
        Topology.objects.filter(pk=ring.pk).update(params={"note": "\0"})
    assert Topology.objects.get().params == ring.params
