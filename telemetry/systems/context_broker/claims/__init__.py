"""The thesis' claims: when each counts as reproduced, and how it came out.

- ``matrix``      which runs are of the published matrix, and the values of one seed
- ``quantities``  what is looked at in them; ``criteria``: the claims as data, and how each is judged
- ``page``        ``python -m telemetry claims``, which judges collected runs and writes ``docs/claims.md``

Counterpart: ``brokerweb.systems.context_broker.claims.judging`` judges the runs of an experiment by the same code.
"""
