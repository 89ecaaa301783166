"""A client of the host's supervisor, with one connection per call. Counterpart: ``overlay.runtime.control``.

::

    client = SupervisorClient(Path("var/supervisor.sock"), timeout=5.0)
    status = client.deploy(document)
    client.stop(status["id"], status["epoch"], "no longer needed")
"""

from __future__ import annotations

import json
import socket
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from overlay.core.errors import WaxwingError
from overlay.runtime.control import ENDING, reachable

Status = Mapping[str, Any]
"""The status of one deployment, from ``overlay.runtime.deployment_runner``."""


def is_gone(status: Status) -> bool:
    """Whether all its processes have ended and its log is erased, so that its journals are complete and its ports
    free."""
    processes = (*status["brokers"], *status["clients"], *status.get("bridges", ()))
    return all(process["pid"] is None for process in processes) and not status.get("has_log")


def reason_of(status: Status) -> str:
    """The reason for its state, or for that of one of its brokers; empty if there is none."""
    return next(filter(None, [status["reason"], *(broker["reason"] for broker in status["brokers"])]), "")


class SupervisorUnavailable(WaxwingError):
    """The socket does not answer, or not in time; or the supervisor is shutting down."""


class SupervisorRefused(WaxwingError):
    """The supervisor answered with an error: ``stale-epoch``, ``busy``, ``unknown``, ``conflict``, ``invalid``, ..."""

    def __init__(self, code: str, sentence: str) -> None:
        super().__init__(sentence)
        self.code = code
        self.sentence = sentence


class SupervisorClient:
    """The supervisor's commands. Each raises ``SupervisorUnavailable`` or ``SupervisorRefused``."""

    def __init__(self, path: Path | str, timeout: float = 5.0) -> None:
        self._path = Path(path)
        self._timeout = timeout

    def hello(self) -> dict[str, Any]:
        """``version``, ``pid``, ``started_unix_ms`` and the ids of its ``deployments``."""
        return self._ask(do="hello")

    def deploy(
        self, deployment: dict[str, Any], addresses: Mapping[str, str] | None = None, held: Sequence[str] = ()
    ) -> Status:
        """Idempotent for an id and epoch. ``busy`` names the active run.

        ``addresses`` are those of servers by index, as ``{"0": "127.0.0.1:20001"}``, which they had before and come
        back at; the others get free ones, which are not ``held`` by deployments that are stopped.
        """
        return self._ask(do="deploy", deployment=deployment, addresses=dict(addresses or {}), held=list(held))

    def renew(self, id: str, epoch: int) -> Status:
        return self._ask(do="renew", id=id, epoch=epoch)

    def stop(self, id: str, epoch: int, reason: str) -> Status:
        return self._ask(do="stop", id=id, epoch=epoch, reason=reason)

    def status(self, id: str) -> Status:
        return self._ask(do="status", id=id)

    def forget(self, id: str, epoch: int) -> dict[str, Any]:
        """Forget the status of an ended deployment."""
        return self._ask(do="forget", id=id, epoch=epoch)

    def fault(self, id: str, epoch: int, broker: int, kind: str = "kill", *, begins: bool = True) -> Status:
        """Inject a fault into a broker: ``kill``, or of a network one that its system lets operators begin and end."""
        return self._ask(do="fault", id=id, epoch=epoch, broker=broker, kind=kind, begins=begins)

    def restart(self, id: str, epoch: int, broker: int, restarts: int, by: str) -> Status:
        """Restart a broker that was restarted ``restarts`` times so far; idempotent."""
        return self._ask(do="restart", id=id, epoch=epoch, broker=broker, restarts=restarts, by=by)

    def bridges(self, id: str, epoch: int, bridges: Mapping[str, Any]) -> Status:
        """These bridges of a network should run, ``{"1": {"revision": 3, "document": {…}}}``, and no others."""
        return self._ask(do="bridges", id=id, epoch=epoch, bridges=dict(bridges))

    def shutdown(self) -> dict[str, Any]:
        """End the supervisor and all its processes. Networks are deployed again when it starts."""
        return self._ask(do="shutdown")

    def _ask(self, **request: Any) -> dict[str, Any]:
        try:
            with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
                connection.settimeout(self._timeout)
                connection.connect(reachable(self._path))
                connection.sendall(json.dumps(request).encode() + b"\n")
                with connection.makefile("rb") as answers:
                    line = answers.readline()
        except OSError as error:
            raise SupervisorUnavailable(f"the supervisor at {self._path} does not answer: {error}") from error
        if not line.endswith(b"\n"):
            raise SupervisorUnavailable(f"the supervisor at {self._path} closed the connection without an answer")
        reply: dict[str, Any] = json.loads(line)
        if "error" in reply:
            code, sentence = reply["error"]["code"], reply["error"]["sentence"]
            if code == ENDING:  # it would refuse anything: no reason to fail a run
                raise SupervisorUnavailable(f"the supervisor at {self._path} is shutting down")
            raise SupervisorRefused(code, sentence)
        return reply
