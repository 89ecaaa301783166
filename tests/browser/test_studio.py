"""The studio in a browser: drawn by mouse and by keyboard alone, wide and narrow; saved, refused, and never lost."""

from __future__ import annotations

import re
from collections.abc import Iterator

import httpx
import pytest
from playwright.sync_api import Browser, Page, StorageState, expect

from tests.browser.conftest import Complaints, Shown, both_widths, opened, width
from tests.browser.looking import serious
from tests.waiting import BOUND_S

PLACE = "id => document.querySelector('#canvas')._cyreg.cy.getElementById(id).renderedPosition()"
DRAWN = "() => document.querySelector('#canvas')._cyreg.cy.edges().not('.hint').length"


@pytest.fixture
def wide(chromium: Browser, session: StorageState) -> Iterator[Page]:
    """For what is the same at any width, or costs too long to be done twice."""
    with opened(chromium, session) as page:
        yield page


@pytest.fixture
def narrow(chromium: Browser, session: StorageState) -> Iterator[Page]:
    with opened(chromium, session, 390, "dark") as page:
        yield page


@pytest.fixture
def rest(shown: Shown, session: StorageState) -> Iterator[httpx.Client]:
    """REST as the same operator."""
    cookies = {cookie["name"]: cookie["value"] for cookie in session["cookies"]}
    headers = {"X-CSRFToken": cookies["csrftoken"], "Referer": shown.url}
    base = f"{shown.url}/api/topologies"
    with httpx.Client(base_url=base, cookies=cookies, headers=headers, timeout=BOUND_S) as client:
        yield client


def make(rest: httpx.Client, name: str, brokers: int = 6) -> str:
    made = rest.post("/", json={"name": name, "kind": "ring", "brokers": brokers})
    assert made.status_code == 201, made.text
    return str(made.json()["id"])


def saved(rest: httpx.Client, topology: str) -> dict:
    return rest.get(f"/{topology}/").json()


def edit(page: Page, shown: Shown, topology: str) -> None:
    page.goto(f"{shown.url}/topologies/{topology}/edit/")
    expect(page.locator("#saved")).to_have_text(re.compile(r"^Version \d+, saved$"))
    expect(page.locator("#walk-hops")).to_have_text(re.compile(r"\d"))


def expect_saved(page: Page, version: int) -> None:
    expect(page.locator("#saved")).to_have_text(f"Version {version}, saved")


def reach(page: Page) -> None:
    """Scrolls to the picture, as a hand would on a narrow screen."""
    page.locator("#canvas").evaluate("canvas => canvas.scrollIntoView({ block: 'center', behavior: 'instant' })")


def centre(page: Page, broker: str) -> tuple[float, float]:
    """Where the picture has the broker with this id, on the screen."""
    reach(page)
    box, at = page.locator("#canvas").bounding_box(), page.evaluate(PLACE, broker)
    assert box is not None
    return box["x"] + at["x"], box["y"] + at["y"]


def drag(page: Page, start: tuple[float, float], end: tuple[float, float]) -> None:
    page.mouse.move(*start)
    page.mouse.down()
    page.mouse.move((start[0] + end[0]) / 2, (start[1] + end[1]) / 2, steps=4)
    page.mouse.move(*end, steps=4)
    page.mouse.up()


@both_widths
def test_a_topology_is_drawn_by_mouse_measured_and_saved(page: Page, shown: Shown, rest: httpx.Client) -> None:
    topology = make(rest, f"Drawn by mouse, {width(page)}")
    edit(page, shown, topology)
    diameter = page.locator("[data-measure=diameter]")
    expect(diameter).to_have_text("3")

    page.get_by_role("button", name="Draw links").click()
    drag(page, centre(page, "b0"), centre(page, "b3"))
    expect(page.locator("#chosen-what")).to_have_text("Link 0 – 3")
    page.get_by_label("Delay ms", exact=True).fill("5")
    page.get_by_label("Jitter ms", exact=True).fill("9")
    page.get_by_role("button", name="Apply to this link").click()
    expect(page.locator("#link-jitter_ms-wrong")).to_have_text("9 ms exceeds the delay of 5 ms.")
    expect(page.get_by_label("Jitter ms", exact=True)).to_have_value("9")
    page.get_by_label("Jitter ms", exact=True).fill("1")
    page.get_by_role("button", name="Apply to this link").click()

    page.get_by_role("button", name="Move brokers").click()
    x, y = centre(page, "b1")
    drag(page, (x, y), (x - 60, y + 40))
    page.get_by_role("button", name="Add broker").click()
    page.get_by_label("Name", exact=True).last.fill("harbour")
    page.keyboard.press("Tab")
    expect(page.locator("#warnings")).to_contain_text("has 2 components")

    page.get_by_role("button", name="Suggest").click()
    expect(page.locator("#advice-list li").first).to_contain_text("connects the last two components")
    page.get_by_role("button", name="Add these 3 links").click()
    expect(page.locator("#warnings")).to_be_hidden()
    page.keyboard.press("Control+z")
    expect(page.locator("#warnings")).to_contain_text("has 2 components")
    page.keyboard.press("Control+Shift+z")
    expect(page.locator("#warnings")).to_be_hidden()

    page.get_by_label("Version note").fill("a chord and a harbour")
    page.get_by_role("button", name="Save as new version").click()
    expect_saved(page, 2)
    now = saved(rest, topology)
    assert (now["brokers"], len(now["links"]), now["nodes"][6]["name"]) == (7, 10, "harbour")
    [chord] = [link for link in now["links"] if (link["a"], link["b"]) == (0, 3)]
    assert (chord["delay_ms"], chord["jitter_ms"]) == (5, 1)
    assert now["nodes"][1]["x"] < 0.9
    page.get_by_role("link", name="Versions").click()
    expect(page.get_by_text("a chord and a harbour")).to_be_visible()
    page.get_by_role("link", name="Difference").first.click()
    expect(page.locator(".change-added").first).to_be_visible()
    expect(page.locator(".graph canvas").first).to_be_visible()


def test_everything_is_done_by_keyboard_alone(page: Page, shown: Shown, rest: httpx.Client) -> None:
    topology = make(rest, f"Drawn by keyboard, {width(page)}")
    edit(page, shown, topology)
    page.locator("body").press("b")  # adds a broker
    expect(page.locator("#chosen-what")).to_have_text("Broker 6")
    page.get_by_label("From broker").fill("6")
    page.get_by_label("to broker", exact=True).fill("20")
    page.keyboard.press("Enter")
    expect(page.locator("#link-to-wrong")).to_have_text("No such broker. Enter its number or name.")
    page.get_by_label("to broker", exact=True).fill("2")
    page.keyboard.press("Enter")
    expect(page.locator("#chosen-what")).to_have_text("Link 6 – 2")
    page.get_by_role("button", name="broker 4").focus()
    page.keyboard.press("Enter")
    expect(page.locator("#broker-name")).to_be_focused()
    page.keyboard.type("quay")
    page.keyboard.press("Tab")
    page.locator("#canvas").focus()
    page.keyboard.press("ArrowDown")
    page.get_by_label("Select link 0 – 1").focus()
    page.keyboard.press("Space")
    expect(page.locator("#chosen-what")).to_have_text("1 broker and 1 link")
    page.get_by_label("Select broker 4, quay").focus()
    page.keyboard.press("Space")
    page.locator("#canvas").focus()
    page.keyboard.press("Delete")
    expect(page.get_by_label("Select link 0 – 1")).to_have_count(0)
    page.get_by_role("button", name="Save as new version").focus()
    page.keyboard.press("Enter")
    expect_saved(page, 2)
    now = saved(rest, topology)
    assert (now["brokers"], now["nodes"][4]["name"]) == (7, "quay")
    assert sorted((link["a"], link["b"]) for link in now["links"]) == [(0, 5), (1, 2), (2, 3), (2, 6), (3, 4), (4, 5)]


def test_who_is_overtaken_loses_nothing_and_finds_the_way_on(
    page: Page, shown: Shown, rest: httpx.Client, complaints: Complaints
) -> None:
    complaints.expected = "409 (Conflict)"
    topology = make(rest, f"Edited by two, {width(page)}")
    edit(page, shown, topology)
    page.get_by_label("Select broker 0").check()
    page.get_by_label("Select broker 3").check()
    page.locator("body").press("l")
    assert page.evaluate(DRAWN) == 7
    renamed = f"Renamed meanwhile, {width(page)}"
    rest.patch(f"/{topology}/", json={"brokers": 8, "name": renamed}).raise_for_status()
    page.get_by_role("button", name="Save as new version").click()
    expect(page.locator("#problem-text")).to_have_text(
        "olga saved version 2 after version 1 was opened. Nothing was saved."
    )
    assert page.evaluate(DRAWN) == 7
    changes = page.get_by_role("link", name="View their changes").get_attribute("href")
    assert changes == f"/topologies/{topology}/difference/?from=1&to=2"
    page.get_by_role("button", name="Discard mine").click()
    expect_saved(page, 2)
    expect(page.get_by_label("Name", exact=True).first).to_have_value(renamed)
    assert page.evaluate(DRAWN) == 8
    page.get_by_role("button", name="Undo").click()
    assert page.evaluate(DRAWN) == 7
    rest.patch(f"/{topology}/", json={"brokers": 9}).raise_for_status()
    page.get_by_role("button", name="Save as new version").click()
    page.get_by_role("button", name="Save mine as version 4").click()
    expect_saved(page, 4)
    now = saved(rest, topology)
    assert (len(now["links"]), now["name"]) == (7, renamed)


def test_a_save_that_fails_keeps_the_drawing_and_leaving_is_asked_about(
    wide: Page, shown: Shown, rest: httpx.Client
) -> None:
    topology = make(rest, "Not saved")
    make(rest, "A name that is taken")
    edit(wide, shown, topology)
    wide.get_by_label("Name", exact=True).first.fill("A name that is taken")
    wide.get_by_role("button", name="Save as new version").click()
    expect(wide.locator("#name-wrong")).to_have_text("'A name that is taken' is taken by another topology")
    wide.get_by_role("button", name="Add broker").click()
    wide.route("**/api/topologies/*/", lambda route: route.abort())
    wide.get_by_label("Name", exact=True).first.fill("Not saved yet")
    wide.get_by_role("button", name="Save as new version").click()
    expect(wide.locator("#problem-text")).to_contain_text("The server did not respond. Your changes are kept")
    wide.unroute("**/api/topologies/*/")
    kept = wide.context.cookies()
    wide.context.clear_cookies()
    wide.get_by_role("button", name="Save as new version").click()
    expect(wide.locator("#problem-text")).to_contain_text("You are logged out. Log in in another tab")
    wide.context.add_cookies(kept)
    asked = []
    wide.once("dialog", lambda dialog: (asked.append(dialog.type), dialog.dismiss()))
    wide.get_by_role("link", name="Runs", exact=True).click()
    expect(wide.locator("#saved")).to_have_text("Version 1, unsaved changes")
    assert asked == ["beforeunload"]
    wide.get_by_role("button", name="Save as new version").click()
    expect_saved(wide, 2)
    assert saved(rest, topology)["name"] == "Not saved yet"


def test_the_studio_fits_a_narrow_screen_and_is_read_aloud(narrow: Page, shown: Shown, rest: httpx.Client) -> None:
    complaints = Complaints()
    complaints.listen(narrow, shown.url)
    topology = make(rest, "Narrow")
    put = {**{key: saved(rest, topology)[key] for key in ("nodes", "links")}, "version": 1, "note": "moved"}
    put["nodes"] = [{"name": "", "x": node["x"], "y": node["y"] / 2} for node in put["nodes"]]
    rest.put(f"/{topology}/", json=put).raise_for_status()
    for path in ("edit/", "difference/"):
        narrow.goto(f"{shown.url}/topologies/{topology}/{path}")
        narrow.wait_for_load_state("load")
        if path == "edit/":
            expect(narrow.locator("#walk-hops")).to_have_text(re.compile(r"\d"))
            narrow.get_by_label("Select link 0 – 1").check()
        over = narrow.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
        assert over == 0, path
        assert serious(narrow) == [], path
    assert complaints.said == []


def test_a_thousand_brokers_can_be_edited(wide: Page, shown: Shown, rest: httpx.Client) -> None:
    made = rest.post("/", json={"name": "Large", "kind": "ring", "brokers": 1000})
    topology = made.json()["id"]
    edit(wide, shown, topology)
    wide.get_by_label("Find a broker").fill("broker 999")
    wide.get_by_role("button", name="broker 999").click()
    wide.locator("#broker-name").fill("last")
    wide.keyboard.press("Tab")
    wide.get_by_role("button", name="Save as new version").click()
    expect_saved(wide, 2)
    assert saved(rest, topology)["nodes"][999]["name"] == "last"


def test_what_falls_into_parts_is_seen_measured_and_warned_of_where_it_is_launched(page: Page, shown: Shown) -> None:
    page.goto(f"{shown.url}/topologies/import/")
    name = f"Islands, {width(page)}"
    page.get_by_label("Name", exact=True).fill(name)
    page.get_by_label("Or paste the text").fill("quay,crane\ncrane,gate\nbuoy\n")
    page.get_by_role("button", name="Import").click()
    told = "It has 2 components (3 brokers; broker buoy without links)"
    expect(page.get_by_text(told)).to_be_visible()
    expect(page.locator("#walked")).to_contain_text("hops, success rate")
    expect(page.locator("#advised li")).to_have_count(3)
    expect(page.locator("#advised li").first).to_contain_text("buoy – crane: connects the last two components")
    page.get_by_label("Walk policy").select_option("goes anywhere")
    expect(page.locator("#walked")).to_contain_text("hops, success rate")
    advice = page.get_by_role("region", name="Suggested links")
    advice.get_by_label("Links").select_option("1")
    advice.get_by_role("button", name="Suggest").click()
    expect(page.locator("#advised li")).to_have_count(1)
    assert serious(page) == []

    page.goto(f"{shown.url}/networks/new/")
    page.get_by_label("Topology").select_option(label=f"{name} (4 brokers, 2 components)")
    expect(page.get_by_text(told)).to_be_visible()
    page.get_by_label("Topology").select_option("")
    expect(page.get_by_text(told)).to_have_count(0)

    page.goto(f"{shown.url}/experiments/new/")
    page.get_by_role("checkbox", name=name).check()
    expect(page.get_by_text(f"The topology {name} has 2 components")).to_be_visible()
    expect(page.get_by_role("button", name=re.compile("^Launch 5 runs"))).to_be_enabled()
    page.get_by_role("checkbox", name=name).uncheck()
    page.get_by_role("checkbox", name=re.compile("^Ring of 10 10 brokers")).check()  # and not its copy
    expect(page.get_by_text("has 2 components")).to_have_count(0)


@both_widths
def test_what_is_wrong_with_a_new_topology_stands_beside_its_fields_and_one_goes_on_from_there(
    page: Page, shown: Shown, complaints: Complaints
) -> None:
    complaints.expected = "400 (Bad Request)"
    page.goto(f"{shown.url}/topologies/new/?kind=custom")
    page.get_by_label("Links", exact=True).fill("0 1\n1 two")
    page.get_by_role("button", name="Save topology").click()
    name, links = page.locator("#name"), page.locator("#links")
    expect(name).to_be_focused()
    expect(name).to_have_accessible_description("Must be 1 to 100 printable characters.")
    expect(links).to_have_accessible_description(re.compile("^Line 2 does not have two broker numbers: '1 two'."))
    expect(links).to_have_value("0 1\n1 two")
    page.keyboard.type(f"Typed again, {width(page)}")
    links.fill("0 1\n1 2")
    page.get_by_role("button", name="Save topology").click()
    expect(page.get_by_role("heading", level=1)).to_have_text(f"Typed again, {width(page)}")
