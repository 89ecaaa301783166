"""Hosted applications and their subscriptions in the database."""

from __future__ import annotations

from brokerweb.hosting.owned import Owned
from brokerweb.systems.contextnet.models import Application, Subscription

MOST_APPLICATIONS = 100
"""Of one network. Each has two connections to the log."""
ROWS = Owned(Application, Subscription, "application", most_clients=MOST_APPLICATIONS)
