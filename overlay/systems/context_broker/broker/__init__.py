"""The context broker of seed 000 as a pure core. It implements the wire protocol.

Messages are in ``wire``, next to this folder; ``fast`` processes the most common ones without building them.

- ``broker`` composes the parts and dispatches messages; ``config``: settings; ``events``, ``reports``, ``tracing``
- ``table`` the data table; ``linear``: the prototype's; ``storing``: updates and replicas; ``quotas``: limits per
  sender
- ``searching`` requests and answers; ``queries``: their representation; ``search``: the strategies; ``walks``: policies
  of walks; ``pending``: requests waiting for answers; ``seen``: duplicates; ``hops``: acknowledged delivery;
  ``standings``: degree and load of neighbours
- ``replication`` placement of replicas; ``refresh``: updates and leases of replicas
- ``members`` the neighbours; ``joining``: joins and leaves; ``pings``: monitoring; ``suspicion``: indirect probes;
  ``departures``: notices of leaves and crashes
- ``neighbour_search`` brokers that choose their neighbours; ``membership``: preferences; ``mutual``: symmetric links
- ``structured`` the alternative to searches: a distributed hash table
- ``opennet`` trusted networks and limits for strangers; ``station``: the output queue and the counters
"""
