"""What leaves: messages and their recipients, put together to propagations."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from overlay.systems.radiator.aggregation.queues import Message


class Emission(NamedTuple):
    """Messages that leave as one propagation, oldest first, and their recipients, in order of registration."""

    messages: tuple[Message, ...]
    recipients: Sequence[int]


def propagations(emitted: list[Emission], *, is_per_recipient: bool) -> list[Emission]:
    """``to_send`` of one arrival or call of the timer: entries in order of first emission, each with all recipients.

    ``emitted`` has disjoint groups of recipients, the entries of a group in the order in which they left.
    """
    if is_per_recipient:
        emitted = [Emission(one.messages, (place,)) for one in emitted for place in one.recipients]
    emitted.sort(key=lambda one: one.recipients[0])  # stable
    if is_per_recipient or len(emitted) < 2:
        return emitted
    entries: dict[tuple[Message, ...], list[Sequence[int]]] = {}
    for one in emitted:
        entries.setdefault(one.messages, []).append(one.recipients)
    return [Emission(messages, _merged(groups)) for messages, groups in entries.items()]


def _merged(groups: list[Sequence[int]]) -> Sequence[int]:
    return groups[0] if len(groups) == 1 else sorted(place for group in groups for place in group)
