"""From how many notifications per change of context on SIENA costs less: over filters and subscriptions, as published,
by a model of measured costs, and in runs of this installation.

- ``observed``  runs of both arms
- ``charts``    what is drawn
- ``views``, ``rest``
"""
