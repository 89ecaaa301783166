"""The whole house as a person runs it: up, killed outright, up again, and down."""

import json
import os
import signal
import subprocess
import sys
import urllib.error
import urllib.request

import psutil
import pytest

from tests.setup.test_private_files import open_to_others
from tests.waiting import BOUND_S, wait_for

pytestmark = pytest.mark.stack


class House:
    """``python -m brokerweb.up`` with a ``var`` of its own."""

    def __init__(self, var):
        self.var = var
        self.environment = {name: value for name, value in os.environ.items() if not name.startswith("WAXWING")}
        self.environment |= {"WAXWING_VAR": str(var)}
        self.environment.pop("REDIS_URL", None)
        self.process = None

    def command(self, *arguments):
        return subprocess.run(
            [sys.executable, "-m", "brokerweb.up", *arguments],
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=BOUND_S,
            check=False,
        )

    def up(self):
        """Start it; the address and the log-in it prints once all of it answers."""
        with (self.var / "said").open("w") as said:
            command = [sys.executable, "-m", "brokerweb.up", "--port", "0"]
            self.process = subprocess.Popen(
                command, env=self.environment, stdout=subprocess.PIPE, stderr=said, text=True, umask=0
            )
        lines = [self.process.stdout.readline().split() for _ in range(2)]
        assert [line[:1] for line in lines] == [["ready"], ["login"]], (self.var / "said").read_text()
        return lines[0][1], lines[1][1:]

    def processes(self):
        """Everything that runs for this house, however far removed."""
        found = []
        for process in psutil.process_iter():
            try:
                if process.environ().get("WAXWING_VAR") == str(self.var) and process.status() != psutil.STATUS_ZOMBIE:
                    found.append(process)
            except psutil.Error:
                continue
        return found

    def has_supervisor(self):
        return any("supervise" in process.cmdline() for process in self.processes())


@pytest.fixture
def house(tmp_path):
    house = House(tmp_path)
    yield house
    house.command("--down")
    if house.process is not None:
        house.process.communicate(timeout=BOUND_S)


def guesses(address, times):
    """The statuses of so many wrong log-ins, each of which names another address."""
    found = []
    body = json.dumps({"username": "mallory", "password": "guess"}).encode()
    for number in range(times):
        named = {"Content-Type": "application/json", "X-Forwarded-For": f"203.0.113.{number}"}
        try:
            urllib.request.urlopen(urllib.request.Request(f"{address}/api/tokens/", body, named), timeout=BOUND_S)
        except urllib.error.HTTPError as refused:
            found.append(refused.code)
    return found


def test_it_comes_up_survives_being_killed_and_goes_down(house):
    address, (user, password) = house.up()
    with urllib.request.urlopen(f"{address}/readyz", timeout=BOUND_S) as answer:
        assert answer.status == 200
    assert {"supervisor.sock", "waxwing.sqlite3", "redis", "log"} <= {path.name for path in house.var.iterdir()}
    assert set(open_to_others(house.var)) <= {"said"}
    body = json.dumps({"username": user, "password": password}).encode()
    request = urllib.request.Request(f"{address}/api/tokens/", body, {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=BOUND_S) as answer:
        assert json.load(answer)["token"]
    assert guesses(address, 11)[-1] == 429, "whoever guesses is one address, whatever X-Forwarded-For says"
    wait_for(house.has_supervisor, "the worker started a supervisor")

    second = house.command("--port", "0")
    assert second.returncode == 1
    assert f"Waxwing is already running here (pid {house.process.pid}); stop it with `make down`" in second.stderr

    house.process.send_signal(signal.SIGKILL)
    wait_for(lambda: not house.processes(), "everything went with it")
    house.process.communicate(timeout=BOUND_S)

    _, login = house.up()
    assert login == [user, password]
    wait_for(house.has_supervisor, "there is a supervisor again")
    assert house.command("--down").stdout == f"stopped pid {house.process.pid} and all its processes\n"
    assert house.process.wait(BOUND_S) == 0
    assert house.processes() == []
    assert house.command("--down").stdout == "nothing was running here\n"
