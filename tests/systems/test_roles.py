"""A system with two kinds of servers: each is launched, measured, shown and replaced under its own name."""

from __future__ import annotations

from pathlib import Path

import pytest

from overlay.core.engines import SIMULATED
from overlay.deployment.deployment import Deployment, run_document
from overlay.journal.facts import Start
from overlay.journal.journal import read_journal
from overlay.plugins import VARIABLE
from overlay.runtime.own_supervisor import document_of, own_supervisor
from overlay.sim.engine import journal_path, simulate
from overlay.systems.registry import SYSTEMS
from overlay.systems.roles import Title
from tests.systems.echo_directory import SYSTEM
from tests.waiting import wait_for

CONFIGURATION = {
    "system": SYSTEM.name,
    "topology": {"brokers": 2, "links": []},
    "settings": {},
    "workload": {"callers": 4, "duration_s": 2.0},
}


@pytest.fixture(autouse=True)
def known(monkeypatch):
    monkeypatch.setitem(SYSTEMS, SYSTEM.name, SYSTEM)


def test_a_title_stands_in_a_sentence_with_its_article() -> None:
    titles = [
        Title("Broker", "Brokers"),
        Title("Edge", "Edges"),
        Title("M-Hub", "M-Hubs"),
        Title("UDP relay", "UDP relays"),
        Title("PoA manager", "PoA managers"),
    ]
    assert [one.with_article for one in titles] == ["a broker", "an edge", "an M-Hub", "a UDP relay", "a PoA manager"]
    assert titles[2].fill("{servers} of {a_server}") == "M-Hubs of an M-Hub"


def test_in_virtual_time_each_server_has_the_name_of_its_role(tmp_path):
    document = run_document(CONFIGURATION, run="r1", seed=5, directory=str(tmp_path))
    simulate(Deployment.from_json(document, SIMULATED))
    started = [fact.process for fact in read_journal(journal_path(tmp_path)) if isinstance(fact, Start)]
    assert started == ["supervisor", "echo-0", "echo-1", "directory-0", "callers-0"]


def test_live_the_directory_is_a_process_that_comes_back_when_it_is_killed(tmp_path):
    root = str(Path(__file__).resolve().parents[2])
    environment = {VARIABLE: "tests.systems.echo_directory:SYSTEM", "PYTHONPATH": root}
    with own_supervisor(**environment) as client:
        document = document_of("n1", tmp_path, brokers=2, settings={}, workload={}, seed=5, system=SYSTEM.name)
        client.deploy({**document, "kind": "network", "workload": None, "lease_s": None})

        def servers():
            status = client.status("n1")
            return status["phase"] == "running" and status["brokers"]

        first = wait_for(servers, "the network runs")
        assert [server["name"] for server in first] == ["echo-0", "echo-1", "directory-0"]
        client.fault("n1", document["epoch"], 2, "kill")
        wait_for(
            lambda: (found := servers()) and found[2]["restarts"] == 1 and found[2]["pid"] != first[2]["pid"],
            "the directory restarted",
        )
