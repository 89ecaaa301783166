"""A browser, and a house to look at: Debian's Chromium against a real web process with rows and files in it."""

from __future__ import annotations

import fcntl
import json
import os
import re
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Literal

import httpx
import pytest
from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page, StorageState, expect, sync_playwright

from brokerweb.up.environment import find_browser
from overlay.runtime.lifeline import die_with_parent
from tests.conftest import Stack
from tests.thorough import THOROUGH
from tests.waiting import BOUND_MS, BOUND_S, wait_for

ROOT = Path(__file__).resolve().parents[2]
CHROMIUM = find_browser()
QUIET = ("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run")
QUIETER = ("--disable-background-networking", "--disable-component-update", "--disable-sync")
CUT_OFF = "htmx:sendError"
"""What htmx says of a poll that was under way when the reader left the page. An answer that is an error says
``htmx:responseError``."""
expect.set_options(timeout=BOUND_MS)
PASSWORD = "correct horse"
WIDE, NARROW = pytest.param((1440, "light"), id="wide-light"), pytest.param((390, "dark"), id="narrow-dark")
both_widths = pytest.mark.parametrize("page", [WIDE, NARROW] if THOROUGH else [NARROW], indirect=True)
"""Of tests whose subject is the layout, or what differs with it: the narrow one is done always, since less fits there.
The others are done wide always; where all is tried, every test is done at both."""

NETWORK_HOST = "127.6.0.1"
"""A loopback address that only the network of the test installation uses."""

FURNISH = """
import django; django.setup()
import json
from dataclasses import asdict
from django.contrib.auth.models import User
from django.core.management import call_command
from django.test import Client
from brokerweb.experiments.models import Experiment
from brokerweb.notices import services as notices
from tests.browser.addresses import follow
from tests.pages import handed_over, moving, routed
from tests.pages.furniture import furnish
from tests.pages.pushed import followed
from tests.pages.recorded import furnish_recorded
from tests.pages.watched import watch
call_command("migrate", verbosity=0)
olga = User.objects.create_superuser("olga", password="{password}")
User.objects.create_user("vera", password="{password}")
house = furnish(olga, "{network_host}")
recorded, varied = furnish_recorded(olga)
watch(house.network, olga)
planned = Experiment.objects.get(name="Not launched yet")
planned.study, planned.scale = "4.7", "quick"
planned.save()
notices.create(name="On call", channel="webhook", address="https://hooks.example/waxwing", kinds=["run_failed"])
first = {{
    "replay": f"/runs/{{recorded.id}}/replay/",
    "recorded-messages": f"/wire/messages/?run={{recorded.id}}",
    "what-if": f"/runs/{{recorded.id}}/what-if/",
    "varied": f"/runs/{{varied.id}}/",
    **{{"run-" + name: f"/runs/{{run.id}}/" for name, run in house.runs.items()}},
    **{{"topology-" + topology.kind: f"/topologies/{{topology.id}}/" for topology in house.topologies.values()}},
    **followed(olga),
    **routed.followed(olga),
    **moving.followed(olga),
    **handed_over.followed(olga),
    "query": house.queries[0],
    "queries": "/runs/" + house.queries[0].split("/")[2] + "/queries/",
    "experiment": f"/experiments/{{house.experiment.id}}/",
    "planned": f"/experiments/{{planned.id}}/",
    "study": f"/studies/4.7/?experiment={{planned.id}}",
    "network": f"/networks/{{house.network.id}}/",
    "report": f"/reports/{{house.report.id}}/",
}}
browser = Client(headers={{"host": "127.0.0.1"}})
browser.raise_request_exception = False
browser.force_login(olga)
found = follow(browser, first)
print(json.dumps({{"addresses": first, **asdict(found)}}))
"""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.path.is_relative_to(Path(__file__).parent):
            item.add_marker(pytest.mark.browser)


@dataclass(frozen=True)
class Shown:
    """A web process over a furnished house."""

    url: str
    addresses: dict[str, str]
    """Of what is in the house, by its role."""
    pages: dict[str, str] = field(default_factory=dict)
    """Of every page that there is, by its name in the URLconf."""
    wrong: dict[str, int] = field(default_factory=dict)
    forgotten: list[str] = field(default_factory=list)


@pytest.fixture(scope="package")
def shown(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shown]:
    """Only the web: nothing runs, everything is there to be looked at.

    Processes of one run furnish it once, which takes 40 s of a processor, and each has a copy.
    """
    var, root = tmp_path_factory.mktemp("shown"), tmp_path_factory.getbasetemp().parent
    if "PYTEST_XDIST_WORKER" in os.environ:
        kept, told = root / "furnished", root / "furnished.json"
        with (root / "furnished.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not told.exists():
                told.write_text(json.dumps(furnish(kept)))
        shutil.copytree(kept, var, dirs_exist_ok=True)
        made = json.loads(told.read_text())
    else:
        made = furnish(var)
    with served(var, made) as house:
        yield house


@contextmanager
def furnished(var: Path) -> Iterator[Shown]:
    """The same with its data in ``var``."""
    with served(var, furnish(var)) as house:
        yield house


def environment_of(var: Path) -> dict[str, str]:
    environment = {**os.environ, "WAXWING_VAR": str(var), "DJANGO_SETTINGS_MODULE": "brokerweb.settings"}
    environment["WAXWING_OPERATIONS"] = "100000"
    environment["WAXWING_HOST"] = "lab-1"  # where the house has its network
    environment.pop("REDIS_URL", None)
    return environment


def furnish(var: Path) -> dict[str, Any]:
    """Rows and files in ``var``, and what is said of them."""
    command = [sys.executable, "-c", FURNISH.format(password=PASSWORD, network_host=NETWORK_HOST)]
    told = subprocess.run(command, cwd=ROOT, env=environment_of(var), check=True, stdout=subprocess.PIPE, text=True)
    return dict(json.loads(told.stdout.splitlines()[-1]))


@contextmanager
def served(var: Path, made: dict[str, Any]) -> Iterator[Shown]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [
        sys.executable,
        "-m",
        "uvicorn",
        "brokerweb.asgi:application",
        "--port",
        str(port),
        "--log-level",
        "error",
    ]
    command += ["--timeout-graceful-shutdown", "1"]
    web = subprocess.Popen(command, cwd=ROOT, env=environment_of(var), preexec_fn=partial(die_with_parent, os.getpid()))
    try:
        url = f"http://127.0.0.1:{port}"
        _wait_for(url)
        yield Shown(url, made["addresses"], made["pages"], made["wrong"], made["forgotten"])
    finally:
        web.terminate()
        web.wait(BOUND_S)


def _wait_for(url: str) -> None:
    def answers() -> bool:
        try:
            return httpx.get(f"{url}/healthz", timeout=BOUND_S).is_success
        except httpx.TransportError:
            return False

    wait_for(answers, "the web process answers", every=0.1)


@pytest.fixture(scope="package")
def chromium() -> Iterator[Browser]:
    """Ended with these tests: Playwright's event loop runs as long as it does, and others start one of their own."""
    if not CHROMIUM:
        pytest.skip("Debian's package chromium is missing: apt-get install chromium")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=[*QUIET, *QUIETER])
        yield browser
        browser.close()


@pytest.fixture(scope="package")
def session(chromium: Browser, shown: Shown) -> StorageState:
    """The cookies of a user who logged in with the form."""
    with chromium.new_context() as context:
        log_in(context, shown.url, "olga", PASSWORD)
        return context.storage_state()


@pytest.fixture(scope="package")
def stack_session(chromium: Browser, stack: Stack) -> StorageState:
    """The same of the house in which everything runs."""
    with chromium.new_context() as context:
        log_in(context, stack.url, stack.username, stack.password)
        return context.storage_state()


@dataclass(frozen=True)
class Door:
    """Of the house whose pages ``page`` opens, and as whom."""

    url: str
    session: StorageState


@pytest.fixture
def door(shown: Shown, session: StorageState) -> Door:
    """To be overridden by ``stack_door`` where something must really run."""
    return Door(shown.url, session)


@pytest.fixture
def stack_door(stack: Stack, stack_session: StorageState) -> Door:
    return Door(stack.url, stack_session)


@contextmanager
def opened(
    chromium: Browser, session: StorageState, width: int = 1440, scheme: Literal["light", "dark"] = "light"
) -> Iterator[Page]:
    """A page of a screen so wide, for the operator; nothing in it fades."""
    with chromium.new_context(
        viewport={"width": width, "height": 900}, color_scheme=scheme, storage_state=session, reduced_motion="reduce"
    ) as context:
        page = context.new_page()
        page.set_default_timeout(BOUND_MS)
        yield page


@dataclass
class Complaints:
    """What a page said in its console, and whom it asked."""

    said: list[str] = field(default_factory=list)
    expected: str | None = None
    """What the browser may say because a test wants it to happen."""

    def listen(self, page: Page, url: str) -> None:
        page.on("console", self._hear)
        page.on("pageerror", lambda error: self.said.append(f"{page.url}: {error}"))
        page.on("request", lambda request: None if _ours(request.url, url) else self.said.append(request.url))

    def _hear(self, message: ConsoleMessage) -> None:
        if self.expected is not None and self.expected in message.text:
            return
        if message.type in ("error", "warning") and not message.text.startswith(CUT_OFF):
            self.said.append(f"{message.location.get('url')}: {message.text}")


@pytest.fixture
def complaints() -> Complaints:
    """Those of ``page`` and of what it opens; a test that wants some says so in ``expected``."""
    return Complaints()


@pytest.fixture(params=[WIDE, NARROW] if THOROUGH else [WIDE])
def page(request: pytest.FixtureRequest, chromium: Browser, door: Door, complaints: Complaints) -> Iterator[Page]:
    """A page of the operator, wide and light; whatever it complains of fails the test. See ``both_widths``."""
    with opened(chromium, door.session, *request.param) as page:
        complaints.listen(page, door.url)
        page.context.on("page", lambda other: complaints.listen(other, door.url))
        yield page
    assert complaints.said == []


def width(page: Page) -> int:
    """Of its screen; in the names that a test gives, it keeps what it does at both widths apart."""
    assert page.viewport_size is not None
    return page.viewport_size["width"]


def turn_narrow(page: Page) -> None:
    """The same page goes on at 390 pixels and in the dark; of long paths, which are walked once."""
    page.set_viewport_size({"width": 390, "height": 900})
    page.emulate_media(color_scheme="dark")


def answer_yes(page: Page) -> list[str]:
    """Accepts what is asked before something is done; the questions, as they come."""
    asked: list[str] = []
    page.on("dialog", lambda dialog: (asked.append(dialog.message), dialog.accept()))
    return asked


def _ours(address: str, url: str) -> bool:
    return address.startswith((url, url.replace("http", "ws", 1), "data:", "blob:"))


def log_in(context: BrowserContext, url: str, username: str, password: str) -> Page:
    """A page on the home of the house at ``url``."""
    page = context.new_page()
    page.set_default_timeout(BOUND_MS)
    page.goto(f"{url}/")
    page.get_by_label("User name").fill(username)
    page.get_by_label("Password").fill(password)
    page.get_by_role("button", name="Log in").click()
    page.wait_for_url(f"{url}/")
    return page


def make_room(page: Page, url: str) -> None:
    """The demo of the first start is still at work; an operator with other plans cancels it, and the report of it."""
    page.goto(f"{url}/experiments/")
    page.locator("tbody tr", has_text="demo").get_by_role("link").first.click()
    cancel = page.get_by_role("button", name=re.compile(r"Cancel \d+ run"))
    if not cancel.is_visible():
        return
    page.once("dialog", lambda dialog: dialog.accept())
    cancel.click()
    progress, report = page.locator("#experiment-progress"), page.get_by_role("link", name=re.compile("^Comparison, "))
    expect(progress).to_contain_text("12 of 12 runs")
    if "done" not in progress.inner_text():
        return  # and of nothing no report is made

    def is_asked_for() -> bool:
        page.reload()
        return report.is_visible()

    wait_for(is_asked_for, "the demo's report is asked for")
    report.click()
    page.once("dialog", lambda dialog: dialog.accept())
    page.get_by_role("button", name="Cancel report").click()
    expect(page.get_by_role("button", name="Create again")).to_be_visible()
