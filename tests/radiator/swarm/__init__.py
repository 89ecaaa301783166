"""Stories of Radiator: each seed draws settings, clients, a load and faults, and watchers assert what must always hold.

::

    seed ── plan ──> settings, links, which faults      story: registration ─ storm ─ calm ─ last messages ─ end
               └── storm ──> when each of them is         │
                                                          └── after each step of the server or of a client, the watchers

Which invariant is asserted by which watcher:

- what leaves, and when: Algorithm 1, written a second time          ``shadow``
- each pair of a message and a recipient is in one state             ``ledger``
- what is delivered was due, once, with the body of its messages     ``ledger``, ``bodies``
- chains: their members, their number and their length               ``chains``
- bytes counted are bytes sent; the uplink keeps its rate           ``traffic``
- strangers get no more than three times their bytes                 ``traffic``
- tables, queues, transfers and their counts agree                   the cores' own ``check_invariants``
- every call ends; after the calm nothing is under way               ``story``
- equal seeds give equal datagrams and equal journals                ``story``

``bugs`` is the bank of bugs that these watchers must find. ``python -m tests.soak --system radiator 17`` is one seed.
"""
