"""Experiments and their runs: rows, what can be done with them, and what is known of them.

- ``models``, ``states``  the rows, and how a run moves from state to state
- ``services``   what can be done: create, launch, cancel, rerun, delete; ``labels``: what people write on runs;
  ``whatif``: a finished run again with one thing changed
- ``estimates``  what a launch would make, take and need, before it is one: ``pace`` of runs, ``capacity`` and
  ``machine`` of room; ``queue_position``: how long what is under way still takes, and what it waits for
- ``collection``, ``judging``  from a run's journals to the summary and verdict on its row
- ``results``    what an experiment has come to; of one run ``history``, ``samples``, ``traces`` and ``replay``
- ``views``, ``admin``, ``tasks``, ``management``  the doors; ``urls``: all pages of experiments and runs

Definitions are in ``brokerweb.definitions``; the rooms of the pages are ``builder``, ``runlist`` and ``runpage``.
"""
