"""Every page that there is, looked at wide and narrow, light and dark: whole, quiet, in its place, and usable by all.

The pages are found by following links, so one that is added is looked at without being listed here.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, StorageState

from tests.browser.conftest import Shown
from tests.browser.looking import SCREEN, Look, look
from tests.thorough import PART, THOROUGH

NO_PAGE_LEADS_THERE = {"oidc", "oidc-callback"}
"""Names of addresses that are reached by scripts alone, or where an OpenID provider is set."""
STATES = ("run-queued", "run-measuring", "run-failed", "varied", "topology-waxman")
"""Pages that look different in another state."""
REFUSED = {"/nowhere/": 404, "/account/tokens/": 405}
"""Pages that say why one is not shown what one asked for."""

NEIGHBOURS = ("/admin/", "/admin/experiments/run/", "/admin/topologies/topology/", "/api/docs/")
"""Pages that others made: the administration and the description of REST; their headings and titles are their own."""
AS_THEY_ARE = ("label-title-only", "nested-interactive")
"""What axe finds in them: the administration's search is labelled by a picture with a text, and Swagger UI puts the
permalink of each operation into the button that opens it."""

JUMP = 0.1
"""Cumulative layout shift up to which a page counts as still."""


@pytest.fixture(scope="module")
def looked(chromium: Browser, shown: Shown, session: StorageState) -> Iterator[dict[str, Look]]:
    """What was seen, by address."""
    states = [shown.addresses[name] for name in STATES]
    addresses = list(dict.fromkeys([*shown.pages.values(), *states]))[:: 1 if THOROUGH else 2]
    addresses += [*REFUSED, *NEIGHBOURS]
    with chromium.new_context(**SCREEN, storage_state=session) as context:
        seen = {
            address: look(context, shown.url, address, axe=THOROUGH or not place % PART)
            for place, address in enumerate(addresses)
        }
    with chromium.new_context(**SCREEN) as context:
        seen["/login/"] = look(context, shown.url, "/login/")
    yield seen


def told(problems: dict[str, object]) -> None:
    """Fails with a line for each address that has something to tell."""
    lines = [f"{address}: {problem}" for address, problem in problems.items() if problem]
    assert not lines, "\n".join(lines)


def test_every_link_leads_somewhere_and_every_address_is_led_to(shown: Shown) -> None:
    told(dict(shown.wrong))
    assert set(shown.forgotten) - NO_PAGE_LEADS_THERE == set()
    assert len(shown.pages) > 20


def test_every_page_is_answered_and_quiet(looked: dict[str, Look]) -> None:
    assert {address: one.status for address, one in looked.items() if one.status != REFUSED.get(address, 200)} == {}
    # That a page is refused, the browser's console says too.
    told({address: one.said for address, one in looked.items() if address not in REFUSED})


def test_every_page_has_a_title_and_one_heading(looked: dict[str, Look]) -> None:
    ours = {address: one for address, one in looked.items() if address not in NEIGHBOURS}
    told({address: one.headings for address, one in ours.items() if len(one.headings) != 1})
    # Only the home page is called by the name of the house alone.
    assert [address for address, one in ours.items() if " · Waxwing" not in one.title and address != "/"] == []


def test_no_page_is_wider_than_its_screen_or_under_the_rail(looked: dict[str, Look]) -> None:
    told({address: one.too_wide for address, one in looked.items()})
    told({address: one.under_rail for address, one in looked.items()})


def test_no_page_jumps_while_it_is_loaded(looked: dict[str, Look]) -> None:
    told(
        {
            address: round(one.shifted, 3)
            for address, one in looked.items()
            if one.shifted > JUMP and address not in NEIGHBOURS
        }
    )


def test_every_page_can_be_used_without_good_eyes(looked: dict[str, Look]) -> None:
    found = {
        address: [
            line for line in one.axe if address not in NEIGHBOURS or not any(rule in line for rule in AS_THEY_ARE)
        ]
        for address, one in looked.items()
    }
    told({address: "\n  ".join(lines) for address, lines in found.items()})
