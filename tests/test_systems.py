"""The registry: what a system says of itself is what its check accepts."""

import pytest

from overlay.core.errors import InvalidSetting
from overlay.systems.registry import SYSTEMS
from overlay.topologies import Graph

BROKER = SYSTEMS["context-broker"]


def check(settings, workload, brokers) -> None:
    BROKER.check(BROKER.setup(settings, workload, Graph(brokers, ())))


def test_the_defaults_it_describes_pass_its_own_check() -> None:
    settings = {info.name: info.default for info in BROKER.settings}
    workload = {info.name: info.default for info in BROKER.workload}
    check(settings, workload, 10)
    check({}, None, 1)


def test_every_setting_is_explained() -> None:
    for info in (*BROKER.settings, *BROKER.workload):
        assert info.help.endswith("."), info.name
    names = [info.name for info in (*BROKER.settings, *BROKER.workload)]
    assert len(set(names)) == len(names), "a setting and a field of the workload are told apart by name alone"


@pytest.mark.parametrize(
    ("settings", "workload", "brokers", "field"),
    [
        ({"monitoring": "yes"}, None, 3, "settings.monitoring"),
        ({"walk_ttl": -1}, None, 3, "settings.walk_ttl"),
        ({"speed": 1}, None, 3, "settings.speed"),
        ({}, {"providers": -1}, 3, "workload.providers"),
        ({}, {"holders": 4}, 3, "workload.holders"),
        ({}, {"churn": "file", "churn_schedule": "1:down"}, 3, "workload.churn_schedule"),
    ],
)
def test_what_would_fail_in_a_launch_is_refused_before_it(settings, workload, brokers, field) -> None:
    with pytest.raises(InvalidSetting) as caught:
        check(settings, workload, brokers)
    assert caught.value.field == field
