"""Random datagrams of Radiator, made from the table of its fields."""

from __future__ import annotations

from hypothesis import strategies as st

from overlay.core.binary import CODES, Kind
from overlay.core.errors import WireError
from overlay.systems.radiator.wire.codec import encode
from overlay.systems.radiator.wire.table import LAYOUTS

SIZES = {"B": 8, "H": 16, "I": 32, "Q": 64}
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=6,
)


def values(field):
    if field.choices:
        return st.sampled_from(field.choices)
    if field.kind in CODES:
        return st.integers(0, 2 ** SIZES[CODES[field.kind]] - 1)
    if field.kind is Kind.FIXED:
        return st.binary(min_size=field.size, max_size=field.size)
    if field.kind is Kind.TEXT8:
        return st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=60)
    return (
        st.dictionaries(st.text(max_size=4), JSON, max_size=3) if field.kind is Kind.JSON16 else st.binary(max_size=50)
    )


def is_written(message):
    try:
        encode(message)
    except WireError:
        return False
    return True


@st.composite
def one_of(draw, layout):
    found = {}
    for field in layout.fields:
        if field.only_with is None or found[field.only_with[0]] == field.only_with[1]:
            found[field.name] = draw(values(field))
    if "segments" in found:
        found["segments"] = draw(st.integers(1, 65_535))
        found["segment"] = draw(st.integers(0, found["segments"] - 1))
        found["chain"] = draw(st.integers(0, 65_534))
        found["length"] = draw(st.integers(1, 65_535))
        found["position"] = draw(st.integers(0, found["length"] - 1))
    return layout.message(**found)


messages = st.sampled_from(LAYOUTS).flatmap(one_of).filter(is_written)
