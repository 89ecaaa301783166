"""The registry: what a system says of itself is what its check accepts."""

import pytest

from overlay.core.errors import InvalidSetting
from overlay.systems.registry import SYSTEMS

BROKER = SYSTEMS["context-broker"]


def test_the_defaults_it_describes_pass_its_own_check() -> None:
    settings = {info.name: info.default for info in BROKER.settings}
    workload = {info.name: info.default for info in BROKER.workload}
    BROKER.check(settings, workload, 10)
    BROKER.check({}, None, 1)


def test_every_setting_is_explained() -> None:
    for info in (*BROKER.settings, *BROKER.workload):
        assert info.help.endswith("."), info.name
    names = [info.name for info in (*BROKER.settings, *BROKER.workload)]
    assert len(set(names)) == len(names), "a setting and a field of the workload are told apart by name alone"


@pytest.mark.parametrize(
    ("settings", "workload", "brokers", "field"),
    [
        ({"monitoring": "yes"}, None, 3, "monitoring"),
        ({"walk_ttl": -1}, None, 3, "walk_ttl"),
        ({"speed": 1}, None, 3, "speed"),
        ({}, {"providers": -1}, 3, "providers"),
        ({}, {"holders": 4}, 3, "holders"),
        ({}, None, 0, "brokers"),
    ],
)
def test_what_would_fail_in_a_launch_is_refused_before_it(settings, workload, brokers, field) -> None:
    with pytest.raises(InvalidSetting) as caught:
        BROKER.check(settings, workload, brokers)
    assert caught.value.field == field
