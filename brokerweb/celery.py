"""The Celery application: ``celery -A brokerweb worker|beat``. Each task calls one service."""

import os
import warnings

import django
from celery import Celery
from celery.exceptions import CPendingDeprecationWarning
from celery.signals import worker_init
from kombu.transport import redis as redis_transport
from redis.exceptions import ResponseError

# Logged after every Redis outage, about an intended setting.
warnings.simplefilter("ignore", CPendingDeprecationWarning)
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "brokerweb.settings")
# Django's checks of the code import all pages and forms, which workers do not need.
os.environ.setdefault("CELERY_SKIP_CHECKS", "1")

# Treat a Redis that refuses writes (full disk, read-only) as unavailable: otherwise the worker would exit instead of
# waiting for it to recover.
redis_transport.Transport.connection_errors += (ResponseError,)

app = Celery("brokerweb")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()


@worker_init.connect
def _prepare(**_: object) -> None:
    """Runs in a worker's main process before its parts start: the worker of this host's queue also reconciles it."""
    django.setup()
    from brokerweb.control.reconciler import ReconcilerStep
    from brokerweb.kit.origin import is_worker

    is_worker()
    app.steps["worker"].add(ReconcilerStep)
