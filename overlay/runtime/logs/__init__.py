"""Drivers of the log of a deployment over existing engines. Counterpart: ``overlay.sim.log``, in virtual time.

A driver belongs to one node with a log, and runs in the node's own loop: its sockets are polled with those of the
datagrams, without a thread. ``overlay.log.member`` has what is the same for every engine::

    opening     opens the log of a deployment for one of its nodes
    faulted     the log in faults: out of reach, or slow
    port        what the loop of a process sees of any driver (``overlay.runtime.polled``)
    valkey      Valkey or Redis: streams, hashes, scripts; ``scripts`` has these
    connection  one non-blocking connection: requests one after the other, answers in their order
    resp        the bytes of Valkey's protocol
    instance    an instance that ends with its owner; its keys are erased with a deployment
    survey      which deployments an engine has
    line        drives one client in an event loop
"""
