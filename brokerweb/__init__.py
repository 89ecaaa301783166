"""Waxwing's web application: pages, REST API, admin, live updates and tasks, built on the services of each app.

Views, serializers, tasks, consumers, admin actions and commands parse, call one service and format the result. The
logic is in ``services.py`` of each app.

- ``topologies``, ``networks``, ``reports``, ``notices``, ``accounts``  models, services and pages of each
- ``storage``      disk usage and the retention policy; ``retention``: deletion; ``brokers``: brokers on pages
- ``experiments``  experiments and runs; ``definitions``: an experiment's definition, independent of the database
- ``builder``, ``runlist``, ``runpage``  pages: a new experiment, the list of runs, one run
- ``comparison``   comparison of runs; it has no tables
- ``systems``      what single systems add to pages and REST
- ``finder``       search by name over everything that has a page
- ``live``         snapshots, websockets and the home page
- ``control``      keeps rows and the host's supervisor in step; ``simulations``: computes runs in virtual time
- ``api``          REST; ``up``: starts and restarts all processes
- ``kit``          shared helpers; ``error_views``: error pages
- ``middleware``, ``body_limits``, ``header_timeout``  refuse requests before any view runs
- ``demo``         contents of a new installation
- ``databases``, ``postgresql``  choice of the database; PostgreSQL with one writer at a time
- ``settings``, ``urls``, ``asgi``, ``celery``, ``logs``, ``mail``, ``secret``, ``variables``  configuration
"""

import gc

# Before anything is imported: a start makes 250,000 objects that live as long as their process. With the collector's
# own thresholds it looks through them again and again, a sixth of the start's processor time; and later it would hold
# pages up by 170 ms now and then. Requests create only a few.
gc.set_threshold(20_000, 50, 50)

from brokerweb.celery import app as celery_app  # noqa: E402

__all__ = ("celery_app",)
