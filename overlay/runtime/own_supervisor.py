"""A temporary supervisor for one program, independent of others on this host, and documents of runs for it."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from overlay.deployment.deployment import run_document
from overlay.runtime.lifeline import LIFELINE_FD
from overlay.runtime.supervisor_client import SupervisorClient, SupervisorUnavailable
from overlay.systems.registry import FIRST

START_S = 20.0
POLL_S = 0.02
LEASE_S = 3600.0
"""There is no renewal: the program ends its supervisor earlier."""


@contextmanager
def own_supervisor(**environment: str) -> Iterator[SupervisorClient]:
    """A supervisor with ``environment`` added. It ends with the program, together with everything that it runs.

    Raises ``SupervisorUnavailable`` if it does not answer within ``START_S``.
    """
    with ExitStack() as stack:
        # Processes killed a moment ago may still be writing there.
        home = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="waxwing-", ignore_cleanup_errors=True)))
        lifeline, held = os.pipe()
        stack.callback(os.close, held)
        process = subprocess.Popen(
            [sys.executable, "-m", "overlay", "supervise", "--socket", str(home / "socket"), "--state", str(home)],
            env=os.environ | environment | {LIFELINE_FD: str(lifeline)},
            pass_fds=[lifeline],
            start_new_session=True,  # Ctrl-C goes to this program, which then ends the supervisor
        )
        stack.callback(process.wait)
        stack.callback(process.kill)  # without graceful leaves: lifelines end the brokers at once
        os.close(lifeline)
        client = SupervisorClient(home / "socket")
        _wait_for(client, process)
        yield client


def document_of(
    id: str,
    directory: Path,
    *,
    brokers: int,
    settings: Mapping[str, Any],
    workload: Mapping[str, Any],
    seed: int,
    links: Sequence[Mapping[str, Any]] = (),
    system: str = FIRST,
) -> dict[str, Any]:
    """A run for ``SupervisorClient.deploy``, with an hour's lease."""
    configuration = {
        "system": system,
        "topology": {"brokers": brokers, "links": list(links)},
        "settings": dict(settings),
        "workload": dict(workload),
    }
    return run_document(configuration, run=id, seed=seed, directory=str(directory), epoch=1, lease_s=LEASE_S)


def _wait_for(client: SupervisorClient, process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + START_S
    while True:
        try:
            client.hello()
            return
        except SupervisorUnavailable:
            if process.poll() is not None or time.monotonic() > deadline:
                raise
            time.sleep(POLL_S)
