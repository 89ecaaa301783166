"""Entities that both standards and the context of a network can express."""

from __future__ import annotations

from hypothesis import strategies as st

from brokerweb.ngsi.model import Attribute, Entity, attribute, metadatum

TEXT = st.text(st.characters(blacklist_categories=("Cs",)), max_size=12) | st.sampled_from(
    ["21.5", "true", "null", "a;b", "a=b", '"', "[1", "1 ", "-", "{}", "tea", "\\;", "NaN", "1e400"]
)
SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXT
SMALL = st.lists(SCALARS, max_size=2) | st.dictionaries(TEXT, SCALARS, max_size=2)
VALUES = SCALARS | SMALL | st.fixed_dictionaries({"inner": SMALL})
NAMES = st.sampled_from(["temp", "a", "b-c", "d.e", "urn:x:1", "X_9", "location"])
TYPES = st.none() | st.sampled_from(["Celsius", "Number", "21", "null", "Text", "DateTime", "a=b"])


def attributes() -> st.SearchStrategy[Attribute]:
    names = NAMES | st.sampled_from(["observedAt", "unitCode", "TimeInstant"])
    meta = st.dictionaries(names, st.tuples(VALUES, TYPES), max_size=2).map(
        lambda given: {name: metadatum(name, value, type) for name, (value, type) in given.items()}
    )
    return st.builds(attribute, VALUES, TYPES, meta)


def entities() -> st.SearchStrategy[Entity]:
    return st.builds(Entity, NAMES, NAMES, st.dictionaries(NAMES, attributes(), max_size=3))
