"""Tasks in a browser, on a wide and light screen and on a narrow and dark one."""

from __future__ import annotations

import json
import re

import pytest
from playwright.sync_api import Page, Route, expect

from tests.browser.conftest import WIDE, Shown, both_widths, turn_narrow


@both_widths
def test_the_charts_of_a_run_are_drawn_and_its_numbers_are_read(page: Page, shown: Shown) -> None:
    page.goto(shown.url + shown.addresses["run-measuring"])
    latency = page.locator("[data-chart=latency]")
    expect(latency.locator("canvas")).to_be_visible()
    expect(latency.locator("[data-plot]")).not_to_have_attribute("data-empty", re.compile(""))
    expect(page.locator("[data-figure='latency.p95']")).to_have_text(re.compile(r"\d.*(µs|ms)"))
    latency.get_by_role("button", name="linear").click()
    expect(latency.get_by_role("button", name="linear")).to_have_attribute("aria-pressed", "true")
    expect(page.locator("#overlay canvas").first).to_be_visible()
    expect(page.locator("#events li").first).to_be_visible()


def test_the_marks_of_the_charts_are_a_list_that_leads_the_cursor_of_all_of_them(page: Page, shown: Shown) -> None:
    page.goto(shown.url + shown.addresses["run-done"])
    marks = page.locator("#marks button")
    expect(marks).to_have_count(3)
    expect(marks.nth(1)).to_have_text(re.compile(r"2, phase, [\d.]+\u202fsmeasuring"))
    expect(page.locator("[data-chart=outcomes] .chart-legend .value").first).to_have_text("")
    marks.nth(0).focus()
    page.keyboard.press("Tab")
    expect(marks.nth(1)).to_be_focused()
    for chart in ("latency", "outcomes", "memory"):
        expect(page.locator(f"[data-chart={chart}] .chart-legend .value").first).to_have_text(re.compile(r"\d"))
    with page.expect_download() as download:
        page.locator("[data-chart=latency]").get_by_role("button", name="PNG").click()
    assert download.value.suggested_filename.endswith("-latency.png")


def test_a_broker_is_read_beside_the_overlay_and_its_memory_by_kind(page: Page, shown: Shown) -> None:
    page.goto(shown.url + shown.addresses["run-measuring"])
    memory = page.locator("[data-chart=memory]")
    expect(memory.locator("[data-legend]")).to_contain_text("PSS")
    memory.get_by_role("button", name="added over idle").click()
    expect(memory.locator("[data-legend]")).not_to_contain_text("PSS")
    expect(memory.locator("[data-legend] .value")).to_have_text(re.compile(r"\d.*(kB|MB)"))
    expect(page.locator("#events")).to_contain_text("measuring began")
    page.locator("#broker-rows").get_by_role("button", name="Broker 1", exact=True).click()
    expect(page.locator("#broker h3")).to_have_text("Broker 1")
    expect(page.locator("#broker")).to_contain_text("Neighbours")
    page.locator("#broker").get_by_role("button", name="Close").click()
    expect(page.locator("#broker h3")).to_have_text("All brokers")


@both_widths
def test_a_log_axis_names_its_ends_whatever_has_room_between(page: Page, shown: Shown) -> None:
    page.goto(shown.url + shown.addresses["run-done"])
    named = page.evaluate("""async () => {
      const { LiveChart } = await import("/static/js/livechart.js");
      const splits = [2, 3, 4].flatMap((power) => [1, 2, 3, 4, 5, 6, 7, 8, 9].map((step) => step * 10 ** power));
      return [[200, 50_000, 110], [1_000, 50_000, 200]].map(([min, max, height]) => {
        const valToPos = (value) => height * (1 - Math.log(value / min) / Math.log(max / min));
        const inside = splits.filter((value) => value >= min && value <= max);
        return LiveChart.prototype.named({ scales: { y: { min, max } }, valToPos }, inside).filter(Boolean);
      });
    }""")
    assert named == [[200, 1_000, 10_000, 50_000], [1_000, 2_000, 5_000, 10_000, 20_000, 50_000]]


@pytest.mark.parametrize("page", [WIDE], indirect=True)
def test_configurations_whose_names_have_no_room_under_the_axis_are_numbered(page: Page, shown: Shown) -> None:
    page.goto(shown.url + shown.addresses["report"])
    memory = page.locator("[data-report-chart=memory]")
    memory.scroll_into_view_if_needed()
    numbered = memory.locator("text", has_text="Configuration (number in the tables)")
    expect(memory.locator("text", has_text="One central broker")).to_have_count(1)
    expect(memory.locator("text", has_text=re.compile(r"^2\sMB$"))).to_have_count(1)
    expect(numbered).to_have_count(0)
    turn_narrow(page)
    expect(numbered).to_have_count(1)
    expect(memory.locator("text", has_text="One central broker")).to_have_count(0)


@both_widths
def test_a_report_draws_its_charts_when_they_come_into_view(page: Page, shown: Shown) -> None:
    page.goto(shown.url + shown.addresses["report"])
    figures = page.locator("[data-report-chart]")
    assert figures.count() >= 7
    for at in range(figures.count()):
        figures.nth(at).scroll_into_view_if_needed()
        expect(figures.nth(at).locator("svg path").first).to_be_attached()
    with page.expect_download() as download:
        figures.first.get_by_role("button", name="CSV").click()
    assert download.value.suggested_filename.endswith(".csv")


def test_of_many_lines_one_is_read_alone(page: Page, shown: Shown) -> None:
    """Thirty configurations in a chart that has room for the marks of twenty-four."""

    def with_many_lines(route: Route) -> None:
        response = route.fetch()
        head, charts, rest = re.split(
            r'(?<=<script id="charts" type="application/json">)(.*?)(?=</script>)', response.text()
        )
        drawn = json.loads(charts)
        measured = next(series for series in drawn["percentiles"]["series"] if series["line"])
        drawn["percentiles"]["series"] = [{**measured, "name": f"setting {number}"} for number in range(30)]
        route.fulfill(response=response, body=head + json.dumps(drawn) + rest)

    page.route(re.compile(f"{shown.addresses['report']}$"), with_many_lines)
    page.goto(shown.url + shown.addresses["report"])
    figure = page.locator("[data-report-chart=percentiles]")
    figure.scroll_into_view_if_needed()
    expect(figure.locator("[data-legend]")).to_contain_text("30 lines, drawn without markers")
    joined = figure.locator("svg path").count()
    figure.get_by_role("button", name="setting 17").click()
    expect(figure.get_by_role("button", name="setting 17")).to_have_attribute("aria-pressed", "true")
    expect(figure.get_by_role("button", name="setting 16")).to_have_attribute("aria-pressed", "false")
    assert figure.locator("svg path").count() > joined, "with its points"


def test_a_new_topology_is_drawn_as_it_is_described_and_then_saved(page: Page, shown: Shown) -> None:
    page.goto(f"{shown.url}/topologies/new/?kind=waxman&preset=mean-degree-2")
    name = f"Drawn at {page.viewport_size['width'] if page.viewport_size else 0}"
    page.get_by_label("Name", exact=True).fill(name)
    with page.expect_response("**/topologies/preview/"):
        page.get_by_label("Brokers", exact=True).fill("16")
    expect(page.locator("#preview dd").first).to_have_text("16")
    page.get_by_label("Brokers", exact=True).fill("1")
    expect(page.locator("#preview")).to_contain_text("takes from 2")
    page.get_by_label("Brokers", exact=True).fill("16")
    expect(page.locator("#preview canvas").first).to_be_visible()
    page.get_by_role("button", name="Save topology").click()
    expect(page.get_by_role("heading", name=name)).to_be_visible()


def test_the_launch_button_says_how_many_runs_and_how_long(page: Page, shown: Shown) -> None:
    page.goto(f"{shown.url}/experiments/new/")
    page.get_by_label("Name", exact=True).fill("A sweep")
    for name in ("Ring of 10", "Full mesh of 10"):  # and not their copies
        page.get_by_role("checkbox", name=re.compile(f"^{name} 10 brokers")).check()
    page.get_by_label("Consumers").fill("10, 20, 40")
    page.get_by_label("Duration").fill("5")
    page.get_by_label("Replicates").fill("2")
    expect(page.get_by_role("button", name=re.compile("Launch 12 runs, about .*(s|min)"))).to_be_visible()
    page.get_by_label("Duration").fill("soon")
    expect(page.locator("#launch-bar")).to_contain_text("must be a number")


@both_widths
def test_the_theme_is_chosen_and_kept(page: Page, shown: Shown) -> None:
    page.goto(shown.url)
    if page.get_by_role("button", name="Menu").is_visible():
        page.get_by_role("button", name="Menu").click()
    page.get_by_role("button", name="Dark").click()
    expect(page.locator("html")).to_have_attribute("data-bs-theme", "dark")
    page.goto(f"{shown.url}/runs/")
    expect(page.locator("html")).to_have_attribute("data-bs-theme", "dark")


def test_churn_is_asked_about_only_as_far_as_it_is_chosen(page: Page, shown: Shown) -> None:
    page.goto(f"{shown.url}/experiments/new/")
    page.locator("summary", has_text="Churn").click()
    asked = page.locator(".section .field:visible")
    expect(asked).to_have_count(1)
    page.get_by_label("exponential").check()
    expect(asked).to_have_count(5)
    page.get_by_label("weibull").check()
    expect(asked).to_have_count(6)
    page.get_by_label("exponential").uncheck()
    page.get_by_label("weibull").uncheck()
    page.locator("#workload-churn-file").check()
    expect(asked).to_have_count(2)
