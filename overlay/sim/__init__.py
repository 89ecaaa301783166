"""Virtual time: the very cores that ``overlay.runtime`` drives over UDP, driven here over simulated links.

::

    schedule    what happens next: a heap of (time, priority, counter)
    network     what becomes of a datagram between two addresses (over ``overlay.core.links``)
    simulator   delivers, fires timers, drains, and keeps the digest of a run; ``garbage`` is collected seldom
    actors      how one node (checked after each step, or not), or one client with its many ports, is driven
    harness     a whole overlay stood up: brokers, the controller that orders them, clients, faults
    served      actors that take the time which ``overlay.core.service_times`` says
    engine      a deployment from launching to its last answer; ``journals`` write its facts, ``summary`` sums them up
    replay      recorded brokers done again and compared byte for byte, by command too (``cli_replay``);
                ``recorders`` record simulated ones
    arena       an overlay in which one query after the other is asked; ``proof`` of what exhaustive search promises;
                ``copies``: where they come to lie under each replication strategy

One seed decides everything: equal seeds give equal digests, in any process, under any ``PYTHONHASHSEED``. No clock is
read here and nothing sleeps. Time is integer nanoseconds from 0; the nodes' wall clock is ``WALL_OFFSET_NS`` ahead.
"""
