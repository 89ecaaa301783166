"""The page of one run, and those behind it.

- ``views``          the run itself, its brokers and its logs; ``action_views``: what can be done with it
- ``query_views``    single queries; ``replay_views``: its messages; ``whatif_views``: it again with one thing changed
- ``configuration``  its configuration in words and units; ``truth``: what its answers were worth
- ``repeating``      it as a definition that repeats it anywhere

What is known of a run is in ``brokerweb.experiments``; what moves on its page comes from ``brokerweb.live``.
"""
