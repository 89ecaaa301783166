"""Common code names no system: what is special about one is in its own folders, and the registries know where."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

from overlay.systems.registry import SYSTEMS

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
