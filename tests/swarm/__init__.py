"""Swarm testing: each seed draws an overlay, its settings and a few faults, and watchers assert what must always hold.

::

    seed ── plan ──> overlay, settings, which faults           story: start ─ storm of faults ─ calm ─ questions ─ end
               └── faults ──> when each of them begins and ends   │
                                                                  └── after each step of any broker, each watcher

Which invariant is held by whom:

- no answer without a matching request; no broker answers an answer   ``answers``
- answered data were written once, are valid, and not overwritten     ``tests.sim.witness``
- what was acknowledged is kept, what has expired is not              ``keeping``
- whoever follows a table's feed has what the table holds             ``following``
- datagrams go to known addresses only; strangers get 3x              ``tests.sim.witness``
- requests go to neighbours; who is one changes for a reason          ``causes``
- counters add up: received = handled + dropped by reason             ``books``
- pending, table, queues within their caps, and their books agree     the brokers' own ``check_invariants``
- every due timer is served                                           ``overlay.sim.simulator``
- every request ends by its deadline; neighbours are right after 15 s ``story``

``tests.soak`` runs thousands of seeds (``make soak``), or one of them. ``bugs`` is the bank of bugs that these watchers
must find.
"""
