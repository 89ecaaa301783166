"""The wire lab in a browser: a datagram pasted and read, composed and sent to a broker, and a recorded one opened."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, StorageState, expect

from tests.browser.conftest import NETWORK_HOST, Shown, both_widths
from tests.browser.looking import SCREEN, look
from tests.runtime.daemons import Daemon

REQUEST = b"3|1795338000000|room|r1|temp"
WRONG = b"3|05|room||temp|nowhere"
LONG = b"4|5|9|p1|room|r1|temp|1|2|degC=21.5|127.0.0.1|40000|127.0.0.1|7001|*"


@pytest.fixture(scope="module")
def index() -> Iterator[int]:
    """Of the broker of the house's network that lives while this module runs: the first whose port is free."""
    for index in range(10):
        try:
            daemon = Daemon(bind=f"{NETWORK_HOST}:{7000 + index}")
        except ValueError:  # it ended without a word on standard output
            continue
        yield index
        daemon.end()
        return
    pytest.skip("every port of the house's network is in use")


def test_what_is_pasted_is_taken_apart_as_one_types_and_the_address_is_the_view(page: Page, shown: Shown) -> None:
    page.goto(f"{shown.url}/wire/")
    expect(page.locator("#wire-decoded")).to_contain_text("No datagram yet")
    page.get_by_label("Datagram", exact=True).fill(REQUEST.hex(" "))
    expect(page.locator("#wire-decoded h2").first).to_contain_text("ContextRequest")
    expect(page).to_have_url(f"{shown.url}/wire/?d={REQUEST.hex()}")
    expect(page.locator("#verdict")).to_contain_text("accepted")
    page.reload()
    expect(page.locator("#wire-decoded h2").first).to_contain_text("ContextRequest")
    page.get_by_label("Datagram", exact=True).fill("33 7c 3")
    expect(page.locator("#wire-wrong")).to_contain_text("an odd number; the last one, '3' at character 7")
    expect(page.get_by_label("Datagram", exact=True)).to_have_value("33 7c 3")
    page.get_by_label("Datagram", exact=True).fill("3|5|room")
    expect(page.locator("#verdict")).to_contain_text("NACK 301 BAD_REQUEST")
    expect(page.locator("#wire-wrong")).to_have_text("")
    page.get_by_role("button", name="Decode").click()
    expect(page).to_have_url(f"{shown.url}/wire/?d={b'3|5|room'.hex()}")


@both_widths
def test_a_field_and_its_bytes_light_up_together_by_mouse_and_by_keyboard(page: Page, shown: Shown) -> None:
    page.goto(f"{shown.url}/wire/?d={LONG.hex()}")
    name = page.get_by_role("button", name="Payload", exact=True)
    lit = page.locator(".hex .lit")
    name.focus()
    expect(lit.first).to_be_visible()
    shown_bytes = "".join(page.locator(".hex-bytes .lit").all_inner_texts())
    assert bytes.fromhex(shown_bytes) == b"degC=21.5"
    page.keyboard.press("Enter")
    expect(name).to_have_attribute("aria-pressed", "true")
    page.get_by_role("button", name="Scope", exact=True).hover()
    expect(page.locator("tr.lit")).to_contain_text("Scope")
    page.locator(".hex-bytes span[data-field]").first.hover()
    expect(page.locator("tr.lit")).to_contain_text("MessageType")
    name.click()
    expect(name).to_have_attribute("aria-pressed", "false")


def test_a_datagram_is_composed_sent_and_answered(page: Page, shown: Shown, index: int) -> None:
    page.goto(f"{shown.url}/wire/compose/?code=20")
    expect(page.locator("#wire-decoded h2").first).to_contain_text("StatsRequest")
    expect(page.locator("#wire-payload")).to_contain_text("This does not change the broker's state")
    page.get_by_label("Trailing bytes").fill("|x")
    expect(page.locator("#verdict")).to_contain_text("refused")
    page.get_by_label("Trailing bytes").fill("")
    expect(page.locator("#verdict")).to_contain_text("accepted")
    page.get_by_label("Broker", exact=True).fill(str(index))
    page.get_by_role("button", name="Send datagram").click()
    answers = page.locator("#wire-answers")
    expect(answers).to_contain_text(re.compile(r"1 answer\. Sent to broker \d of campus"))
    expect(answers).to_contain_text("StatsResponse")
    expect(answers).to_contain_text(re.compile(r"\d.(µs|ms)"))
    page.get_by_label("Broker", exact=True).fill("77")
    page.get_by_role("button", name="Send datagram").click()
    expect(answers).to_contain_text("is not a running broker")


def test_what_changes_a_broker_is_asked_about_first(page: Page, shown: Shown, index: int) -> None:
    page.goto(f"{shown.url}/wire/?d={b'0|5'.hex()}")
    expect(page.locator("#wire-payload")).to_contain_text("This changes the broker's state.")
    page.get_by_label("Broker", exact=True).fill(str(index))
    asked: list[str] = []
    page.once("dialog", lambda dialog: (asked.append(dialog.message), dialog.dismiss()))
    page.get_by_role("button", name="Send datagram").click()
    page.once("dialog", lambda dialog: (asked.append(dialog.message), dialog.accept()))
    page.get_by_role("button", name="Send datagram").click()
    expect(page.locator("#wire-answers")).to_contain_text("1 answer.")
    assert asked == ["The broker monitors its neighbours from now on. Send it?"] * 2


def test_a_recorded_message_is_opened_from_the_replay_and_taken_to_wireshark(page: Page, shown: Shown) -> None:
    page.goto(shown.url + shown.addresses["replay"])
    page.get_by_role("link", name="table in the wire lab").click()
    page.get_by_label("Message", exact=True).select_option(label="4 answer")
    page.get_by_role("button", name="Show").click()
    with page.expect_download() as download:
        page.get_by_role("link", name="pcapng for Wireshark").click()
    assert download.value.suggested_filename.endswith("-simulated.pcapng")
    assert download.value.path().read_bytes().startswith(bytes.fromhex("0a0d0d0a"))
    page.locator("tbody a").first.click()
    expect(page.locator("#wire-decoded h2").first).to_contain_text("ContextResponse")
    page.get_by_role("link", name="Next").click()
    expect(page.locator(".toolbar").first).to_contain_text("after the launch")


def test_datagrams_and_recorded_messages_are_whole_and_usable_by_all(
    chromium: Browser, shown: Shown, session: StorageState
) -> None:
    """The pages of the lab as they are when they show something; the empty ones are looked at with all others."""
    replay = shown.addresses["replay"].split("/")[2]
    addresses = [f"/wire/?d={WRONG.hex()}", f"/wire/messages/?run={replay}&code=0"]
    with chromium.new_context(**SCREEN, storage_state=session) as context:
        for address in addresses:
            seen = look(context, shown.url, address)
            assert (seen.status, seen.too_wide, seen.under_rail, seen.said, seen.axe) == (200, {}, [], [], []), address
            assert seen.headings == ["Wire lab"]
            assert seen.shifted < 0.1
