"""Experiments and their runs: models, services and results.

- ``models``, ``states``  the models, and the state machine of a run
- ``services``   create, launch, cancel, rerun, delete; ``labels``: tags and notes; ``whatif``: what-if runs
- ``estimates``  run count, duration and resources before a launch: ``run_durations``, ``capacity`` and ``machine``;
  ``queue_position``: remaining time and reason for waiting
- ``collection``, ``evaluation``  from a run's journals to the summary and verdict on its row
- ``results``    results of an experiment; of one run ``history`` and ``samples``
- ``views``, ``admin``, ``tasks``, ``management``  interfaces; ``run_urls``: URLs of experiments and runs

Definitions are in ``brokerweb.definitions``; the pages are in ``builder``, ``runlist`` and ``runpage``.
"""
