"""The page of a run and its subpages.

- ``views``          the run, its brokers and logs; ``action_views``: its actions
- ``whatif_views``   what-if runs
- ``configuration``  its configuration with units; ``answer_quality``
- ``reproduction``   a definition that reproduces it

Data of runs is in ``brokerweb.experiments``, live data in ``brokerweb.live``.
"""
