"""What an application may do in the log that has a user of its own there (contract, section 13). Pure.

Every such application may read where nodes are, in groups whose names begin with its own, and write what it cannot read
to ``rejected``.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from typing import Final, NamedTuple

from overlay.core.errors import InvalidSetting, shown
from overlay.log.rights import Rights
from overlay.systems.contextnet.mqtt.mapping import PREFIX
from overlay.systems.contextnet.names import GATEWAY
from overlay.systems.contextnet.records import names
from overlay.systems.contextnet.records.names import gateway_topic

RECEIVERS: Final[Mapping[str, tuple[str, ...]]] = {
    "nodes": (gateway_topic(f"{GATEWAY}-*"), names.UNSENT, names.OUTBOUND),
    "groups": (names.GROUPCAST,),
    "all": (names.BROADCAST,),
    "mqtt": (names.MQTT_DOWN,),
}
"""Whom an application may send to, and the topics that it then writes."""
_NAME: Final = re.compile("[A-Za-z0-9_-]{1,64}")


class Use(NamedTuple):
    """What was granted to an application, in the words of ``rights_of``."""

    topics: tuple[str, ...]
    group: str
    """Empty without topics."""
    receivers: tuple[str, ...]


def own_group(application: str, place: str) -> str:
    """A group that only this process of an application is in, and the name of the process."""
    return f"{application}.{place}"


def rights_of(application: str, topics: Collection[str], receivers: Collection[str], group: str) -> Rights:
    """``topics`` of nodes, which it reads in ``group``; ``receivers``: of ``RECEIVERS``. Raises ``InvalidSetting``."""
    for field, name in (("name", application), ("group", group)):
        _check(field, name)
    for topic in topics:
        _check("topic", topic.removeprefix(PREFIX))
        if topic in names.OF_SYSTEM:
            raise InvalidSetting("topic", f"{topic} is of the system: applications read topics that nodes publish to")
    for receiver in receivers:
        if receiver not in RECEIVERS:
            raise InvalidSetting("to", f"must be of {', '.join(RECEIVERS)}, not {shown(receiver)}")
    of_all = [(own_group(application, "*"), topic) for topic in (names.PRESENCE, names.GATEWAY_LIST)]
    written = dict.fromkeys(topic for receiver in receivers for topic in RECEIVERS[receiver])
    return Rights(
        (*of_all, *((group, topic) for topic in dict.fromkeys(topics))),
        (*written, names.REJECTED),
        ((f"{GATEWAY}-0", names.PRESENCE),),
    )


def use_of(application: str, rights: Rights) -> Use:
    """What ``rights_of`` made these rights of."""
    shared = [(group, topic) for group, topic in rights.reads if group != own_group(application, "*")]
    receivers = tuple(name for name, topics in RECEIVERS.items() if set(topics) <= set(rights.writes))
    return Use(tuple(topic for _, topic in shared), shared[0][0] if shared else "", receivers)


def _check(field: str, name: str) -> None:
    if not _NAME.fullmatch(name):
        raise InvalidSetting(field, f"{shown(name)} is no name of 1 to 64 letters, digits, - and _")
