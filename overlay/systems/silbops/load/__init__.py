"""The clients of a workload (seed 002, presets): who they are, what they do when, and what they report.

- ``draws``       filters, notifications, positions, moves, from the seed
- ``plans``       which client is at which broker, and starts when; ``times``: those of a run
- ``pace``        when a client acts: at fixed intervals, or as fast as its broker takes it
- ``life``        a client from its start; ``subscribing``, ``publishing``: the two kinds
- ``shared``      what the clients of one process share; ``fleet``: these clients
"""
