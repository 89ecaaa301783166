"""How a broker that lacks the data looks for them: strategies, by name.

Counterpart: ``overlay.systems.context_broker.broker.searching`` carries out what a strategy decides. A strategy is a
class with a name and one method, ``decide``, asked once when a request arrives and again each time that all it led to
has come to nothing. It is in a file of this folder, and needs nothing else to be chosen in forms, the API, flags and
reports (``docs/add-a-search-strategy.md``).

Which neighbour a single step goes to is a smaller question, answered by the walk policies
(``overlay.systems.context_broker.broker.walks``); strategies that walk use the policy that is set, so that the two
combine.
"""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from pkgutil import iter_modules

from overlay.systems.context_broker.broker.search.strategy import Strategy

FIRST = ("walk", "lookahead", "flood", "ring")
"""Files whose strategies come first in forms and tables, in this order; those of others follow, by the file's name."""


def _named() -> Iterator[type[Strategy]]:
    """Every strategy of this folder that has a name of its own."""
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
            raise ValueError(f"{kind.__module__} and {strategies[kind.name].__module__} both name one {kind.name!r}")
    return strategies


STRATEGIES = _by_name()
