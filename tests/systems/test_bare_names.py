"""A system that is added changes no name of an earlier one: saved filters, columns and axes keep their meaning."""

from __future__ import annotations

import pytest

from brokerweb.runlist import columns, fields
from overlay.systems.registry import FIRST, SYSTEMS, name_among_all, of_all, settings_by_name
from telemetry.lake.configurations import in_words
from tests.systems.test_settings_of_two import Other


@pytest.fixture(autouse=True)
def known(monkeypatch):
    monkeypatch.setitem(SYSTEMS, Other.name, Other())


def test_a_bare_name_stays_that_of_the_first_system() -> None:
    assert name_among_all(FIRST, "payload_bytes") == "payload_bytes"
    assert name_among_all("other", "payload_bytes") == "other.payload_bytes"
    assert settings_by_name()["payload_bytes"].unit == "bytes"


def test_a_filter_by_a_bare_name_finds_only_runs_that_mean_the_same_by_it() -> None:
    found = fields._settings()
    assert found["workload.payload_bytes"].systems[0] == FIRST
    assert "other" not in found["workload.payload_bytes"].systems
    assert found["other.workload.payload_bytes"].systems == ("other",)
    assert found["workload.duration_s"].systems == (), "of every system"
    assert found["workload.providers"].systems == (), "no other system has it"
    alone = fields.alone(found)
    assert alone["payload_bytes"] is found["workload.payload_bytes"]
    assert alone["other.payload_bytes"] is found["other.workload.payload_bytes"]


def test_columns_say_whose_setting_they_show() -> None:
    found = fields._settings()
    assert columns._of_setting(found["workload.providers"]).title == "Providers"
    of_first = columns._of_setting(found["workload.payload_bytes"]).title
    assert "(Decentralised context broker" in of_first and "Another" not in of_first
    assert columns._of_setting(found["other.workload.payload_bytes"]).title.endswith("(Another)")


def test_axes_and_labels_keep_their_bare_names() -> None:
    assert of_all(lambda system: system.presentation.axis_fields)[:3] == ["consumers", "providers", "brokers"]
    assert in_words("payload_bytes", 100) == "100 bytes"
    assert in_words("other.payload_bytes", 2.0) == "other.payload bytes 2 kB"
