"""Profiles through REST and through forms: chosen, overridden, swept, recorded with each run."""

from __future__ import annotations

from typing import Any

import pytest
from django.http import QueryDict
from django.test import Client
from rest_framework.test import APIClient

from brokerweb.experiments.models import Run
from brokerweb.kit import setting_forms
from brokerweb.networks import services as networks
from brokerweb.networks.models import Network
from overlay.systems.context_broker.profiles import PROFILES
from overlay.systems.registry import SYSTEMS
from tests.brokerweb.test_experiments import body, launch, make

pytestmark = pytest.mark.django_db

SETTINGS = SYSTEMS["context-broker"].settings


def launched(api: APIClient, ring: dict, settings: dict[str, Any]) -> list[Run]:
    made = launch(api, make(api, ring, settings=settings, replicates=1))
    return list(Run.objects.filter(pk__in=made["runs"]))


def test_a_run_keeps_the_profile_s_name_and_every_setting_that_it_stands_for(api: APIClient, ring: dict) -> None:
    (run,) = launched(api, ring, {"profile": "improved", "walk_ttl": 20})
    settings = run.configuration["settings"]
    assert (settings["profile"], settings["walk_ttl"]) == ("improved", 20)
    assert {name: settings[name] for name in PROFILES["improved"]} == PROFILES["improved"]
    assert set(settings) == {info.name for info in SETTINGS}


def test_an_experiment_says_plain_unless_told_otherwise(api: APIClient, ring: dict) -> None:
    (run,) = launched(api, ring, {})
    assert run.configuration["settings"] == {info.name: info.default for info in SETTINGS}


def test_profiles_are_swept(api: APIClient, ring: dict) -> None:
    runs = launched(api, ring, {"profile": list(PROFILES)})
    assert {run.configuration["settings"]["profile"] for run in runs} == set(PROFILES)
    assert len({run.configuration_hash for run in runs}) == len(PROFILES)


def test_a_profile_and_the_same_settings_spelt_out_are_one_configuration(api: APIClient, ring: dict) -> None:
    (named,) = launched(api, ring, {"profile": "improved"})
    (spelt,) = launched(api, ring, dict(PROFILES["improved"]))
    assert named.configuration_hash == spelt.configuration_hash
    assert named.configuration != spelt.configuration


@pytest.mark.parametrize("wrong", ["fast", 1, ["plain", "fast"]])
def test_an_unknown_profile_is_refused_by_name(api: APIClient, ring: dict, wrong: object) -> None:
    answer = api.post("/api/experiments/", body(ring, settings={"profile": wrong}), format="json")
    assert (answer.status_code, answer.json()["field"]) == (400, "settings.profile")


def test_what_cannot_work_on_one_broker_is_refused_by_name(api: APIClient) -> None:
    central = api.post("/api/topologies/", {"name": "central", "kind": "central", "brokers": 1}, format="json").json()
    answer = api.post("/api/experiments/", body(central, settings={"search": "k-walkers"}), format="json")
    assert (answer.status_code, answer.json()["field"]) == (400, "settings.search")


def test_a_network_that_stays_proves_its_not_found_unless_told_otherwise(api: APIClient, ring: dict) -> None:
    def settings_of(**chosen: Any) -> dict[str, Any]:
        name = f"n{Network.objects.count()}"
        answer = api.post("/api/networks/", {"name": name, "topology": ring["id"], **chosen}, format="json")
        assert answer.status_code == 201, answer.content
        return answer.json()["settings"]

    assert (settings_of()["profile"], settings_of()["walk_policy"]) == ("improved", "backtrack")
    assert settings_of(settings={"walk_policy": "avoid"})["walk_policy"] == "avoid"
    plain = settings_of(settings={"profile": "plain"})
    assert plain == {info.name: info.default for info in SETTINGS}


def test_rest_says_what_each_profile_sets(api: APIClient) -> None:
    shown = api.get("/api/systems/context-broker/").json()
    assert shown["profiles"] == PROFILES
    (profile,) = [one for one in shown["settings"] if one["name"] == "profile"]
    assert profile["choices"] == list(PROFILES)


def test_systems_are_filtered_and_ordered_by_name(api: APIClient) -> None:
    def names(query: str) -> list[str]:
        return [one["name"] for one in api.get(f"/api/systems/?{query}").json()["results"]]

    assert names("name__icontains=Broker&ordering=name") == sorted(names("name__icontains=broker"))
    assert names("ordering=-name") == sorted(names(""), reverse=True)
    assert names("name=context-broker") == ["context-broker"]
    assert names("name=context") == []


# ---- forms


def read(text: str, *, sweeps: bool = True) -> setting_forms.Inputs:
    return setting_forms.read(SETTINGS, "s-", QueryDict(text), sweeps=sweeps, profiles=PROFILES)


def test_what_is_left_open_is_the_profile_s() -> None:
    assert read("s-profile=improved&s-walk_policy=&s-replication_index=").changed() == {"profile": "improved"}
    assert read("").changed() == {}


def test_what_is_chosen_beside_a_profile_counts_even_where_it_is_the_default() -> None:
    inputs = read("s-profile=improved&s-walk_policy=avoid&s-replica_refresh=false&s-walk_ttl=0&s-replication_index=1")
    assert inputs.changed() == {
        "profile": "improved",
        "walk_policy": "avoid",
        "replica_refresh": False,
        **({"walk_ttl": 0} if "walk_ttl" in PROFILES["improved"] else {}),
        "replication_index": 1,
    }


def test_profiles_and_what_they_set_are_swept_in_a_form() -> None:
    inputs = read("s-profile=plain&s-profile=design&s-replication_index=1, 4&s-walk_policy=avoid&s-walk_policy=uniform")
    assert inputs.changed() == {
        "profile": ["plain", "design"],
        "replication_index": [1, 4],
        "walk_policy": ["avoid", "uniform"],
    }


def test_what_is_wrong_is_named_although_it_may_be_left_open() -> None:
    inputs = read("s-walk_policy=drunk&s-replication_index=x&s-profile=fast")
    assert [one.info.name for one in inputs.inputs if one.wrong] == ["profile", "walk_policy", "replication_index"]


def test_a_form_filled_from_a_definition_says_the_same_again() -> None:
    settings = {"profile": ["plain", "improved"], "walk_policy": "avoid", "replica_refresh": [True, False]}
    inputs = setting_forms.shown(SETTINGS, "s-", settings, sweeps=True, profiles=PROFILES)
    data = QueryDict(mutable=True)
    for one in inputs.inputs:
        data.setlist(one.name, one.texts)
    assert setting_forms.read(SETTINGS, "s-", data, sweeps=True, profiles=PROFILES).changed() == settings


def test_an_input_says_what_leaving_it_open_means() -> None:
    by_name = {one.info.name: one for one in read("", sweeps=False).inputs}
    assert by_name["walk_policy"].profiles == "prototype uniform, else backtrack"
    assert by_name["walk_policy"].options[0] == ("", "from the profile", True)
    assert by_name["ping_interval_ms"].profiles == ""


def test_the_forms_offer_profiles_and_a_network_s_is_improved(client: Client, operator, ring: dict) -> None:
    client.force_login(operator)
    page = client.get("/networks/new/").content.decode()
    assert '<option value="improved" selected>' in page
    assert "(404 in REST) means that no broker has the data." in page
    assert 'id="settings-profile-prototype"' in client.get("/experiments/new/").content.decode()
    sent = {"name": "campus", "topology": ring["id"], "settings-profile": "plain", "settings-walk_policy": ""}
    assert client.post("/networks/new/", sent).status_code == 302
    assert Network.objects.get().settings["profile"] == "plain"
    assert [info.name for info in networks.described()] == [info.name for info in SETTINGS]
