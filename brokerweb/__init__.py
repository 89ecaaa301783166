"""The doors of Waxwing: pages, REST, admin, live page and tasks over the services of each app.

Views, serializers, tasks, consumers, admin actions and commands parse, call one service and format; ``services.py`` of
each app is the room. ``control`` is what keeps rows and the host's supervisor in step.
"""

from brokerweb.celery import app as celery_app

__all__ = ("celery_app",)
