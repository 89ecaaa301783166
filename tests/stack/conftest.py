"""A house of its own for those who break it: it is whole again after each story."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path

import pytest

from tests.conftest import Stack, announced, end_house, start_house
from tests.stack.house import House
from tests.stack.runs import clear, is_ready
from tests.test_rest_journey import Api
from tests.waiting import wait_for

WORKLOAD = {"providers": 2, "consumers": 5, "update_interval_s": 1, "request_interval_s": 0.5, "stagger_ms": 50}
_names = count(1)


class Home:
    """Where a house stands, whether it runs or not."""

    def __init__(self, var: Path, **environment: str) -> None:
        self.house = House(var)
        self.environment = environment
        self.process: subprocess.Popen[str] | None = None
        self.stack: Stack | None = None

    def up(self) -> None:
        self.process = start_house(self.house.var, **self.environment)
        self.stack = announced(self.process, self.house.var)

    def lead(self, api: Api) -> None:
        """Where the house answers after it was started again."""
        assert self.stack is not None
        api.http.base_url = f"{self.stack.url}/api"

    def down(self) -> None:
        if self.process is not None:
            end_house(self.process)
            self.process = None


@pytest.fixture(scope="package")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Home]:
    home = Home(tmp_path_factory.mktemp("var"))
    try:
        home.up()
        yield home
    finally:
        home.down()
    assert home.house.processes() == {}, "it left something behind"


@pytest.fixture
def house(home: Home) -> House:
    return home.house


@pytest.fixture
def api(home: Home, house: House) -> Iterator[Api]:
    """The house's API, with nothing left to do; afterwards the house must be whole again."""
    assert home.stack is not None
    api = Api(home.stack)
    wait_for(lambda: clear(api), "nothing is left to do")
    wait_for(lambda: house.whole() and is_ready(api), "the house is whole")
    yield api
    api.http.close()
    wait_for(house.whole, f"the house is whole again: {house.unwanted()}")


@pytest.fixture(scope="package")
def ring(home: Home) -> str:
    """A topology of five brokers; its id."""
    assert home.stack is not None
    return str(Api(home.stack).post("/topologies/", {"name": "five", "kind": "ring", "brokers": 5})["id"])


@pytest.fixture
def launch(api: Api, ring: str) -> Callable[[float], str]:
    """Launches a run of so many seconds on five brokers; its id."""

    def launch(duration_s: float) -> str:
        body = {
            "name": f"story {next(_names)}",
            "topology": ring,
            "workload": {**WORKLOAD, "duration_s": duration_s},
        }
        experiment = api.post("/experiments/", body)
        return str(api.post(f"/experiments/{experiment['id']}/launch/")["runs"][0])

    return launch
