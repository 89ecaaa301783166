"""Which topic of MQTT goes where."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from paho.mqtt.client import topic_matches_sub

from overlay.core.errors import InvalidSetting
from overlay.systems.contextnet.mqtt.mapping import Pair, mapped
from overlay.systems.contextnet.mqtt.settings import MqttSettings

LEVELS = st.lists(st.sampled_from(["", "a", "b", "$sys", "+"]), min_size=1, max_size=4)


@given(LEVELS, st.booleans(), st.lists(st.sampled_from(["", "a", "b", "$sys"]), min_size=1, max_size=4))
def test_a_filter_fits_as_that_of_paho_does(levels, is_open, topic):
    pattern = [*levels, "#"] if is_open else levels
    name = "/".join(topic)
    if name:
        found = mapped((Pair(tuple(pattern), "mqtt.x"),), name)
        assert (found == "mqtt.x") == topic_matches_sub("/".join(pattern), name)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ('["a"]', "pairs of a filter and a name"),
        ('[["a#", "x"]]', "no filter of MQTT"),
        ('[["#/a", "x"]]', "no filter of MQTT"),
        ('[["", "x"]]', "no filter of MQTT"),
        ('[["a", "X y"]]', "no name of lower-case letters"),
        ('[["a", ""]]', "no name of lower-case letters"),
    ],
)
def test_a_malformed_mapping_is_refused(text, sentence):
    with pytest.raises(InvalidSetting, match=sentence):
        MqttSettings(mqtt_topics=text)
