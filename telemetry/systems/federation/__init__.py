"""The telemetry of seed 001, federated brokers: subscriptions, how soon they are satisfied, and what is lost.

- ``system``     the telemetry, for every part that works with runs
- ``measures``   figures of runs; ``overlay.systems.federation.measuring`` computes them
- ``shown``      charts and figures of the page of a run, and words for events
- ``published``  the values and slips of the paper, with the lines of its text
- ``studies``    E1.1 to E1.5
"""
