"""Every profile over real UDP: a network comes up, finds what is there, and says what is not."""

from __future__ import annotations

import pytest
from rest_framework.test import APIClient

from overlay.runtime.supervisor_client import SupervisorClient
from overlay.systems.context_broker.profiles import PROFILES
from tests.brokerweb.test_networks import rounds_until

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.stack]


@pytest.mark.parametrize("profile", PROFILES)
def test_a_network_of_every_profile_finds_what_was_provided(
    api: APIClient, ring: dict, supervisor: SupervisorClient, profile: str
) -> None:
    body = {"name": profile, "topology": ring["id"], "settings": {"profile": profile}}
    made = api.post("/api/networks/", body, format="json").json()
    assert made["settings"]["profile"] == profile
    url = f"/api/networks/{made['id']}/"
    rounds_until(supervisor, lambda: api.get(url).json()["state"] == "running")
    there = url + "context/room/r1/climate/"
    assert api.get(there).status_code == 404
    assert (
        api.put(there, {"provider": "p1", "payload": "degC=21.5", "valid_ms": 60_000}, format="json").status_code == 200
    )
    assert api.get(there).json()["text"] == "degC=21.5"
