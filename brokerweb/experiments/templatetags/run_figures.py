"""The figures in tables of runs."""

from __future__ import annotations

from collections.abc import Iterable

from django import template

from brokerweb.experiments import figures
from brokerweb.experiments.figures import Cell, Figure
from brokerweb.experiments.models import Run

register = template.Library()


@register.simple_tag
def figures_of(runs: Iterable[Run]) -> list[Figure]:
    """The columns of these runs' figures."""
    return figures.of_runs(run.system for run in runs)


@register.filter
def first_figure(run: Run) -> str:
    """``Mean 1.2 ms``: the first of its system's figures."""
    figure = figures.of_runs([run.system])[0]
    return f"{figure.title} {figure.cell(run).text}"


@register.filter
def cell_of(figure: Figure, run: Run) -> Cell:
    return figure.cell(run)
