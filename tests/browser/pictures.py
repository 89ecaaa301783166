"""Takes the pictures of ``docs/pages.md``::

    python -m tests.browser.pictures docs/pictures [NAME ...]
    python -m tests.browser.pictures docs/pictures --running http://127.0.0.1:8000 USER PASSWORD [NAME ...]

The first command shows the test installation, and for pages with 2,510 runs that of the benchmarks. The second shows an
installation of ``make up`` whose demo experiment has ended: it deploys a network and launches a run of two minutes.
"""

from __future__ import annotations

import argparse
import base64
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal

from playwright.sync_api import Browser, BrowserContext, Page, StorageState, sync_playwright

from benchmarks.house import house
from tests.browser.conftest import CHROMIUM, PASSWORD, QUIET, QUIETER, Shown, furnished, log_in, opened

DATAGRAM = b"4|1795338000000|9|p1|room|r1|temp|1795338000000|1795338120000|degC=21.5|127.0.0.1|40000|127.0.0.1|7001|*"
QUALITY = 80
WIDE, NARROW = 1440, 390
NETWORK = {"name": "Waxman of ten"}
EXPERIMENT = {
    "name": "Waxman of ten brokers, 200 consumers",
    "engine": "live",
    "workload": {"providers": 20, "consumers": 200, "update_interval_s": 1, "request_interval_s": 4, "duration_s": 60},
    "faults": [{"what": "restart", "at_s": 30, "brokers": [6]}],
    "report_when_done": False,
}
AFTER_THE_FAULT = "#time-left:text-matches('^[89][0-9]')"


@dataclass(frozen=True, slots=True)
class Picture:
    """One page and how it is shown."""

    page: str
    """Its name in the URLconf, its role in the installation, or its path."""
    query: str = ""
    width: int = WIDE
    height: int = 900
    scheme: Literal["light", "dark"] = "light"
    press: str = ""
    """A key to press before."""
    click: str = ""
    """A selector to click before."""
    until: str = ""
    """A selector to wait for."""
    brings: str = ""
    """A selector to wait for after both."""
    form: Literal["webp", "png"] = "webp"


PICTURES: dict[str, Picture] = {
    "account": Picture("account"),
    "accounts": Picture("accounts"),
    "admin": Picture("/admin/"),
    "admin-runs": Picture("/admin/experiments/run/"),
    "broker": Picture("run-measuring", "?broker=2#brokers", until="#broker-rows button"),
    "calibration": Picture("calibration"),
    "changes": Picture("changes"),
    "columns": Picture("runs:columns"),
    "contextnet-gateways": Picture("contextnet-gateways", height=1320, until="[data-report-chart] svg"),
    "contextnet-way": Picture("contextnet-message", height=1330, until="#walk canvas"),
    "experiment": Picture("experiment", until="[data-experiment-chart] svg"),
    "experiment-new": Picture("experiments:new", "?preset=rare-data"),
    "experiments": Picture("experiments:list"),
    "federation-query": Picture("federation-query", height=1330, until="#walk canvas"),
    "federation-replay": Picture("federation-replay", height=1200, until="canvas"),
    "federation-way": Picture("federation-subscription", height=1330, until="#walk canvas"),
    "fields": Picture("runs:fields"),
    "home": Picture("home"),
    "home-narrow": Picture("home", width=NARROW),
    "keys": Picture("runs:list", press="?"),
    "labels": Picture("runs:labels"),
    "network-change": Picture("network", "change/", click="[aria-label^='Move Broker 3']", brings="#preview canvas"),
    "network-new": Picture("networks:new"),
    "networks": Picture("networks:list"),
    "operations": Picture("network", "operations/"),
    "notifications": Picture("notifications"),
    "palette": Picture("home", press="Control+k", brings="[role=option]"),
    "password": Picture("password"),
    "queries": Picture("queries"),
    "query": Picture("query", until="#sequence [data-message]"),
    "message": Picture("message", query="#propagation", until="#sequence [data-message]"),
    "replay": Picture("replay"),
    "report-new": Picture("reports:new"),
    "reports": Picture("reports:list"),
    "rest": Picture("/api/docs/"),
    "run-dark": Picture("run-done", scheme="dark"),
    "run-failed": Picture("run-failed"),
    "run-narrow-dark": Picture("run-done", width=NARROW, scheme="dark"),
    "runs": Picture("runs:list"),
    "runs-narrow-dark": Picture("runs:list", width=NARROW, scheme="dark"),
    "schedule": Picture("schedules:detail"),
    "schedule-new": Picture("schedules:new"),
    "schedules": Picture("schedules:list"),
    "search": Picture("search", "?q=ring"),
    "studies": Picture("studies:list"),
    "studio": Picture("topologies:edit"),
    "study": Picture("/studies/4.3/"),
    "target": Picture("targets:edit"),
    "thresholds": Picture("experiments:thresholds"),
    "topologies": Picture("topologies:list"),
    "topology": Picture("topology-waxman"),
    "topology-difference": Picture("topology-ring", "difference/"),
    "topology-import": Picture("topologies:import"),
    "topology-new": Picture("topologies:new", "?kind=waxman&preset=mean-degree-2"),
    "topology-version": Picture("topology-ring", "versions/1/"),
    "topology-versions": Picture("topology-ring", "versions/"),
    "what-changed": Picture("varied", "#difference"),
    "what-if": Picture("what-if"),
    "wire": Picture("wire", f"?d={DATAGRAM.hex()}"),
    "wire-compose": Picture("wire-compose", "?code=3"),
    "wire-messages": Picture("wire-messages", "?run={run}"),
    "wireshark": Picture("wire-wireshark"),
}
"""By the name of their file, of the test installation."""

MANY = {
    "compare": Picture("/compare/", "?q=request_interval_s+%3D+1", until="[data-plot] svg"),
    "compare-dark": Picture("/compare/", "?q=request_interval_s+%3D+1", scheme="dark", until="[data-plot] svg"),
    "report-many": Picture("a report", until="[data-plot] svg"),
}
"""Of the installation of the benchmarks: 251 configurations with ten replicates each."""

RUNNING = {
    "login": Picture("/"),
    "hosts": Picture("/hosts/"),
    "storage": Picture("/storage/"),
    "report": Picture("report", until="[data-plot] svg", form="png"),
    "network": Picture("network", height=1400, until="[data-chart=probes] [data-plot]:not([data-empty])"),
    "run-live": Picture("run", until=AFTER_THE_FAULT, brings=".uplot"),
    "live-page": Picture("run", height=1530, until=AFTER_THE_FAULT, brings=".uplot", form="png"),
}
"""Of a running installation."""


def main(directory: Path, names: list[str], running: list[str] | None) -> None:
    """All pictures of the source, or only those named."""
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=CHROMIUM, args=[*QUIET, *QUIETER])
        if running:
            url, user, password = running
            with logged_in(chromium, url, user, password) as context:
                chosen = {name: RUNNING[name] for name in names or RUNNING}
                take_all(chromium, context.storage_state(), Shown(url, begin(context, url, chosen)), chosen, directory)
        else:
            of_tests(chromium, {name: one for name, one in PICTURES.items() if name in (names or PICTURES)}, directory)
            of_benchmarks(chromium, {name: one for name, one in MANY.items() if name in (names or MANY)}, directory)
        chromium.close()


def of_tests(chromium: Browser, chosen: dict[str, Picture], directory: Path) -> None:
    """Of the test installation, whose ring gets a second version."""
    if not chosen:
        return
    with (
        TemporaryDirectory() as var,
        furnished(Path(var)) as shown,
        logged_in(chromium, shown.url, "olga", PASSWORD) as context,
    ):
        send(context, shown.url, "PATCH", shown.addresses["topology-ring"], {"brokers": 12})
        take_all(chromium, context.storage_state(), shown, chosen, directory)


def of_benchmarks(chromium: Browser, chosen: dict[str, Picture], directory: Path) -> None:
    if not chosen:
        return
    with house() as here:
        addresses = here.furnish("matrix")["addresses"]
        here.start_web()
        url = f"http://127.0.0.1:{here.port}"
        name, _, value = here.cookie.partition("=")
        with chromium.new_context() as context:
            context.add_cookies([{"name": name, "value": value, "url": url}])
            shown = Shown(url, {name: address for name, (address, _) in addresses.items()})
            take_all(chromium, context.storage_state(), shown, chosen, directory)


def begin(context: BrowserContext, url: str, chosen: dict[str, Picture]) -> dict[str, str]:
    """Start what the chosen pictures show. Returns the paths of its pages, by role."""
    needed, found = {picture.page for picture in chosen.values()}, {}
    waxman = next(one["id"] for one in listed(context, url, "topologies") if one["name"] == "Waxman of 10")
    if "report" in needed:
        found["report"] = f"/reports/{listed(context, url, 'reports')[0]['id']}/"
    if "network" in needed:
        named = [one for one in listed(context, url, "networks") if one["name"] == NETWORK["name"]]
        network = named[0] if named else send(context, url, "POST", "/networks/", {**NETWORK, "topology": waxman})
        found["network"] = f"/networks/{network['id']}/"
    if "run" in needed:
        made = send(context, url, "POST", "/experiments/", {**EXPERIMENT, "topology": [waxman]})
        launched = send(context, url, "POST", f"/experiments/{made['id']}/launch/", {})
        found["run"] = f"/runs/{launched['runs'][0]}/"
    return found


@contextmanager
def logged_in(chromium: Browser, url: str, user: str, password: str) -> Iterator[BrowserContext]:
    with chromium.new_context() as context:
        log_in(context, url, user, password)
        yield context


def listed(context: BrowserContext, url: str, what: str) -> list[dict[str, Any]]:
    """The newest objects of this kind, from REST."""
    found: list[dict[str, Any]] = context.request.get(f"{url}/api/{what}/").json()["results"]
    return found


def send(context: BrowserContext, url: str, method: str, path: str, data: dict[str, Any]) -> dict[str, Any]:
    """A change by REST. Raises ``AssertionError`` with the response if it fails."""
    token = {cookie["name"]: cookie["value"] for cookie in context.cookies()}["csrftoken"]
    headers = {"X-CSRFToken": token, "Referer": url}
    answer = context.request.fetch(f"{url}/api{path}", method=method, data=data, headers=headers)
    assert answer.ok, answer.text()
    body: dict[str, Any] = answer.json()
    return body


def take_all(
    chromium: Browser, session: StorageState, shown: Shown, chosen: dict[str, Picture], directory: Path
) -> None:
    for name, picture in chosen.items():
        with opened(chromium, None if name == "login" else session, picture.width, picture.scheme) as page:
            page.set_viewport_size({"width": picture.width, "height": picture.height})
            take(page, shown, picture, directory / f"{name}.{picture.form}")


def take(page: Page, shown: Shown, picture: Picture, file: Path) -> None:
    address = {**shown.pages, **shown.addresses}.get(picture.page, picture.page)
    query = picture.query.format(run=shown.addresses["replay"].split("/")[2]) if "{" in picture.query else picture.query
    page.goto(shown.url + address + query)
    page.wait_for_load_state("networkidle")
    if picture.until:
        page.wait_for_selector(picture.until)
    if picture.press:
        page.keyboard.press(picture.press)
    if picture.click:
        page.locator(picture.click).click()
    if picture.brings:
        page.wait_for_selector(picture.brings)
    form = {"format": "png"} if picture.form == "png" else {"format": "webp", "quality": QUALITY}
    taken = page.context.new_cdp_session(page).send("Page.captureScreenshot", form)
    file.write_bytes(base64.b64decode(taken["data"]))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("directory", type=Path)
    parser.add_argument("names", nargs="*", metavar="NAME", help="default: all")
    parser.add_argument("--running", nargs=3, metavar=("URL", "USER", "PASSWORD"), help="an installation to show")
    given = parser.parse_intermixed_args()
    main(given.directory, given.names, given.running)
