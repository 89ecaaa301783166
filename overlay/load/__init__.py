"""The load of a network, for any system. Pure.

- ``assignment``      assigns clients to brokers
- ``expectations``    estimated quantities of a run
- ``tally``           the counters of a fleet of clients; ``response_times``: its histograms
- ``windows``         the times of a run
"""
