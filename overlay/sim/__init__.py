"""Virtual time: the very cores that ``overlay.runtime`` drives over UDP, driven here over simulated links.

::

    schedule    what happens next: a heap of (time, priority, counter)
    network     what becomes of a datagram between two addresses (over ``overlay.core.links``)
    simulator   delivers, fires timers, drains, and keeps the digest of a run; ``garbage`` is collected seldom
    actors      how one node (checked after each step, or not), or one client with its many ports, is driven
    world       a whole network of a system: servers, the controller that orders them, clients, faults
    served      actors that take the time that ``overlay.core.service_times`` says
    engine      a deployment from launching to its last answer; ``journals`` write its facts, ``summary`` sums them up
    replay      recorded servers run again and compared byte for byte; ``recorders`` record simulated ones

One seed decides everything: equal seeds give equal digests, in any process, under any ``PYTHONHASHSEED``. No clock is
read here and nothing sleeps. Time is integer nanoseconds from 0; the nodes' wall clock is ``WALL_OFFSET_NS`` ahead.
"""
