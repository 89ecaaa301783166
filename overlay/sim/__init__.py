"""The simulator: drives the cores of ``overlay.runtime`` in virtual time, over simulated links.

::

    schedule    the event queue: a heap of (time, priority, counter)
    network     transmits datagrams between addresses (over ``overlay.core.links``)
    simulator   delivers datagrams, fires timers, computes the digest; ``garbage``: rare garbage collection
    actors      drive one node (with or without checks after each step), or one client with its ports
    log         serves actors that read and append to a log
    world       a network of a system: servers, the controller that orders them, clients, faults
    served      actors with the service times of ``overlay.core.service_times``
    engine      runs a deployment to its end; ``journals`` writes its facts, ``summary`` summarises them
    replay      repeats recorded servers and compares them byte for byte; ``differences`` says what it found in words,
                ``recorders`` records simulated ones

The seed determines everything: equal seeds give equal digests, in any process, under any ``PYTHONHASHSEED``. Nothing
reads a clock or sleeps. Time is integer nanoseconds from 0; the nodes' wall clock is ``WALL_OFFSET_NS`` ahead.
"""
