"""The contract between common pages and a system. Counterparts: ``overlay.systems.contract``,
``telemetry.systems.contract``.

Every system has a form, experiments, runs with charts, an overlay with a panel per server, networks and reports without
any code here. It adds more with a subclass of ``Web`` in its own Django application, which registers it when ready.
Applications of systems may import all other packages; no other package imports them.

Methods are called in the web process for each view of a page, of runs in any state, so they read what is there and
raise nothing unless they say so. ``index`` is that of a server among all servers of its run or network, and is valid.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

if TYPE_CHECKING:
    from brokerweb.experiments.models import Experiment, Run
    from brokerweb.networks.models import Network
    from brokerweb.networks.snapshot import NetworkSnapshot


@dataclass(frozen=True, slots=True)
class Part:
    """A section of a page."""

    id: str
    """Element id. An empty part keeps its place: when a run ends, its page loads all parts again."""
    title: str
    """Heading and label of its link; empty: neither."""
    template: str
    """Gets the page's context and this part as ``part``; empty: nothing is shown."""
    context: Mapping[str, Any] = field(default_factory=dict)
    """Further variables of the template: ``part.context``."""
    script: str = ""
    """A script module below ``static``."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A page of the system in the navigation and the search."""

    name: str
    about: str
    url: str
    """Its name in the URLconf."""
    more: str = ""
    """Further search terms."""
    icon: str = ""
    """Navigation icon in ``img/icons.svg``; empty: not in the navigation."""
    label: str = ""
    """Navigation label."""
    key: str = ""
    """Keyboard shortcut after g."""


@dataclass(frozen=True, slots=True)
class ServerDetail:
    """The system's part of a server's panel."""

    template: str
    """Gets the panel's context and ``context``."""
    context: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Rows:
    """One page of a list of a run, or of one that the servers of a network report."""

    count: int
    """Of all rows."""
    rows: Sequence[Mapping[str, Any]]
    """Of a network, with the fields of the serializers of ``brokerweb.api.shapes.networks``."""


Key = tuple[str, str, str]
"""The three names in the URL of a piece of context."""


@dataclass(frozen=True, slots=True)
class How:
    """How an operation on context is carried out."""

    deadline_s: float
    server: int | None = None
    """Index of the server to ask; ``None``: any."""
    is_traced: bool = False
    is_dry: bool = False
    """Learn nothing from it: what is known of servers, their times and their failures stays as it is."""


@dataclass(frozen=True, slots=True)
class Held:
    """A piece of context as it was found."""

    body: Mapping[str, Any]
    """The answer, of JSON values."""
    version: str
    """Differs for any two values that were stored."""
    changed_ms: int
    """When it was stored, Unix milliseconds."""


@dataclass(frozen=True, slots=True)
class Taken:
    """A piece of context that a server acknowledged."""

    body: Mapping[str, Any]
    version: str
    """As ``Held.version``; empty if it is not certain."""


class Absent(Exception):
    """No server has this piece of context. Its text is a sentence."""


@dataclass(frozen=True, slots=True)
class Listed:
    """One page of a list."""

    rows: Sequence[Mapping[str, Any]]
    """As ``Held.body``, with the parts of the key."""
    following: str
    """Where the next page begins; empty at the end."""
    last_event_id: str
    """A stream that resumes behind this has all changes since the page was made."""
    missing: Sequence[Mapping[str, Any]]
    """``{broker, broker_index, reason}`` of servers whose data may be missing."""


@dataclass(frozen=True, slots=True)
class StoredValue:
    """What one source says about a key."""

    key: Key
    source: str
    """Who supplied it."""
    pairs: Mapping[str, str] | None
    """Of the payload; ``None`` if it is not made of pairs."""
    text: str
    """The payload."""
    stored_ms: int
    """When it was sent, Unix milliseconds; ``end_ms``: until when it is valid."""
    end_ms: int


class Following(Protocol):
    """The changes of one network. Its changes have numbers, from 1, and its listeners resume by id."""

    @property
    def last(self) -> int:
        """The number of the latest change."""
        ...

    def id_of(self, number: int) -> str:
        """What a listener shows to resume behind a change."""
        ...

    def number_of(self, id: str) -> int | None:
        """The number of ``id_of``; ``None`` for one that was not given out."""
        ...

    def changes(self, after: int, most: int) -> Sequence[Any] | None:
        """The next changes, at most so many; ``None`` if one that follows ``after`` is no longer known."""
        ...

    def event(self, change: Any, selection: Any) -> tuple[str, Mapping[str, Any]] | None:
        """The name of what happened and its body; ``None`` if it does not concern the selection."""
        ...

    def values(self, key: Key) -> Sequence[StoredValue]:
        """What is valid now, one of each source."""
        ...

    def values_of(self, change: Any) -> tuple[StoredValue | None, StoredValue | None]:
        """The value that was valid before a change, and the one after it."""
        ...

    def follow(self, snapshot: NetworkSnapshot) -> None:
        """These are the network's servers now."""
        ...

    def missing(self, snapshot: NetworkSnapshot) -> Sequence[Mapping[str, Any]]:
        """As ``Listed.missing``."""
        ...

    def listen(self, listener: Callable[[], None]) -> Callable[[], None]:
        """Call it after changes, in the event loop. Returns how to stop; the network is followed until then."""
        ...


class Context(Protocol):
    """The operations of a system on the context in its networks, for ``brokerweb.front``. The coroutines run in the
    event loop of the web process and never block it.

    They raise ``InvalidSetting``, ``NotPossible`` (no server can answer now) and ``NotAnswered``.
    """

    operations: frozenset[str]
    """Of ``get``, ``put``, ``delete``, ``list`` and ``stream``; only these are called."""
    names: tuple[str, str, str]
    """Of the three parts of a key, in documents."""
    longest_valid_ms: int
    """How long what is put may be valid."""
    fields: tuple[str, ...]
    """Of the rows of a list."""
    filters: frozenset[str]
    """Parameters of lists and streams in REST."""
    of_delete: frozenset[str]
    """Parameters of ``delete`` in REST, which are fields in a batch."""

    def start(self) -> None:
        """The web process begins, in whose event loop this is called: go on with what a former one left."""
        ...

    async def stop(self) -> None:
        """It ends."""
        ...

    def key(self, first: str, second: str, third: str) -> Key:
        """The key of these names. Raises ``InvalidSetting``."""
        ...

    async def get(self, snapshot: NetworkSnapshot, key: Key, how: How) -> Held:
        """What is valid now. Raises ``Absent`` as well."""
        ...

    def read(self, key: Key, body: Any) -> Any:
        """What ``put`` is to store, checked; sends nothing. Raises ``InvalidSetting`` or REST's ``ValidationError``."""
        ...

    async def put(self, snapshot: NetworkSnapshot, change: Any, how: How) -> Taken:
        """Store what ``read`` returned."""
        ...

    async def delete(
        self,
        snapshot: NetworkSnapshot,
        key: Key,
        which: Mapping[str, str],
        how: How,
        check: Callable[[str | None, int], None],
    ) -> Taken:
        """It is no longer served. ``which``: those of ``of_delete`` that were given. Raises ``Absent`` as well.

        Before anything is sent it calls ``check`` with version and time of what is stored, as in ``Held``; with
        ``None`` and 0 if there is nothing.
        """
        ...

    def selection(self, parameters: Mapping[str, str]) -> Hashable:
        """What these of ``filters`` select, checked. Equal parameters select the same. Raises ``InvalidSetting``."""
        ...

    async def list(self, snapshot: NetworkSnapshot, selection: Any, after: str, most: int) -> Listed:
        """The next ``most`` pieces of context behind ``after``."""
        ...

    async def follow(self, snapshot: NetworkSnapshot) -> Following:
        """The changes of a network. Call ``listen`` before anything else is awaited."""
        ...

    async def check(self, snapshot: NetworkSnapshot, selection: Any, account: str, after: str) -> None:
        """Before a stream of this account begins, or resumes behind the event with the id ``after`` (empty: it
        begins): whether what it selects can come. Raises ``Absent`` if it never does."""
        ...

    def when_stored(self, stored: Callable[[str, Key], None]) -> None:
        """Call it with network and key whenever a followed network has new data."""
        ...


class Web:
    """The web part of a system. Subclasses override what they add; by default nothing."""

    urls: ClassVar[str] = ""
    """Module with the URLs of its pages."""
    rest_urls: ClassVar[str] = ""
    """Module with its URLs below ``/api/``."""
    sections: ClassVar[Mapping[str, str]] = {}
    """The first parts of their paths that no common URL has, each with a sentence."""
    lab: ClassVar[str] = ""
    """Its ``brokerweb.wirelab.lab.Lab`` as ``MODULE.NAME``, for ``/api/systems/NAME/wire/``."""
    run_messages: ClassVar[str] = ""
    """Its ``brokerweb.wirelab.run_messages.RunMessages`` as ``MODULE.NAME``; empty: ``lab`` reads the recordings."""
    entries: ClassVar[tuple[Entry, ...]] = ()
    """Its pages in the navigation and the search."""
    context: ClassVar[Context | None] = None
    """Its operations on context; ``None``: its networks have none."""
    trace_filters: ClassVar[tuple[str, ...]] = ()
    """Of ``traces_of_run`` next to ``show``, with which ``/api/runs/ID/traces/`` is filtered."""
    enums: ClassVar[Mapping[str, str]] = {}
    """Names of enumerations in the OpenAPI document, and where each is defined."""

    def parts_of_run(self, run: Run) -> Sequence[Part]:
        """Below the timeline."""
        return ()

    def parts_of_experiment(self, experiment: Experiment) -> Sequence[Part]:
        """Above the chart, once there are results."""
        return ()

    def parts_of_network(self, network: Network) -> Sequence[Part]:
        """Below the table of servers."""
        return ()

    def resting_links(self, network: Network) -> Sequence[tuple[int, int]]:
        """Links that its servers do not use now, by the indices of their ends, for the picture. It is polled."""
        return ()

    def clients_of_network(self, network: Network, offset: int, limit: int, reachable: bool | None) -> Rows | None:
        """Clients that its servers know; with ``reachable`` only those that are, or are not. ``None``: they list none.

        Raises ``NotPossible`` and ``NotAnswered``, as does the next one.
        """
        return None

    def pending_of_network(self, network: Network, offset: int, limit: int) -> Rows | None:
        """Messages that its servers retain, by queue; ``None``: they list none."""
        return None

    def traces_of_run(self, run: Run, chosen: Mapping[str, str], offset: int, limit: int) -> Rows | None:
        """Of a system without queries: what it traced in a run, for ``/api/runs/ID/traces/``; ``None``: nothing ever.

        ``chosen`` has the parameters of the address, of which ``show`` and ``trace_filters`` choose rows. Raises
        ``InvalidSetting`` and ``StorageError``.
        """
        return None

    def server_of_run(self, run: Run, index: int, shown: Mapping[str, Any]) -> dict[str, Any]:
        """Reports of one server, for REST and the panel: ``traced_one_in`` (one query in this many is traced; 0: none),
        ``own`` from its journal and ``lately`` from its recording, each ``None`` if unknown.

        ``shown`` is ``{t_s, brokers}`` with a row for each server of the run.
        """
        return {"traced_one_in": 0, "own": None, "lately": None}

    def server_of_network(self, network: Network, index: int) -> dict[str, Any]:
        """The same without ``lately`` for a server of a network, which is queried: with a time-out, as it may not
        answer."""
        return {"traced_one_in": 0, "own": None}

    def detail_of_run(self, run: Run, found: Mapping[str, Any]) -> ServerDetail | None:
        """The system's part of the panel; ``None``: nothing. ``found`` is the result of ``server_of_run``, with the
        server's row as ``now``."""
        return None

    def detail_of_network(self, network: Network, found: Mapping[str, Any]) -> ServerDetail | None:
        """The same for a server of a network; ``found`` is from ``server_of_network``."""
        return None
