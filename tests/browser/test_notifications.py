"""Notifications: a target is added in a browser, and its test message arrives at a program that listens."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import WIDE, Complaints, Door, answer_yes, turn_narrow
from tests.conftest import Stack

pytestmark = pytest.mark.stack


class Listener(ThreadingHTTPServer):
    """A program of the operator's own; what it was told."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Answering)
        self.heard: list[dict[str, Any]] = []


class Answering(BaseHTTPRequestHandler):
    server: Listener

    def do_POST(self) -> None:
        self.server.heard.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
        self.send_response(204)
        self.end_headers()

    def log_message(self, *_: Any) -> None:
        """Nothing: what it was told is in ``heard``."""


@pytest.fixture
def listener() -> Iterator[Listener]:
    with Listener() as listener:
        threading.Thread(target=listener.serve_forever, args=(0.01,), daemon=True).start()
        yield listener
        listener.shutdown()


@pytest.fixture
def door(stack_door: Door) -> Door:
    """A worker delivers."""
    return stack_door


@pytest.mark.parametrize("page", [WIDE], indirect=True)
def test_a_target_is_added_hears_a_test_and_is_told_no_more(
    page: Page, stack: Stack, listener: Listener, complaints: Complaints
) -> None:
    complaints.expected = "400 (Bad Request)"
    answer_yes(page)
    name = "On call"
    page.goto(f"{stack.url}/notifications/new/")
    page.get_by_label("Name", exact=True).fill(name)
    page.get_by_label("Address", exact=True).fill("ftp://127.0.0.1/hook")
    page.get_by_label("A run failed").check()
    page.get_by_role("button", name="Add target").click()
    expect(page.get_by_role("alert").first).to_contain_text("http")
    expect(page.get_by_label("Name", exact=True)).to_have_value(name)
    page.get_by_label("Address", exact=True).fill(f"http://127.0.0.1:{listener.server_port}/hook")
    page.get_by_role("button", name="Add target").press("Enter")

    turn_narrow(page)
    page.get_by_role("button", name=f"Send a test to {name}").click()
    expect(page.locator("#deliveries tr", has_text=name).first).to_contain_text("Answered 204")
    assert len(listener.heard) == 1
    page.get_by_role("button", name=f"Disable {name}").click()
    expect(page.get_by_role("button", name=f"Enable {name}")).to_be_visible()
    page.get_by_role("button", name=f"Delete {name}").click()
    expect(page.get_by_role("link", name=name, exact=True)).to_have_count(0)
