"""ContextNet as processes: real UDP, and a real Valkey that carries the log."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from overlay.core.addresses import Address, parse_address
from overlay.deployment.deployment import run_document
from overlay.experiment.definition import checked
from overlay.journal.facts import Tick
from overlay.journal.journal import read_journal
from overlay.programs.contextnet.application import Application
from overlay.programs.contextnet.logs import NetworkLog
from overlay.programs.contextnet.node import Node
from overlay.runtime.logs.engines import VARIABLE
from overlay.runtime.logs.valkey import instance
from overlay.runtime.own_supervisor import own_supervisor
from overlay.runtime.supervisor_client import is_gone
from overlay.sim.replay import replay_all
from overlay.systems.contextnet.keys import node_secret
from overlay.systems.contextnet.system import SYSTEM
from overlay.systems.registry import SYSTEMS
from tests.contextnet.standing import QUICK
from tests.waiting import BOUND_S, wait_for

WORKLOAD = {"nodes": 10, "messages": 8, "rate_per_min": 240, "direction": "both", "drain_s": 2}


def live(directory: Path, engine: str, server, workload=None, settings=None, **more):
    workload = WORKLOAD | (workload or {})
    document = {"name": "live", "topology": None, "system": "contextnet", "engine": "live"}
    document |= {"settings": {"log_engine": engine, **(settings or {})}, "workload": workload, "record_mb": 4, **more}
    configuration = checked(document, {}.get)[1][0]
    if engine == "kafka":
        topology = SYSTEM.default_topology(SYSTEM.read_settings({}), SYSTEM.read_workload(workload))
        server.prepare("r1", SYSTEM.log_of(SYSTEM.setup({}, workload, topology)).topics)
    with own_supervisor(**{VARIABLE: server.url}) as client:
        client.deploy(run_document(configuration, run="r1", seed=3, directory=str(directory)))
        ended = ("finished", "failed", "stopped")
        status = wait_for(lambda: (s := client.status("r1"))["phase"] in ended and s, "the run ends")
        wait_for(lambda: is_gone(client.status("r1")), "all processes have ended")
    facts = [fact for path in (directory / "journal").glob("*.journal") for fact in read_journal(path)]
    return status, SYSTEMS["contextnet"].measures(facts)


@pytest.mark.parametrize("engine", ["valkey", "nats", "kafka"])
def test_every_message_is_answered_and_each_server_replays(tmp_path, request, engine):
    status, measures = live(tmp_path, engine, request.getfixturevalue(engine), {"drain_s": 8})
    assert (status["phase"], status["reason"]) == ("finished", "")
    assert (measures["sent"], measures["te"], measures["duplicates"]) == (160, 100, 0)
    replays = replay_all(tmp_path / "journal")
    assert "\n".join(str(one.difference) for one in replays if one.difference) == ""
    assert {one.begin.name for one in replays} == {"gateway-0", "poa-0", "mtd-0"}


def test_the_nodes_of_a_process_may_share_a_socket(tmp_path, valkey):
    status, measures = live(tmp_path, "valkey", valkey, {"fleet_sockets": "one"})
    assert (status["phase"], measures["te"], measures["duplicates"]) == ("finished", 100, 0)
    facts = read_journal(tmp_path / "journal" / "nodes-0.journal")
    counters = [fact.counters for fact in facts if isinstance(fact, Tick)]
    assert max(one.get("open_ports", 0) for one in counters) == 1
    assert counters[-1].get("kernel_drops", 0) == 0


def test_what_no_application_has_read_by_the_end_is_late_and_not_lost(tmp_path, valkey):
    cut = {"what": "log_cut", "clients": ["application-0"], "at_s": 0}
    workload = {"direction": "inbound", "messages": 4, "drain_s": 1}
    _, measures = live(tmp_path, "valkey", valkey, workload, faults=[cut])
    assert (measures["sent"], measures["late"] > 0, measures["lost"]) == (40, True, 0)


def test_nodes_of_a_network_have_secrets_of_its_own(tmp_path):
    setup = SYSTEM.setup(QUICK, None, SYSTEM.default_topology(SYSTEM.read_settings({}), None))
    settings, secret, id = SYSTEM.settings_document(setup.settings), bytes(range(32)), b"bus".ljust(16, b"-")
    document = {"id": "n1", "kind": "network", "epoch": 1, "directory": str(tmp_path), "seed": 0, "lease_s": None}
    document |= {"system": "contextnet", "settings": settings, "workload": None, "secret": secret.hex()}
    document |= {"topology": {"brokers": 1, "links": []}}

    async def story(url: str, gateway: Address) -> None:
        log = NetworkLog(url, "n1", setup.settings.partitions)
        async with Node([gateway], id=id, secret=node_secret(secret, id), within_s=BOUND_S) as bus:
            await bus.send(b"hello")
            async with Application(log, within_s=BOUND_S) as application:
                async for heard in application.messages():
                    assert heard.message.payload == b"hello"
                    break

    with instance.own_instance() as url, own_supervisor(**{VARIABLE: url}) as client:
        client.deploy(document)
        rows = wait_for(lambda: (s := client.status("n1"))["phase"] == "running" and s["brokers"], "it runs")
        asyncio.run(story(url, parse_address(rows[0]["address"])))
        client.stop("n1", 1, "stopped")
        wait_for(lambda: not any(one["pid"] for one in client.status("n1")["brokers"]), "all processes have ended")


def test_an_engine_that_has_no_driver_is_warned_of_before_the_launch():
    def warned(engine, log_engine):
        return SYSTEMS["contextnet"].warnings([{"engine": engine, "settings": {"log_engine": log_engine}}], 1)

    assert warned("live", "memory") == ["The log engine memory is for simulated runs, so that the live run will fail."]
    assert warned("simulated", "memory") == warned("live", "nats") == []
