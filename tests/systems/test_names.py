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
    r"/(systems|programs)/context_broker/"  # the folders of a system
    r"|/(systems/registry|programs/__init__)\.py$"  # where systems are listed
    r"|/presets(\.py|/)|/migrations/|^static/vendor/|^brokerweb/settings\.py$"  # Django's list of applications
)


def places(name: str) -> list[str]:
    """Lines of common code that name a system, as ``FILE:LINE:TEXT``."""
    pattern = rf"\b({name}|{name.replace('-', '_')})\b"
    command = ["git", "-C", str(ROOT), "grep", "-nIE", pattern, "--", *COMMON]
    found = subprocess.run(command, capture_output=True, text=True, check=False).stdout.splitlines()
    return [line for line in found if not OWN.search(line.split(":", 1)[0])]


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
