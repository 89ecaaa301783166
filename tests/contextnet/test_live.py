"""ContextNet as processes: real UDP, and a real Valkey that carries the log."""

from __future__ import annotations

from pathlib import Path

from overlay.deployment.deployment import run_document
from overlay.experiment.definition import checked
from overlay.journal.journal import read_journal
from overlay.runtime.logs import instance
from overlay.runtime.own_supervisor import own_supervisor
from overlay.sim.replay import replay_all
from overlay.systems.registry import SYSTEMS
from tests.waiting import wait_for

WORKLOAD = {"nodes": 10, "messages": 8, "rate_per_min": 240, "direction": "both", "drain_s": 2}


def live(directory: Path):
    document = {"name": "live", "topology": None, "system": "contextnet", "engine": "live", "settings": {}}
    configuration = checked({**document, "workload": WORKLOAD, "record_mb": 4}, {}.get)[1][0]
    with instance.own_instance() as url, own_supervisor(**{instance.VARIABLE: url}) as client:
        client.deploy(run_document(configuration, run="r1", seed=3, directory=str(directory)))
        ended = ("finished", "failed", "stopped")
        status = wait_for(lambda: (s := client.status("r1"))["phase"] in ended and s, "the run ends")
        wait_for(lambda: not any(one["pid"] for one in client.status("r1")["brokers"]), "all processes have ended")
    facts = [fact for path in (directory / "journal").glob("*.journal") for fact in read_journal(path)]
    return status, SYSTEMS["contextnet"].measures(facts)


def test_every_message_is_answered_and_each_server_replays(tmp_path):
    status, measures = live(tmp_path)
    assert (status["phase"], status["reason"]) == ("finished", "")
    assert (measures["sent"], measures["te"], measures["duplicates"]) == (160, 100, 0)
    replays = replay_all(tmp_path / "journal")
    assert {one.begin.name for one in replays} == {"gateway-0", "poa-0", "mtd-0"}
    assert [str(one.difference) for one in replays if one.difference is not None] == []


def test_an_engine_that_has_no_driver_is_warned_of_before_the_launch():
    def warned(engine, log_engine):
        return SYSTEMS["contextnet"].warnings([{"engine": engine, "settings": {"log_engine": log_engine}}], 1)

    assert warned("live", "nats") == ["No driver serves the log engine nats live, so that the run will fail."]
    assert warned("simulated", "nats") == warned("live", "valkey") == []
