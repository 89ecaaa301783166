"""Keeps rows and the host's supervisor in step.

::

    rows (what is desired) ──> decide (pure) ──> reconcile (effects) ──> the supervisor's socket
             ^                                        │
             └───────── what was observed ────────────┘

- ``decide``     given a row and what the supervisor says of it, what to do next; no I/O
- ``reconcile``  one round for one host, which also ends what nobody wants; ``runs``: claims, deploys, renews them and
  copies what was observed; ``networks``: the same of networks; ``refusals``: why it could not, in words
- ``reaping``    fails the runs that nobody looks after any more
- ``host``       the heartbeat of this host, and its supervisor's start
- ``reconciler`` the thread that does a round each second, and the Celery bootstep that carries it
- ``acting``     what tasks do at once: the same steps, with one row; what they could not do is left to the next round

It needs the database and the supervisor's socket only, so a run goes on without Redis and without the web.
"""
