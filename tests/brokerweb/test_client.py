"""The client of ``clients/python`` and its command, with the web's own applications behind them."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from asgiref.sync import sync_to_async
from django.contrib.auth.models import User
from django.core.signals import request_finished, request_started
from django.core.wsgi import get_wsgi_application
from django.db import close_old_connections

from brokerweb.accounts.services import make_token
from brokerweb.asgi import http
from brokerweb.experiments.models import Experiment, Run
from brokerweb.front.application import Front
from brokerweb.networks.models import Network
from brokerweb.simulations import job
from tests.brokerweb.test_front import broker, deployed  # noqa: F401 (a fixture)
from tests.runtime.daemons import Daemon
from waxwing import AsyncClient, Client, PreconditionFailed, get, put
from waxwing.cli import main as command

pytestmark = pytest.mark.django_db(transaction=True)

SMALL = {"providers": 2, "consumers": 3, "duration_s": 5, "stagger_ms": 10, "request_interval_s": 1}
Typed = Callable[..., tuple[int, str, str]]


@pytest.fixture
def served() -> Iterator[httpx.WSGITransport]:
    """The application, on this test's connection to the database."""
    for signal in (request_started, request_finished):
        signal.disconnect(close_old_connections)
    yield httpx.WSGITransport(get_wsgi_application())
    for signal in (request_started, request_finished):
        signal.connect(close_old_connections)


@pytest.fixture
def typed(
    served: httpx.WSGITransport, operator: User, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capfdbinary: Any
) -> Typed:
    """``waxwing ARGUMENTS``: the exit code, standard output, standard error. Every wait computes what is queued."""
    monkeypatch.setattr(command, "make_client", lambda options, token=None: Client(options.url, token, http=served))
    monkeypatch.setattr("waxwing._sync.waits.time.sleep", lambda seconds: job.compute())
    monkeypatch.setenv("WAXWING_CONFIG", str(tmp_path / "config.toml"))
    monkeypatch.setenv("WAXWING_URL", "http://localhost")

    def typed(*arguments: str, stdin: str = "") -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "stdin", io.StringIO(stdin))
        code = command.main(arguments)
        sys.stdout.flush()
        out, err = capfdbinary.readouterr()
        return code, out.decode(), err.decode()

    assert typed("login", stdin="olga\ncorrect horse\n")[0] == 0
    return typed


def test_a_pipeline_runs_a_file_and_learns_by_the_exit_code_what_came_of_it(
    typed: Typed, ring: dict[str, Any], tmp_path: Path
) -> None:
    file = tmp_path / "sweep.yaml"
    simulated = {"engine": "simulated", "simulation": {"service_times": "none"}}
    file.write_text(json.dumps({"name": "nightly", "topology": ring["name"], "workload": SMALL, **simulated}))
    code, out, err = typed("run", str(file), "--assert", "p95 < 1s", "--assert", "not_found = 0")
    assert (code, out.splitlines()[1:]) == (0, ["  holds   p95 < 1s (100 us)", "  holds   not_found = 0 (0)"]), err
    assert err.splitlines()[0].startswith("nightly (")
    assert err.splitlines()[-1] == "1 of 1 runs, 100%"

    code, out, err = typed("run", "nightly", "--skip-existing", "--assert", "answered > 1000000", "--json")
    told = json.loads(out)
    assert (code, told["exit"], told["runs"][0]["judged"]["passed"]) == (1, 1, False)
    assert "0 runs, 1 run already done" in err
    assert Run.objects.count() == 1

    assert typed("run", "nightly", "--assert", "p59 < 1s")[::2] == (
        2,
        "waxwing: thresholds.0: there is no figure “p59”; did you mean p95?\n",
    )
    assert typed("run", str(file), "--assert", "p95 < fast")[0] == 2
    assert Experiment.objects.count() == 1, "one whose assertions cannot be read is not kept"
    assert typed("run", "nowhere")[0] == 2
    Run.objects.update(state="failed", reason="a broker ended")
    assert typed("runs", "wait", Run.objects.get().pk)[0] == 3


def test_ctrl_c_leaves_the_runs_or_cancels_them(
    typed: Typed, ring: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(seconds: float) -> None:
        raise KeyboardInterrupt

    body = {"name": "long", "topology": ring["id"], "workload": SMALL, "engine": "simulated"}
    assert typed("experiments", "create", "--file", "-", stdin=json.dumps(body))[0] == 0
    monkeypatch.setattr("waxwing._sync.waits.time.sleep", interrupt)
    code, _, err = typed("run", "long")
    assert (code, err.splitlines()[-1].startswith("The runs go on.")) == (130, True)
    code, _, err = typed("run", "long", "--on-interrupt", "cancel")
    assert (code, err.splitlines()[-1]) == (130, "cancelled 1 run")
    assert sorted(Run.objects.values_list("state", flat=True)) == ["cancelled", "queued"]


def test_the_command_lists_shows_and_reaches_the_rest_by_api(typed: Typed, ring: dict[str, Any]) -> None:
    assert typed("networks") == (0, "none\n", "")
    code, out, _ = typed("topologies", "create", "-f", "name=mesh", "-f", "kind=full-mesh", "-f", "brokers=3", "--json")
    made = json.loads(out)
    assert (code, made["kind"]) == (0, "full-mesh")
    code, out, _ = typed("topologies", "list", "-f", "kind=ring")
    assert (code, out.splitlines()[1].split()[:4]) == (0, [ring["id"], "ring", "ring", "4"])
    assert typed("topologies", "show", "nowhere")[0] == 1
    code, _, err = typed("topologies", "list", "-f", "colour=red")
    assert (code, err.startswith("waxwing: colour: ")) == (2, True)
    refused = json.loads(typed("api", "GET", "topologies/", "-f", "colour=red", "--json")[1])["error"]
    assert (refused["status"], refused["field"]) == (400, "colour")
    code, out, _ = typed("api", "post", f"/api/topologies/{made['id']}/clone/", "--key", "one")
    assert (code, json.loads(out)["brokers"]) == (0, 3)
    assert json.loads(typed("api", "POST", f"topologies/{made['id']}/clone/", "--key", "one")[1]) == json.loads(out)
    body = json.dumps({"name": "drawn", "kind": "custom", "brokers": 2, "links": [[0, 1]]})
    assert json.loads(typed("api", "POST", "topologies/", "--input", "-", stdin=body)[1])["name"] == "drawn"
    assert typed("api", "GET", f"topologies/{made['id']}/export/", "-f", "format=edges")[0] in (0, 2)
    assert typed("studies", "list", "--limit", "1")[0] == 0
    assert typed("get", "room", "r1", "temp")[0] == 2


def test_bridges_are_added_stopped_and_deleted_by_the_command(typed: Typed, operator: User) -> None:
    network = deployed("127.0.0.1:9", owner=operator)
    Network.objects.update(brokers=[])
    pattern = 'in=["context/{type}/{entity}/{scope}"]'
    add = ("bridges", "one", "create", "-f", "mqtt=mqtt://127.0.0.1", "-f", pattern)
    code, _, err = typed(*add, "--password", stdin="secret\n")
    assert (code, err) == (2, "waxwing: username: is required with a password\n")
    code, out, _ = typed(*add, "-f", "username=u", "--password", "--json", stdin="secret\n")
    assert (code, json.loads(out)["has_password"], "secret" in out) == (0, True, False)
    assert typed("bridges", network.pk)[1].splitlines()[1].split()[:3] == ["1", "mqtt://127.0.0.1", "stopped"]
    assert json.loads(typed("bridges", "one", "stop", "1", "--json")[1])["desired"] == "stopped"
    assert json.loads(typed("bridges", "one", "start", "1", "--json")[1])["desired"] == "running"
    changed = json.loads(typed("bridges", "one", "change", "1", "-f", "settings.tries=9", "--json")[1])
    assert changed["settings"] == {"tries": 9}
    assert typed("bridges", "one", "show", "2")[0] == 1
    assert typed("bridges", "one", "delete", "1")[0] == 0
    assert typed("bridges", "one", "list")[1] == "none\n"


@pytest.fixture
async def waxwing(broker: Daemon, operator: User) -> AsyncIterator[AsyncClient]:  # noqa: F811
    network = await sync_to_async(deployed)(broker.text)
    network.brokers = [{**network.brokers[0], "restarts": 0, "since_unix_ms": 0}]
    await network.asave()
    token = (await sync_to_async(make_token)(operator))[1]
    front = Front(http, lambda application: application)
    async with AsyncClient("http://localhost", token, http=httpx.ASGITransport(front)) as client:
        yield client


async def test_context_goes_in_and_out_through_the_front(waxwing: AsyncClient) -> None:
    network = (await waxwing.networks.find("one")).id
    assert (await waxwing.networks.find(network)).addresses
    room = waxwing.context(network)
    stored = await room.put("room", "a/b", "temp", {"degC": 21.5}, provider="p", if_none_match="*")
    found = await room.get("room", "a/b", "temp")
    assert (found.payload, found.entity, found.etag, found.hops) == ({"degC": "21.5"}, "a/b", stored.etag, 0)
    with pytest.raises(PreconditionFailed):
        await room.put("room", "a/b", "temp", "x", provider="p", if_match='"other"')
    assert await room.find("room", "nowhere", "temp") is None
    results = await room.batch([put("room", "b", "temp", {"n": 1}, provider="p"), get("room", "no", "temp")])
    assert [one.status for one in results] == [200, 404]
