"""Search strategies by name: how a broker without the data searches for it.

Counterpart: ``overlay.systems.context_broker.broker.searching`` executes a strategy's decisions. A strategy is a class
with a name and one method, ``decide``. It is called when a request arrives, and again whenever all messages of the last
decision have failed. A file in this folder is enough: forms, the API, flags and reports then offer the strategy
(``docs/add-a-search-strategy.md``).

A walk policy (``overlay.systems.context_broker.broker.walks``) chooses the neighbour of a single step. Strategies that
walk use the configured policy, so the two can be combined.
"""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from pkgutil import iter_modules

from overlay.systems.context_broker.broker.search.strategy import Strategy

FIRST = ("walk", "lookahead", "flood", "ring")
"""The files whose strategies come first in forms and tables, in this order. Others follow by file name."""


def _named() -> Iterator[type[Strategy]]:
    """Every strategy class of this folder that defines a name."""
    others = {module.name for module in iter_modules(__path__)} - {*FIRST}
    for file in (*FIRST, *sorted(others)):
        module = import_module(f"{__name__}.{file}")
        for kind in [kind for kind in vars(module).values() if isinstance(kind, type) and issubclass(kind, Strategy)]:
            if kind.__module__ == module.__name__ and "name" in vars(kind):
                yield kind


def _by_name() -> dict[str, type[Strategy]]:
    strategies: dict[str, type[Strategy]] = {}
    for kind in _named():
        if strategies.setdefault(kind.name, kind) is not kind:
            raise ValueError(f"{kind.__module__} and {strategies[kind.name].__module__} both define {kind.name!r}")
    return strategies


STRATEGIES = _by_name()
