"""The page that changes a network, without a host that takes the steps: previews, refusals and what is stored."""

from __future__ import annotations

import json
from typing import Any

from django.test import Client

from tests.pages.furniture import House
from tests.pages.test_network_broker import text_of


def shown(client: Client, house: House, **sent: str) -> str:
    answer = client.post(f"/networks/{house.network.pk}/change/", sent)
    assert answer.status_code in (200, 400)
    return text_of(answer.content.decode())


def test_a_form_is_previewed_and_its_preview_applied(olga: Client, house: House) -> None:
    page = shown(olga, house, do="add", links="0, 2")
    assert "Preview of version 1" in page
    assert "Start broker 10 Link brokers 0 and 10 Link brokers 2 and 10" in page
    sent = {"do": "add", "links": "0, 2", "apply": "yes", "version": "0"}
    applied = text_of(olga.post(f"/networks/{house.network.pk}/change/", sent, follow=True).content.decode())
    assert "Version 1 of the network is being applied." in applied
    house.network.refresh_from_db()
    assert (house.network.version, house.network.deployed["brokers"]) == (1, 11)
    assert "11 brokers" in text_of(olga.get(f"/networks/{house.network.pk}/").content.decode())
    assert "you changed version 0" in shown(olga, house, **sent)


def test_what_is_wrong_is_said_beside_the_form_and_settings_are_compared(olga: Client, house: House) -> None:
    assert "ust be from 0 to 9, not 77" in shown(olga, house, do="add", links="77")
    assert "elect a change" in shown(olga, house, do="melt")
    page = shown(olga, house, do="settings", **{"settings-walk_ttl": "9"})
    assert "Restart broker 0 with the changed settings" in page
    assert "has not been changed" in shown(olga, house, do="rollback")
    house.network.refresh_from_db()
    assert house.network.version == 0


def test_viewers_do_not_see_it(viktor: Client, house: House) -> None:
    assert viktor.get(f"/networks/{house.network.pk}/change/").status_code == 403


def test_a_preview_is_drawn_as_a_difference(olga: Client, house: House) -> None:
    drawn = picture(olga, house, do="move", broker="3")
    changes = {node["index"]: node.get("change") for node in drawn["nodes"] if "change" in node}
    assert changes == {3: "removed", 10: "added"}
    ends = {frozenset((link["a"], link["b"])): link.get("change") for link in drawn["links"]}
    assert {change for link, change in ends.items() if 3 in link} == {"removed"}
    assert {change for link, change in ends.items() if 10 in link} == {"added"}
    assert {change for link, change in ends.items() if not link & {3, 10}} == {None}
    places = [(node["x"], node["y"]) for node in drawn["nodes"]]
    assert len({*places}) == len(places), "no node covers another"
    drained = picture(olga, house, do="drain", broker="2")
    assert [node["index"] for node in drained["nodes"] if node.get("change") == "changed"] == [2]
    same = {"do": "topology", "topology": house.network.topology_id}
    nothing = olga.post(f"/networks/{house.network.pk}/change/", same).content.decode()
    assert "This changes nothing" in nothing
    assert 'id="graph-data"' not in nothing


def picture(client: Client, house: House, **sent: str) -> dict[str, Any]:
    page = client.post(f"/networks/{house.network.pk}/change/", sent).content.decode()
    return json.loads(page.partition('id="graph-data" type="application/json">')[2].partition("</script>")[0])
