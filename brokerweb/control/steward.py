"""The thread that looks after this host once a second, and the Celery bootstep that carries it.

It lives in the worker's main process, needs no queue and never gives up: what goes wrong in one round is written down
and tried again in the next.
"""

from __future__ import annotations

import fcntl
import logging
import os
import threading
import time
from pathlib import Path
from typing import IO, Any

from celery import bootsteps
from django.conf import settings
from django.db import close_old_connections, connections

from brokerweb.control import host, reconcile, runs
from brokerweb.networks import hosting
from overlay.runtime.supervisor_client import SupervisorClient, SupervisorUnavailable

log = logging.getLogger(__name__)

ROUND_S = 1.0
BUSY_ROUND_S = 0.25
"""While runs are queued or live: a second between each two states would be a tenth of a short run."""
START_PATIENCE_S = 5.0
"""A supervisor that was started gets this long to listen before another is started."""


class Steward(threading.Thread):
    """Looks after one host. Of several workers on it the one that holds the lock does; the others wait for the lock."""

    def __init__(self) -> None:
        super().__init__(name="steward", daemon=True)
        self._ending = threading.Event()
        self._owner = f"{settings.HOST_NAME}:{os.getpid()}"
        self._supervisor = SupervisorClient(settings.SUPERVISOR_SOCKET, timeout=5.0)
        self._started_at = -START_PATIENCE_S
        self._lock: IO[str] | None = None
        self._busy = False
        self._beat_at = 0.0

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
        self._ending.wait(BUSY_ROUND_S if self._busy else ROUND_S)

    def end(self) -> None:
        """Ends after the round it is in. The supervisor goes on; a worker that comes back adopts what it runs."""
        self._ending.set()
        if self.is_alive():
            self.join(timeout=10)

    def _take_lock(self) -> bool:
        lock = (Path(settings.VAR) / "steward.lock").open("w")
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
            self._look_after()
        except Exception:  # a locked database or a bug must not end the only one who looks
            log.exception("a round went wrong; the next one is in a second")
        finally:
            close_old_connections()

    def _look_after(self) -> None:
        # First of all: a lease would expire while a supervisor starts.
        runs.adopt(settings.HOST_NAME, self._owner)
        try:
            hello = self._supervisor.hello()
        except SupervisorUnavailable as error:
            self._start_supervisor(str(error))
            return
        if not self._busy or time.monotonic() - self._beat_at > ROUND_S:
            self._beat_at = time.monotonic()
            host.beat(hello)
            hosting.tell()
        self._busy = reconcile.reconcile_host(settings.HOST_NAME, self._owner, self._supervisor)

    def _start_supervisor(self, problem: str) -> None:
        host.beat({}, problem)
        if time.monotonic() - self._started_at < START_PATIENCE_S:
            return
        self._started_at = time.monotonic()
        died = settings.SUPERVISOR_SOCKET.exists()  # none at a house's start: nothing to warn of
        log.log(logging.WARNING if died else logging.INFO, "starting a supervisor: %s", problem)
        host.start_supervisor()


class StewardStep(bootsteps.StartStopStep):
    """Runs a steward in the worker that consumes this host's queue, and in no other."""

    requires = ("celery.worker.components:Pool",)

    def __init__(self, worker: Any, **kwargs: Any) -> None:
        super().__init__(worker, **kwargs)
        self._steward: Steward | None = None

    def include_if(self, worker: Any) -> bool:
        return settings.HOST_QUEUE in worker.app.amqp.queues.consume_from

    def start(self, worker: Any) -> None:
        self._steward = Steward()
        self._steward.start()

    def stop(self, worker: Any) -> None:
        if self._steward is not None:
            self._steward.end()

    def terminate(self, worker: Any) -> None:
        self.stop(worker)
