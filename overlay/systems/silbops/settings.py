"""The settings of SilboPS (seed 002, section 10). ``profiles`` has the paper's, ``workload`` the load."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from overlay.channel import ChannelSettings
from overlay.core.errors import InvalidSetting
from overlay.core.settings import Use, check, setting
from overlay.systems.silbops.names import SIENA, SILBOPS

CELLS = "cells"
"""The value of ``index`` that is for boxes, which only the siena arm has."""
REMOVE_FIRST, ADD_FIRST = "remove-first", "add-first"
WITH_PUBLISH, FORWARDED = "with-publish", "forwarded"
NEVER, EACH_CHANGE, TIMED, ADVERTISEMENT = "never", "each-change", "timed", "advertisement"


@dataclass(frozen=True)
class Matching:
    """The two arms, and what a broker does with a subscription."""

    arm: str = setting(
        SILBOPS,
        choices=(SILBOPS, SIENA),
        help="Where context is. silbops: apart from subscriptions, which have functions of it; siena: written into "
        "subscriptions and notifications, so that each change of context replaces subscriptions.",
    )
    index: str = setting(
        "access",
        choices=("scan", "counting", "access", "leaf", CELLS),
        help="How subscriptions that a notification matches are found. scan: all are tested, slow with many; counting: "
        "satisfied constraints are counted, as in the paper, slow with boxes of context; access: by the rarest "
        "equality, fast to change; leaf: by the two rarest, faster from 50,000 subscriptions on; cells: by the cells "
        "of a grid that boxes cover, for the siena arm only.",
    )
    scope_batch: int = setting(
        48,
        unit="candidates",
        low=0,
        high=100_000,
        zero="never",
        help="Subscriptions found by content from which on their contexts are tested together, by arrays. Small "
        "numbers cost time with few candidates, large ones with many.",
    )
    siena_change: str = setting(
        REMOVE_FIRST,
        choices=(REMOVE_FIRST, ADD_FIRST),
        help="In which order the siena arm replaces a subscription when its context changes. remove-first: as in the "
        "paper, notifications in the gap are lost; add-first: none is lost, and there are twice as many rows for a "
        "moment.",
    )
    covering: bool = setting(
        True,
        help="Whether a subscription is not forwarded if another one brings its notifications. Saves messages and "
        "rows, costs processor time at changes.",
    )


@dataclass(frozen=True)
class Publishers:
    """The contexts of publishers, and functions of theirs: the paper's future work."""

    publisher_scope: bool = setting(
        False,
        help="Whether publishers may limit who gets a notification, by a function of subscribers' contexts. Contexts "
        "then travel further. Not in the siena arm.",
    )
    publisher_context: str = setting(
        WITH_PUBLISH,
        choices=(WITH_PUBLISH, FORWARDED),
        help="How the context of a publisher reaches brokers. with-publish: in each notification; forwarded: once, "
        "and again when it has changed, which saves bytes if it rarely does.",
    )
    prune: str = setting(
        NEVER,
        choices=(NEVER, EACH_CHANGE, TIMED, ADVERTISEMENT),
        help="When a subscription whose function is false for all publishers behind a link is withdrawn there. never; "
        "each-change: at once; timed: after prune_after_s; advertisement: when an advertisement changes. Saves rows "
        "and tests, costs messages when publishers move. With publisher_context forwarded only.",
    )
    prune_after_s: float = setting(
        10.0,
        unit="s",
        low=0.1,
        high=3_600,
        help="Time that a function is false before its subscription is withdrawn. Short times keep tables small, and "
        "cost messages when contexts change often.",
    )
    ttl_s: float = setting(
        0.0,
        unit="s",
        low=0,
        high=86_400,
        zero="none",
        help="Validity of subscriptions and advertisements for which the client gives none. Everything that the owner "
        "sets renews all of its own. Short times remove what was forgotten early; without, it stays until its client "
        "has gone.",
    )


@dataclass(frozen=True)
class Staying:
    """Clients that are away or move, and the channel."""

    keep_messages: int = setting(
        100,
        unit="messages",
        low=0,
        high=100_000,
        zero="none",
        help="Notifications that are kept for a client that is away, the newest. More cost memory.",
    )
    keep_s: float = setting(
        30.0,
        unit="s",
        low=0,
        high=3_600,
        zero="none",
        help="How long a client may be away before its subscriptions are removed. Long times cost tables and work for "
        "clients that never return.",
    )
    handover_s: float = setting(
        5.0,
        unit="s",
        low=0,
        high=3_600,
        zero="none",
        help="How long the old broker of a client that has moved still passes notifications on. Short times lose "
        "those on their way, long ones cost repeated notifications.",
    )
    channel_window: int = setting(
        256,
        unit="messages",
        low=1,
        high=65_535,
        help="Records under way to a peer. A long window uses a link with a long delay better.",
    )
    channel_queue: int = setting(
        10_000,
        unit="messages",
        low=1,
        high=1_000_000,
        help="Messages waiting for a peer before those who send them are stopped. A long queue takes bursts, at the "
        "price of delay and memory.",
    )
    channel_frame: int = setting(
        1_200,
        unit="bytes",
        low=200,
        high=60_000,
        help="Maximum bytes of a datagram. Above about 1,300, datagrams fragment; on one machine, long ones cost less.",
    )
    channel_tries: int = setting(
        8,
        unit="sendings",
        low=1,
        high=30,
        help="Sendings of a record without any answer, after which a peer is unreachable. Few find failures early, and "
        "take a slow peer for a failed one.",
    )


@dataclass(frozen=True)
class Settings(Staying, Publishers, Matching):
    """All settings. Fields are in the order of ``Matching``, ``Publishers``, ``Staying``, and of checking."""

    oracle_every: int = setting(
        1,
        unit="steps",
        low=1,
        high=1_000_000,
        help="In simulated runs that check invariants, every so many steps a broker's choice is compared with that of "
        "a test of all subscriptions. 1 finds errors at once and is slow.",
    )
    trace_one_in: int = setting(
        100,
        unit="messages",
        low=0,
        high=1_000_000,
        zero="off",
        help="One notification in this many is traced from broker to broker. What is sent stays the same. 1 traces "
        "all, for short runs.",
    )

    def __post_init__(self) -> None:
        check(self)
        if self.index == CELLS and self.arm != SIENA:
            raise InvalidSetting("index", f"{CELLS} is for the siena arm only: the other has no boxes")
        if self.prune != NEVER and self.publisher_context != FORWARDED:
            raise InvalidSetting("prune", f"{self.prune} needs publisher_context {FORWARDED}")

    @property
    def is_siena(self) -> bool:
        return self.arm == SIENA

    @property
    def has_publisher_scope(self) -> bool:
        """Only silbops has functions and contexts of publishers: siena writes contexts into notifications."""
        return self.publisher_scope and not self.is_siena

    @property
    def forwards_contexts(self) -> bool:
        """Whether contexts of publishers travel apart from publications."""
        return self.publisher_context == FORWARDED and not self.is_siena

    @property
    def pruning(self) -> str:
        """``prune``, where there is anything to prune by."""
        return self.prune if self.forwards_contexts else NEVER

    @property
    def channel(self) -> ChannelSettings:
        """Shared by all nodes of a process."""
        return _channel(self.channel_window, self.channel_queue, self.channel_frame, self.channel_tries)


@lru_cache(maxsize=16)
def _channel(window: int, queue: int, frame: int, tries: int) -> ChannelSettings:
    """Sendings, not silence, tell that a peer is unreachable."""
    return ChannelSettings(window, queue, frame, give_up_s=0, tries=tries)


USES: Mapping[str, Use] = {
    "siena_change": Use("arm", (SIENA,)),
    **{name: Use("arm", (SILBOPS,)) for name in ("scope_batch", "publisher_scope", "publisher_context")},
    "prune": Use("publisher_context", (FORWARDED,)),
    "prune_after_s": Use("prune", (TIMED,)),
}
"""Settings that depend on another one."""
