"""The doors of Waxwing: pages, REST, admin, live page and tasks over the services of each app.

Views, serializers, tasks, consumers, admin actions and commands parse, call one service and format; ``services.py`` of
each app is the room.

- ``topologies``, ``networks``, ``reports``, ``storage``, ``notices``, ``accounts``  rows, services and pages of each
- ``experiments``  experiments and runs; ``definitions``: what one's definition says, apart from any row
- ``builder``, ``runlist``, ``runpage``  pages over these: a new experiment, the list of runs, one run
- ``comparison``, ``wirelab``  runs held against each other; what is in a datagram. Neither has rows
- ``live``         snapshots, websockets and the home page
- ``control``      keeps rows and the host's supervisor in step; ``simulations``: computes runs in virtual time
- ``api``          REST; ``up``: starts and keeps all of this
- ``doors``, ``formatting``, ``setting_forms``, ``quantities``, ``errors``, ``ids``  what rooms share
- ``guarded``      a long computation of a worker; ``demo``: what a fresh house shows
- ``spreadsheets`` text of others in files that a spreadsheet opens
- ``settings``, ``urls``, ``asgi``, ``celery``, ``logs``, ``mail``, ``secret``  how it is set up
"""

from brokerweb.celery import app as celery_app

__all__ = ("celery_app",)
