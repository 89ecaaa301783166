"""The short ways: what a press, a key or a search leads to from the page on which one is."""

from __future__ import annotations

import re

from django.test import Client
from django.utils import timezone

from brokerweb.experiments.models import Run, RunState
from brokerweb.networks.models import Host, Network
from tests.pages.furniture import House


def read(browser: Client, address: str) -> str:
    answer = browser.get(address)
    assert answer.status_code == 200
    return answer.content.decode()


def test_new_from_this_on_a_run_takes_its_one_configuration_and_not_the_whole_sweep(olga: Client, house: House) -> None:
    run = house.runs["done"]
    page = read(olga, f"/runs/{run.id}/")
    led = re.search(r'href="(/experiments/new/[^"]*)">New experiment<', page)
    assert led and led[1] == f"/experiments/new/?run={run.id}"
    form = olga.get(led[1]).context["form"]
    assert form.chosen_ids == [run.configuration["topology"]["id"]]
    assert len(house.experiment.definition["topology"]) == 4


def test_the_queue_can_be_paused_on_the_page_of_what_runs_while_others_wait(olga: Client, house: House) -> None:
    assert "Pause queue" in read(olga, f"/runs/{house.runs['measuring'].id}/")
    assert "Pause queue" in read(olga, f"/runs/{house.runs['queued'].id}/")
    assert "Pause queue" not in read(olga, f"/runs/{house.runs['done'].id}/")
    Run.objects.filter(state=RunState.QUEUED).update(state=RunState.CANCELLED)
    assert "Pause queue" not in read(olga, f"/runs/{house.runs['measuring'].id}/")


def test_r_runs_the_same_again_and_the_list_of_keys_says_so(olga: Client, viktor: Client, house: House) -> None:
    bound = '<button class="btn btn-plain" type="submit" data-key="r" data-key-help="rerun" '
    bound += 'title="Same configuration, same seed">'
    assert bound in read(olga, f"/runs/{house.runs['done'].id}/")
    assert 'data-key="r"' not in read(viktor, f"/runs/{house.runs['done'].id}/")


def test_what_comes_up_on_the_home_page_leads_to_its_schedule(olga: Client, house: House) -> None:
    coming = read(olga, "/").split("Next scheduled")[1]
    led = re.search(r'<a href="(/schedules/\w+/)">Monday morning</a>', coming)
    assert led and "Monday morning" in read(olga, led[1])


LISTS = ("/networks/", "/reports/", "/schedules/", "/hosts/")


def test_a_list_is_searched_by_what_its_rows_say(viktor: Client, house: House) -> None:
    Host.objects.create(name="attic", cores=2, heartbeat=timezone.now())
    Network.objects.create(name="Elsewhere", topology=house.topologies["Full mesh of 10"], host="attic")
    for address, typed, found, others in (
        ("/networks/", "CAMP", ["campus"], ["Elsewhere"]),
        ("/networks/", "ring of", ["campus"], ["Elsewhere"]),
        ("/reports/", "against one central", ["against one central"], ["No report has"]),
        ("/reports/", "monday", ["No report has"], ["against one central"]),
        ("/schedules/", "monday", ["Monday morning"], []),
        ("/schedules/", "waxman against", ["Monday morning"], []),
        ("/hosts/", "LAB", ["lab-1"], ["attic"]),
    ):
        page = read(viktor, f"{address}?q={typed}")
        assert "data-search" in page and f'value="{typed}"' in page
        assert [one for one in found if one not in page] == []
        assert [one for one in others if one in page] == []


def test_a_search_that_finds_nothing_says_so_and_leads_back(viktor: Client, house: House) -> None:
    for address in LISTS:
        found = read(viktor, f"{address}?q=<nowhere>")
        assert "&lt;nowhere&gt;" in found and "Show all" in found
        assert "data-row" not in found
        assert "data-row" in read(viktor, address)
    for address in (*LISTS, "/experiments/", "/topologies/"):
        assert "data-row" not in read(viktor, f"{address}?q={'x' * 60_000}")


def test_a_list_with_nothing_in_it_has_no_search(viktor: Client) -> None:
    assert [address for address in LISTS if "data-search" in read(viktor, address)] == []
