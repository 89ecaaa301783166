"""What a user of an engine may do in the log of one deployment (seed 004, contract, section 13). Pure."""

from __future__ import annotations

from typing import NamedTuple


class Rights(NamedTuple):
    """Names of topics and groups may end with ``*``: all that begin like this."""

    reads: tuple[tuple[str, str], ...]
    """Groups that it may be in, and their topics."""
    writes: tuple[str, ...]
    """Topics."""
    looks: tuple[tuple[str, str], ...] = ()
    """Groups and topics of which it may see how the partitions are shared."""


class Granted(NamedTuple):
    """A user of an engine."""

    url: str
    """The engine's address for it, with its password."""
    is_kept: bool
    """Whether the engine has it when it starts again."""
