"""The interfaces of Waxwing: pages, REST, admin, live page and tasks over the services of each app.

Views, serializers, tasks, consumers, admin actions and commands parse, call one service and format; ``services.py`` of
each app is the room.

- ``topologies``, ``networks``, ``reports``, ``notices``, ``accounts``  rows, services and pages of each
- ``storage``      disk usage and the retention policy; ``retention``: what it removes; ``brokers``: as pages show them
- ``experiments``  experiments and runs; ``definitions``: what one's definition says, apart from any row
- ``builder``, ``runlist``, ``runpage``  pages over these: a new experiment, the list of runs, one run
- ``comparison``, ``wirelab``  runs held against each other; what is in a datagram. Neither has rows
- ``finder``       everything with a page by its name
- ``live``         snapshots, websockets and the home page
- ``control``      keeps rows and the host's supervisor in step; ``simulations``: computes runs in virtual time
- ``api``          REST; ``up``: starts and keeps all of this
- ``kit``          what rooms share; ``wrong``: the page of what no view foresaw
- ``entrance``, ``bodies``  what is refused before anybody is asked who they are
- ``traced``       one traced query as REST and pages tell it
- ``demo``         what a fresh installation shows
- ``databases``, ``postgresql``  which database rows lie in, and PostgreSQL with one writer at a time
- ``settings``, ``urls``, ``asgi``, ``celery``, ``logs``, ``mail``, ``secret``, ``variables``  how it is set up
"""

from brokerweb.celery import app as celery_app

__all__ = ("celery_app",)
