"""The colours of the style sheets, light and dark: text can be read on every ground it stands on, edges are seen."""

from __future__ import annotations

import re

import pytest

from overlay.systems.context_broker.broker.search import FIRST, STRATEGIES
from overlay.topologies import KINDS
from tests.conftest import ROOT

SHEET = (ROOT / "static/css/tokens.css").read_text()
GROUNDS = ("surface", "surface-sunk", "surface-raised")
TEXTS = ("ink", "ink-soft", "accent", "accent-hover")
STATES = tuple(f"state-{name}" for name in ("grey", "blue", "violet", "green", "red", "slate", "amber"))
OKABE_ITO = {"#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9"}
"""The palette is what colour-blind readers know; its lightest hues are below 3:1 on white, so shapes go with them."""


def variables(theme: str) -> dict[str, str]:
    """Every colour by name, as it is under a theme."""
    blocks = re.findall(r"([^{}]+)\{([^{}]*)\}", re.sub(r"/\*.*?\*/", "", SHEET, flags=re.DOTALL))
    found = {}
    for selector, body in blocks:
        if ":root" in selector or f'[data-bs-theme="{theme}"]' in selector:
            found |= dict(re.findall(r"--([\w-]+):\s*(#[0-9a-f]{6})", body))
    return found


def luminance(colour: str) -> float:
    shares = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [share / 12.92 if share <= 0.04045 else ((share + 0.055) / 1.055) ** 2.4 for share in shares]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    """WCAG's ratio, from 1 to 21."""
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_whatever_is_written_can_be_read(theme: str) -> None:
    colours = variables(theme)
    pairs = [(text, ground) for text in (*TEXTS, *STATES) for ground in GROUNDS]
    pairs += [("accent", "accent-soft"), ("ink", "accent-soft"), ("ink-soft", "accent-soft")]
    pairs += [("on-accent", "accent"), ("on-accent", "accent-hover"), ("surface", "state-red")]
    low = {pair: contrast(colours[pair[0]], colours[pair[1]]) for pair in pairs}
    assert {pair: round(ratio, 2) for pair, ratio in low.items() if ratio < 4.5} == {}


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_edges_of_inputs_and_series_stand_out_from_their_ground(theme: str) -> None:
    colours = variables(theme)
    series = [name for name, value in colours.items() if name.startswith("series-") and value not in OKABE_ITO]
    assert {
        (name, ground): round(ratio, 2)
        for name in ("edge-strong", "published", *series)
        for ground in ("surface", "surface-sunk")
        if (ratio := contrast(colours[name], colours[ground])) < 3
    } == {}


def test_every_kind_of_topology_and_every_strategy_that_comes_with_waxwing_has_its_colour() -> None:
    """One that was added has that of every swatch without a rule."""
    drawn = variables("light")
    names = [*KINDS, *(name for name, kind in STRATEGIES.items() if kind.__module__.rpartition(".")[2] in FIRST)]
    assert [name for name in names if f"series-{name}" not in drawn] == []
    rules = (ROOT / "static/css/charts.css").read_text()
    assert [name for name in names if f".swatch-{name} " not in rules] == []
    assert re.search(r"\.swatch \{[^}]*background: var\(--edge-strong\)", rules)
