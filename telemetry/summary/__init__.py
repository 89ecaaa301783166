"""The summary of one run.

- ``summary``     the figures for pages, API and reports; ``verdict``: valid or suspect, with reasons
- ``absences``    processes that were silent or restarted
- ``schedule``    the duration of measuring; ``processes``: figures from ticks; ``truths``: correctness of answers
- ``series``      figures over time, with a limited number of points
- ``exchanges``   requests and updates; ``of_clients``: deliveries, connections and hand-overs
- ``by_role``     the figures of each role, where there are several
"""
