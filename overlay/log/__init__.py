"""The partitioned log between servers of a system: topics with keys, groups of readers, committed positions. Pure.

Each module imports only those below it::

        core                a log in memory: the simulator's, and that of tests
        groups              who owns which partition
        node                what a core does with a log; drivers call it
        topics              topics, partitions and positions

Drivers: ``overlay.sim`` with ``core``, in virtual time; ``overlay.runtime.logs`` with an existing engine, live.
"""
