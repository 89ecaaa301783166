"""Refused requests: a page with the reason and a next step, and nothing is changed."""

from __future__ import annotations

from html import unescape

from django.contrib.auth.models import User
from django.test import Client

from brokerweb.accounts.models import Token
from brokerweb.topologies.models import Topology
from tests.pages.furniture import House

RING = {"kind": "ring", "name": "mine", "brokers": "4", "seed": "0"}


def test_a_form_that_is_sent_after_the_log_in_has_ended_is_not_lost(client: Client, operator: User) -> None:
    answer = client.post("/topologies/new/", RING)
    assert answer.status_code == 403
    assert "You are logged out" in answer.content.decode()
    assert "keeps your input" in answer.content.decode()
    part = client.post("/topologies/new/", RING, headers={"HX-Request": "true"})
    assert (part.status_code, part["Content-Type"]) == (403, "text/plain")
    assert part.content.decode().startswith("You are logged out.")
    client.force_login(operator)
    assert client.post("/topologies/new/", RING).status_code == 302
    assert Topology.objects.get().name == "mine"


def test_a_part_of_a_page_says_so_too_when_the_log_in_has_ended(client: Client) -> None:
    for address in ("/networks/campus/context/", "/wire/", "/wire/decoded/", "/wire/composed/"):
        part = client.post(address, {"text": "1|5"}, headers={"HX-Request": "true"})
        assert (part.status_code, part["Content-Type"]) == (403, "text/plain"), address
        assert part.content.decode().startswith("You are logged out.")


def test_a_page_that_was_open_too_long_says_how_to_go_on(operator: User) -> None:
    browser = Client(enforce_csrf_checks=True)
    browser.force_login(operator)
    refused = browser.post("/topologies/new/", {**RING, "csrfmiddlewaretoken": "of last month"})
    assert refused.status_code == 403
    assert "This form has expired" in refused.content.decode()
    assert not Topology.objects.exists()
    # What the page's script sends instead is the token in the cookie, which a log-in in another tab has renewed.
    token = browser.get("/topologies/new/").cookies["csrftoken"].value
    assert browser.post("/topologies/new/", {**RING, "csrfmiddlewaretoken": token}).status_code == 302


def test_an_address_that_changes_something_says_so_when_it_is_opened(olga: Client, house: House) -> None:
    for address in (f"/runs/{house.runs['measuring'].id}/cancel/", "/account/tokens/"):
        answer = olga.get(address)
        assert (answer.status_code, answer["Allow"]) == (405, "POST")
        assert "Method not allowed" in answer.content.decode()


def test_who_guesses_too_often_is_told_how_long_to_wait(client: Client, operator: User) -> None:
    for _ in range(12):
        answer = client.post("/login/", {"username": "olga", "password": "guess"})
    assert answer.status_code == 429
    assert "Try again in 15 minutes" in answer.content.decode()


def test_a_wrong_token_has_its_sentence_beside_the_field_and_keeps_what_was_typed(olga: Client) -> None:
    answer = olga.post("/account/tokens/", {"name": "n" * 101, "scope": "write"})
    page = answer.content.decode()
    assert answer.status_code == 400
    assert "must be at most 100 printable characters" in page
    assert f'value="{"n" * 101}"' in page
    assert 'value="write" checked' in page
    assert not Token.objects.exists()


def test_what_a_new_password_needs_and_ends_is_said_where_it_is_typed(olga: Client, operator: User) -> None:
    for address in ("/account/password/", f"/admin/auth/user/{operator.pk}/password/"):
        page = unescape(olga.get(address).content.decode())
        assert "must contain at least 8 characters" in page, address
        assert "Changing the password ends the account’s other sessions and revokes its tokens." in page, address
    assert 'aria-describedby="id_new_password1-help"' in olga.get("/account/password/").content.decode()
    wrong = olga.post("/account/password/", {"old_password": "guess"}).content.decode()
    assert 'aria-describedby="id_new_password1-wrong id_new_password1-help"' in wrong


def test_a_person_changes_the_password_knowing_the_present_one(viktor: Client) -> None:
    fresh = {"new_password1": "stapled battery", "new_password2": "stapled battery"}
    wrong = viktor.post("/account/password/", {"old_password": "guess", **fresh}).content.decode()
    assert "Your old password was entered incorrectly" in wrong
    assert viktor.post("/account/password/", {"old_password": "battery staple", **fresh})["Location"] == "/account/"
    assert "Your other sessions have ended and your tokens are revoked" in viktor.get("/account/").content.decode()
    browser = Client()
    sent = browser.post("/login/", {"username": "viktor", "password": "stapled battery"})
    assert sent["Location"] == "/"


def test_a_page_that_watches_a_report_is_asked_for_anew_once_it_has_ended(olga: Client, house: House) -> None:
    assert olga.get(f"/reports/{house.report.id}/progress/")["HX-Refresh"] == "true"


def test_what_a_report_found_is_rendered_once_and_for_each_kind_of_reader(
    olga: Client, viktor: Client, house: House
) -> None:
    address = f"/reports/{house.report.id}/"
    first, again = olga.get(address).content.decode(), olga.get(address).content.decode()
    assert first.count("data-report-chart") == again.count("data-report-chart") > 5
    assert "/experiments/new/" in first
    assert "/experiments/new/" not in viktor.get(address).content.decode()
