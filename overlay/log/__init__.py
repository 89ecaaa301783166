"""The partitioned log between servers of a system: topics with keys, groups of readers, committed positions. Pure.

Each module imports only those below it::

        core                a log in memory: the simulator's, and that of tests
        member | partition  what a driver keeps of a node; the records of one partition in memory
        groups | progress   who owns which partition; what a node may commit
        node                what a core does with a log; drivers call it
        spec                the log that a system asks for
        topics              topics, partitions and positions

Drivers: ``overlay.sim`` with ``core``, in virtual time; ``overlay.runtime.logs`` with an existing engine, live.
"""
