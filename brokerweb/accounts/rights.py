"""Who may do what. Pages, REST, the admin, websockets and forms ask here and nowhere else.

``refusal`` is the decision, without I/O; ``access_of`` reads what it needs. ``docs/access.md`` shows the result.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import IntEnum, StrEnum

ANY = "*"
"""Instead of a network's id: those that the account may see, as in a list of networks."""


class Role(IntEnum):
    """What an account may do everywhere; each may do what those before it may."""

    GUEST = 0
    VIEWER = 1
    OPERATOR = 2
    ADMINISTRATOR = 3

    @property
    def word(self) -> str:
        """As in REST and on pages."""
        return self.name.lower()


class Level(StrEnum):
    """What an account may do on a single network beyond its role."""

    READ = "read"
    WRITE = "write"


class Operation(StrEnum):
    """What is asked for. Every URL asks for one of these."""

    OWN = "own"
    """The account's own things: password, tokens, saved views."""
    READ = "read"
    """Everything that is measured, defined and deployed."""
    INSPECT = "inspect"
    """Who used a network for what: its operation log."""
    PROVIDE = "provide"
    """Store and delete context through a network."""
    CHANGE = "change"
    """Create, change, launch, deploy and delete."""
    ADMINISTER = "administer"
    """Accounts, their roles and their rights; whatever the admin can edit."""


ROLES: dict[Role, frozenset[Operation]] = {
    Role.GUEST: frozenset({Operation.OWN}),
    Role.VIEWER: frozenset({Operation.OWN, Operation.READ}),
    Role.OPERATOR: frozenset({Operation.OWN, Operation.READ, Operation.INSPECT, Operation.PROVIDE, Operation.CHANGE}),
    Role.ADMINISTRATOR: frozenset(Operation),
}
LEVELS: dict[Level, frozenset[Operation]] = {
    Level.READ: frozenset({Operation.READ}),
    Level.WRITE: frozenset({Operation.READ, Operation.PROVIDE}),
}
LOOKS = (Operation.READ, Operation.INSPECT)
"""What a read-only token may be used for."""
LOGGED_OUT = "Log in first."
READ_ONLY_TOKEN = "This token is read-only. Create a read-write token to make changes."  # noqa: S105 (a sentence)
LIMITED_TOKEN = "This token is limited to chosen networks."  # noqa: S105
REFUSALS = {
    Operation.OWN: LOGGED_OUT,
    Operation.READ: "This account may see only the networks that it was given.",
    Operation.INSPECT: "Only operators see who used a network for what.",
    Operation.PROVIDE: (
        "This account is read-only. Storing context needs the operator role, or the right to write to this network."
    ),
    Operation.CHANGE: "This account is read-only. Changes need the operator role.",
    Operation.ADMINISTER: "Only administrators manage accounts.",
}


def _nothing() -> Mapping[str, Level]:
    return {}


@dataclass(frozen=True)
class Access:
    """Who asks, and by what: a session or a token."""

    role: Role | None = None
    """``None``: not logged in."""
    levels: Callable[[], Mapping[str, Level]] = _nothing
    """Rights on single networks, by id; read only if the role does not suffice."""
    is_read_only: bool = False
    """A token that only reads."""
    limit: frozenset[str] | None = None
    """Ids of the networks that a token is limited to; ``None``: no limit."""


def refusal(access: Access, operation: Operation, network: str | None = None, *, is_safe: bool = False) -> str:
    """Why it is refused, as a sentence; empty if it is allowed.

    ``network`` is the id of the network that it is about, or ``ANY``. ``is_safe``: it only shows.
    """
    if access.role is None:
        return LOGGED_OUT
    if access.limit is not None and not _is_within(access.limit, network):
        return LIMITED_TOKEN
    if access.is_read_only and operation not in LOOKS and not (operation is Operation.OWN and is_safe):
        return READ_ONLY_TOKEN
    if operation in ROLES[access.role] or _is_given(access, operation, network):
        return ""
    return REFUSALS[operation]


def _is_within(limit: frozenset[str], network: str | None) -> bool:
    return network == ANY or network in limit


def _is_given(access: Access, operation: Operation, network: str | None) -> bool:
    """Whether a right on this network allows it."""
    if network == ANY:
        return operation is Operation.READ
    level = access.levels().get(network) if network else None
    return level is not None and operation in LEVELS[level]


def visible(access: Access) -> frozenset[str] | None:
    """Ids of the networks that may be listed; ``None``: all of them."""
    everywhere = access.role is not None and Operation.READ in ROLES[access.role]
    given = None if everywhere else frozenset(access.levels() if access.role is not None else ())
    if access.limit is None:
        return given
    return access.limit if given is None else access.limit & given
