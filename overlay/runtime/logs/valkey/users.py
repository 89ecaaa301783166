"""Users of a Valkey (7.2) or Redis (7.0) that may use some topics of one deployment: the rules of ACL SETUSER.

Keys have spaces, and patterns may not: a class of all that cannot be printed stands for a space.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from overlay.log.rights import Rights

_SPACE: Final = "[^!-~]"
_COMMANDS: Final = (
    *("client|id", "client|unblock", "eval", "hget", "hgetall", "hset", "ping", "select", "time", "unlink"),
    *("xadd", "xread", "xrevrange", "zadd", "zincrby", "zrange", "zrem", "zremrangebyscore", "zrevrange"),
)
"""Those of ``log``, ``reading``, ``engine`` and of the scripts, in which the user's rights are checked, too."""


def user_of(deployment: str, name: str) -> str:
    """The name in the engine, which other deployments use, too."""
    return f"{deployment}.{name}"


def rules(deployment: str, rights: Rights) -> list[str]:
    """What the user may do, and nothing else."""
    return ["-@all", *(f"+{command}" for command in _COMMANDS), *_keys(deployment, rights)]


def rights_in(deployment: str, keys: str) -> Rights:
    """What ``rules`` wrote; rules about other keys, such as those of an operator, are left out."""
    reads: list[tuple[str, str]] = []
    looks: list[tuple[str, str]] = []
    writes: list[str] = []
    for rule in keys.split():
        mode, _, pattern = rule.partition("~")
        match [re.sub(r"\\(.)", r"\1", part) for part in pattern.split(_SPACE)]:
            case [of, "g", group, topic] if of == deployment:
                (looks if mode else reads).append((group, topic))
            case [of, "s", topic, _] if of == deployment and "R" not in mode:
                writes.append(topic)
    return Rights(tuple(reads), tuple(writes), tuple(looks))


def _keys(deployment: str, rights: Rights) -> Iterator[str]:
    for topic in dict.fromkeys(topic for _, topic in rights.reads):
        yield f"%R~{_pattern(deployment, 's', topic, '*')}"
        yield f"%R~{_pattern(deployment, 'h', topic, '*')}"
    for group, topic in rights.reads:
        yield f"~{_pattern(deployment, 'g', group, topic)}"
        yield f"~{_pattern(deployment, 'm', group, topic)}"
    for topic in rights.writes:
        yield f"%W~{_pattern(deployment, 's', topic, '*')}"
    for group, topic in rights.looks:
        yield f"%R~{_pattern(deployment, 'g', group, topic)}"


def _pattern(*parts: str) -> str:
    return _SPACE.join(map(_escaped, parts))


def _escaped(part: str) -> str:
    """A star at its end stays one."""
    name, star = (part[:-1], "*") if part.endswith("*") else (part, "")
    return "".join(_SPACE if one == " " else f"\\{one}" if one in "*?[]\\" else one for one in name) + star
