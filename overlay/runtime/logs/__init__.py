"""Drivers of the log of a deployment over existing engines. Counterpart: ``overlay.sim.log``, in virtual time.

A driver belongs to one node with a log, and runs in the node's own loop: its sockets are polled with those of the
datagrams. ``overlay.log.member`` has what is the same for every engine::

    opening     opens the log of a deployment for one of its nodes
    faulted     the log in faults: out of reach, or slow
    line        drives one client in an event loop
    engines     chooses an engine by its address
    valkey | nats | kafka   one engine each, which implements ``port``
    connected   what Valkey and NATS share: connections, back-off, heartbeats
    balancing | outbox | wire   leases over an engine without groups; appends on their way; a non-blocking connection
    port        what an engine is to all others
"""
