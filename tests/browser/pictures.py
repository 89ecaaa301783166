"""Pictures of the pages of a furnished house, as ``docs/pages.md`` shows them::

    python -m tests.browser.pictures docs/pictures

Those that need more than the house has, as brokers that run, 2,500 runs or a disk in use, were made by hand.
"""

from __future__ import annotations

import base64
import sys
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Literal

from playwright.sync_api import BrowserContext, Page, sync_playwright

from tests.browser.conftest import CHROMIUM, PASSWORD, QUIET, QUIETER, Shown, furnished, log_in, opened

DATAGRAM = b"4|1795338000000|9|p1|room|r1|temp|1795338000000|1795338120000|degC=21.5|127.0.0.1|40000|127.0.0.1|7001|*"
QUALITY = 80
WIDE, NARROW = 1440, 390


@dataclass(frozen=True, slots=True)
class Picture:
    """Of one page: by what it is found in the house, and how it is looked at."""

    page: str
    """Its name in the URLconf, its role in the house, or its address."""
    query: str = ""
    width: int = WIDE
    scheme: Literal["light", "dark"] = "light"
    press: str = ""
    """A key that opens what is to be seen."""
    until: str = ""
    """A selector of what has to be there first."""
    brings: str = ""
    """A selector of what the key brings."""


PICTURES: dict[str, Picture] = {
    "account": Picture("account"),
    "admin": Picture("/admin/"),
    "admin-runs": Picture("/admin/experiments/run/"),
    "broker": Picture("run-measuring", "?broker=2#brokers", until="#broker-rows button"),
    "calibration": Picture("calibration"),
    "columns": Picture("runs:columns"),
    "experiment": Picture("experiment", until="[data-experiment-chart] svg"),
    "experiment-new": Picture("experiments:new", "?preset=rare-data"),
    "experiments": Picture("experiments:list"),
    "fields": Picture("runs:fields"),
    "home": Picture("home"),
    "home-narrow": Picture("home", width=NARROW),
    "keys": Picture("runs:list", press="?"),
    "labels": Picture("runs:labels"),
    "network-new": Picture("networks:new"),
    "networks": Picture("networks:list"),
    "notifications": Picture("notifications"),
    "palette": Picture("home", press="Control+k", brings="[role=option]"),
    "password": Picture("password"),
    "queries": Picture("queries"),
    "query": Picture("query", until="#sequence [data-message]"),
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
"""By the name of their file."""


def main(directory: Path, *names: str) -> None:
    """All of them, or those named."""
    with TemporaryDirectory() as var, furnished(Path(var)) as shown, sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=CHROMIUM, args=[*QUIET, *QUIETER])
        with chromium.new_context() as context:
            log_in(context, shown.url, "olga", PASSWORD)
            session = context.storage_state()
            change(context, shown)
        for name in names or PICTURES:
            picture = PICTURES[name]
            with opened(chromium, session, picture.width, picture.scheme) as page:
                take(page, shown, picture, directory / f"{name}.webp")
        chromium.close()


def change(context: BrowserContext, shown: Shown) -> None:
    """The ring has a second version."""
    token = {cookie["name"]: cookie["value"] for cookie in context.cookies()}["csrftoken"]
    headers = {"X-CSRFToken": token, "Referer": shown.url}
    address = f"{shown.url}/api{shown.addresses['topology-ring']}"
    made = context.request.patch(address, data={"brokers": 12}, headers=headers)
    assert made.ok, made.text()


def take(page: Page, shown: Shown, picture: Picture, file: Path) -> None:
    address = {**shown.pages, **shown.addresses}.get(picture.page, picture.page)
    page.goto(shown.url + address + picture.query.format(run=shown.addresses["replay"].split("/")[2]))
    page.wait_for_load_state("networkidle")
    if picture.until:
        page.wait_for_selector(picture.until)
    if picture.press:
        page.keyboard.press(picture.press)
    if picture.brings:
        page.wait_for_selector(picture.brings)
    taken = page.context.new_cdp_session(page).send("Page.captureScreenshot", {"format": "webp", "quality": QUALITY})
    file.write_bytes(base64.b64decode(taken["data"]))


if __name__ == "__main__":
    main(Path(sys.argv[1]), *sys.argv[2:])
