"""Conversations as pictures of text. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from brokerweb.wirelab.lab import Line

WIDTH = 18
MOST_TEXT = 76


def drawn(
    lines: Sequence[Line],
    names: Mapping[str, str],
    order: Sequence[str],
    label: Callable[[bytes], str],
    text: Callable[[bytes], str],
) -> list[str]:
    """A lifeline for each who takes part, in ``order``, and a row for each datagram with its ``label`` and ``text``."""
    taking = {end for line in lines for end in (line.sender, line.receiver)}
    lanes = [name for name in order if name in taking]
    rows = ["".join(names[name].ljust(WIDTH) for name in lanes).rstrip()]
    rows += [f"{_arrow(lanes, line, label(line.data))}  {_shortened(text(line.data))}" for line in lines]
    return rows


def _arrow(lanes: list[str], line: Line, label: str) -> str:
    row = ["│" if at % WIDTH == 0 else " " for at in range(WIDTH * (len(lanes) - 1) + 1)]
    left, right = sorted(WIDTH * lanes.index(name) for name in (line.sender, line.receiver))
    inside = f" {label} ".center(right - left - 2, "─")
    is_rightward = lanes.index(line.sender) < lanes.index(line.receiver)
    row[left + 1 : right] = f"{inside}>" if is_rightward else f"<{inside}"
    return "".join(row)


def _shortened(text: str) -> str:
    return text if len(text) <= MOST_TEXT else text[: MOST_TEXT - 1] + "…"
