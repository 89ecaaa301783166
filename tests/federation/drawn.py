"""Random expressions, values and messages of the federation. Names and constants are few, so that they meet."""

from __future__ import annotations

from hypothesis import strategies as st

from overlay.systems.federation.language.tree import (
    OPERATORS,
    And,
    InvalidExpression,
    Not,
    Or,
    Predicate,
    read,
    written,
)
from overlay.systems.federation.wire import messages as m
from overlay.systems.federation.wire import values as v

U = st.integers(0, 2**64 - 1) | st.integers(0, 300)
ANY_TEXT = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=16)
NAME = st.sampled_from(["p3", "c0", "room", "r17", "r18", "climate", "light"]) | ANY_TEXT
ADDRESS = st.sampled_from(["127.0.0.1:7000", "10.0.0.1:1", "[::1]:65535"])
URL = st.sampled_from(["", "http://10.0.0.7:8080/climate"])

PARAMETERS = st.sampled_from(["temperature", "occupied", "label", "position.x", "position", "history"])
RESERVED = st.sampled_from(["scope", "entity.type", "entity.id", "timestamp"])
NUMBERS = st.integers(-3, 3) | st.sampled_from([-0.5, 0.5, 2.0])
WORDS = st.sampled_from(["", "a", "ab", "abc", "b", "r17", "r18", "climate", "light", "room"])
CONSTANTS = NUMBERS | WORDS | st.booleans()


@st.composite
def predicates(draw, names=PARAMETERS | RESERVED, constants=CONSTANTS):
    operator = draw(st.sampled_from(sorted(OPERATORS)))
    fewest, most = OPERATORS[operator]
    found = draw(st.lists(constants, min_size=fewest, max_size=min(most, 3)))
    return Predicate(draw(names), operator, tuple(found))


def is_readable(expression):
    try:
        return read(written(expression)) is not None
    except InvalidExpression:
        return False


def _parts(inner):
    """None alone: as text, an *and* of one part is that part."""
    return st.lists(inner, max_size=3).filter(lambda parts: len(parts) != 1).map(tuple)


expressions = st.recursive(
    predicates(),
    lambda inner: _parts(inner).map(And) | _parts(inner).map(Or) | inner.map(Not),
    max_leaves=6,
).filter(is_readable)
any_predicates = predicates(
    ANY_TEXT.filter(lambda name: all(name.split(".")) and name not in ("and", "or", "not") and len(name.encode()) < 65),
    ANY_TEXT | st.floats(allow_nan=False, allow_infinity=False) | st.integers(-(2**63), 2**64 - 1) | st.booleans(),
)
conjunctions = st.lists(predicates(), max_size=3).map(lambda parts: And(tuple(parts)))

SCALARS = NUMBERS | WORDS | st.booleans()
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["x", "floor"]), inner, max_size=2),
    max_leaves=4,
)
DATA = st.fixed_dictionaries(
    {},
    optional={
        "temperature": NUMBERS | st.lists(NUMBERS, max_size=3),
        "occupied": st.booleans(),
        "label": WORDS | st.lists(SCALARS, max_size=3),
        "position": st.fixed_dictionaries({}, optional={"x": NUMBERS | st.lists(NUMBERS, max_size=2)})
        | st.lists(st.fixed_dictionaries({"x": NUMBERS}), max_size=2),
        "history": st.lists(SCALARS | st.lists(SCALARS, max_size=2), max_size=3),
    },
)


@st.composite
def deep_values(draw, depth=4):
    if depth == 1 or draw(st.booleans()):
        return draw(SCALARS | ANY_TEXT | st.floats(allow_nan=False, allow_infinity=False))
    inner = deep_values(depth=depth - 1)
    return draw(st.lists(inner, max_size=2) | st.dictionaries(ANY_TEXT, inner, max_size=2))


def notifications(data=DATA, names=NAME, times=U):
    return st.builds(
        v.Notification,
        id=st.builds(v.NotificationId, names, U),
        entity_type=st.sampled_from(["room", "hall"]) | names,
        entity_id=st.sampled_from(["r17", "r18"]) | names,
        scope=st.sampled_from(["climate", "light"]) | names,
        timestamp=st.integers(0, 5) | times,
        expires=times,
        data=data,
    )


NOTES = notifications() | notifications(st.dictionaries(ANY_TEXT, deep_values(), max_size=3))
SIDS = st.builds(v.SubscriptionId, NAME, U)
SEVERAL_SIDS = st.lists(SIDS, max_size=3).map(tuple)
NAMES = st.lists(NAME, max_size=3).map(tuple)


def subscriptions(expression=expressions, names=NAME, times=U, scopes=NAME):
    return st.builds(
        v.Subscription,
        id=st.builds(v.SubscriptionId, names, U),
        scopes=st.lists(scopes, min_size=1, max_size=3).map(tuple),
        expires=times,
        expression=expression,
        priority=st.sampled_from(v.Priority),
        once=st.booleans(),
    )


SUBS = subscriptions()
SEVERAL_SUBS = st.lists(SUBS, max_size=2).map(tuple)
ADVS = st.builds(
    v.Advertisement,
    id=NAME,
    registration=U,
    role=st.sampled_from(v.Role),
    url=URL,
    scopes=NAMES,
    needs=st.dictionaries(NAME, NAMES, max_size=2),
)
ENTRIES = st.lists(st.builds(v.Entry, ADVS, ADDRESS, NAME, U), max_size=2).map(tuple)
COORDINATES = st.floats(allow_nan=False, allow_infinity=False)
POSITIONS = st.none() | st.tuples(COORDINATES, COORDINATES)
CANDIDATES = st.lists(st.builds(v.Candidate, NAME, U, st.booleans()), max_size=2).map(tuple)


def broker_advertisements(candidates):
    return st.builds(
        v.BrokerAdvertisement,
        id=NAME,
        endpoint=ADDRESS,
        is_mobile=st.booleans(),
        position=POSITIONS,
        domain=st.just("") | NAME,
        candidates=candidates,
    )


BROKERS = broker_advertisements(CANDIDATES)
SUMS = st.builds(v.Summary, U, U)
CODES = st.sampled_from(m.Code)
WHOLE = st.sampled_from(m.Whole)

MESSAGES = {
    m.Register: st.builds(m.Register, U, ADVS),
    m.KeepAlive: st.builds(m.KeepAlive, U),
    m.Unregister: st.builds(m.Unregister, U, U),
    m.Subscribe: st.builds(m.Subscribe, U, SEVERAL_SUBS, SEVERAL_SIDS),
    m.Publish: st.builds(m.Publish, U, st.lists(st.builds(v.Publication, NOTES, SEVERAL_SIDS), max_size=2).map(tuple)),
    m.Notify: st.builds(m.Notify, NOTES, SEVERAL_SIDS, st.booleans(), U),
    m.Offer: st.builds(m.Offer, SEVERAL_SUBS, SEVERAL_SIDS),
    m.Lookup: st.builds(m.Lookup, U, NAME),
    m.Found: st.builds(m.Found, U, st.lists(st.builds(v.Found, NAME, ADDRESS, URL), max_size=3).map(tuple)),
    m.Query: st.builds(m.Query, U, st.none() | NAME, st.none() | NAME, NAMES.filter(bool), U),
    m.Answer: st.builds(m.Answer, U, CODES, st.lists(NOTES, max_size=2).map(tuple)),
    m.Hello: st.builds(m.Hello, BROKERS, U, SUMS, SUMS),
    m.SubTable: st.builds(m.SubTable, U, WHOLE, SEVERAL_SUBS, SEVERAL_SIDS),
    m.RegTable: st.builds(m.RegTable, U, WHOLE, ENTRIES, NAMES, SUMS),
    m.Forward: st.builds(m.Forward, NOTES, U, NAMES, SEVERAL_SIDS),
    m.Tables: st.builds(m.Tables, st.sampled_from(m.Table)),
    m.Broker: st.builds(m.Broker, U, BROKERS, U, st.booleans()),
    m.Brokers: st.builds(
        m.Brokers, U, WHOLE, st.lists(BROKERS, max_size=2).map(tuple), NAMES, st.lists(st.tuples(NAME, NAME)).map(tuple)
    ),
    m.Find: st.builds(m.Find, U, POSITIONS, st.just("") | NAME),
    m.Discover: st.builds(m.Discover, U),
    m.Here: st.builds(m.Here, U, broker_advertisements(st.just(()))),
    m.Ack: st.builds(m.Ack, U),
    m.Nack: st.builds(m.Nack, U, U, CODES, st.just("") | ANY_TEXT),
    m.Link: st.builds(m.Link, st.booleans()),
}
messages = st.sampled_from(list(MESSAGES)).flatmap(MESSAGES.__getitem__)
