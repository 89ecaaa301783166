"""The clients of a workload (seed 001, details, section 3): who they are, what they do when, and what they report.

- ``plans``      which client is at which broker, and starts when
- ``arrivals``   which client subscribes or publishes when; ``times``: those of a run
- ``life``       a client that starts, vanishes and returns; ``consuming``, ``providing``: the two kinds
- ``shared``     what the clients of one process share; ``fleet``: these clients
- ``links``      between clients and servers, in virtual time
"""
