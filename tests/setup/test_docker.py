"""``docker/``: the parts that ``make up`` runs, as containers. Read, not run: no engine is needed."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from fnmatch import fnmatch
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
import yaml

import brokerweb.settings as written
from brokerweb.up import redis
from brokerweb.up.parts import Part, house, preparations
from overlay.deployment.fleet import Lifetime
from overlay.runtime.logs.valkey import instance
from telemetry.cli.commands import parser as telemetry_flags
from telemetry.spark import standalone
from tests.postgresql import INITDB

ROOT = Path(__file__).resolve().parents[2]
COMPOSE = yaml.safe_load((ROOT / "docker" / "compose.yaml").read_text())
SERVICES: dict[str, dict[str, Any]] = COMPOSE["services"]
PARTS = {part.name: part for part in [*preparations(), *house(8000, "waxwing", "0.0.0.0")]}
ONCE = {name for name, part in PARTS.items() if part.lifetime is Lifetime.ONCE}
ENGINES = {"redis", "redis-of-logs", "postgres"}
CLUSTER = {"spark-master", "spark-worker"}
INSIDE = {"web", "worker", "livefeed"}
"""They meet on one loopback: brokers listen there."""


def instructions(text: str) -> list[tuple[str, str]]:
    """The instructions of a Dockerfile, lines that go on put together."""
    lines = [line for line in text.splitlines() if line.strip() and not line.startswith("#")]
    whole = re.sub(r"\\\n\s*", " ", "\n".join(lines))
    return [(name, rest.strip()) for name, _, rest in (line.partition(" ") for line in whole.splitlines())]


DOCKERFILE = instructions((ROOT / "docker" / "Dockerfile").read_text())


def told(name: str) -> list[str]:
    return [rest for instruction, rest in DOCKERFILE if instruction == name]


def in_image(part: Part) -> list[str]:
    """The command with the image's Python for this one."""
    assert part.command[0] == sys.executable
    return ["python", *part.command[1:]]


def test_every_part_of_make_up_is_a_service_and_nothing_else_is() -> None:
    assert set(SERVICES) == set(PARTS) | ENGINES | CLUSTER | {"inside"}


@pytest.mark.parametrize("name", PARTS)
def test_a_service_runs_the_command_that_make_up_runs(name: str) -> None:
    assert SERVICES[name]["command"] == in_image(PARTS[name])
    assert SERVICES[name]["restart"] == ("no" if name in ONCE else "unless-stopped")


@pytest.mark.parametrize("name", PARTS)
def test_all_parts_have_one_environment_that_the_settings_read(name: str) -> None:
    environment = SERVICES[name]["environment"]
    common = COMPOSE["x-environment"]
    assert {key: environment[key] for key in common} == common
    assert environment.keys() - common == ({"SPARK_MASTER", "SPARK_LOCAL_HOSTNAME"} if name == "spark" else set())
    named = {key for key in common if f"``{key}``" in (written.__doc__ or "")}
    assert common.keys() - named == {"FORWARDED_ALLOW_IPS"}, "uvicorn's"
    assert common["WAXWING_HOST"] == "waxwing", "the host of the worker's queue"


def test_parts_share_var_and_meet_where_brokers_listen() -> None:
    for name in {*PARTS, "spark-worker"}:
        assert SERVICES[name]["volumes"] == [f"var:{COMPOSE['x-environment']['WAXWING_VAR']}"], name
    met = {name for name, service in SERVICES.items() if service.get("network_mode") == "service:inside"}
    assert met == INSIDE
    assert COMPOSE["volumes"].keys() == {"var", *ENGINES}
    mounted = {volume.partition(":")[0] for service in SERVICES.values() for volume in service.get("volumes", [])}
    assert mounted == COMPOSE["volumes"].keys()


def test_every_service_is_watched_and_said_to_wait_for_what_it_needs() -> None:
    deaf = {name for name, service in SERVICES.items() if service.get("healthcheck", {}).get("disable")}
    assert deaf == ONCE | {"inside", "livefeed", "beat", "spark"}
    for name, service in SERVICES.items():
        for other, how in service.get("depends_on", {}).items():
            assert other in SERVICES
            if how["condition"] == "service_healthy":
                assert other not in deaf, (name, other)
            elif how["condition"] == "service_completed_successfully":
                assert other in ONCE
    for name in PARTS.keys() - ONCE:
        assert {*ENGINES, "firststart"} <= SERVICES[name]["depends_on"].keys(), name
    assert "migrate" in SERVICES["firststart"]["depends_on"]


def test_no_secret_is_written_down_and_none_has_a_default() -> None:
    text = (ROOT / "docker" / "compose.yaml").read_text()
    asked = re.findall(r"\$\{(\w+)([^}]*)\}", text)
    secrets = {name: rest for name, rest in asked if "PASSWORD" in name}
    assert secrets.keys() == {"POSTGRES_PASSWORD", "REDIS_PASSWORD"}
    assert all(rest.startswith(":?") for name, rest in asked if "PASSWORD" in name)
    assert not re.search(r"(?i)(password|secret|token)\w*: *[\"']?[a-z0-9]", text.replace("${", "$ {"))
    assert "docker/.env" in (ROOT / ".gitignore").read_text().splitlines()


def test_only_the_web_is_reached_from_outside_and_by_loopback() -> None:
    published = {name: service["ports"] for name, service in SERVICES.items() if "ports" in service}
    assert published == {"inside": ["127.0.0.1:${WAXWING_PORT:-8000}:8000"]}
    assert not [name for name, service in SERVICES.items() if service.get("privileged") or "cap_add" in service]


def test_engines_are_set_up_as_those_that_the_project_starts_itself() -> None:
    for name, rules in (("redis", redis.RULES), ("redis-of-logs", instance.RULES)):
        script = SERVICES[name]["command"][-1].splitlines()
        begin, end = script.index("exec redis-server - <<END"), script.index("END")
        assert script[begin + 1 : end] == ["requirepass $$REDIS_PASSWORD", "dir /data", *rules]
    assert SERVICES["postgres"]["environment"]["POSTGRES_INITDB_ARGS"].split() == list(INITDB)
    user, name = (SERVICES["postgres"]["environment"][key] for key in ("POSTGRES_USER", "POSTGRES_DB"))
    assert re.fullmatch(
        rf"postgresql://{user}:\$\{{.*\}}@postgres:5432/{name}", COMPOSE["x-environment"]["DATABASE_URL"]
    )


def test_master_and_workers_are_started_as_the_flags_allow_and_find_each_other() -> None:
    given = {name: telemetry_flags().parse_args(SERVICES[name]["command"][3:]) for name in sorted(CLUSTER)}
    commands = {name: standalone.command(one) for name, one in given.items()}
    url = f"spark://{given['spark-master'].host}:{given['spark-master'].port}"
    assert SERVICES["spark-master"]["hostname"] == given["spark-master"].host
    assert commands["spark-worker"][-1] == SERVICES["spark"]["environment"]["SPARK_MASTER"] == url
    assert SERVICES["spark-worker"]["deploy"] == {"replicas": 2}
    assert SERVICES["spark"]["hostname"] == SERVICES["spark"]["environment"]["SPARK_LOCAL_HOSTNAME"]


def test_the_image_is_built_from_the_lock_and_runs_as_nobody_special() -> None:
    bases = [rest.split()[0] for rest in told("FROM")]
    assert len(bases) == 2
    assert all(re.fullmatch(r"python:3\.\d+-(slim-)?bookworm", base) for base in bases), "pinned by tag, of one Debian"
    assert len({base.partition("-")[0] for base in bases}) == 1, "an environment is its Python's"
    assert any("environment.py requirements.txt" in run for run in told("RUN")), "which installs with --require-hashes"
    [user] = told("USER")
    assert f"useradd --uid 10001 --user-group --no-create-home --home-dir /var/lib/waxwing {user}" in " ".join(
        told("RUN")
    )
    assert json.loads(told("CMD")[0]) == in_image(PARTS["web"])
    [check] = told("HEALTHCHECK")
    assert check.endswith('CMD ["python", "docker/healthy.py", "web"]')
    assert DOCKERFILE.index(("USER", user)) < DOCKERFILE.index(("CMD", told("CMD")[0]))
    [variables] = told("ENV")
    assert f"WAXWING_VAR={COMPOSE['x-environment']['WAXWING_VAR']}" in variables


def test_what_the_image_takes_from_a_checkout_is_there_and_is_no_data() -> None:
    rules = (ROOT / "docker" / "Dockerfile.dockerignore").read_text().splitlines()
    taken = [rule[1:] for rule in rules if rule.startswith("!")]
    assert "*" in rules
    assert all((ROOT / name).exists() for name in taken)
    for name in ("var", ".git", ".venv", "docker/.env", "tests"):
        assert not [rule for rule in taken if fnmatch(name, rule) or name.startswith(f"{rule}/")], name
    for copied in told("COPY"):
        *sources, _ = [word for word in copied.split() if not word.startswith("--")]
        assert all((ROOT / source.lstrip("/")).exists() or source == "/waxwing" for source in sources)


@pytest.fixture
def asked() -> Iterator[tuple[dict[str, Any], int]]:
    """A web that says what the test wants, and its port."""
    answers: dict[str, Any] = {}

    class Web(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            status, body = answers.get(self.path, (404, {}))
            self.send_response(status)
            self.end_headers()
            self.wfile.write(json.dumps(body).encode())

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Web) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield answers, server.server_port
        server.shutdown()


def healthy(what: str, port: int) -> str:
    """The health check's message for the service ``what`` if the web listens on ``port``; empty if it is healthy."""
    code = f"import runpy, sys; sys.argv[1:] = [{what!r}]; m = runpy.run_path('docker/healthy.py')\n"
    code += f"m['ready'].__globals__['WEB'] = 'http://127.0.0.1:{port}'; sys.exit(m['problem_of']({what!r}) or 0)"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.returncode == 0) == (done.stderr == "")
    return done.stderr.strip()


def test_a_part_is_healthy_where_it_does_its_work(asked: tuple[dict[str, Any], int]) -> None:
    answers, port = asked
    assert "404" in healthy("web", port)
    answers["/healthz"] = (200, {"alive": True})
    assert healthy("web", port) == ""
    checks = {"database": True, "worker": True, "supervisor": True, "disk": False}
    answers["/readyz"] = (503, {"checks": checks, "missing": ["No room."]})
    assert healthy("worker", port) == "", "a full disk is not the worker's"
    checks |= {"worker": False}
    answers["/readyz"] = (503, {"checks": checks, "missing": ["No worker has answered for 20 s."]})
    assert healthy("worker", port) == "No worker has answered for 20 s."
    assert healthy(f"127.0.0.1:{port}", port) == ""
    assert "127.0.0.1:1: " in healthy("127.0.0.1:1", port)
