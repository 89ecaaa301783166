"""Users of the log for applications in other hands: listed, granted and revoked. Blocking. Only the engine knows them.

Everything raises ``NotPossible`` without a running network or where the engine has no users, and ``NotAnswered``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from django.db import transaction

from brokerweb.changelog.recording import say
from brokerweb.networks.models import Network
from brokerweb.networks.snapshot import snapshot_of
from brokerweb.systems.contextnet.doors.places import Place, place_of
from brokerweb.systems.contextnet.doors.problems import asked
from overlay.core.errors import InvalidSetting, shown
from overlay.log.rights import Granted
from overlay.programs.contextnet.logs import NetworkLog
from overlay.systems.contextnet.applications.rights import Use, rights_of
from overlay.systems.contextnet.records.names import INBOUND
from overlay.systems.contextnet.settings import Settings


class ApplicationUser(NamedTuple):
    name: str
    """Of the application."""
    topics: Sequence[str]
    group: str
    """In which it listens; empty without topics."""
    to: Sequence[str]
    """Whom it may send to, of ``rights.RECEIVERS``."""


class NewUser(NamedTuple):
    granted: ApplicationUser
    log: str
    """The address of the log, with the user and its password."""
    is_kept: bool
    """Whether the engine has the user when it starts again."""


def topics_of(settings: Settings) -> tuple[str, ...]:
    """The topics of a network that an application may listen to."""
    return (INBOUND, *settings.topics_allowed, *settings.topics_of_mqtt)


def users(network: Network) -> list[ApplicationUser]:
    """By name."""
    found = asked(_place(network).log.granted)
    return [_shown(name, found[name]) for name in sorted(found)]


def grant(network: Network, name: str, topics: Sequence[str], group: str, to: Sequence[str]) -> NewUser:
    """One that there is gets these rights and another password. Raises ``InvalidSetting`` as well."""
    log, settings = _place(network)
    known = topics_of(settings)
    for topic in topics:
        if topic not in known:
            raise InvalidSetting("topics", f"must be of {', '.join(known)}, not {shown(topic)}")
    rights = rights_of(name, topics, to, group)
    use = Use(tuple(dict.fromkeys(topics)), group if topics else "", tuple(dict.fromkeys(to)))
    with transaction.atomic():  # which is undone if the engine refuses
        _say(network, "grant user of an application", name, use)
        made: Granted = asked(log.grant, name, rights)
    return NewUser(_shown(name, use), made.url, made.is_kept)


def revoke(network: Network, name: str) -> bool:
    """Whether there was this user, whose connections end."""
    log: NetworkLog = _place(network).log
    if name not in asked(log.granted):
        return False
    with transaction.atomic():
        _say(network, "revoke user of an application", name)
        return asked(log.revoke, name)


def _place(network: Network) -> Place:
    return place_of(snapshot_of(network))


def _shown(name: str, use: Use) -> ApplicationUser:
    return ApplicationUser(name, use.topics, use.group, use.receivers)


def _say(network: Network, action: str, name: str, use: Use | None = None) -> None:
    words = {} if use is None else {"topics": list(use.topics), "group": use.group, "to": list(use.receivers)}
    say("network", network.pk, network.name, action, after={"application": name, **words})
