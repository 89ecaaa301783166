"""Random runs of both arms in virtual time, with faults; what must hold is told by the run's own oracle.

- ``plan``     what a seed draws: settings, workload, links, faults
- ``story``    a run, and what must hold of its measures
- ``bugs``     planted bugs that stories must find
- ``subject``  for ``make soak``
"""
