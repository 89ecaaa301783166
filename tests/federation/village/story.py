"""One seed from its start to its end."""

from __future__ import annotations

from random import Random

from overlay.core.node import SECOND
from tests.federation.village.nomad import has_nomad, nomad_story
from tests.federation.village.plan import draw
from tests.federation.village.storm import Storm
from tests.federation.village.village import Village
from tests.soak.subject import Told

TWICE_EVERY = 20
"""One seed in so many is run twice."""


def run(seed):
    """Raises ``AssertionError`` where something that must hold does not."""
    told = lived(seed)
    if seed % TWICE_EVERY == 0:
        assert lived(seed) == told, "equal seeds give different runs"
    return told


def lived(seed):
    villages = [story(seed)[0]] + ([nomad_story(seed)] if has_nomad(seed) else [])
    simulators = [village.simulator for village in villages]
    return Told(
        " ".join(str(one.digest) for one in simulators),
        sum(one.delivered for one in simulators),
        sum(one.now for one in simulators) / SECOND,
    )


def story(seed):
    """The village and its storm, at the end."""
    plan, random = draw(seed), Random(f"story {seed}")
    village = Village(plan.brokers, plan.links, plan.settings, plan.shape, seed)
    storm = Storm(village, plan, random)
    try:
        tell(village, storm, plan)
    except Exception as error:
        error.add_note("\n".join([*storm.said, f"at {village.now / SECOND:.3f} s"]))
        raise
    return village, storm


def tell(village, storm, plan):
    storm.begin()
    for _ in range(plan.events):
        storm.step()
    storm.calm()
    village.rest()
    village.try_everything()
