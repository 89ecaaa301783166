"""Everything that a page does can be done through REST: each URL, form and button has its operation."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from django.urls import URLResolver, get_resolver
from drf_spectacular.generators import SchemaGenerator

from tests.pages.counterparts import BUTTONS, COUNTERPARTS, PARTS_OF_FORMS, WITHOUT

ROOT = Path(__file__).resolve().parents[2]
DO = re.compile(r'<(?:button|input)[^>]*\bname="do"[^>]*\bvalue="([^"]*)"')
ACTION = re.compile(r"""(?:action|formaction|hx-(?:get|post|put|patch|delete))="[^"]*?\{% url '([^']+)'""")
CHANGING = ("change", "write", "administer")
"""Rights that pages ask for."""
TODO = "Give it a row in tests/pages/counterparts.py with the REST operation that does the same, or add an operation."


@cache
def methods() -> dict[str, str]:
    """Of each operation, by its id."""
    paths = SchemaGenerator().get_schema(public=True)["paths"].values()
    return {one["operationId"]: method for path in paths for method, one in path.items()}


def named(patterns: Any, namespace: str = "") -> Iterator[tuple[str, Any]]:
    """Names of the URLs of pages, with their views."""
    for one in patterns:
        if isinstance(one, URLResolver):
            if not str(one.pattern).startswith(("api/", "admin/")):
                yield from named(one.url_patterns, f"{namespace}{one.namespace}:" if one.namespace else namespace)
        elif one.name:
            yield namespace + one.name, one.callback


def templates() -> Iterator[tuple[str, str]]:
    for path in ROOT.rglob("*.html"):
        parts = path.relative_to(ROOT).parts
        if "templates" in parts and not parts[0].startswith("."):
            yield "/".join(parts[parts.index("templates") + 1 :]), path.read_text()


def test_every_url_of_a_page_has_its_operation() -> None:
    urls = dict(named(get_resolver().url_patterns))
    assert COUNTERPARTS.keys() & WITHOUT.keys() == set()
    missing = urls.keys() - COUNTERPARTS.keys() - WITHOUT.keys()
    assert missing == set(), TODO
    assert (COUNTERPARTS.keys() | WITHOUT.keys()) - urls.keys() == set(), "These pages are gone; delete their rows."
    unknown = {(name, one) for name, ids in COUNTERPARTS.items() for one in ids.split() if one not in methods()}
    assert unknown == set(), f"There is no such operation. {TODO}"
    assert all(WITHOUT.values())


def test_what_changes_something_has_an_operation_that_changes_something() -> None:
    changing = {name for name, view in named(get_resolver().url_patterns) if getattr(view, "operation", "") in CHANGING}
    only_read = {
        name
        for name in changing - PARTS_OF_FORMS - WITHOUT.keys()
        if all(methods()[one] == "get" for one in COUNTERPARTS.get(name, "").split())
    }
    assert only_read == set(), TODO
    assert len(changing) > 40
    assert changing >= PARTS_OF_FORMS, "These change nothing and need no row there."


def test_every_form_leads_to_one_of_them_and_every_button_has_its_own() -> None:
    urls, found = dict(named(get_resolver().url_patterns)), {}
    for name, text in templates():
        assert set(ACTION.findall(text)) <= urls.keys(), name
        if buttons := set(DO.findall(text)):
            found[name] = buttons
    assert found == {name: set(buttons) for name, buttons in BUTTONS.items()}, TODO
    assert {one for buttons in BUTTONS.values() for one in buttons.values()} <= methods().keys(), TODO
