"""Random histories of brokers in trees, with messages in flight and clients that move (seed 002, sections 7 and 9)."""

from __future__ import annotations

from itertools import product
from random import Random
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from overlay.core.node import SECOND
from overlay.systems.silbops.broker.arriving import TAKE_WITHIN
from overlay.systems.silbops.content.filters import matches
from overlay.systems.silbops.content.values import Values
from overlay.systems.silbops.publishing import Refusal, permitted
from overlay.systems.silbops.scope.evaluation import ScopeError, holds
from overlay.systems.silbops.scope.text import parse
from overlay.systems.silbops.scope.tree import Tree
from overlay.systems.silbops.wire import messages as m
from tests.silbops.drawn import CONTEXTS, filters, trees
from tests.silbops.loop_network import App, World
from tests.thorough import examples

SQUARE = parse("this.x-20 <= pub.x <= this.x+20")
NUMBERS = st.integers(0, 3)
NOTIFICATION = st.dictionaries(st.sampled_from(["a", "b"]), st.sampled_from([0, 1, 2, "a", "ab"]), min_size=1)
ACTIONS = st.one_of(
    st.tuples(st.just("subscribe"), NUMBERS, NUMBERS, filters(2), st.one_of(st.none(), trees(), st.just(SQUARE))),
    st.tuples(st.just("advertise"), NUMBERS, NUMBERS, filters(1), st.frozensets(st.sampled_from(["x", "y", "kind"]))),
    st.tuples(st.just("context"), NUMBERS, CONTEXTS),
    st.tuples(st.sampled_from(["unsubscribe", "unadvertise"]), NUMBERS, NUMBERS),
    st.tuples(st.just("publish"), NUMBERS, NOTIFICATION, CONTEXTS),
    st.tuples(st.just("move"), NUMBERS, NUMBERS),
    st.tuples(st.just("lose"), NUMBERS),
    st.tuples(st.just("step"), st.integers(1, 8)),
    st.tuples(st.just("wait"), st.sampled_from([0.5, 3, 6])),
)
TREES: list[tuple[tuple[int, int], ...]] = [
    ((0, 1),),
    ((0, 1), (1, 2)),
    ((0, 1), (0, 2), (0, 3)),
    ((0, 1), (1, 2), (1, 3), (3, 4)),
]
Due = dict[int, tuple[int, ...]]
"""By client, the ids of its subscriptions that a publication satisfies."""


def act(world: World, kind: str, fields: Any) -> None:
    match kind, fields:
        case "step", [count]:
            for _ in range(count):
                world.step()
        case "wait", [seconds]:
            world.advance(seconds)
        case "subscribe", [app, number, content, scope]:
            world.apps[app].request(m.Subscribe, number, content, scope)
        case "advertise", [app, number, content, variables]:
            readable = frozenset({"x", "y"}) if world.settings.publisher_scope else None
            world.apps[app].request(m.Advertise, number, content, variables, readable)
        case "context", [app, values]:
            world.apps[app].request(m.SetCtx, values)
        case "unsubscribe", [app, number]:
            world.apps[app].request(m.Unsubscribe, number)
        case "unadvertise", [app, number]:
            world.apps[app].request(m.Unadvertise, number)
        case "publish", [app, notification, context]:
            world.apps[app].request(m.Publish, notification, context)
        case "move", [app, broker]:
            world.apps[app].attach(f"b{broker % len(world.cores)}")
        case "lose", [app]:
            world.end(world.apps[app].id, world.apps[app].home or b"")


def due(world: World, publisher: App, notification: Values, context: Values, chosen: Tree | None) -> Due | None:
    """By brute force over what all applications have set; ``None`` if it is refused."""
    try:
        cut = permitted(publisher.advertisements.values(), notification, context, chosen)
    except Refusal:
        return None
    found = {}
    for app in world.apps:
        own = {} if app.context is None else app.context.values
        if app is publisher or not (chosen is None or is_true(chosen, cut, own)):
            continue
        if ids := sorted(one.id for one in app.subscriptions.values() if is_satisfied(one, app, notification, cut)):
            found[app.id[0]] = tuple(ids)
    return found


def is_satisfied(one: m.Subscribe, app: App, notification: Values, context: Values) -> bool:
    if not matches(one.filter, notification):
        return False
    return one.scope is None or (app.context is not None and is_true(one.scope, context, app.context.values))


def is_true(scope: Tree, pub: Values, this: Values) -> bool:
    try:
        return holds(scope, pub, this)
    except ScopeError:
        return False


def rest(world: World) -> None:
    """All are attached, nothing is in flight, and what old brokers have of clients is gone."""
    for _ in range(8):
        world.settle()
        world.advance(2)
    world.settle()
    assert all(app.is_attached and not app.unanswered for app in world.apps)
    assert not any(len(core.leaving) or len(core.arriving) for core in world.cores.values())


def check(world: World, notifications: list[Values]) -> None:
    """Each publisher twice: after the first, all brokers know its context."""
    context = {"x": 1, "y": 2}
    functions = [None, parse("this.x > 0")] if world.settings.publisher_scope else [None]
    for publisher, notification, chosen in product(world.apps, notifications, functions):
        expected = due(world, publisher, notification, context, chosen)
        for _ in range(2):
            for app in world.apps:
                app.received.clear()
            refused = len(publisher.refused)
            publisher.request(m.Publish, notification, context, chosen)
            world.settle()
        assert (len(publisher.refused) > refused) == (expected is None)
        found = {app.id[0]: note.ids for app in world.apps for note in app.received.values()}
        assert found == (expected or {})


OPTIONS: list[dict[str, Any]] = [
    {},
    {"covering": False},
    {"bound": 6},
    {"publisher_scope": True},
    {"publisher_context": "forwarded"},
    {"publisher_context": "forwarded", "prune": "each-change"},
    {"publisher_context": "forwarded", "prune": "timed", "prune_after_s": 1},
    {"publisher_context": "forwarded", "prune": "advertisement", "publisher_scope": True},
]


@settings(max_examples=examples(60), suppress_health_check=[HealthCheck.data_too_large])
@given(
    st.sampled_from(TREES),
    st.integers(0, 9),
    st.sampled_from(OPTIONS),
    st.lists(ACTIONS, max_size=25),
    st.lists(NOTIFICATION, min_size=1, max_size=2),
)
def test_at_rest_everyone_gets_what_is_due_wherever_it_has_moved(
    links: Any, seed: int, options: Any, actions: Any, notifications: list[Values]
) -> None:
    world = World(len(links) + 1, links, Random(seed), **options)
    for number in range(4):
        world.app(f"b{number % len(world.cores)}")
    world.settle()
    for kind, *fields in actions:
        act(world, kind, fields)
    rest(world)
    check(world, notifications)
    for app in world.apps:
        for number in list(app.subscriptions):
            app.request(m.Unsubscribe, number)
        for number in list(app.advertisements):
            app.request(m.Unadvertise, number)
    world.settle()
    for core in world.cores.values():
        figures = core.statistics()
        assert not figures["rows_subscriptions"] + figures["rows_advertisements"]
        attached = sum(app.home == core.station.name.encode() and app.context is not None for app in world.apps)
        assert figures["rows_contexts"] == attached
        assert not len(core.station.tables.announced)


MOVES = st.lists(
    st.one_of(
        st.tuples(st.just("move"), st.integers(1, 3), NUMBERS),
        st.tuples(st.just("move"), st.integers(1, 3), NUMBERS),
        st.tuples(st.just("publish"), st.just(0), st.just({"a": 1}), st.just({"x": 1})),
        st.tuples(st.just("lose"), st.integers(1, 3)),
        st.tuples(st.just("step"), st.integers(1, 8)),
        st.tuples(st.just("wait"), st.sampled_from([0.5, 2])),
    ),
    max_size=30,
).filter(lambda actions: sum(fields[0] for kind, *fields in actions if kind == "wait") * SECOND < TAKE_WITHIN)
"""Less time passes than a broker waits for TAKE: after that a client starts again, without what it missed."""


@settings(max_examples=examples(40))
@given(st.sampled_from(TREES), st.integers(0, 9), st.integers(0, 3), MOVES)
def test_nothing_is_lost_while_clients_move(links: Any, seed: int, start: int, actions: Any) -> None:
    world = World(len(links) + 1, links, Random(seed), handover_s=3600)
    for number in range(4):
        world.app(f"b{number * start % len(world.cores)}")
    world.settle()
    world.apps[0].request(m.Advertise, 1, (), frozenset({"x"}))
    for app in world.apps[1:]:
        app.request(m.Subscribe, 1, (), None)
        app.request(m.SetCtx, {"x": 1})
        app.request(m.Subscribe, 2, (), SQUARE)
    world.settle()
    for kind, *fields in actions:
        act(world, kind, fields)
    for _ in range(8):
        world.settle()
        world.advance(2)
    world.settle()
    for app in world.apps[1:]:
        got = {number for _, number in app.received}
        assert got == set(range(2, world.apps[0].number + 1))
