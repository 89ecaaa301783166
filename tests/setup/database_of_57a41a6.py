"""Writes ``database_of_57a41a6.sql``: what an installation of that revision had in its database. Nothing imports this.

It was run once, in a work tree of that revision (its names are those of then)::

    git worktree add --detach /tmp/then 57a41a6
    cp tests/setup/database_of_57a41a6.py /tmp/then/fill.py
    cd /tmp/then && export WAXWING_VAR=/tmp/then-var DJANGO_SETTINGS_MODULE=brokerweb.settings
    python manage.py migrate && python fill.py > database_of_57a41a6.sql
"""

# ruff: noqa: E402
import sqlite3
import sys

import django

django.setup()

from django.conf import settings
from django.contrib.auth.models import User
from django.utils import timezone

from brokerweb.accounts import services as accounts
from brokerweb.experiments import services as experiments
from brokerweb.experiments.models import QueuePause, Run, SavedView, Tag
from brokerweb.experiments.whatif import what_if
from brokerweb.networks.models import Host
from brokerweb.notices import services as notices
from brokerweb.notices.models import Delivery, Notice
from brokerweb.reports import schedules
from brokerweb.reports.models import Firing
from brokerweb.storage.models import Footprint, Gauge, Policy, Removal
from brokerweb.topologies import services as topologies
from tests.pages.furniture import end, finish, make_network, make_report

olga = User.objects.create_superuser("olga", password="correct horse")
accounts.make_token(olga, name="laptop", scope="read")
ring = topologies.create(name="Ring of 4", kind="ring", brokers=4, params={"delay_ms": 0.5}, seed=7, owner=olga)
alone = topologies.create(name="One broker", kind="central", brokers=1, params={}, seed=7, owner=olga)

workload = {"providers": 2, "consumers": 4, "duration_s": 20, "request_interval_s": 1, "update_interval_s": 1}
body = {
    "name": "Ring against one broker",
    "topology": [ring.id, alone.id],
    "workload": workload,
    "thresholds": ["p95 < 1s"],
    "replicates": 3,
    "seed": 1,
}
experiment = experiments.create(body, olga)
runs = experiments.launch(experiment, olga).runs
for number, run in enumerate(runs[:4]):
    finish(run, number)
end(runs[4], "failed", "Broker 3 could not bind to 127.0.0.1:7003: the port is in use by another program.")

ringed = next(run for run in runs[:4] if run.brokers == 4)
changed = finish(what_if(ringed, {"cut_link": [0, 1]}, olga), 5)
again = experiments.rerun(changed, olga)
assert again.change == {}, "of this revision; later ones take over what was changed"

tagged = Tag.objects.create(name="thesis")
runs[0].tags.add(tagged)
Run.objects.filter(pk=runs[0].pk).update(
    note="The one of figure 4.3", kept=True, passed=True, thresholds=[{"text": "p95 < 1s", "value": 900, "held": True}]
)
SavedView.objects.create(owner=olga, page="runs", name="Fast ones", query="q=p95+%3C+2ms&columns=state,p95,hops")
network = make_network(ring, olga, "127.6.0.2")
Host.objects.create(name="lab-1", heartbeat=timezone.now(), cores=2, memory_bytes=8_200_000_000, version="0.1.0")
report = make_report(experiment, olga)
schedule = schedules.create(name="Monday morning", experiments=[experiment], crontab="0 6 * * 1", owner=olga)
report.runs.add(runs[0])
Firing.objects.create(schedule=schedule, by=olga, outcome="made", report=report).runs.add(runs[0])
target = notices.create(name="On call", channel="webhook", address="https://hooks.example/w", kinds=["run_failed"])
notice = Notice.objects.create(key="run-1", kind="run_failed", title="A run failed", path=f"/runs/{runs[4].id}/")
Delivery.objects.create(target=target, notice=notice, state="delivered", attempts=1)
Policy.objects.create(max_days=90, changed_by=olga)
Footprint.objects.create(run=runs[0], journal_bytes=1_000, lake_bytes=500)
Gauge.objects.create(reports=1_000, database=2_000)
Removal.objects.create(runs=2, bytes=3_000, by=olga)
QueuePause.objects.create(by=olga)

with sqlite3.connect(settings.DATABASES["default"]["NAME"]) as database:
    sys.stdout.writelines(f"{line}\n" for line in database.iterdump())
