"""``grant``, ``revoke`` and ``granted``: users of the log for single applications."""

from __future__ import annotations

import json
from argparse import Namespace

from overlay.programs.arguments import OneLineParser
from overlay.programs.contextnet.logs import find
from overlay.programs.contextnet.using import add_log
from overlay.programs.text import say, tell
from overlay.systems.contextnet.applications.application import GROUP
from overlay.systems.contextnet.applications.rights import RECEIVERS, rights_of
from overlay.systems.contextnet.records.names import INBOUND


def _add_name(parser: OneLineParser) -> None:
    add_log(parser)
    parser.add_argument("name", metavar="NAME", help="of the application")


def add_granting(parser: OneLineParser) -> None:
    _add_name(parser)
    parser.add_argument(
        "--topic",
        action="append",
        metavar="NAME",
        help=f"that it may listen to; may be given several times ({INBOUND})",
    )
    parser.add_argument("--group", default=GROUP, metavar="NAME", help=f"in which it listens ({GROUP})")
    parser.add_argument(
        "--to",
        default="nodes",
        metavar="WHOM",
        help=f"whom it may send to: of {', '.join(RECEIVERS)}, with commas between; empty: it only listens (nodes)",
    )


def add_revoking(parser: OneLineParser) -> None:
    _add_name(parser)


def add_listing(parser: OneLineParser) -> None:
    add_log(parser)


def grant(given: Namespace) -> bool:
    receivers = [one.strip() for one in given.to.split(",") if one.strip()]
    rights = rights_of(given.name, given.topic or (INBOUND,), receivers, given.group)
    log = find(given.log, given.network)
    found = log.grant(given.name, rights)
    if given.json:
        say(json.dumps({"name": given.name, "network": log.network, "log": found.url, "is_kept": found.is_kept}))
        return True
    say(found.url)
    if not found.is_kept:
        tell("The engine has no file of users (aclfile): it forgets this one when it starts again.")
    return True


def revoke(given: Namespace) -> bool:
    """Whether there was this user."""
    log = find(given.log, given.network)
    was_there = log.revoke(given.name)
    if not was_there:
        tell(f"{log.network} has granted nothing to {given.name}.")
    return was_there


def granted(given: Namespace) -> bool:
    """Whether there is any."""
    found = find(given.log, given.network).granted()
    for name, use in found.items():
        if given.json:
            say(json.dumps({"name": name, "topics": use.topics, "group": use.group, "to": use.receivers}))
        else:
            heard = f"listens to {', '.join(use.topics)} in group {use.group}" if use.topics else "listens to nothing"
            say(f"{name:<16}  {heard}; sends {'to ' + ', '.join(use.receivers) if use.receivers else 'nothing'}")
    return bool(found)
