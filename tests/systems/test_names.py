"""Common code names no system, and every room has its place in the order of rooms."""

from __future__ import annotations

import re
import subprocess
import tomllib
from pathlib import Path

import pytest

from overlay.systems.registry import SYSTEMS
from tests.rooms import PACKAGES, rooms_of

ROOT = Path(__file__).resolve().parents[2]
COMMON = ("overlay", "telemetry", "brokerweb", "templates", "static", "docker", "Makefile", "manage.py")
OWN = re.compile(
    r"/(systems|programs)/[a-z_]+/"  # the folders of a system
    r"|/(systems/registry|programs/__init__)\.py$"  # where systems are listed
    r"|^overlay/compiled/modules\.txt$"  # the sources that are compiled, by their paths
    r"|/reference_(calibration|residuals)\.json$"  # measured data, by system
    r"|/presets(\.py|/)|/migrations/|^static/vendor/|^brokerweb/settings\.py$"  # Django's list of applications
    r"|^static/js/api/(client|types)\.js$"  # made from the OpenAPI document
)


WORDS = r"(provider|consumer|strateg(y|ies)|replica|replication|entity|entities)s?"
"""The vocabulary of the first system, also in names such as ``providers_of``."""
NOT_ITS_WORDS = re.compile(
    r"websocket|RunConsumer|live\.consumers|consumers import|Nowhere|^brokerweb/live/"  # Django's channels
    r"|OpenID provider|^brokerweb/accounts/oidc"
    r"|^brokerweb/ngsi/|NGSI"  # whose standard has entities
    r"|^overlay/runtime/logs/(kafka|nats)/"  # consumers and replicas are theirs
    r"|REQUEST_ENTITY_TOO_LARGE|DTD or entities|actions and commands parse|deploy: \{replicas"
)
ALLOWED = {
    "overlay/core/chance.py": "one stream of chance for each purpose of a server",
    "overlay/journal/facts.py": "fields of facts, which are columns of the lake",
    "overlay/runtime/old_calibration.py": "the roles in calibrations of earlier versions",
    "overlay/load/assignment.py": "assignments of the thesis, of two kinds of clients",
    "telemetry/reports/paired.py": "a column of the lake",
    "brokerweb/api/shapes/brokers.py": "REST: reports of a server",
    "brokerweb/api/shapes/experiments.py": "REST: strategy of a run",
    "brokerweb/experiments/models.py": "a column of runs: strategy",
    "brokerweb/runlist/columns.py": "a column of lists: strategy",
    "brokerweb/runlist/fields.py": "a field of filters: strategy",
    "overlay/systems/contract.py": "the values of that field, and examples",
    "templates/runs/rows.html": "a column of lists: strategy",
    "brokerweb/api/operation_views.py": "REST: fields of the operation log, as in bodies of context",
    "brokerweb/operationlog/entries.py": "the fields of an answer that the log keeps",
    "brokerweb/operationlog/recording.py": "the field of a body that the log keeps",
    "brokerweb/operationlog/services.py": "filters and columns of the operation log",
    "templates/operationlog/list.html": "a filter of the operation log",
    "brokerweb/demo.py": "the experiment of a new installation",
    "brokerweb/runpage/answer_quality.py": "words for verdicts on answers",
    "templates/reports/part.html": "words for verdicts on answers",
    "static/js/estimates.js": "hues",
    "static/js/copies.js": "a script of the first system's pages",
    "static/wireshark/waxwing.lua": "its dissector",
    "static/js/studio-measures.js": "the estimate of walks",
    "templates/topologies/walked.html": "the estimate of walks",
    "Makefile": "its targets",
}
"""Files of common code that may use these words, and why."""


def lines(pattern: str, *options: str) -> list[str]:
    """Lines of common code that match, as ``FILE:LINE:TEXT``."""
    command = ["git", "-C", str(ROOT), "grep", "-nIE", *options, pattern, "--", *COMMON]
    found = subprocess.run(command, capture_output=True, text=True, check=False).stdout.splitlines()
    return [line for line in found if not OWN.search(line.split(":", 1)[0])]


def places(name: str) -> list[str]:
    """Lines of common code that name a system."""
    return lines(rf"\b({name}|{name.replace('-', '_')})\b")


def vocabulary() -> list[str]:
    """Lines of common code that use words of the first system."""
    return [line for line in lines(rf"(\b|_){WORDS}(\b|_)", "-i") if not NOT_ITS_WORDS.search(line)]


def test_common_code_has_no_word_of_the_first_system() -> None:
    found = [line for line in vocabulary() if line.split(":", 1)[0] not in ALLOWED]
    assert found == [], "ask the registry for what the system declares"


def test_every_allowed_place_is_still_needed() -> None:
    assert {line.split(":", 1)[0] for line in vocabulary()} >= ALLOWED.keys()


def test_no_line_of_common_code_names_a_system() -> None:
    names = [name for name, system in SYSTEMS.items() if type(system).__module__.startswith("overlay.")]
    assert "context-broker" in names
    for name in names:
        assert places(name) == [], f"ask the registry instead of naming {name}"


def test_a_name_in_common_code_would_be_found() -> None:
    assert places("supervisor"), "a word that common code does have"


@pytest.mark.parametrize("package", PACKAGES)
def test_every_room_is_in_the_import_contract_of_its_package(package: str) -> None:
    """What a contract does not list, it does not check."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]
    listed = {
        name.strip().split(".")[1]
        for contract in settings["contracts"]
        if contract["type"] == "layers"
        for layer in contract["layers"]
        for name in layer.split("|")
        if name.strip().startswith(f"{package}.")
    }
    assert set(rooms_of(ROOT, package)) - {"__main__"} == listed
