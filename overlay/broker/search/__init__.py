"""How a broker that lacks the data looks for them: strategies, by name.

Counterpart: ``overlay.broker.searching`` carries out what a strategy decides. A strategy is a class with one method,
``decide``, asked once when a request arrives and again each time that all it led to has come to nothing; copy one, name
it in ``STRATEGIES``, and it can be chosen in forms, the API, flags and reports (``docs/add-a-search-strategy.md``).

Which neighbour a single step goes to is a smaller question, answered by the walk policies (``overlay.broker.walks``);
strategies that walk use the policy that is set, so that the two combine.
"""

from __future__ import annotations

from overlay.broker.search.flood import Flood, NormalizedFlood
from overlay.broker.search.lookahead import WalkWithLookahead
from overlay.broker.search.ring import ExpandingRing
from overlay.broker.search.strategy import Strategy
from overlay.broker.search.walk import KWalkers, Walk

STRATEGIES: dict[str, type[Strategy]] = {
    "walk": Walk,
    "k-walkers": KWalkers,
    "lookahead": WalkWithLookahead,
    "flood": Flood,
    "normalized-flood": NormalizedFlood,
    "expanding-ring": ExpandingRing,
}
