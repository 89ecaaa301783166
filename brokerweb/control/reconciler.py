"""The reconciler: a thread that runs a round for this host once a second, and its Celery bootstep.

It runs in the worker's main process, needs no queue and never gives up: errors of a round are logged, and the next
round tries again.
"""

from __future__ import annotations

import fcntl
import logging
import threading
import time
from pathlib import Path
from typing import IO, Any

from celery import bootsteps
from django.conf import settings
from django.db import close_old_connections, connections

from brokerweb.control import host, reconcile, runs, task_actions
from brokerweb.kit.outbox import aside
from brokerweb.networks import host_load
from brokerweb.storage import reserve
from overlay.core.errors import describe_os_error
from overlay.runtime.supervisor_client import SupervisorUnavailable

log = logging.getLogger(__name__)

BUSY_SHARE = 0.25
"""Fraction of ``RECONCILE_SECONDS`` while runs are queued or live: a second between two states is a tenth of a short
run.
"""
RESERVE_S = 60.0
"""Interval at which the database's reserve is refilled."""
START_PATIENCE_S = 5.0
"""Time for a new supervisor to listen before another one is started."""


class Reconciler(threading.Thread):
    """Reconciles one host. Of several workers on a host, the one that holds the lock works; the others wait for it."""

    def __init__(self) -> None:
        super().__init__(name="reconciler", daemon=True)
        self._ending = threading.Event()
        self._supervisor = task_actions.supervisor()
        self._started_at = -START_PATIENCE_S
        self._lock: IO[str] | None = None
        self._busy = False
        self._beat_at = self._reserve_at = 0.0

    def run(self) -> None:
        try:
            while not self._ending.is_set():
                self.step()
        finally:
            connections.close_all()

    def step(self) -> None:
        """Run one round if this worker holds the lock; returns the pause after it."""
        if self._lock is not None or self._take_lock():
            self._round()
        self._ending.wait(settings.RECONCILE_SECONDS * (BUSY_SHARE if self._busy else 1))

    def end(self) -> None:
        """Stop after the current round. The supervisor continues; a worker that returns adopts its deployments."""
        self._ending.set()
        if self.is_alive():
            self.join(timeout=10)

    def _take_lock(self) -> bool:
        try:
            lock = (Path(settings.VAR) / "reconciler.lock").open("w")
        except OSError as error:  # a full disk cannot hold even an empty file
            log.warning(
                "cannot create the lock; reconciling starts when it can be created: %s", describe_os_error(error)
            )
            return False
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            lock.close()
            return False
        self._lock = lock
        return True

    def _round(self) -> None:
        close_old_connections()
        try:
            with task_actions.turn():
                self._look_after()
        except Exception:  # a locked database or a bug must not end the only reconciler
            log.exception("a round failed; the next one follows in a second")
        finally:
            close_old_connections()

    def _look_after(self) -> None:
        hello, problem = self._greet()  # first: start the supervisor even if rows cannot be written
        runs.adopt(settings.HOST_NAME, task_actions.owner())  # first: leases would expire meanwhile
        if hello is None:
            host.beat({}, problem)
            return
        if not self._busy or time.monotonic() - self._beat_at > settings.RECONCILE_SECONDS:
            self._beat_at = time.monotonic()
            host.beat(hello)
            aside("measuring the load of this host", host_load.tell)
        self._busy = reconcile.reconcile_host(settings.HOST_NAME, task_actions.owner(), self._supervisor)
        if time.monotonic() - self._reserve_at > RESERVE_S:
            self._reserve_at = time.monotonic()
            reserve.refill()

    def _greet(self) -> tuple[dict[str, Any] | None, str]:
        """The supervisor's description of itself, or its problem; a supervisor that does not answer is started."""
        try:
            return self._supervisor.hello(), ""
        except SupervisorUnavailable as error:
            self._start_supervisor(str(error))
            return None, str(error)

    def _start_supervisor(self, problem: str) -> None:
        if time.monotonic() - self._started_at < START_PATIENCE_S:
            return
        self._started_at = time.monotonic()
        died = settings.SUPERVISOR_SOCKET.exists()  # there is none at start-up, so no warning
        log.log(logging.WARNING if died else logging.INFO, "starting a supervisor: %s", problem)
        host.start_supervisor()


class ReconcilerStep(bootsteps.StartStopStep):
    """Runs a reconciler in the worker of this host's queue only."""

    requires = ("celery.worker.components:Pool",)

    def __init__(self, worker: Any, **kwargs: Any) -> None:
        super().__init__(worker, **kwargs)
        self._reconciler: Reconciler | None = None

    def include_if(self, worker: Any) -> bool:
        return settings.HOST_QUEUE in worker.app.amqp.queues.consume_from

    def start(self, worker: Any) -> None:
        self._reconciler = Reconciler()
        self._reconciler.start()

    def stop(self, worker: Any) -> None:
        if self._reconciler is not None:
            self._reconciler.end()

    def terminate(self, worker: Any) -> None:
        self.stop(worker)
