"""Clients of the broker network, pure: what they ask, until when, and how an answer is known to be theirs.

::

    questions   what one exchange sends and what ends it          (one factory per operation)
    replies     answers known by their bytes                      (of the same opinion as ``broker.wire``)
    exchange    one question to one broker until it ends          (a ``Node``: lives at one address, used once)
    lanes       a client's ports: at most one exchange on each    (which is how answers are told apart)
    scheduled   ``Provider`` and ``Consumer``: the open loop over a workload's plan
    tally       what a fleet of clients counts; ``response_times``: what its ticks say of these
    payload     the usual form of what is provided

A Response does not name its query: its timestamp is that of the entry. So a port carries one exchange at a time, and is
used again only after an exchange of one attempt whose every answer came; any other is left for a fresh one. A late
answer then finds nobody, and is never taken for another's.
"""
