"""SilboPS in real processes over real UDP: the same clients, and every notification that is due comes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from overlay.journal.journal import read_journal
from overlay.systems.silbops.measuring import measures
from tests.runtime.hosts import Host, pids
from tests.thorough import thoroughly
from tests.waiting import wait_for

WORKLOAD = {
    "publishers": 2,
    "subscribers": 4,
    "attribute_names": 10,
    "square_km": 60,
    "publish_interval_s": 0.2,
    "duration_s": 2,
}


@pytest.fixture
def host(tmp_path: Path) -> Iterator[Host]:
    host = Host(tmp_path).start()
    yield host
    if host.process.poll() is None:
        host.end()
    host.process.stderr.close()


@thoroughly
@pytest.mark.parametrize("settings", [{}, {"arm": "siena", "siena_change": "add-first"}], ids=["silbops", "siena"])
def test_a_live_run_of_each_arm_delivers_what_is_due(host: Host, settings: dict[str, str]) -> None:
    document = host.run("live", system="silbops", settings=settings, workload=WORKLOAD, lease_s=60)
    host.deploy(document, "finished")
    wait_for(lambda: not pids(host.client.status("live")), "all processes have ended")
    facts = [fact for path in (host.directory / "live" / "journal").glob("*.journal") for fact in read_journal(path)]
    found = measures(facts)
    assert found["publications"] > 10
    assert (found["lost"], found["spurious"], found["duplicates"]) == (0, 0, 0)
    assert found["deliveries"] >= found["due"]
