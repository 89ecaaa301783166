"""Two systems that use one word: each keeps its own unit, and a part of every configuration is never overwritten."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from overlay.core.settings import check, setting
from overlay.systems.registry import SYSTEMS, name_among_all, settings_by_name
from telemetry.lake.configurations import choose, in_words
from tests.systems.echo import Echo


@dataclass(frozen=True, slots=True)
class Workload:
    callers: int = setting(3, low=1, high=1000, help="Clients that call.")
    payload_bytes: float = setting(2.0, unit="kB", low=1, high=9, help="Size of a call.")
    kind: str = setting("once", choices=("once", "again"), help="Whether a client calls again.")
    duration_s: float = setting(2.0, unit="s", low=1, high=3600, help="Measuring time.")

    def __post_init__(self):
        check(self)


class Other(Echo):
    name, title = "other", "Another"
    Workload = Workload


@pytest.fixture(autouse=True)
def known(monkeypatch):
    monkeypatch.setitem(SYSTEMS, Other.name, Other())


def test_one_word_with_two_units_is_named_by_system() -> None:
    assert name_among_all("other", "payload_bytes") == "other.payload_bytes"
    assert name_among_all("context-broker", "payload_bytes") == "payload_bytes", "the first keeps it"
    assert name_among_all("other", "duration_s") == "duration_s", "both mean seconds"
    assert settings_by_name()["other.payload_bytes"].unit == "kB"
    assert in_words("other.payload_bytes", 2.0).endswith("2 kB")


def test_a_setting_never_overwrites_a_part_of_the_configuration() -> None:
    configuration = {"topology": {"kind": "ring", "brokers": 4}, "system": "other", "workload": {"kind": "again"}}
    factors = choose({"run": "r1", "configuration": configuration}, {}).factors()
    assert (factors["kind"], factors["other.kind"]) == ("ring", "again")
