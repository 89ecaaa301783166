"""Jinja2 for pages and files: escaped where it is HTML, strict about names."""

from __future__ import annotations

from pathlib import Path

import pytest
from jinja2 import UndefinedError

from telemetry.errors import TelemetryError
from telemetry.templating import HERE, environment, render, written_by_hand


def test_a_name_that_is_not_given_is_an_error_and_no_empty_text() -> None:
    with pytest.raises(UndefinedError, match="width"):
        render("charts/figure.html")


def test_html_and_svg_are_escaped_and_markdown_is_not() -> None:
    escaping = environment().autoescape
    assert callable(escaping)
    assert [escaping(f"page.{form}") for form in ("html", "svg", "md", "jinja")] == [True, True, False, False]


def test_every_template_of_the_package_can_be_read() -> None:
    names = environment().list_templates(extensions=["html", "svg", "md", "jinja"])
    assert {"charts/figure.html", "reports/report.html", "calibration/page.md", "calibration/chart.svg"} <= set(names)
    for name in names:
        environment().get_template(name)


def test_a_template_that_is_missing_is_a_sentence() -> None:
    with pytest.raises(TelemetryError, match=r"nowhere\.html is missing from the installation"):
        render("nowhere.html")


def test_what_a_person_wrote_on_a_page_is_kept_when_it_is_made_again(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    assert written_by_hand(page) == ""
    macros = environment().get_template("markdown.jinja").module
    hand = macros.by_hand("As expected,\n\non two cores.")  # type: ignore[attr-defined]
    page.write_text(f"# A page\n\n{hand}\n")
    assert written_by_hand(page) == "As expected,\n\non two cores."
    table = macros.table(["a", "b"], [["1", "2"], ["3", "4"]])  # type: ignore[attr-defined]
    assert table == "| a | b |\n| --- | ---: |\n| 1 | 2 |\n| 3 | 4 |"
    assert HERE.name == "telemetry"
