"""The log of a network, for applications: where it is, and how its topics are divided."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, NamedTuple, TypeVar
from urllib.parse import unquote, urlsplit

from overlay.core.errors import WaxwingError
from overlay.log.rights import Granted, Rights
from overlay.log.spec import VALKEY, LogSpec
from overlay.log.topics import Record, Topic
from overlay.programs.networks import NoSuchNetwork, chosen, listed
from overlay.programs.questions import NoAnswer
from overlay.runtime.logs.engines import ADDRESSES, VARIABLE, addresses, engine_at, kind_of
from overlay.runtime.logs.port import Denied, Engine, LogPort, NoUsers
from overlay.systems.contextnet.applications.rights import Use, use_of
from overlay.systems.contextnet.mqtt.mapping import PREFIX
from overlay.systems.contextnet.names import GATEWAY
from overlay.systems.contextnet.records import codec, names
from overlay.systems.contextnet.records.records import Credential, Discarded, NetworkName, Presence

_READER: Final = f"{GATEWAY}-0"
"""Reads presence in every network, in as many partitions as the network's topics have."""
_NAME: Final = b"name"
"""The key of the network's name."""
_NEVER_S: Final = float(1 << 31)
"""The servers of a network drop its old records; an application, which does not know how old they may become, none."""


A = TypeVar("A")


class Dropped(NamedTuple):
    at_us: int
    """When the log had it, Unix time."""
    of: Discarded


@dataclass(frozen=True, slots=True)
class NetworkLog:
    url: str
    """Of its engine, as ``engines.ADDRESSES`` has them."""
    network: str
    """Its id."""
    partitions: int
    """Of its topics; a setting of the network."""

    @property
    def where(self) -> str:
        return self._engine.where

    @property
    def application(self) -> str:
        """Whose user the address has, as ``grant`` gives them out; empty: it is not limited to one application."""
        network, name = _granted(self.url)
        return name if network == self.network else ""

    @property
    def _engine(self) -> Engine:
        return engine_at(self.url)

    def open(self, name: str, core: Any, listened: Iterable[str]) -> LogPort:
        """For one application, which may listen to these topics. Raises ``WaxwingError`` for a wrong URL."""
        shared = (topic for topic in listened if "." not in topic or topic.startswith(PREFIX))
        allowed = [topic for topic in shared if topic != names.INBOUND]
        topics: tuple[Topic, ...] = names.topics((), (), self.partitions, self.partitions, allowed)
        spec = LogSpec(topics, retention_s=_NEVER_S, gives_up=True)
        return self._engine.open(spec, self.network, name, core)

    def nodes(self) -> list[Presence]:
        """Where nodes are that were ever connected, by id. Blocking; raises ``NoAnswer``, as do the next ones."""
        found: dict[bytes, bytes] = self._asked(self._engine.newest, names.PRESENCE)
        return [codec.read(names.PRESENCE, found[key]) for key in sorted(found)]

    def node(self, id: bytes) -> Presence | None:
        """``None``: it was never connected."""
        found: bytes | None = self._asked(self._engine.newest_of, names.PRESENCE, id)
        return None if found is None else codec.read(names.PRESENCE, found)

    def credentials(self) -> dict[bytes, Credential]:
        """What gateways are told of secrets, by node."""
        found: dict[bytes, bytes] = self._asked(self._engine.newest, names.CREDENTIALS)
        return {node: codec.read(names.CREDENTIALS, value) for node, value in found.items()}

    def tell(self, credential: Credential) -> None:
        """All gateways."""
        self._asked(self._engine.append, names.CREDENTIALS, credential.node, codec.write(credential))

    def name(self) -> str:
        """What people call the network; empty if the log was not told."""
        found: bytes | None = self._asked(self._engine.newest_of, names.NETWORK_NAME, _NAME)
        return "" if found is None else codec.read(names.NETWORK_NAME, found).name

    def call(self, name: str) -> None:
        """People call the network so."""
        self._asked(self._engine.append, names.NETWORK_NAME, _NAME, codec.write(NetworkName(name)))

    def discarded(self, most: int) -> list[Dropped]:
        """Messages that did not reach their node, the newest first; at most so many of each partition, and as old as
        the log's records may become."""
        found: list[Record] = self._asked(self._engine.latest, names.DISCARDED, most)
        return [Dropped(one.appended_us, codec.read(names.DISCARDED, one.value)) for one in found]

    def grant(self, application: str, rights: Rights) -> Granted:
        """A user for this application, until the network ends; another password if it has one. Blocking; raises
        ``NoUsers`` if the engine has none, as do the next ones, and ``NoAnswer``."""
        return _asked(self._engine, partial(self._engine.grant, self.network, application, rights))

    def revoke(self, application: str) -> bool:
        """Whether it had a user."""
        return _asked(self._engine, partial(self._engine.revoke, self.network, application))

    def granted(self) -> dict[str, Use]:
        """The applications that have a user, by name, and what for."""
        found = _asked(self._engine, partial(self._engine.users, self.network))
        return {name: use_of(name, rights) for name, rights in found.items()}

    def _asked(self, ask: Callable[..., Any], topic: str, *more: bytes | int) -> Any:
        return _asked(self._engine, partial(ask, self.network, topic, self.partitions, *more))

    def forget(self, group: str, topics: Iterable[str]) -> None:
        """A group that will not read these topics again. Blocking; if the log is away, it keeps what it has of it."""
        with suppress(OSError, WaxwingError):
            self._engine.forget(self.network, group, topics)


def _asked(engine: Engine, ask: Callable[[], A]) -> A:
    """Raises ``NoAnswer``, ``Denied`` and ``NoUsers``."""
    try:
        return ask()
    except NoUsers:
        raise
    except Denied as error:
        raise Denied(f"The log at {engine.where} refuses this: {error}.") from None
    except (OSError, WaxwingError) as error:
        raise NoAnswer(f"The log at {engine.where} does not answer: {str(error).rstrip('.')}.") from None


def _granted(url: str) -> tuple[str, str]:
    """The network and the application whose user the address of a Valkey has; empty: neither."""
    user = unquote(urlsplit(url).username or "") if kind_of(url) == VALKEY else ""
    network, dot, name = user.partition(".")
    return (network, name) if dot else ("", "")


def find(url: str = "", network: str = "") -> NetworkLog:
    """``url``: by default those of the environment. ``network``: an id or a name; it may be missing if there is one
    network only. Raises ``NoSuchNetwork``, ``NoAnswer``, ``Denied``, and ``WaxwingError`` without a URL, or for a wrong
    one."""
    urls = [url] if url else addresses()
    if not urls:
        example = next(iter(ADDRESSES.values()))
        raise WaxwingError(f"the address of the log is missing: set {VARIABLE} or --log {example}")
    known: dict[str, NetworkLog] = {}
    engines = [engine_at(one) for one in urls]
    for one, engine in zip(urls, engines, strict=True):
        own = _granted(one)[0]  # a user of one application may not look for others
        found = _asked(engine, partial(engine.partitions_read, _READER, names.PRESENCE, own))
        known |= {id: NetworkLog(one, id, partitions) for id, partitions in found.items()}
    if network in known:
        return known[network]
    where = f"The log at {' or '.join(one.where for one in engines)}"
    if not known:
        raise NoSuchNetwork(f"{where} has no network.")
    if not network and len(known) == 1:
        return next(iter(known.values()))
    called = {id: "" if log.application else log.name() for id, log in known.items()}
    if not network:
        raise NoSuchNetwork(f"{where} has several: {listed(called)}. Name one by --network.")
    return known[chosen(called, network, where)]
