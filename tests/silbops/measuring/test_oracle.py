"""Who should have got a publication, on histories small enough to see it (seed 002, presets: measures)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from overlay.systems.silbops.content.filters import EVERYTHING, matches, read_filter
from overlay.systems.silbops.content.values import Values
from overlay.systems.silbops.measuring.absences import Absences
from overlay.systems.silbops.measuring.oracle import Arrival, Found, Oracle
from overlay.systems.silbops.measuring.outages import Outages
from overlay.systems.silbops.measuring.states import Change, Offer, Wanted, states_by_client
from overlay.systems.silbops.measuring.truth import Publication, Truth
from overlay.systems.silbops.rows import Limits, Served
from overlay.systems.silbops.scope.evaluation import ScopeError, holds
from overlay.systems.silbops.scope.text import parse
from tests.silbops.drawn import CONTEXTS, NOTIFICATIONS, boxes, filters
from tests.thorough import examples

FIRE = read_filter([["kind", "=", "fire"]])
NEAR = parse("this.x-20 <= pub.x <= this.x+20")
X = frozenset({"x"})
ALWAYS = [Change(0, 0, id=1, row=Offer(EVERYTHING, X))]
READABLE = [Change(0, 0, id=1, row=Offer(EVERYTHING, X, frozenset({"group"})))]
KEPT = Limits(2, 30, False, [-1])


def context(at: float, processed: float, **values: Any) -> Change[Any]:
    return Change(at, processed, context=values)


def published(number: int, at: float, processed: float, **more: Any) -> Publication:
    notification = more.pop("notification", {"kind": "fire"})
    context, scope = more.pop("context", {"x": 0}), more.pop("scope", None)
    return Publication("camera", number, notification, context, scope, at, at, processed, **more)


def judged(
    vehicle: list[Change[Wanted]],
    publications: list[Publication],
    came: list[tuple[int, float]] = (),  # type: ignore[assignment]
    *,
    camera: list[Change[Offer]] = ALWAYS,
    served: Sequence[tuple[float, float]] | None = None,
    limits: Limits = KEPT,
) -> Found:
    """``came``: number and instant of what the vehicle got."""
    states = {"vehicle": vehicle}
    truth = Truth(states_by_client(states), states_by_client({"camera": camera}), is_pruned=limits.is_pruned)
    absences = {"vehicle": Absences(Served("vehicle", 0, a, b, "") for a, b in served or [(0, 0)])}
    arrivals = [Arrival("vehicle", ("camera", number), at) for number, at in came]
    return Oracle(truth, absences, {}, Outages([], [-1], 0), limits).found(publications, arrivals)


WANTS = Change(10.0, 15.0, id=1, row=Wanted(FIRE, NEAR))
HERE = context(11.0, 16.0, x=5)


def test_what_matches_in_every_state_of_the_window_is_due() -> None:
    found = judged([WANTS, HERE], [published(1, 20, 25), published(2, 30, 35)], [(1, 24)])
    assert (found.due, found.lost, found.deliveries, found.spurious) == (2, 1, 1, 0)
    assert [(one.publication[1], one.client) for one in found.missing if not one.cause] == [(2, "vehicle")]
    assert list(found.latencies_us) == [4]


def test_before_all_brokers_have_processed_a_state_the_one_before_counts_too() -> None:
    early = [published(1, 12, 14)]
    assert judged([WANTS, HERE], early).due == 0
    assert judged([WANTS, HERE], early, [(1, 14)]).spurious == 0, "but it is allowed"


def test_a_change_while_the_publication_is_on_its_way_excuses_both() -> None:
    history = [WANTS, HERE, context(22, 40, x=100)]
    for came in ([], [(1, 24.0)]):
        found = judged(history, [published(1, 20, 25)], came)
        assert (found.due, found.lost, found.spurious) == (0, 0, 0)
    late = judged(history, [published(1, 41, 45)], [(1, 44)])
    assert (late.due, late.spurious) == (0, 1), "from 40 on it is false in the only state"


def test_a_change_to_another_context_with_which_it_matches_excuses_nothing() -> None:
    """As when siena removes a filter first: in the gap it is lost."""
    found = judged([WANTS, HERE, context(22, 40, x=6)], [published(1, 20, 25)])
    assert (found.due, found.lost) == (1, 1)


def test_what_does_not_match_or_was_never_published_is_spurious() -> None:
    found = judged([WANTS, HERE], [published(1, 20, 25, notification={"kind": "flood"})], [(1, 24), (9, 24)])
    assert (found.due, found.deliveries, found.spurious) == (0, 2, 2)


def test_a_second_copy_is_a_duplicate() -> None:
    found = judged([WANTS, HERE], [published(1, 20, 25)], [(1, 24), (1, 26)])
    assert (found.deliveries, found.duplicates, list(found.latencies_us)) == (1, 1, [4])


def test_a_publication_that_was_refused_is_due_to_nobody() -> None:
    assert judged([WANTS, HERE], [published(1, 20, 25, is_refused=True)]).due == 0


def test_a_publisher_may_admit_who_has_set_no_context() -> None:
    wanted = [Change(0.0, 0.0, id=1, row=Wanted(FIRE))]
    for scope, due in (("not exists this.group", 1), ("this.group < 1", 0)):
        assert judged(wanted, [published(1, 20, 21, scope=parse(scope))], camera=READABLE).due == due


def test_the_advertisements_of_the_publisher_have_a_window_too() -> None:
    late = [Change(19.0, 22.0, id=1, row=Offer(EVERYTHING, X))]
    assert judged([WANTS, HERE], [published(1, 20, 25)], camera=late).due == 0
    assert judged([WANTS, HERE], [published(1, 20, 25)], [(1, 24)], camera=late).spurious == 0
    assert judged([WANTS, HERE], [published(1, 23, 25)], camera=late).due == 1


def test_a_context_that_is_not_advertised_does_not_count() -> None:
    without = [Change(0.0, 0.0, id=1, row=Offer(EVERYTHING))]
    assert judged([WANTS, HERE], [published(1, 20, 25)], [(1, 24)], camera=without).spurious == 1


def test_with_pruning_an_older_context_of_the_publisher_excuses_a_loss() -> None:
    camera: list[Change[Offer]] = [*ALWAYS, context(1, 2, x=500), context(19, 30, x=0)]
    one = [published(1, 20, 25)]
    assert judged([WANTS, HERE], one, camera=camera).due == 1
    pruned = judged([WANTS, HERE], one, [(1, 24)], camera=camera, limits=Limits(2, 30, True, [-1]))
    assert (pruned.due, pruned.spurious) == (0, 0)


def test_nobody_is_owed_its_own_publications() -> None:
    own = Truth(states_by_client({"camera": [WANTS, HERE]}), states_by_client({"camera": ALWAYS}))
    assert own.owed(published(1, 20, 25)).allowed == frozenset()


# ---- away


def test_what_is_lost_beyond_what_is_kept_is_apart() -> None:
    wanted = [Change(0.0, 0.0, id=1, row=Wanted(FIRE))]
    notes = [published(number, 20 + number, 21 + number) for number in range(4)]
    away = judged(wanted, notes, [(2, 50), (3, 50)], served=[(0, 15), (40, 0)])
    assert (away.due, away.lost, away.lost_kept) == (4, 0, 2), "the newest two are kept"
    assert (list(away.latencies_us), len(away.kept_latencies_us)) == ([], 2)
    worse = judged(wanted, notes, [(3, 50)], served=[(0, 15), (40, 0)])
    assert (worse.lost, worse.lost_kept) == (1, 2)


def test_what_was_not_delivered_when_a_client_moved_counts_as_kept_though_it_moved_in_no_time() -> None:
    wanted = [Change(0.0, 0.0, id=1, row=Wanted(FIRE))]
    note, moves = [published(1, 20, 21)], [(0, 20.5), (20.5, 0)]
    none_kept = judged(wanted, note, served=moves, limits=Limits(0, 30, False, [-1]))
    assert (none_kept.lost, none_kept.lost_kept) == (0, 1)
    assert judged(wanted, note, served=moves).lost == 1, "it was to be kept"
    away = judged(wanted, note, served=[(0, 20.2), (20.4, 20.6), (20.6, 0)], limits=Limits(2, 0, False, [-1]))
    assert (away.lost, away.lost_kept) == (0, 1), "a move in no time does not hide the absence before it"
    (latency,) = judged(wanted, note, [(1, 50)], served=moves).latencies_us
    assert latency == 30, "it was not away"


def test_who_stays_away_too_long_loses_all() -> None:
    wanted = [Change(0.0, 0.0, id=1, row=Wanted(FIRE))]
    gone = judged(wanted, [published(1, 20, 21)], served=[(0, 15), (32_000_000, 0)])
    assert (gone.lost, gone.lost_kept) == (0, 1)


# ---- against brute force

IDS = st.integers(1, 2)
TIMES = st.integers(0, 20)
SET = st.tuples(TIMES, st.integers(0, 6))
"""When, and how much later all brokers had processed it."""


@st.composite
def histories(draw: st.DrawFn) -> tuple[list[Change[Wanted]], list[Change[Offer]], list[Publication]]:
    def calls(rows: st.SearchStrategy[Any]) -> list[Change[Any]]:
        found: list[Change[Any]] = []
        for at, later in draw(st.lists(SET, max_size=6)):
            if draw(st.booleans()):
                found.append(Change(at, at + later, context=draw(CONTEXTS)))
            else:
                found.append(Change(at, at + later, id=draw(IDS), row=draw(st.one_of(rows, rows, st.none()))))
        return sorted(found, key=lambda one: one.at_us)

    wanted = st.builds(Wanted, filters(1), st.one_of(st.none(), boxes()))
    offers = st.builds(Offer, filters(1), st.sets(st.sampled_from(["x", "y", "kind"])).map(frozenset))
    notes = [
        Publication("camera", number, draw(NOTIFICATIONS), draw(CONTEXTS), None, at, at, at + later)
        for number, (at, later) in enumerate(draw(st.lists(SET, min_size=1, max_size=3)))
    ]
    return calls(wanted), [Change(-1.0, -1.0, id=1, row=draw(offers)), *calls(offers)], notes


def replayed(changes: list[Change[Any]], one: Publication) -> list[tuple[Values | None, dict[int, Any]]]:
    """The states of the window."""
    context: Values | None = None
    rows: dict[int, Any] = {}
    states: list[tuple[float, float, Values | None, dict[int, Any]]] = [(-1e9, -1e9, None, {})]
    for change in changes:
        if change.context is not None:
            context = change.context
        elif change.row is None:
            rows = {id: row for id, row in rows.items() if id != change.id}
        else:
            rows = {**rows, change.id: change.row}
        states.append((change.at_us, change.processed_us, context, rows))
    # brokers process in order, so a state is processed when all before it are, too
    processed = [max(each[1] for each in states[: place + 1]) for place in range(len(states))]
    first = max(place for place, at in enumerate(processed) if at <= one.published_us)
    last = max(place for place, each in enumerate(states) if each[0] <= one.processed_us)
    return [(each[2], each[3]) for each in states[first : max(first, last) + 1]]


def is_true(one: Publication, camera: Any, vehicle: Any) -> bool:
    of = [row for row in camera[1].values() if matches(row.filter, one.notification)]
    names = {name for row in of for name in row.variables}
    pub = {name: value for name, value in one.context.items() if name in names}
    for row in vehicle[1].values():
        if of and matches(row.filter, one.notification):
            if row.scope is None:
                return True
            try:
                if vehicle[0] is not None and holds(row.scope, pub, vehicle[0]):
                    return True
            except ScopeError:
                pass
    return False


@settings(max_examples=examples(80))
@given(histories())
def test_due_and_allowed_are_those_of_brute_force(history: Any) -> None:
    vehicle, camera, notes = history
    truth = Truth(states_by_client({"vehicle": vehicle}), states_by_client({"camera": camera}))
    for one in notes:
        truths = [
            is_true(one, offered, wanted) for offered in replayed(camera, one) for wanted in replayed(vehicle, one)
        ]
        owed = truth.owed(one)
        assert ("vehicle" in owed.due) == all(truths)
        assert ("vehicle" in owed.allowed) == any(truths)
