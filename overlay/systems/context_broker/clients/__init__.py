"""The clients of the broker network: exchanges, retransmission and matching of answers. Pure.

::

    questions   the datagrams of an exchange and its answers      (one factory per operation)
    replies     fast recognition of answers by their bytes        (consistent with ``broker.wire``)
    exchange    one question to one broker until it ends          (a ``Node`` with an address that is used once)
    lanes       a client's ports: at most one exchange on each    (so answers cannot be confused)
    scheduled   ``Provider`` and ``Consumer``: the open loop over a workload's plan
    payload     the usual format of payloads

A Response does not identify its query: its timestamp is that of the entry. A port therefore carries one exchange at a
time, and is reused only after an exchange with a single attempt whose answers have all arrived. Otherwise it is closed
and a new port is used. A late answer then arrives at a closed port and is never mistaken for another's.
"""
