"""A NATS server with JetStream for tests: at a free port, with files in a directory, killed and started again."""

from __future__ import annotations

import os
import signal
import subprocess
from contextlib import suppress
from pathlib import Path

from brokerweb.up.environment import find_nats
from overlay.core.errors import WaxwingError
from overlay.runtime.logs.engines import engine_at
from overlay.runtime.redis_server import free_port
from tests.waiting import wait_for


class NatsServer:
    """The interface of ``overlay.runtime.logs.valkey.instance.Instance``."""

    def __init__(self, directory: Path) -> None:
        self._port, self._directory = free_port(), directory
        self.url = f"nats://127.0.0.1:{self._port}"
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        program = find_nats()
        assert program is not None
        command = [program, "--jetstream", "--addr", "127.0.0.1", "--port", str(self._port)]
        command += ["--store_dir", str(self._directory)]
        self._process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        wait_for(self._answers, "NATS starts", every=0.02)

    def start_if_ended(self) -> None:
        """Version 2.9.10 (Debian 12) now and then ends with a panic in ``jsMsgGetRequest``. One test then fails;
        without this, all after it would."""
        if self._process is None or self._process.poll() is not None:
            self.start()

    def _answers(self) -> bool:
        with suppress(OSError, WaxwingError):
            engine_at(self.url).partitions_read("", "")
            return True
        return False

    def end(self) -> None:
        """At once, as when killed."""
        if self._process is not None:
            os.kill(self._process.pid, signal.SIGKILL)
            self._process.wait()
            self._process = None
