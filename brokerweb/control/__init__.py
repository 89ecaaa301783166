"""Keeps rows and the host's supervisor in step.

::

    rows (what is desired) ──> decide (pure) ──> reconcile (effects) ──> the supervisor's socket
             ^                                        │
             └───────── what was observed ────────────┘

- ``decide``     the next step from a row and the supervisor's state; no I/O
- ``reconcile``  one round for one host, which also ends unwanted deployments; ``runs``: claims, deploys, renews and
  copies observations to rows; ``networks``: the same for networks; ``refusals``: error messages
- ``reaping``    fails runs whose lease has expired
- ``host``       the heartbeat of this host, and its supervisor's start
- ``reconciler`` the thread that runs a round each second, and its Celery bootstep
- ``task_actions``  the same steps for one row, run by tasks at once; failures are left to the next round

It needs only the database and the supervisor's socket, so runs continue without Redis and the web process.
"""
