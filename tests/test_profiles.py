"""Profiles: sets of existing settings with valid values, which explicit settings override."""

from pathlib import Path

import pytest

from overlay.core.chance import Chances
from overlay.core.errors import InvalidSetting
from overlay.core.settings import build, describe
from overlay.deployment.deployment import Deployment
from overlay.systems.context_broker.broker.broker import Broker
from overlay.systems.context_broker.broker.config import BrokerConfig
from overlay.systems.context_broker.profiles import PROFILES, SUMMARIES, differing, resolved
from overlay.systems.registry import SYSTEMS
from overlay.topologies import Graph
from tests.runtime.daemons import overlay
from tests.test_deployment import RUN

SYSTEM = SYSTEMS["context-broker"]


def check(settings: dict[str, object], brokers: int) -> None:
    SYSTEM.check(SYSTEM.setup(SYSTEM.whole(settings), None, Graph(brokers, ())))


@pytest.mark.parametrize("profile", PROFILES)
def test_every_profile_is_made_of_settings_and_makes_a_broker(profile: str) -> None:
    assert set(PROFILES[profile]) <= {info.name for info in describe(BrokerConfig)}
    config = build(BrokerConfig, resolved({"profile": profile}))
    Broker(config, ("127.0.0.1", 7000), Chances.streams(1)).check_invariants()
    assert SUMMARIES[profile]
    for brokers in (1, 10):
        check({"profile": profile}, brokers)


@pytest.mark.parametrize("profile", PROFILES)
def test_a_profile_names_nothing_that_is_the_default_anyway(profile: str) -> None:
    defaults = {info.name: info.default for info in describe(BrokerConfig)}
    assert [name for name, value in PROFILES[profile].items() if value == defaults[name]] == []


def test_the_plain_profile_is_the_default_and_changes_nothing() -> None:
    assert build(BrokerConfig, resolved({})) == build(BrokerConfig, resolved({"profile": "plain"})) == BrokerConfig()
    assert SYSTEM.whole({})["profile"] == "plain"


def test_every_profile_but_the_prototype_walks_until_all_is_searched() -> None:
    policies = {name: build(BrokerConfig, resolved({"profile": name})).walk_policy for name in PROFILES}
    assert policies == {**dict.fromkeys(PROFILES, "backtrack"), "prototype": "uniform"}


def test_what_is_given_goes_before_the_profile() -> None:
    whole = SYSTEM.whole({"profile": "improved", "walk_ttl": 20, "walk_policy": "avoid"})
    assert (whole["walk_ttl"], whole["walk_policy"], whole["profile"]) == (20, "avoid", "improved")
    assert whole["replica_refresh"] is True
    assert "profile" not in resolved({"profile": "improved"})


@pytest.mark.parametrize("wrong", ["fast", 3, None, ["plain"]])
def test_a_profile_that_there_is_not_is_refused_by_name(wrong: object) -> None:
    with pytest.raises(InvalidSetting) as caught:
        check({"profile": wrong}, 3)
    assert caught.value.field == "settings.profile"


def test_a_deployment_runs_the_settings_that_its_profile_stands_for() -> None:
    deployment = Deployment.from_json({**RUN, "settings": {"profile": "improved", "walk_ttl": 8}})
    assert deployment.setup.settings.broker == BrokerConfig(**{**PROFILES["improved"], "walk_ttl": 8})
    assert Deployment.from_json(deployment.to_json()) == deployment
    with pytest.raises(InvalidSetting) as caught:
        Deployment.from_json({**RUN, "settings": {"profile": "fast"}})
    assert caught.value.field == "settings.profile"


def test_several_walks_from_a_single_broker_are_refused() -> None:
    with pytest.raises(InvalidSetting) as caught:
        check({"search": "k-walkers"}, 1)
    assert caught.value.field == "settings.search"
    check({"search": "k-walkers"}, 2)


def test_what_profiles_set_is_known_setting_by_setting() -> None:
    assert differing()["walk_policy"]["prototype"] == "uniform"
    assert set(differing()) == {name for values in PROFILES.values() for name in values}


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--profile", "fast"], "invalid choice: 'fast'"),
        (["--profile", "improved", "--walk-ttl", "-1"], "--walk-ttl: must be at least 0"),
        (["--replica-refresh=yes"], "ignored explicit argument 'yes'"),
    ],
)
def test_flags_that_are_wrong_are_named(arguments: list[str], sentence: str) -> None:
    code, _, error = overlay("broker", "--bind", "127.0.0.1:0", *arguments)
    assert code == 2
    assert sentence in error


def test_the_documentation_is_the_code_s() -> None:
    """A strategy or policy that was added is a line more than the page has, which comes when it is made again."""
    code, printed, complaint = overlay("settings", "--markdown")
    page = Path("docs/settings.md").read_text().splitlines()
    lines = [line for line in printed.splitlines() if line in page or not line.startswith("  - `")]
    assert (code, lines, complaint) == (0, page, ""), "overlay settings --markdown > docs/settings.md"
