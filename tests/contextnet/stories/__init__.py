"""Random runs of ContextNet in virtual time, with faults of its roles and of the log.

- ``plan``     what a seed draws: settings, workload, faults
- ``story``    a run, and what must hold of its measures
- ``bugs``     planted bugs that stories must find
- ``subject``  for ``make soak``
"""
