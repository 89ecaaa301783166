"""Every page that there is: found by following what pages link to, and held against the URLconf.

Runs in the process that furnished the house, so a new page is checked without being listed anywhere.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from html import unescape
from typing import Any

from django.test import Client
from django.urls import (
    NoReverseMatch,
    Resolver404,
    ResolverMatch,
    URLPattern,
    URLResolver,
    get_resolver,
    resolve,
    reverse,
)

LEADS = re.compile(r'(?:href|action|hx-get|hx-post|formaction|data-href|data-url)="(/[^"#]*)')
NOT_OURS = ("/api/", "/admin/", "/static/", "/login/oidc/")


@dataclass
class Found:
    """Addresses by their names in the URLconf; ``pages`` are whole documents, what is in ``others`` is not."""

    pages: dict[str, str] = field(default_factory=dict)
    others: dict[str, int] = field(default_factory=dict)
    """Status of what is no page: parts of one, files, what only takes POST."""
    wrong: dict[str, int] = field(default_factory=dict)
    """Addresses that a page leads to and that are answered with an error."""
    forgotten: list[str] = field(default_factory=list)
    """Names of the URLconf that no page leads to and that cannot be guessed."""


def follow(browser: Client, first: Mapping[str, str]) -> Found:
    """What is reached from the addresses without parameters and from those of ``first``; one address for each name.

    What no page leads to, as a button of another state, is asked for with the parameters that other addresses have.
    """
    found, values = Found(), dict[str, str]()
    named = dict(_named(get_resolver().url_patterns, ""))
    alone = [address for name in named if not named[name] and (address := _address(name, {}))]
    waiting, seen = deque([*alone, *first.values()]), set[str]()
    while waiting:
        address = waiting.popleft()
        match = _match(address)
        if match is None or address in seen:
            continue
        values |= {name: str(value) for name, value in match.kwargs.items()}
        if match.view_name in {*found.pages, *found.others} and address not in first.values():
            continue
        seen.add(address)
        waiting.extend(_look_up(browser, match.view_name, address, found))
    for name in named.keys() - {*found.pages, *found.others}:
        guess = Found()
        address = _address(name, {one: values.get(one, "1") for one in named[name]})
        if address is not None:
            _look_up(browser, name, address, guess)
        found.pages |= guess.pages
        found.others |= guess.others
        found.forgotten += [name] * (name not in {*guess.pages, *guess.others})
    return found


def _address(name: str, values: dict[str, str]) -> str | None:
    try:
        return reverse(name, kwargs=values)
    except NoReverseMatch:
        return None


def _look_up(browser: Client, name: str, address: str, found: Found) -> list[str]:
    """Sorts one address; where it leads."""
    answer = browser.get(address)
    text = _text(answer)
    if answer.status_code not in (200, 302, 400, 405):
        found.wrong[address] = answer.status_code
        return []
    if answer.status_code == 200 and text.lstrip().startswith("<!doctype html>"):
        found.pages.setdefault(name, address)
    else:
        found.others.setdefault(name, answer.status_code)
    return [unescape(lead) for lead in LEADS.findall(text)]


@cache
def _match(address: str) -> ResolverMatch | None:
    """Its place in the URLconf; nothing for REST, the admin, files, and what has no name."""
    if address.startswith(NOT_OURS):
        return None
    try:
        match = resolve(address.partition("?")[0])
    except Resolver404:
        return None
    return match if match.url_name else None


def _text(answer: Any) -> str:
    return "" if answer.streaming or "html" not in answer.get("Content-Type", "") else answer.content.decode()


def _named(patterns: Any, namespace: str) -> Iterator[tuple[str, list[str]]]:
    for pattern in patterns:
        if isinstance(pattern, URLResolver):
            if str(pattern.pattern).startswith(("api/", "admin/")):
                continue
            inner = f"{namespace}{pattern.namespace}:" if pattern.namespace else namespace
            yield from _named(pattern.url_patterns, inner)
        elif isinstance(pattern, URLPattern) and pattern.name:
            yield f"{namespace}{pattern.name}", list(pattern.pattern.regex.groupindex)
