"""The section of the MQTT bridge, as small as it gets: one round, real processes."""

from __future__ import annotations

import pytest

from benchmarks import mqtt
from brokerweb.up.environment import find_mosquitto
from tests.thorough import thoroughly


@pytest.mark.stack
@thoroughly
@pytest.mark.skipif(find_mosquitto() is None, reason="Mosquitto is missing and could not be installed")
def test_one_round_passes_messages_in_and_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mqtt, "BURST", 20)
    figures = {each.name: each for each in mqtt.measure(1, lambda line: None)}
    assert figures.keys() == {f"messages {way}{what}" for way in ("in", "out") for what in ("", ", processor")}
    assert all(each.value > 0 for each in figures.values())
