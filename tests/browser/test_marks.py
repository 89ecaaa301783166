"""Faults as they are drawn: on the charts of a run, over its replay, and what a hand does with the slider."""

from __future__ import annotations

import json
import re
from typing import Any
from urllib.parse import parse_qs, urlparse

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.conftest import WIDE, Shown, both_widths

LOOK = """canvas => {
  const { width, height } = canvas;
  const pen = new OffscreenCanvas(width, height).getContext("2d", { willReadFrequently: true });
  pen.drawImage(canvas, 0, 0);
  const pixels = pen.getImageData(0, 0, width, height).data;
  pen.fillStyle = getComputedStyle(document.documentElement).getPropertyValue("--state-red");
  pen.fillRect(0, 0, 1, 1);
  const red = pen.getImageData(0, 0, 1, 1).data;
  const at = (x, y) => pixels.subarray(4 * (y * width + x), 4 * (y * width + x) + 4);
  const isRed = pixel => [0, 1, 2].every(part => Math.abs(pixel[part] - red[part]) <= 12);
  const lines = [], tint = [];
  for (let x = 0; x < width; x += 1) {
    let solid = 0, pale = 0;
    for (let y = 0; y < height; y += 1) {
      const pixel = at(x, y);
      if (!isRed(pixel)) continue;
      if (pixel[3] > 250) solid += 1;
      else if (pixel[3] > 20 && pixel[3] < 50) pale += 1;
    }
    if (solid > height / 2) lines.push(x);
    if (pale > 5) tint.push(x);
  }
  return { width, lines, tint };
}"""
"""Of a canvas: the columns that are the line of a fault, and those that are tinted as while one lasts."""

IS_DRAWN = """canvas => {
  const pen = new OffscreenCanvas(canvas.width, canvas.height).getContext("2d", { willReadFrequently: true });
  pen.drawImage(canvas, 0, 0);
  return pen.getImageData(0, 0, canvas.width, canvas.height).data.some(part => part);
}"""


def looked_at(canvas: Locator) -> dict[str, Any]:
    return dict(canvas.evaluate(LOOK))


def of_fault(page: Page, label: str) -> Locator:
    """Its row in the list of marks."""
    return page.locator("#marks button").filter(has_text=label)


@both_widths
def test_a_fault_is_drawn_on_every_chart_of_its_run_where_it_began_and_for_as_long_as_it_lasted(
    page: Page, shown: Shown
) -> None:
    page.goto(shown.url + shown.addresses["replay"].removesuffix("replay/"))
    impaired, restarted = of_fault(page, "1 link: +40 ms, 50 % duplicated"), of_fault(page, "broker 5 restarted")
    expect(impaired).to_contain_text(re.compile(r"\d\.\d–\d\.\d\ss"))
    expect(restarted).to_contain_text(re.compile(r"\d\.\d\ss"))
    for chart in page.locator("[data-chart] canvas").all():
        found = looked_at(chart)
        began, restart = found["lines"]
        lasted = len([x for x in found["tint"] if x > began]) + 1  # 1.5 s, of which the other line takes a column
        assert abs(restart - began - lasted / 1.5) <= 3, found
        assert min(found["tint"]) >= began - 1
    list_top = page.locator("#marks").evaluate("list => list.offsetTop")
    impaired.hover()
    expect(page.locator(".cursor-time").first).to_have_text(re.compile(r"at \d"))
    assert page.locator("#marks").evaluate("list => list.offsetTop") == list_top, "nothing moves away from the pointer"
    thick = looked_at(page.locator("[data-chart] canvas").first)["lines"]
    assert len(thick) == 4, "the line of what is chosen is three wide"
    assert len({x for x in thick if abs(x - began) < 5}) >= 3


@pytest.mark.parametrize("page", [WIDE], indirect=True)
def test_a_fault_that_is_planned_stands_below_what_happens_until_it_does(page: Page, shown: Shown) -> None:
    """As a run's page tells them that was opened while its run was queued."""
    page.goto(shown.url + shown.addresses["run-measuring"])
    box = page.locator("#marks")
    expect(box.locator("li")).not_to_have_count(0)
    box.evaluate("box => { box.querySelector('ol').replaceChildren(); }")
    fault = {"kind": "fault", "label": "broker 1 killed", "at_s": 9.0, "until_s": None}
    phase = {"kind": "phase", "label": "measuring", "at_s": 3.0, "until_s": None}
    told = box.evaluate(
        """async (box, [fault, phase]) => {
          const { MarkList } = await import("/static/js/marks.js");
          const list = new MarkList(box, [fault], () => {});
          const happens = [[], [phase], [phase, { ...fault, at_s: 12 }]];
          return happens.map((marks) => {
            list.show(marks, false);
            return [...box.querySelectorAll("li")].map((row) => row.textContent);
          });
        }""",
        [fault, phase],
    )
    assert told == [
        ["measuring + 9.0\u202fs broker 1 killed, planned"],
        ["1, phase, 3.0\u202fsmeasuring", "measuring + 9.0\u202fs broker 1 killed, planned"],
        ["1, phase, 3.0\u202fsmeasuring", "2, fault, 12.0\u202fsbroker 1 killed"],
    ]


def test_over_a_replay_stand_the_marks_of_the_charts_at_their_times(page: Page, shown: Shown) -> None:
    page.goto(shown.url + shown.addresses["replay"])
    expect(page.locator("#step")).to_be_enabled()
    data = json.loads(page.locator("#replay-data").inner_text())
    marks = [mark for mark in json.loads(page.locator("#marks-data").inner_text()) if mark["kind"] == "fault"]
    found = looked_at(page.locator("#density"))

    def column(at_s: float) -> float:
        return (at_s * 1e6 - data["first_us"]) / (data["last_us"] - data["first_us"]) * (found["width"] - 1)

    assert [abs(x - column(mark["at_s"])) <= 1 for x, mark in zip(found["lines"], marks, strict=True)] == [True, True]
    assert abs(min(found["tint"]) - column(marks[0]["at_s"])) <= 2
    assert abs(max(found["tint"]) - column(marks[0]["until_s"])) <= 2
    expect(of_fault(page, "1 link: +40 ms")).to_contain_text(re.compile(r"^3, fault, \d\.\d–\d\.\d s"))
    of_fault(page, "broker 5 restarted").hover()
    assert len(looked_at(page.locator("#density"))["lines"]) == 4
    of_fault(page, "broker 5 restarted").click()
    expect(page.locator("#clock")).to_have_text(re.compile(rf"^{marks[1]['at_s']:.3f}"))


def test_the_slider_is_dragged_and_the_message_of_that_time_is_drawn(page: Page, shown: Shown) -> None:
    page.goto(shown.url + shown.addresses["replay"])
    expect(page.locator("#step")).to_be_enabled()
    slider, told, clock = page.locator("#time"), page.locator("#description"), page.locator("#clock")
    data = json.loads(page.locator("#replay-data").inner_text())
    first, words = clock.inner_text(), told.inner_text()
    page.locator("#play").click()
    expect(page.locator("#play")).to_have_text("Pause")
    slider.scroll_into_view_if_needed()
    box = slider.bounding_box()
    assert box is not None
    thumb = float(slider.input_value()) / 10_000 * (box["width"] - 16) + 8
    page.mouse.move(box["x"] + thumb, box["y"] + box["height"] / 2)
    page.mouse.down()
    for share in (0.3, 0.5, 0.7):
        page.mouse.move(box["x"] + box["width"] * share, box["y"] + box["height"] / 2)
    page.mouse.up()
    expect(page.locator("#play")).to_have_text("Play")
    expect(clock).not_to_have_text(first)
    expect(told).not_to_have_text(words)
    at_s = float(clock.inner_text().removesuffix("s"))
    asked_s = (data["first_us"] + 0.7 * (data["last_us"] - data["first_us"])) / 1e6
    assert abs(at_s - asked_s) < 0.03 * data["last_us"] / 1e6
    expect(page.locator("#messages [aria-current]")).to_have_count(1)
    sent_s = float(page.locator("#messages [aria-current] .at").inner_text())
    assert sent_s <= at_s
    assert abs(float(parse_qs(urlparse(page.url).query)["t"][0]) - at_s) < 1e-3
    assert page.locator(".flights").evaluate(IS_DRAWN), "nothing is drawn"


@pytest.mark.parametrize("page", [WIDE], indirect=True)
def test_a_query_of_which_nothing_was_recorded_says_so_and_keys_stay_within_the_sheet(page: Page, shown: Shown) -> None:
    page.goto(f"{shown.url}{shown.addresses['replay']}?query=1234567")
    expect(page.locator("#step")).to_be_enabled()
    expect(page.locator("#wrong")).to_have_text("No recorded message belongs to this query.")
    page.get_by_role("button", name="show all").click()
    expect(page.locator("#wrong")).to_be_empty()
    clock = page.locator("#clock")
    at = clock.inner_text()
    page.keyboard.press("?")
    page.keyboard.press("ArrowRight")
    expect(clock).to_have_text(at)
    page.keyboard.press("Escape")
    page.keyboard.press("ArrowRight")
    expect(clock).not_to_have_text(at)


@pytest.mark.parametrize("page", [WIDE], indirect=True)
def test_the_slider_goes_by_keyboard_too(page: Page, shown: Shown) -> None:
    page.goto(shown.url + shown.addresses["replay"])
    slider, told, clock = page.locator("#time"), page.locator("#description"), page.locator("#clock")
    expect(slider).to_be_enabled()
    words, first = told.inner_text(), clock.inner_text()
    slider.focus()
    page.keyboard.press("End")
    expect(told).not_to_have_text(words)
    expect(slider).to_have_attribute("aria-valuetext", re.compile(r"\d\ss$"))
    page.keyboard.press("Home")
    expect(clock).to_have_text(first)
