"""The reconciler: the thread that looks after this host once a second, and the Celery bootstep that carries it.

It lives in the worker's main process, needs no queue and never gives up: what goes wrong in one round is written down
and tried again in the next.
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

from brokerweb.control import acting, host, reconcile, runs
from brokerweb.kit.outbox import aside
from brokerweb.networks import hosting
from brokerweb.storage import reserve
from overlay.core.errors import describe_os_error
from overlay.runtime.supervisor_client import SupervisorUnavailable

log = logging.getLogger(__name__)

BUSY_SHARE = 0.25
"""Of ``RECONCILE_SECONDS``, while runs are queued or live: a second between two states is a tenth of a short run."""
RESERVE_S = 60.0
"""How often it sees to it that the database has room to itself."""
START_PATIENCE_S = 5.0
"""A supervisor that was started gets this long to listen before another is started."""


class Reconciler(threading.Thread):
    """Looks after one host. Of several workers on it the one that holds the lock does; the others wait for the lock."""

    def __init__(self) -> None:
        super().__init__(name="reconciler", daemon=True)
        self._ending = threading.Event()
        self._supervisor = acting.supervisor()
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
        """One round, if this is the one to look after the host, and the pause after it."""
        if self._lock is not None or self._take_lock():
            self._round()
        self._ending.wait(settings.RECONCILE_SECONDS * (BUSY_SHARE if self._busy else 1))

    def end(self) -> None:
        """Ends after the round it is in. The supervisor goes on; a worker that comes back adopts what it runs."""
        self._ending.set()
        if self.is_alive():
            self.join(timeout=10)

    def _take_lock(self) -> bool:
        try:
            lock = (Path(settings.VAR) / "reconciler.lock").open("w")
        except OSError as error:  # a full disk has no room for another file, even an empty one
            log.warning("this host is looked after once its lock can be made: %s", describe_os_error(error))
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
            with acting.turn():
                self._look_after()
        except Exception:  # a locked database or a bug must not end the only one who looks
            log.exception("a round went wrong; the next one is in a second")
        finally:
            close_old_connections()

    def _look_after(self) -> None:
        hello, problem = self._greet()  # first: a supervisor is started whether or not rows can be written
        runs.adopt(settings.HOST_NAME, acting.owner())  # before anything else: a lease would expire meanwhile
        if hello is None:
            host.beat({}, problem)
            return
        if not self._busy or time.monotonic() - self._beat_at > settings.RECONCILE_SECONDS:
            self._beat_at = time.monotonic()
            host.beat(hello)
            aside("how busy this host is", hosting.tell)
        self._busy = reconcile.reconcile_host(settings.HOST_NAME, acting.owner(), self._supervisor)
        if time.monotonic() - self._reserve_at > RESERVE_S:
            self._reserve_at = time.monotonic()
            reserve.refill()

    def _greet(self) -> tuple[dict[str, Any] | None, str]:
        """What the supervisor says of itself, or what is wrong with it; one that does not answer is started."""
        try:
            return self._supervisor.hello(), ""
        except SupervisorUnavailable as error:
            self._start_supervisor(str(error))
            return None, str(error)

    def _start_supervisor(self, problem: str) -> None:
        if time.monotonic() - self._started_at < START_PATIENCE_S:
            return
        self._started_at = time.monotonic()
        died = settings.SUPERVISOR_SOCKET.exists()  # none at a house's start: nothing to warn of
        log.log(logging.WARNING if died else logging.INFO, "starting a supervisor: %s", problem)
        host.start_supervisor()


class ReconcilerStep(bootsteps.StartStopStep):
    """Runs a reconciler in the worker that consumes this host's queue, and in no other."""

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
