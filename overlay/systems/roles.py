"""The kinds of servers and clients of a system, their names and titles. Pure.

A process is named by its role and number: ``broker-3``. The index of a server counts all servers, role by role.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final, Literal, NamedTuple

from overlay.core.addresses import Address
from overlay.core.processes import role_of as role_of  # names of processes are imported from here, too

Identity = tuple[str | int, ...]
"""Identifies a client within the run: its role and number. Its name is ``role-number``."""


@dataclass(frozen=True, slots=True)
class Role:
    """A kind of server, and the number of its servers. Their processes are ``name-0``, ``name-1`` and so on.

    A name has no blanks; it may have hyphens.
    """

    name: str
    count: int


REQUESTS: Final = "requests"
UPDATES: Final = "updates"
"""What the exchanges of clients can be."""


@dataclass(frozen=True, slots=True)
class ClientRole:
    """A kind of client, in ``System.client_roles`` by its role: the ``role`` of its facts and the first part of its
    identities, such as ``caller``."""

    processes: str
    """The name of its processes, usually the plural: ``callers`` for ``callers-0``, ``callers-1`` and so on, each
    with many clients. No role of servers has this name."""
    exchanges: Literal["requests", "updates", ""] = ""
    """What its ``Sample`` facts are; empty if its clients only receive."""


class Title(NamedTuple):
    """What one and several servers are called on pages."""

    one: str
    many: str

    @property
    def in_text(self) -> Title:
        """As within a sentence: *broker*; *M-Hub* and *PoA manager* stay as they are."""
        return Title(*(words[:1].lower() + words[1:] if words.split()[0][1:].islower() else words for words in self))

    @property
    def with_article(self) -> str:
        """``a broker``, ``an edge``, ``an M-Hub``."""
        word = self.in_text.one
        is_spelled = not word[1:2].islower()
        return f"{'an' if word[:1] in ('AEFHILMNORSX' if is_spelled else 'aeio') else 'a'} {word}"

    def fill(self, text: str) -> str:
        """``text`` with these words for ``{server}``, ``{servers}`` and ``{a_server}``."""
        words = self.in_text
        return text.format(server=words.one, servers=words.many, a_server=self.with_article)


SERVER: Final = Title("Server", "Servers")
"""Of servers of any system, or of several roles."""


@dataclass(frozen=True, slots=True)
class Place:
    """The identity of a server: its name, index and address, and the addresses of all servers."""

    name: str
    """The name of its process: ``gateway-1``."""
    index: int
    """Index among all servers, role by role."""
    address: Address
    """The address that others use."""
    servers: Sequence[Address]
    """The addresses of all servers, its own included."""

    @property
    def role(self) -> str:
        return role_of(self.name)

    @property
    def number(self) -> int:
        """Its number within its role."""
        return int(self.name.rpartition("-")[2])


def server_names(roles: Iterable[Role]) -> tuple[str, ...]:
    """The names of all servers' processes, by index."""
    return tuple(f"{role.name}-{number}" for role in roles for number in range(role.count))


def client_name(identity: Identity) -> str:
    """``caller-3``."""
    return "-".join(map(str, identity))
