"""A host with its real supervisor for tests: asked through its socket, surely ended."""

import signal
import subprocess
import sys
from pathlib import Path

from overlay.runtime.supervisor_client import SupervisorClient, SupervisorUnavailable
from tests.waiting import BOUND_S, wait_for


class Host:
    """One supervisor and its client."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.socket = directory / "s.sock"
        self.client = SupervisorClient(self.socket, timeout=BOUND_S)
        self.process = None

    def start(self, **options):
        self.process = subprocess.Popen(self.command("state"), stderr=subprocess.PIPE, text=True, **options)
        wait_for(self.answers, "the supervisor answers")
        return self

    def command(self, state):
        """Starts a supervisor on this socket, with what is desired kept in the directory ``state``."""
        paths = ["--socket", self.socket, "--state", self.directory / state]
        return [sys.executable, "-m", "overlay", "supervise", *paths]

    def answers(self):
        try:
            return self.client.hello()["pid"] == self.process.pid
        except SupervisorUnavailable:
            return False

    def end(self):
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(BOUND_S)

    def network(self, id="net", brokers=3, **changes):
        links = [{"a": i, "b": i + 1} for i in range(brokers - 1)]
        document = {
            "id": id,
            "kind": "network",
            "epoch": 1,
            "directory": str(self.directory / id),
            "seed": 7,
            "system": "context-broker",
            "topology": {"brokers": brokers, "links": links},
            "settings": {"monitoring": True},
            "workload": None,
            "lease_s": None,
        }
        return document | changes

    def run(self, id="run", **changes):
        workload = {"providers": 2, "consumers": 4, "update_interval_s": 0.5, "request_interval_s": 0.2}
        workload |= {"duration_s": 1, "stagger_ms": 10}
        return self.network(id) | {"kind": "run", "workload": workload, "lease_s": 15} | changes

    def deploy(self, document, phase="running"):
        self.client.deploy(document)
        return self.phase(document["id"], phase)

    def phase(self, id, phase):
        def reached():
            status = self.client.status(id)
            assert status["phase"] == phase or status["phase"] != "failed", status["reason"]
            return status if status["phase"] == phase else None

        return wait_for(reached, f"{id} is {phase}")


def pids(status):
    return [process["pid"] for process in (*status["brokers"], *status["clients"]) if process["pid"]]
