"""What a full disk does to pages and REST: SQLite refuses to make its file longer, as it does without room."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.db import DatabaseError, connection
from django.test import Client
from django.utils import timezone
from rest_framework.test import APIClient

from brokerweb.control import reaping
from brokerweb.control.reaping import Reaper
from brokerweb.demo import first_start
from brokerweb.experiments.models import Experiment, Run
from brokerweb.kit import disk
from brokerweb.storage import free_space
from overlay.core.errors import describe_full_disk
from tests.conftest import ROOT
from tests.disks import small_disk

pytestmark = pytest.mark.django_db(transaction=True)

LONG = {"name": "x", "kind": "full-mesh", "brokers": 200}
"""A topology of 19,900 links: more than the free pages of a small database."""


@pytest.fixture
def full(api: APIClient) -> Iterator[None]:
    """The database can grow no more."""
    if connection.vendor != "sqlite":
        pytest.skip("a database that is a file")
    with connection.cursor() as cursor:
        most = cursor.execute("PRAGMA max_page_count").fetchone()[0]
        cursor.execute(f"PRAGMA max_page_count = {cursor.execute('PRAGMA page_count').fetchone()[0]}")
        yield
        cursor.execute(f"PRAGMA max_page_count = {most}")


@pytest.mark.usefixtures("full")
def test_rest_says_507_and_changes_nothing(api: APIClient) -> None:
    api.raise_request_exception = False
    answer = api.post("/api/topologies/", LONG, format="json")
    assert answer.status_code == 507
    assert answer.json()["code"] == "disk_full"
    assert answer.json()["sentence"] == ("Disk full: the database could not be written. Free some space and try again.")
    assert api.get("/api/topologies/").json()["count"] == 0


@pytest.mark.usefixtures("full")
def test_a_page_says_507_and_where_to_make_room(operator: User) -> None:
    browser = Client(raise_request_exception=False)
    browser.force_login(operator)
    answer = browser.post("/topologies/new/", {**LONG, "seed": "0"})
    assert answer.status_code == 507
    page = answer.content.decode()
    assert "Disk full: the database could not be written." in page
    assert 'href="/storage/"' in page


def test_what_is_not_a_full_disk_is_not_called_one() -> None:
    assert disk.full_disk_message(ValueError("no")) == ""
    assert disk.full_disk_message(PermissionError(13, "Permission denied")) == ""
    try:
        sqlite3.connect("/").execute("SELECT 1")
    except sqlite3.Error as error:
        assert disk.full_disk_message(error) == "", "it cannot be opened, and there is room"
    try:
        raise RuntimeError("a report") from OSError(28, "No space left on device", "report.html")
    except RuntimeError as error:
        assert disk.full_disk_message(error) == describe_full_disk("report.html")


def test_a_house_begins_on_a_disk_with_too_little_room_to_launch(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(free_space, "least_free", lambda: 10**18)
    first_start()
    assert Experiment.objects.get(demo=True).runs.count() == 0, "it can be launched once there is room"


def test_an_expired_lease_is_not_believed_while_nobody_could_renew_it(
    api: APIClient, ring: dict, monkeypatch: pytest.MonkeyPatch
) -> None:
    workload = {"providers": 1, "consumers": 1, "duration_s": 5}
    experiment = api.post(
        "/api/experiments/", {"name": "e", "topology": ring["id"], "workload": workload}, format="json"
    )
    api.post(f"/api/experiments/{experiment.json()['id']}/launch/")
    expired = timezone.now() - timedelta(seconds=1)
    Run.objects.update(state="measuring", host="here", lease_expires=expired)
    reaper, began = Reaper(), timezone.now()

    def look(*seconds: int) -> None:
        for second in seconds:
            reaper.look(began + timedelta(seconds=second))

    look(*range(0, 15, 5))
    with monkeypatch.context() as disk_is_full:
        disk_is_full.setattr(reaping, "reap_lost", refused)
        with pytest.raises(DatabaseError):
            look(15)
    look(*range(20, 35, 5))
    assert Run.objects.get().state == "measuring", "the worker may be a moment behind"
    look(35)
    assert Run.objects.get().state == "failed"


def refused() -> None:
    raise DatabaseError("database or disk is full")


def test_small_changes_go_on_while_the_disk_is_full(tmp_path: Path) -> None:
    """In a process of its own, whose database lies on a small disk from the start."""
    if connection.vendor != "sqlite":
        pytest.skip("a database that is a file")
    with small_disk(tmp_path / "disk", 100) as small:
        var = small.path / "var"
        run([sys.executable, "manage.py", "migrate", "-v", "0", "--skip-checks"], var)
        told = run([sys.executable, "-c", ON_A_FULL_DISK, str(small.path)], var)
        assert told.splitlines() == ["1000", "refused", "reserved for active runs", "2000", "readable"]


ON_A_FULL_DISK = """
import sys
from pathlib import Path
import django
django.setup()
from django.contrib.auth.models import User
from django.db import DatabaseError, connection
from brokerweb.storage import reserve
from brokerweb.kit import disk
from brokerweb.topologies.models import Topology
from tests.disks import SmallDisk

reserve.refill()
SmallDisk(Path(sys.argv[1])).fill()
user = User.objects.create_user("olga")
for number in range(1, 1001):  # each its own transaction, as heartbeats are
    User.objects.filter(pk=user.pk).update(first_name=str(number))
print(User.objects.get(pk=user.pk).first_name)
try:  # many at once
    User.objects.filter(pk=user.pk).update(password="x" * 128)
    User.objects.bulk_create(User(username=f"{number:0150}", password="x" * 128) for number in range(100_000))
except DatabaseError as error:
    assert disk.full_disk_message(error)
    print("refused")
told = set()
for number in range(2_000):  # and more than the reserve, in pieces
    try:
        Topology.objects.create(name=f"{number}", kind="ring", brokers=4, sketch="x" * 10_000)
    except DatabaseError as error:
        told.add(disk.full_disk_message(error))
print(*("reserved for active runs" for one in told if "are reserved for active runs" in one))
for number in range(1_001, 2_001):
    User.objects.filter(pk=user.pk).update(first_name=str(number))
print(User.objects.get(pk=user.pk).first_name)
connection.close()
print("readable" if User.objects.count() == 1 else "?")
"""


def run(command: list[str], var: Path) -> str:
    environment = {**os.environ, "WAXWING_VAR": str(var), "DJANGO_SETTINGS_MODULE": "brokerweb.settings"}
    done = subprocess.run(command, env=environment, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout
