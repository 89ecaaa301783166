"""Section (i): how soon pages over 2,510 runs can be used in a browser, and whether the live page ever stands still.

*Usable* is the page's own mark (``docs/interface.md``): its scripts have run and a frame with what they drew has been
shown. The browser is Debian's Chromium without a screen, with a warm cache, as in daily use; the web
process is the one of ``make up``. The live page shows a run of the published load, 1,000 requests a second, while nine
further clients read the same websocket; what its main thread does for longer than 50 ms the browser itself reports.
"""

from __future__ import annotations

import asyncio
import shutil
import threading
from collections.abc import Callable, Iterator
from contextlib import AsyncExitStack, ExitStack, contextmanager
from typing import Any

from websockets.asyncio.client import ClientConnection, connect

from benchmarks.figures import Figure, Unavailable, figure
from benchmarks.house import House, house
from benchmarks.live import loaded_house
from benchmarks.pages import percentile

TITLE = (
    "In a browser: pages over 251 configurations of 10 replicates each, and the live page at 1,000 requests a second"
)

LOADS = 3
"""Of each page in a round."""
GOAL_MS = 1_000.0
LONG_TASK_MS = 50.0
VIEWERS = 9
"""Clients of the live page's websocket in addition to the browser."""
WATCH_S = 4.0
"""Of each round, once the live page is loaded."""
PATIENCE_MS = 30_000
USABLE = "() => performance.getEntriesByName('usable')[0].startTime"
LONG_TASKS = """() => {
  window.longTasks = [];
  new PerformanceObserver((list) => window.longTasks.push(...list.getEntries().map((one) => one.duration)))
    .observe({ type: 'longtask' });
}"""
QUIET = ("--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking")


def measure(rounds: int, say: Callable[[str], None]) -> Iterator[Figure]:
    """Yield the figures of the section."""
    with _chromium() as browser:
        say("making 251 configurations of 10 runs each")
        with house() as here:
            made = here.furnish("matrix")
            here.start_web()
            yield figure("browser", "runs", "rows", [made["runs"]], "higher")
            say(f"loading {', '.join(made['addresses'])}")
            yield from _pages(browser, here, made["addresses"], rounds)
        say(f"the live page, with {VIEWERS} further viewers")
        yield from _live(browser, rounds)


def _pages(browser: Any, here: House, addresses: dict[str, Any], rounds: int) -> Iterator[Figure]:
    with _visitor(browser, here) as visitor:
        for address, _ in addresses.values():
            _usable_ms(visitor, here, address)  # once, so that templates are compiled and the cache is warm
        took: dict[str, list[float]] = {name: [] for name in addresses}
        for _ in range(rounds * LOADS):
            for name, (address, _) in addresses.items():
                took[name].append(_usable_ms(visitor, here, address))
    for name, times in took.items():
        yield figure("browser", f"{name}, usable, p50", "ms", times, "lower")
        yield figure("browser", f"{name}, usable, p95", "ms", [percentile(times, 0.95)], "lower", at_most=GOAL_MS)
        yield figure("browser", f"{name}, database", "queries", [addresses[name][1]], "lower")


def _usable_ms(visitor: Any, here: House, address: str) -> float:
    page = visitor.new_page()
    page.goto(f"http://127.0.0.1:{here.port}{address}", timeout=PATIENCE_MS)
    page.wait_for_selector("html[data-usable]", state="attached", timeout=PATIENCE_MS)
    took = float(page.evaluate(USABLE))
    page.close()
    return took


def _live(browser: Any, rounds: int) -> Iterator[Figure]:
    tasks: list[float] = []
    with ExitStack() as stack:
        here, run = stack.enter_context(loaded_house())
        frames = stack.enter_context(_viewers(here, run))
        visitor = stack.enter_context(_visitor(browser, here))
        page = visitor.new_page()
        page.goto(f"http://127.0.0.1:{here.port}/runs/{run}/", timeout=PATIENCE_MS)
        page.wait_for_selector("[data-chart=latency] canvas", timeout=PATIENCE_MS)
        page.wait_for_selector("[data-chart=latency] [data-plot]:not([data-empty])", timeout=PATIENCE_MS)
        page.evaluate(LONG_TASKS)
        before = len(frames)
        page.wait_for_timeout(rounds * WATCH_S * 1e3)
        tasks, seen = page.evaluate("() => window.longTasks"), len(frames) - before
    if seen < VIEWERS * rounds * WATCH_S / 2:
        raise Unavailable(f"only {seen} snapshots came to {VIEWERS} viewers in {rounds * WATCH_S:.0f} s")
    yield figure("browser", "live page, tasks over 50 ms", "", [len(tasks)], "lower", at_most=0)
    yield figure("browser", "live page, longest task over 50 ms", "ms", [max(tasks, default=0.0)], "lower")


@contextmanager
def _viewers(here: House, run: str) -> Iterator[list[int]]:
    """Clients that read the run's websocket; the sizes of what came to all of them."""
    frames: list[int] = []
    loop, ended = asyncio.new_event_loop(), asyncio.Event()
    reading = threading.Thread(target=loop.run_until_complete, args=[_read_all(here, run, frames, ended)])
    reading.start()
    try:
        yield frames
    finally:
        loop.call_soon_threadsafe(ended.set)
        reading.join()
        loop.close()


async def _read_all(here: House, run: str, frames: list[int], ended: asyncio.Event) -> None:
    address = f"ws://127.0.0.1:{here.port}/ws/runs/{run}/"
    headers = {"Cookie": here.cookie, "Origin": f"http://127.0.0.1:{here.port}"}
    async with AsyncExitStack() as stack:
        sockets = [
            await stack.enter_async_context(connect(address, additional_headers=headers)) for _ in range(VIEWERS)
        ]
        readers = [asyncio.create_task(_read(socket, frames)) for socket in sockets]
        await ended.wait()
        for reader in readers:
            reader.cancel()
        await asyncio.gather(*readers, return_exceptions=True)


async def _read(socket: ClientConnection, frames: list[int]) -> None:
    async for frame in socket:
        frames.append(len(frame))


@contextmanager
def _chromium() -> Iterator[Any]:
    """A browser. Raises ``Unavailable`` where there is none."""
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        raise Unavailable("needs Playwright: make bench installs it") from None
    path = shutil.which("chromium") or shutil.which("chromium-browser")
    if path is None:
        raise Unavailable("needs Chromium: apt-get install chromium")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=[*QUIET])
        try:
            yield browser
        finally:
            browser.close()


@contextmanager
def _visitor(browser: Any, here: House) -> Iterator[Any]:
    """The operator's browser, logged in."""
    name, _, value = here.cookie.partition("=")
    with browser.new_context(viewport={"width": 1440, "height": 900}) as context:
        context.add_cookies([{"name": name, "value": value, "url": f"http://127.0.0.1:{here.port}"}])
        yield context
