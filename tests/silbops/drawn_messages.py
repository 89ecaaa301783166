"""Hypothesis strategies: all messages of SilboPS."""

from __future__ import annotations

from hypothesis import strategies as st

from overlay.systems.silbops.tables.rows import Context, Key
from overlay.systems.silbops.wire import messages as m
from overlay.systems.silbops.wire.kinds import MAX_TTL_MS, MAX_WORDS
from tests.silbops.drawn import CONTEXTS, NAMES, NOTIFICATIONS, filters, trees

U = st.one_of(st.integers(0, 300), st.integers(0, 2**64 - 1))
OWNERS = st.binary(min_size=16, max_size=16)
KEYS = st.builds(Key, OWNERS, U)
TTLS = st.integers(0, MAX_TTL_MS)
NAME_SETS = st.frozensets(NAMES)
BROKERS = st.sampled_from(["b0", "b12", "Straße"])
FILTERS = filters()
SCOPES = st.none() | trees()
IDS = st.lists(U, min_size=1, max_size=4).map(tuple)
ADVS = st.builds(m.Adv.of, KEYS, FILTERS, NAME_SETS, st.none() | NAME_SETS, TTLS)
SUBS = st.builds(m.Sub.of, OWNERS, U, FILTERS, SCOPES, TTLS)
KEPT = st.builds(m.Notify, U, U, NOTIFICATIONS, IDS)
MESSAGES = {
    m.Attach: st.builds(m.Attach, OWNERS, st.sampled_from(m.Mode), st.none() | BROKERS),
    m.Attached: st.builds(m.Attached, st.booleans()),
    m.SetCtx: st.builds(m.SetCtx, U, CONTEXTS),
    m.Advertise: st.builds(m.Advertise, U, U, FILTERS, NAME_SETS, st.none() | NAME_SETS, TTLS),
    m.Unadvertise: st.builds(m.Unadvertise, U, U),
    m.Subscribe: st.builds(m.Subscribe, U, U, FILTERS, SCOPES, TTLS),
    m.Unsubscribe: st.builds(m.Unsubscribe, U, U),
    m.Publish: st.builds(m.Publish, U, NOTIFICATIONS, CONTEXTS, SCOPES),
    m.Notify: st.builds(m.Notify, U, U, NOTIFICATIONS, IDS, st.none() | st.builds(m.Passed, OWNERS, CONTEXTS, SCOPES)),
    m.Ok: st.builds(m.Ok, U),
    m.Refused: st.builds(m.Refused, U, st.sampled_from(m.Code), st.text(max_size=MAX_WORDS // 4)),
    m.Peer: st.builds(m.Peer, BROKERS, U, U),
    m.Adv: ADVS,
    m.Unadv: st.builds(m.Unadv, KEYS),
    m.Ctx: st.builds(m.Ctx.of, OWNERS, U, CONTEXTS),
    m.Sub: SUBS,
    m.Unsub: st.builds(m.Unsub, KEYS),
    m.Forget: st.builds(m.Forget, OWNERS),
    m.Pub: st.builds(m.Pub, OWNERS, U, NOTIFICATIONS, CONTEXTS | U, SCOPES),
    m.Pctx: st.builds(m.Pctx.of, OWNERS, U, CONTEXTS),
    m.Move: st.builds(m.Move, OWNERS),
    m.Take: st.builds(
        m.Take,
        OWNERS,
        OWNERS,
        st.none() | st.builds(Context, U, CONTEXTS),
        st.lists(SUBS, max_size=2).map(tuple),
        st.lists(ADVS, max_size=2).map(tuple),
        st.lists(KEPT, max_size=2).map(tuple),
        st.booleans(),
    ),
}
messages = st.one_of(list(MESSAGES.values()))
