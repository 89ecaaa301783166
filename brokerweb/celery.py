"""The Celery application: ``celery -A brokerweb worker|beat``. Tasks are doors; each calls one service."""

import os
import warnings

import django
from celery import Celery
from celery.exceptions import CPendingDeprecationWarning
from celery.signals import worker_init
from kombu.transport import redis as redis_transport
from redis.exceptions import ResponseError

# Said whenever Redis was away, of a setting that the settings make.
warnings.simplefilter("ignore", CPendingDeprecationWarning)
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "brokerweb.settings")

# A Redis that refuses (its disk is full, it is read only) is one that is away: a worker ends of the one and waits for
# the other to come back.
redis_transport.Transport.connection_errors += (ResponseError,)

app = Celery("brokerweb")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()


@worker_init.connect
def _prepare(**_: object) -> None:
    """In a worker's main process, before its parts are made: the one that consumes this host's queue looks after it."""
    django.setup()
    from brokerweb.control.reconciler import ReconcilerStep

    app.steps["worker"].add(ReconcilerStep)
