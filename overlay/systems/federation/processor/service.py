"""Service times: gamma, with the mean and the coefficient of variation of the settings. Simulated figures say so.

Drawn from ``Chance.random`` only, so that equal streams give equal times in both drivers:

- cv 0: constant; cv 1: the inverse of the exponential distribution
- otherwise Marsaglia, Tsang: A simple method for generating gamma variables, ACM TOMS 26 (2000), with normal variables
  by Box, Muller (1958); shapes below 1 (cv above 1) as there, by the shape that is larger by 1
"""

from __future__ import annotations

from collections.abc import Callable
from math import cos, log, pi, sqrt
from typing import Final

from overlay.core.chance import Chance
from overlay.core.node import MILLISECOND
from overlay.systems.federation.settings import Settings
from overlay.systems.federation.wire import messages as m

_CONSTANT = 1e-6
"""A smaller coefficient of variation changes no nanosecond of a service."""
_VISITS: Final = frozenset({m.Subscribe, m.Publish, m.Forward, m.Query, m.Answer})


def is_visit(message: m.Message) -> bool:
    """Whether it costs service time. Of SUBTABLE, only what adds subscriptions does."""
    return type(message) in _VISITS or (type(message) is m.SubTable and bool(message.added))


def draws(settings: Settings, is_mobile: bool, chance: Chance) -> Callable[[], int]:
    """A function that draws the service time (ns) of one visit."""
    mean = settings.service_ms * MILLISECOND * (settings.mobile_factor if is_mobile else 1)
    cv = settings.service_cv
    if cv < _CONSTANT:
        return lambda: round(mean)
    if cv == 1:
        return lambda: round(-mean * log(1 - chance.random()))
    shape = 1 / cv**2
    return lambda: round(mean / shape * gamma(shape, chance))


def gamma(shape: float, chance: Chance) -> float:
    """A gamma variable of scale 1: mean and variance are ``shape``, above 0."""
    if shape < 1:
        return float(gamma(shape + 1, chance) * (1 - chance.random()) ** (1 / shape))
    d = shape - 1 / 3
    while True:  # 95 % of the draws are accepted, or more
        x = normal(chance)
        v = (1 + x / sqrt(9 * d)) ** 3
        if v > 0 and log(1 - chance.random()) < x * x / 2 + d * (1 - v + log(v)):
            return d * v


def normal(chance: Chance) -> float:
    """A standard normal variable, from two draws."""
    return sqrt(-2 * log(1 - chance.random())) * cos(2 * pi * chance.random())
