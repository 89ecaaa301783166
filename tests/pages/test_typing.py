"""What was typed goes along, and a part that is replaced brings all that its page says: the server's half of it."""

from __future__ import annotations

import re

from django.contrib import messages
from django.contrib.messages import get_messages
from django.contrib.messages.storage.fallback import FallbackStorage
from django.test import Client, RequestFactory

from brokerweb.experiments import views
from tests.pages.furniture import House


def read(browser: Client, address: str) -> str:
    answer = browser.get(address)
    assert answer.status_code == 200
    return answer.content.decode()


def value(page: str, name: str) -> str | None:
    found = re.search(rf'name="{name}" value="([^"]*)"', page) or re.search(
        rf'<input[^>]* name="{name}"[^>]* value="([^"]*)"', page
    )
    return found[1] if found else None


def test_another_kind_of_topology_takes_along_what_was_typed_and_it_has_too(olga: Client) -> None:
    answer = olga.get("/topologies/new/?kind=waxman&name=Campus&brokers=40&seed=9&param-delay_ms=2.5&param-chords=7")
    page = answer.content.decode()
    assert [value(page, name) for name in ("kind", "name", "brokers", "seed")] == ["waxman", "Campus", "40", "9"]
    assert value(page, "param-delay_ms") == "2.5"
    assert len(answer.context["graph"]["nodes"]) == 40
    untyped = read(olga, "/topologies/new/?kind=waxman")
    assert [value(untyped, name) for name in ("name", "brokers", "seed")] == ["", "10", "1"]


def test_what_a_preset_sets_is_as_it_sets_it_and_the_rest_as_it_was_typed(olga: Client) -> None:
    choices = re.findall(
        r'href="\?kind=waxman&amp;preset=([\w-]+)" data-carries data-sets="([^"]*)"',
        read(olga, "/topologies/new/?kind=waxman"),
    )
    preset, sets = choices[0]
    first = sets.split()[0]
    bare = value(read(olga, f"/topologies/new/?kind=waxman&preset={preset}"), first)
    page = read(olga, f"/topologies/new/?kind=waxman&preset={preset}&name=Campus&{first}=0.123&param-loss=0.01")
    assert value(page, first) == bare
    assert value(page, "name") == "Campus"


def test_what_is_typed_wrong_comes_back_with_its_sentence_beside_it(olga: Client) -> None:
    page = read(olga, "/topologies/new/?kind=ring&name=Campus&param-delay_ms=fast&brokers=many")
    assert value(page, "param-delay_ms") == "fast"
    assert value(page, "brokers") == "many"
    assert "must be" in page and "Campus" in page


def test_links_that_were_typed_come_back_with_the_kind_they_belong_to(olga: Client) -> None:
    assert ">0 1\n1 2</textarea>" in read(olga, "/topologies/new/?kind=custom&brokers=3&links=0+1%0A1+2")
    assert "<textarea" not in read(olga, "/topologies/new/?kind=ring&links=0+1%0A1+2")


def test_a_form_that_was_sent_and_not_kept_says_that_it_holds_what_was_typed(olga: Client) -> None:
    assert "data-typed" not in read(olga, "/topologies/new/")
    refused = olga.post("/topologies/new/", {"kind": "ring", "name": "", "brokers": "10"})
    assert refused.status_code == 400 and "data-typed" in refused.content.decode()
    assert "data-typed" not in read(olga, "/experiments/new/")
    turned = olga.post("/experiments/new/", {"name": "Half way", "do": "document"}).content.decode()
    assert "data-typed" in turned and "Half way" in turned


def test_the_last_run_of_a_sweep_brings_what_the_page_says_once_all_have_ended(olga: Client, house: House) -> None:
    part = f"/experiments/{house.experiment.id}/progress/"
    moving = olga.get(part)
    assert "HX-Retarget" not in moving and "Cancel 2 runs" not in moving.content.decode()
    assert 'id="experiment-runs" hx-swap-oob' in moving.content.decode()
    house.experiment.runs.filter(state__in=("queued", "measuring")).update(state="cancelled")
    whole = olga.get(part)
    assert [whole[name] for name in ("HX-Retarget", "HX-Reselect", "HX-Reswap")] == ["#experiment"] * 2 + ["outerHTML"]
    assert "HX-Refresh" not in whole
    page = whole.content.decode()
    inside = page.split('<div id="experiment">')[1]
    assert "Delete experiment" in inside and "Relaunch" in inside and "every 2s" not in inside
    assert "hx-swap-oob" not in page


def test_the_part_that_moves_stays_on_the_page_of_runs_that_is_read(olga: Client, house: House) -> None:
    page = read(olga, f"/experiments/{house.experiment.id}/?page=2")
    led = re.search(rf'hx-get="(/experiments/{house.experiment.id}/progress/[^"]*)"', page)
    assert led and led[1].endswith("?page=2")


def test_what_is_to_be_said_to_the_operator_is_not_said_to_a_part(operator: object, house: House) -> None:
    house.experiment.runs.filter(state__in=("queued", "measuring")).update(state="cancelled")
    request = RequestFactory().get(f"/experiments/{house.experiment.id}/progress/")
    request.user = operator  # type: ignore[assignment]
    request.session = {}  # type: ignore[assignment]
    request._messages = FallbackStorage(request)  # type: ignore[attr-defined]
    messages.success(request, "Cancelled 2 runs.")
    answer = views.progress(request, house.experiment.id)
    assert "Cancelled 2 runs." not in answer.content.decode()
    assert [str(one) for one in get_messages(request)] == ["Cancelled 2 runs."]


def test_a_run_that_goes_on_names_what_its_end_replaces_and_one_that_ended_asks_nothing(
    olga: Client, house: House
) -> None:
    measuring = house.runs["measuring"]
    like_it = next(
        run for run in house.experiment.runs.filter(state="done") if run.configuration["topology"]["brokers"] > 1
    )
    going, done = read(olga, f"/runs/{measuring.id}/"), read(olga, f"/runs/{like_it.id}/")
    named = re.search(r'hx-trigger="ended" hx-swap="none" hx-select-oob="([^"]*)"', going)
    assert named
    parts = [part.removeprefix("#") for part in named[1].split(",")]
    assert [part for part in parts if f'id="{part}"' not in done and part != "difference"] == []
    assert "labels" not in parts  # what is typed there stays
    assert 'hx-trigger="ended"' not in done
