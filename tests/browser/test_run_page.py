"""The page of a run and of one of its queries: one cursor, one broker, one message, wide and narrow."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import pytest
from playwright.sync_api import Page, Route, WebSocketRoute, expect

from tests.browser.conftest import WIDE, Complaints, Shown, both_widths

SELECTED = "box => box._cyreg.cy.nodes(':selected').map(node => node.data('index'))"
CHOSEN = "box => box._cyreg.cy.edges('.chosen').map(edge => edge.id())"


def test_a_broker_is_opened_from_the_table_and_closed_by_the_keyboard_alone(page: Page, shown: Shown) -> None:
    page.goto(shown.url + shown.addresses["run-measuring"])
    panel, overlay = page.locator("#broker"), page.locator("#overlay")
    expect(panel.locator("[data-figure='totals.load_per_s']")).to_have_text(re.compile(r"\d+/s"))
    button = page.locator("#broker-rows button").nth(1)
    button.focus()
    page.keyboard.press("Enter")
    expect(panel.get_by_role("heading", name="Broker 1")).to_be_focused()
    expect(panel).to_contain_text("Neighbours")
    assert overlay.evaluate(SELECTED) == [1]
    assert page.url.endswith("?broker=1")
    page.keyboard.press("Escape")
    expect(panel).to_contain_text("All brokers")
    expect(button).to_be_focused()
    assert overlay.evaluate(SELECTED) == []
    assert "broker=" not in page.url


@pytest.mark.parametrize("page", [WIDE], indirect=True)
def test_an_address_with_a_broker_opens_it_and_its_neighbours_are_a_click_away(page: Page, shown: Shown) -> None:
    page.goto(shown.url + shown.addresses["run-measuring"] + "?broker=2")
    panel = page.locator("#broker")
    expect(panel.get_by_role("heading", name="Broker 2")).to_be_visible()
    panel.get_by_role("button", name="Broker 0").click()
    expect(panel.get_by_role("heading", name="Broker 0")).to_be_visible()
    assert page.url.endswith("?broker=0")


@pytest.mark.parametrize("page", [WIDE], indirect=True)
def test_nothing_is_asked_of_a_broker_while_none_is_open(page: Page, shown: Shown) -> None:
    page.goto(shown.url + shown.addresses["run-measuring"] + "?broker=0")
    panel = page.locator("#broker")
    with page.expect_request(re.compile("part=now")):
        pass
    panel.get_by_role("button", name="Close").click()
    expect(panel).to_contain_text("All brokers")
    expect(panel).to_be_focused()
    assert page.evaluate("document.querySelectorAll('[hx-trigger*=every]').length") == 0


@pytest.mark.parametrize("page", [WIDE], indirect=True)
def test_what_a_poll_asks_for_in_vain_is_said_once_and_what_is_gone_is_asked_for_no_more(
    page: Page, shown: Shown, complaints: Complaints
) -> None:
    answers = [500, 200, 404]

    def answer(route: Route) -> None:
        status = answers.pop(0)
        complaints.expected = str(status)
        if status == 200:
            route.continue_()
        else:
            route.fulfill(status=status)

    page.route(re.compile("part=now"), answer)
    page.goto(shown.url + shown.addresses["run-measuring"] + "?broker=0")
    toasts = page.locator("#toasts")
    expect(toasts).to_contain_text("The page may be outdated")
    expect(toasts).to_be_empty()
    expect(toasts).to_contain_text("no longer exists")
    assert answers == []
    expect(page.locator("#broker-now")).to_have_attribute("data-gone", "")


@pytest.mark.parametrize("page", [WIDE], indirect=True)
def test_a_series_that_is_shown_alone_stays_alone_on_another_scale_and_in_other_colours(
    page: Page, shown: Shown
) -> None:
    page.goto(shown.url + shown.addresses["run-measuring"])
    chart = page.locator("[data-chart=latency]")
    expect(chart.locator("[data-plot]")).not_to_have_attribute("data-empty", re.compile(".*"))
    chart.get_by_role("button", name=re.compile("^p50")).first.click()
    chart.get_by_role("button", name="linear").click()
    page.evaluate("document.dispatchEvent(new Event('themechange'))")
    expect(chart.locator("[data-legend] [aria-pressed=true]")).to_have_count(1)
    chart.get_by_role("button", name=re.compile("^p50")).first.click()
    expect(chart.locator("[data-legend] [aria-pressed=false]")).to_have_count(0)


@pytest.mark.parametrize("page", [WIDE], indirect=True)
def test_of_an_empty_chart_there_is_nothing_to_take_away(page: Page, shown: Shown) -> None:
    page.goto(shown.url + shown.addresses["run-queued"])
    expect(page.locator("[data-chart=latency] [data-plot]")).to_have_attribute("data-empty", "")
    expect(page.locator("[data-chart=latency] [data-save]").first).to_be_hidden()


@both_widths
def test_one_cursor_tells_the_time_and_the_values_of_all_charts(page: Page, shown: Shown) -> None:
    page.goto(shown.url + shown.addresses["run-measuring"])
    times = page.locator(".cursor-time")
    expect(page.locator("[data-chart=latency] [data-plot]")).not_to_have_attribute("data-empty", re.compile(".*"))
    page.locator("[data-chart=latency] .u-over").hover()
    said = times.first.inner_text()
    assert re.fullmatch(r"at \d+\ss", said)
    expect(times).to_have_text([said] * times.count())
    expect(page.locator("[data-chart=cores] .value").first).to_have_text(re.compile(r"\d"))


@pytest.mark.parametrize("page", [WIDE], indirect=True)
def test_a_chart_is_taken_away_as_svg_png_and_csv(page: Page, shown: Shown) -> None:
    page.goto(shown.url + shown.addresses["run-measuring"])
    chart = page.locator("[data-chart=latency]")
    expect(chart.locator("[data-plot]")).not_to_have_attribute("data-empty", re.compile(".*"))
    taken = {}
    for kind in ("SVG", "PNG", "CSV"):
        with page.expect_download() as download:
            chart.get_by_role("button", name=kind).click()
        assert download.value.suggested_filename.endswith(f"-latency.{kind.lower()}")
        taken[kind] = download.value.path().read_bytes()
    picture = ElementTree.fromstring(taken["SVG"])
    words = [text.text for text in picture.iter("{http://www.w3.org/2000/svg}text")]
    assert {"p50", "p99", "2   3.0\u202fs   measuring"} <= set(words)
    assert "NaN" not in taken["SVG"].decode()
    assert taken["CSV"].decode().startswith("t_s,p50_us,p95_us,p99_us,mean_us\n")


def test_an_event_leads_to_its_second_and_kinds_are_filtered(page: Page, shown: Shown) -> None:
    page.goto(shown.url + shown.addresses["run-measuring"])
    events = page.locator("#events li:visible")
    began = page.locator("#events li", has_text="measuring began").get_by_role("button")
    began.focus()
    expect(page.locator(".cursor-time").first).to_have_text(re.compile(r"at 3\ss"))
    count = events.count()
    page.get_by_label("Show", exact=True).select_option("fault")
    expect(events).to_have_count(0)
    expect(page.locator("#timeline [data-none]")).to_be_visible()
    page.get_by_label("Show", exact=True).select_option("phase")
    expect(events).to_have_count(count)


@pytest.mark.parametrize("page", [WIDE], indirect=True)
def test_logs_are_read_when_they_are_opened(page: Page, shown: Shown) -> None:
    page.goto(shown.url + shown.addresses["run-done"])
    page.get_by_text("Process logs").click()
    expect(page.locator("#log table")).to_be_visible()
    page.get_by_label("Process", exact=True).select_option("supervisor")
    expect(page.locator("#log tbody tr").first).to_contain_text("supervisor")


def test_tags_and_a_note_are_written_on_the_page_and_what_is_wrong_stays_typed(page: Page, shown: Shown) -> None:
    page.goto(shown.url + shown.addresses["run-done"])
    labels = page.locator("#labels")
    labels.get_by_role("button").click()
    labels.get_by_label("Tags", exact=True).fill("nightly !")
    labels.get_by_label("Note", exact=True).fill("Seen by a test.")
    labels.get_by_role("button", name="Save").click()
    expect(labels.get_by_role("alert")).to_contain_text("is not a valid tag")
    expect(labels.get_by_label("Note", exact=True)).to_have_value("Seen by a test.")
    labels.get_by_label("Tags", exact=True).fill("nightly")
    labels.get_by_role("button", name="Save").click()
    expect(labels.get_by_role("link", name="#nightly")).to_be_visible()
    expect(labels).to_contain_text("Seen by a test.")


@pytest.mark.parametrize("page", [WIDE], indirect=True)
def test_a_lost_connection_is_said_and_comes_back_by_itself(page: Page, shown: Shown, complaints: Complaints) -> None:
    complaints.expected = "WebSocket"
    lost: list[str] = []

    def lose_the_first(socket: WebSocketRoute) -> None:
        if lost:
            socket.connect_to_server()
            return
        lost.append(socket.url)
        socket.close(code=1011)

    with page.context.new_page() as other:
        other.route_web_socket(re.compile("/ws/"), lose_the_first)
        other.goto(shown.url + shown.addresses["run-measuring"])
        connection = other.locator("#connection")
        expect(connection).to_contain_text("Not connected since")
        expect(connection).to_have_attribute("data-live", "yes")
        expect(other.locator("#figures dd").first).to_have_text(re.compile(r"\d"))
    assert lost


@both_widths
def test_a_query_is_stepped_through_in_its_picture_its_diagram_and_its_table(page: Page, shown: Shown) -> None:
    page.goto(shown.url + shown.addresses["query"])
    told, diagram = page.locator("#message-description"), page.locator("#sequence")
    expect(page.locator("#ending")).to_contain_text("Another broker had the data")
    expect(diagram.locator("[data-message]").first).to_be_visible()
    page.keyboard.press("ArrowRight")
    expect(told).to_contain_text("from consumer to broker 0")
    page.keyboard.press("ArrowRight")
    expect(told).to_contain_text(re.compile(r"Hop 1: request \(code 3\) from broker 0 to broker \d+, .* took 280"))
    assert page.locator("#walk").evaluate(CHOSEN) == ["p0"]
    expect(page.locator("#passages [aria-pressed=true]")).to_have_count(1)
    page.keyboard.press("ArrowLeft")
    expect(page.locator("#passages [aria-pressed=true]")).to_have_count(0)
    page.locator("#passages button").nth(1).click()
    expect(told).to_contain_text("Hop 2")
    page.keyboard.press("Escape")
    expect(told).to_contain_text("Select a message")


def test_a_diagram_is_spaced_by_time_or_by_steps_and_taken_away(page: Page, shown: Shown) -> None:
    page.goto(shown.url + shown.addresses["query"])
    diagram = page.locator("#sequence svg")
    lanes = diagram.get_by_text(re.compile(r"^(consumer|broker \d+)$"))
    expect(lanes.first).to_have_text("consumer")
    before = diagram.get_attribute("height")
    page.get_by_role("button", name="milliseconds").click()
    assert page.locator("#sequence svg").get_attribute("height") != before
    for kind in ("SVG", "PNG"):
        with page.expect_download() as download:
            page.locator("#sequence-tools").get_by_role("button", name=kind).click()
        assert download.value.suggested_filename.endswith(kind.lower())
