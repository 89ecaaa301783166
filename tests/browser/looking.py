"""One look at a page: wide and light as it is loaded, then narrow and dark, and what axe finds in both.

Axe is half of what a look costs, so unless all is tried it is run on a part of the pages, in the light.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from axe_playwright_python.base import AXE_SCRIPT
from playwright.sync_api import BrowserContext, Page

from tests.browser.conftest import Complaints
from tests.thorough import THOROUGH
from tests.waiting import BOUND_MS

WIDE, NARROW = 1440, 390
HEIGHT = 900
SCREEN: dict[str, Any] = {
    "viewport": {"width": WIDE, "height": HEIGHT},
    "color_scheme": "light",
    "reduced_motion": "reduce",  # the contrast is undefined during a transition
}
SERIOUS = ("serious", "critical")
STILL = """() => {
  const ends = (one) => Number.isFinite(one.effect.getComputedTiming().endTime);
  return Promise.allSettled(document.getAnimations().filter(ends).map((one) => one.finished));
}"""
ASKED = "axe.run({ resultTypes: ['violations'] }).then((found) => found.violations)"
SEEN = """() => {
  const rail = document.querySelector('.rail')?.getBoundingClientRect();
  const under = !rail ? [] : [...document.querySelectorAll('main *')].filter((element) => {
    const box = element.getBoundingClientRect();
    const isUnder = box.left < rail.right - 1 && box.right > rail.left;
    return isUnder && box.width > 1 && box.height > 1 && element.checkVisibility();
  });
  return {
    title: document.title,
    headings: [...document.querySelectorAll('h1')].map((heading) => heading.textContent.trim()),
    over: document.documentElement.scrollWidth - document.documentElement.clientWidth,
    under: under.map((element) => element.outerHTML.slice(0, 120)).slice(0, 3),
  };
}"""
SHIFTED = """() => new Promise((tell) => {
  let sum = 0;
  const add = (one) => { if (!one.hadRecentInput) sum += one.value; };
  const watcher = new PerformanceObserver((list) => list.getEntries().forEach(add));
  watcher.observe({ type: 'layout-shift', buffered: true });
  requestAnimationFrame(() => requestAnimationFrame(() => tell(sum)));
})"""


@dataclass
class Look:
    """What was seen of one page."""

    status: int = 0
    title: str = ""
    headings: list[str] = field(default_factory=list)
    too_wide: dict[int, int] = field(default_factory=dict)
    """Pixels that one would have to scroll sideways, by width."""
    under_rail: list[str] = field(default_factory=list)
    said: list[str] = field(default_factory=list)
    """Errors and warnings of its console, and requests that left the machine."""
    shifted: float = 0.0
    """Cumulative layout shift while it was loaded."""
    axe: list[str] = field(default_factory=list)


def look(context: BrowserContext, url: str, address: str, *, axe: bool = True) -> Look:
    """Load it once, in a tab of its own, and look at it both ways."""
    with context.new_page() as page:
        page.set_default_timeout(BOUND_MS)
        complaints = Complaints()
        complaints.listen(page, url)
        answer = page.goto(url + address, wait_until="load")
        assert answer is not None
        if page.locator(".frame").count():
            page.wait_for_selector("html[data-usable]", state="attached")
        seen = page.evaluate(SEEN)
        found = Look(answer.status, seen["title"], seen["headings"], under_rail=seen["under"], said=complaints.said)
        found.shifted = page.evaluate(SHIFTED)
        if axe:
            found.axe += [f"light, {one}" for one in serious(page)]
        page.set_viewport_size({"width": NARROW, "height": HEIGHT})
        page.emulate_media(color_scheme="dark")
        if page.locator("html[data-bs-theme]").count():  # other people's pages follow the colours by themselves
            page.wait_for_selector("html[data-bs-theme=dark]", state="attached")
        page.evaluate(STILL)  # of one theme's colours into the other's
        over = {WIDE: seen["over"], NARROW: page.evaluate(SEEN)["over"]}
        found.too_wide = {width: pixels for width, pixels in over.items() if pixels > 0}
        if THOROUGH:
            found.axe += [f"dark, {one}" for one in serious(page)]
        return found


def serious(page: Page) -> list[str]:
    """What axe calls serious or critical: the rule and the elements, a line each."""
    if not page.evaluate("'axe' in window"):
        page.evaluate(AXE_SCRIPT)
    return [
        f"{one['id']}: {node['html'][:160]} {_why(node)}"
        for one in page.evaluate(ASKED)
        if one["impact"] in SERIOUS
        for node in one["nodes"][:3]
    ]


def _why(node: dict[str, Any]) -> str:
    return str(node.get("failureSummary", "")).partition("\n")[2].strip()[:200]
