"""The oracle over real processes and UDP: what it says of a live run whose walks are too short, and of one without."""

import pytest

from telemetry.collect import collect
from telemetry.lake.runs import Lake, RunFiles
from tests.runtime.hosts import Host, pids
from tests.waiting import wait_for

LINKS = [{"a": i, "b": (i + 1) % 6} for i in range(6)]
WORKLOAD = {
    "providers": 1, "consumers": 12, "holders": 1, "update_interval_s": 0.5, "request_interval_s": 0.2,
    "duration_s": 2, "stagger_ms": 10, "assignment": "random",
}  # fmt: skip


@pytest.fixture
def host(tmp_path):
    host = Host(tmp_path).start()
    yield host
    if host.process.poll() is None:
        host.end()
    host.process.stderr.close()


def truth_of(host, name, **settings):
    document = host.run(name, topology={"brokers": 6, "links": LINKS}, workload=WORKLOAD, lease_s=60)
    document["settings"] |= {"replication_index": 0, **settings}
    host.client.deploy(document)
    host.phase(name, "finished")
    wait_for(lambda: not pids(host.client.status(name)), "its processes are gone")
    files = RunFiles(host.directory / name)
    files.write_manifest({"workload": WORKLOAD})
    return collect(files, Lake(host.directory / "lake"))["truth"]


def test_a_live_run_is_told_its_false_not_founds_and_a_thorough_one_has_none(host):
    short = truth_of(host, "short", walk_policy="avoid", walk_ttl=1)
    assert short["false_not_found"] > 0
    assert short["proved_not_found"] == 0
    assert short["existed"] == short["requests"] > 100
    thorough = truth_of(host, "thorough", walk_policy="backtrack")
    assert (thorough["false_not_found"], thorough["success"]) == (0, 1)
    assert thorough["fresh"] > 100
