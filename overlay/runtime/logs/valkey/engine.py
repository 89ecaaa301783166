"""A Valkey or Redis as an engine: opens logs, and says and changes what it has. ``scripts`` says under which keys."""

from __future__ import annotations

import json
import secrets
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from itertools import chain
from typing import Any, Final

from overlay.log.node import LogUser
from overlay.log.rights import Granted, Rights
from overlay.log.spec import LogSpec
from overlay.log.topics import Record, partition_of
from overlay.runtime.logs.port import LogPort, NoUsers, newest_first
from overlay.runtime.logs.valkey import keys, scripts
from overlay.runtime.logs.valkey.asking import asking
from overlay.runtime.logs.valkey.connection import Server
from overlay.runtime.logs.valkey.keys import Keys
from overlay.runtime.logs.valkey.log import ValkeyLog
from overlay.runtime.logs.valkey.resp import EngineError
from overlay.runtime.logs.valkey.users import rights_in, rules, user_of

ANSWER_S = 5.0
AT_ONCE: Final = 1_000
"""Records or keys in one answer."""
MOST_UNCOMMITTED: Final = 200_000
"""Records; a supervisor that reads them does nothing else."""


class Valkey:
    """An ``Engine``."""

    def __init__(self, url: str) -> None:
        """Raises ``WaxwingError``."""
        self._server = Server.of(url)
        self.where = f"{self._server.host}:{self._server.port}"

    def open(self, spec: LogSpec, deployment: str, name: str, node: LogUser) -> LogPort:
        return ValkeyLog(spec, self._server, deployment, name, node)

    def erase(self, deployment: str) -> None:
        with asking(self._server, ANSWER_S) as ask:
            for found in _keys(ask, f"{_escaped(deployment)} *"):
                ask("UNLINK", *found)
            with suppress(EngineError):  # an engine without users, or one of which ours may not manage them
                if granted := _users(ask, deployment):
                    ask("ACL", "DELUSER", *(user_of(deployment, name) for name in granted))
                    _keep(ask)

    def uncommitted(self, deployment: str) -> Iterator[Record]:
        """``MOST_UNCOMMITTED`` at most."""
        names, left = Keys(deployment), MOST_UNCOMMITTED
        with asking(self._server, ANSWER_S) as ask:
            for key in chain.from_iterable(_keys(ask, f"{_escaped(deployment)} g *")):
                topic = key.decode().rpartition(" ")[2]
                flat = ask("HGETALL", key)
                known = dict(zip(flat[::2], flat[1::2], strict=True))
                for number in [name[1:] for name in known if name[:1] == b"g"]:  # was assigned
                    begin = known.get(b"c" + number, b"0-0")
                    for entry in _from(ask, names.stream(topic, int(number)), begin, left):
                        left -= 1
                        yield keys.record(topic, int(number), *entry)

    def partitions_read(self, group: str, topic: str, deployment: str = "") -> dict[str, int]:
        ending = f" g {group} {topic}"
        found: dict[str, int] = {}
        with asking(self._server, ANSWER_S) as ask:
            of_one = [f"{deployment}{ending}".encode()]
            for key in of_one if deployment else chain.from_iterable(_keys(ask, f"*{ending}")):
                leases = ask("HGET", key, "s")
                if leases:
                    found[key.decode().removesuffix(ending)] = len(json.loads(leases))
        return dict(sorted(found.items()))

    def newest(self, deployment: str, topic: str, partitions: int) -> dict[bytes, bytes]:
        names, found = Keys(deployment), dict[bytes, bytes]()
        with asking(self._server, ANSWER_S) as ask:
            for number in range(partitions):
                flat = ask("HGETALL", names.newest(topic, number))
                found |= {key: text.split(b" ", 2)[2] for key, text in zip(flat[::2], flat[1::2], strict=True)}
        return found

    def newest_of(self, deployment: str, topic: str, partitions: int, key: bytes) -> bytes | None:
        with asking(self._server, ANSWER_S) as ask:
            found: bytes | None = ask("HGET", Keys(deployment).newest(topic, partition_of(key, partitions)), key)
        return None if found is None else found.split(b" ", 2)[2]

    def latest(self, deployment: str, topic: str, partitions: int, most: int) -> list[Record]:
        names, found = Keys(deployment), list[Record]()
        with asking(self._server, ANSWER_S) as ask:
            for number in range(partitions):
                entries = ask("XREVRANGE", names.stream(topic, number), "+", "-", "COUNT", most)
                found += [keys.record(topic, number, *entry) for entry in entries]
        return newest_first(found)

    def append(self, deployment: str, topic: str, partitions: int, key: bytes, value: bytes) -> None:
        names, number, wall_us = Keys(deployment), partition_of(key, partitions), time.time_ns() // 1_000
        both = names.stream(topic, number), names.newest(topic, number)
        with asking(self._server, ANSWER_S) as ask:
            ask("EVAL", scripts.APPEND, 2, *both, scripts.MOST_NEWEST, key, value, wall_us)

    def grant(self, deployment: str, name: str, rights: Rights) -> Granted:
        user, password = user_of(deployment, name), secrets.token_urlsafe(24)
        with self._asking_about_users() as ask:
            ask("ACL", "SETUSER", user, "reset", "on", f">{password}", *rules(deployment, rights))
            return Granted(self._server.url_of(user, password), _keep(ask))

    def revoke(self, deployment: str, name: str) -> bool:
        with self._asking_about_users() as ask:
            was_there = bool(ask("ACL", "DELUSER", user_of(deployment, name)))
            _keep(ask)
        return was_there

    def users(self, deployment: str) -> dict[str, Rights]:
        with self._asking_about_users() as ask:
            told = {name: ask("ACL", "GETUSER", user_of(deployment, name)) for name in _users(ask, deployment)}
        return {name: rights_in(deployment, _keys_of(one)) for name, one in told.items() if one}

    @contextmanager
    def _asking_about_users(self) -> Iterator[Any]:
        """Raises ``NoUsers`` for what the engine refuses."""
        with asking(self._server, ANSWER_S) as ask:
            try:
                yield ask
            except EngineError as error:
                needs = (
                    "users of single topics need Valkey 7.2 or Redis 7.0, and an address whose user may manage users"
                )
                raise NoUsers(f"The engine of the log refuses: {error}. Note that {needs}.") from None

    def forget(self, deployment: str, group: str, topics: Iterable[str]) -> None:
        names = Keys(deployment)
        named = [kind((group, topic)) for topic in topics for kind in (names.group, names.members)]
        if named:
            with asking(self._server, ANSWER_S) as ask:
                ask("UNLINK", *named)


def _users(ask: Any, deployment: str) -> list[str]:
    start = user_of(deployment, "")
    names = [name.decode() for name in ask("ACL", "USERS")]
    return sorted(name.removeprefix(start) for name in names if name.startswith(start))


def _keys_of(user: list[Any]) -> str:
    """The rules about keys in an answer to ACL GETUSER: pairs of a name and a value."""
    known = dict(zip(user[::2], user[1::2], strict=True))
    return bytes(known[b"keys"]).decode()


def _keep(ask: Any) -> bool:
    """Whether the engine has its users in a file."""
    try:
        ask("ACL", "SAVE")
    except EngineError:
        return False
    return True


def _escaped(text: str) -> str:
    return "".join(f"\\{letter}" if letter in "*?[]\\" else letter for letter in text)


def _keys(ask: Any, pattern: str) -> Iterator[list[bytes]]:
    """All keys like this, some at a time; a key may come twice."""
    cursor = b"0"
    while True:
        cursor, found = ask("SCAN", cursor, "MATCH", pattern, "COUNT", AT_ONCE)
        if found:
            yield found
        if cursor == b"0":
            return


def _from(ask: Any, stream: str, position: bytes, most: int) -> Iterator[Any]:
    """The entries of a stream from this position on, as scripts write it."""
    begin = b"%d-%d" % tuple(map(int, position.split(b"-")))
    while most > 0:
        found = ask("XRANGE", stream, begin, "+", "COUNT", min(most, AT_ONCE))
        yield from found
        if len(found) < AT_ONCE:
            return
        most, begin = most - len(found), b"(" + found[-1][0]
