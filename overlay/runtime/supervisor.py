"""The host's supervisor, ``python -m overlay supervise``: one thread, one selector.

Only the supervisor forks servers and client fleets, and they end with it. Requests arrive through ``control`` and go to
``deployments``; ``deployment_runner`` executes them. Counterpart: ``supervisor_client``.

::

    control ──> Deployments ──> runners, one for each ──fork──> servers, fleets
       ^                           ^     │                          │
       └── one selector ───────────┴─────┴── orders (UDP), ready pipes, SIGCHLD, lifeline

Runs end with it, because their samples would have a gap. Networks are stored on disk and deployed again.
"""

from __future__ import annotations

import fcntl
import gc
import os
import resource
import selectors
import signal
import sys
import time
from contextlib import suppress
from pathlib import Path

from overlay import __version__
from overlay.core.errors import WaxwingError
from overlay.core.node import SECOND
from overlay.runtime.clock import unix_ms
from overlay.runtime.control import ENDING, Control, Refusal, Reply, Request, lock_path
from overlay.runtime.datagrams import choose
from overlay.runtime.deployment_runner import DeploymentRunner
from overlay.runtime.deployments import Deployments
from overlay.runtime.kept_networks import Kept, KeptNetworks
from overlay.runtime.lifeline import inherited_lifeline
from overlay.runtime.orders import Orders
from overlay.runtime.processes import Child
from overlay.runtime.warm_up import rehearse

USAGE = """\
usage: python -m overlay supervise [--socket PATH] [--state DIR]

  --socket PATH   the socket to listen on; only its owner can connect (var/supervisor.sock)
  --state DIR     the directory with the networks of this host (var/supervisor)
"""
END_S = 8.0
"""All processes normally end within 3 s of SIGTERM. After this time the lifeline ends the rest."""


class Supervisor:
    """The deployments of this host and the main loop."""

    def __init__(self, socket_path: Path, state: Path) -> None:
        self._started_unix_ms = unix_ms(time.monotonic_ns())
        self._owners: dict[int, tuple[DeploymentRunner, str]] = {}
        self._unready: dict[int, int] = {}
        """The pipes of children that are not ready yet, by pid."""
        self._selector = selectors.DefaultSelector()
        self._orders = Orders(self._selector)
        self._is_ending = False
        # Children hold the read end. The write end exists only here and is closed when this process ends.
        self._lifeline, self._lifeline_held = os.pipe()
        self._listen_to_system()
        self._deployments = Deployments(KeptNetworks(state), self._host)
        self._control = Control(socket_path, self._selector, time.monotonic_ns, self._handle)
        self._deployments.deploy_kept()

    def _listen_to_system(self) -> None:
        woken, wake = os.pipe()
        os.set_blocking(woken, False)
        os.set_blocking(wake, False)
        signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: self._end())
        self._selector.register(woken, selectors.EVENT_READ, lambda _: os.read(woken, 512))
        lifeline = inherited_lifeline()
        if lifeline is not None:
            os.set_inheritable(lifeline, False)
            self._selector.register(lifeline, selectors.EVENT_READ, lambda _: self._owner_gone(lifeline))

    def _owner_gone(self, lifeline: int) -> None:
        self._selector.unregister(lifeline)
        self._end()

    def _end(self) -> None:
        self._is_ending = True

    # --- the loop -----------------------------------------------------------------------------------------------------

    def run(self) -> None:
        """Serve until stopped. Afterwards no process started here is left."""
        while not self._is_ending:
            self._turn()
        deadline = time.monotonic() + END_S
        for hosted in self._deployments.all():
            hosted.stop("the supervisor was stopped")
        while time.monotonic() < deadline and not self._is_idle:
            self._turn()
        self._control.close()
        for hosted in self._deployments.all():
            hosted.close()

    @property
    def _is_idle(self) -> bool:
        return self._control.is_quiet and not any(hosted.is_active for hosted in self._deployments.all())

    def _turn(self) -> None:
        now = time.monotonic_ns()
        until = [hosted.turn(now) for hosted in self._deployments.all()]
        until += [at for at in (self._orders.handle_timers(now), self._control.expire(now)) if at is not None]
        wait = max(min(until, default=now + SECOND) - time.monotonic_ns(), 0) / SECOND
        for key, mask in self._selector.select(wait):
            current = self._selector.get_map().get(key.fd)
            if current is not None and current.data is key.data:  # an earlier event of this batch may have closed it
                key.data(mask)
        self._reap()

    def _reap(self) -> None:
        now = time.monotonic_ns()
        while self._owners:
            pid, status = os.waitpid(-1, os.WNOHANG)
            if pid == 0:
                return
            hosted, name = self._owners[pid]
            self._hear(pid)  # it may have been ready before it ended
            del self._owners[pid]
            hosted.child_ended(name, status, now)

    def _watch(self, hosted: DeploymentRunner, name: str, child: Child) -> None:
        self._owners[child.pid] = (hosted, name)
        self._unready[child.pid] = child.ready
        self._selector.register(child.ready, selectors.EVENT_READ, lambda _: self._hear(child.pid))

    def _hear(self, pid: int) -> None:
        """Read the line of a child that is ready, or the end of file if it died first."""
        ready = self._unready.pop(pid, None)
        if ready is None:
            return
        try:
            text = os.read(ready, 200).decode(errors="replace").strip()
        except BlockingIOError:  # it ended without a line, and another child still holds the other end
            text = ""
        self._selector.unregister(ready)
        os.close(ready)
        if text:
            hosted, name = self._owners[pid]
            hosted.child_ready(name, text, time.monotonic_ns())

    # --- requests -----------------------------------------------------------------------------------------------------

    def _handle(self, request: Request) -> Reply:
        if self._is_ending:
            raise Refusal(ENDING, "this supervisor is shutting down")
        match request.get("do"):
            case "hello":
                return self._hello()
            case "shutdown":
                self._end()
                return {"ending": True}
            case _:
                return self._deployments.handle(request)

    def _hello(self) -> Reply:
        return {
            "version": __version__,
            "datagrams": choose(),
            "pid": os.getpid(),
            "started_unix_ms": self._started_unix_ms,
            "deployments": [hosted.deployment.id for hosted in self._deployments.all()],
        }

    def _host(self, kept: Kept, *, ran_before: bool) -> DeploymentRunner:
        hosted = DeploymentRunner(
            kept.deployment,
            kept.addresses,
            self._orders,
            self._lifeline,
            lambda name, child: self._watch(hosted, name, child),
            time.monotonic_ns(),
            ran_before=ran_before,
            older=kept.older,
        )
        return hosted


def main(arguments: list[str]) -> int:
    """``[--socket PATH] [--state DIR]``; returns the exit code. Avoids argparse, to save memory in every broker."""
    if "--help" in arguments or "-h" in arguments:
        sys.stdout.write(USAGE)
        return 0
    try:
        options = dict(zip(arguments[::2], arguments[1::2], strict=True))
        socket_path = Path(options.pop("--socket", "var/supervisor.sock")).absolute()
        state = Path(options.pop("--state", "var/supervisor")).absolute()
        if options:
            raise KeyError
    except (KeyError, ValueError):
        sys.stderr.write(USAGE)
        return 2
    try:
        choose()  # report an invalid choice once, and not from every broker
        return _supervise(socket_path, state)
    except (WaxwingError, OSError) as error:
        sys.stderr.write(f"supervisor: {error}\n")
        return 1


def _supervise(socket_path: Path, state: Path) -> int:
    os.umask(0o077)  # state, journals and captured output are readable only by their owner
    socket_path.parent.mkdir(parents=True, exist_ok=True)
    with lock_path(socket_path).open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise WaxwingError(f"another supervisor listens on {socket_path}") from None
        _prepare_zygote(socket_path.parent)
        Supervisor(socket_path, state).run()
    return 0


def _prepare_zygote(directory: Path) -> None:
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    with suppress(ValueError, OSError):  # a thousand clients of a fleet need a socket each
        resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 65_536) if hard > 0 else 65_536, hard))
    rehearse(directory)
    gc.disable()  # a collection writes to every page, which is then no longer shared
    gc.collect()
    gc.freeze()
