"""The clients of a workload (seed 001, details, section 3): who they are, what they do when, and what they report.

- ``plans``      which client is at which broker, and starts when
- ``arrivals``   which client subscribes or publishes when; ``schedule``: the times of a run
- ``life``       a client that starts, vanishes and returns; ``consuming``, ``providing``: the two kinds
- ``facts``      what they report; ``fleet``: the clients of one process, and what they share
"""
