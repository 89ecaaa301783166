"""A dry run of an aggregability over sample messages: which queue each message joins, and when it leaves. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from overlay.core.errors import InvalidSetting
from overlay.systems.radiator.aggregation.algorithm import Algorithm
from overlay.systems.radiator.aggregation.emissions import Emission
from overlay.systems.radiator.aggregation.literal import Literal
from overlay.systems.radiator.aggregation.options import Options
from overlay.systems.radiator.aggregation.queues import SECOND, Message
from overlay.systems.radiator.context import Attributes, Context
from overlay.systems.radiator.language.aggregability import aggregability
from overlay.systems.radiator.language.thresholds import Threshold

MOST_MESSAGES, MOST_RECIPIENTS = 50, 20


@dataclass(frozen=True, slots=True)
class Sample:
    """A message of the dry run."""

    at_s: float
    sender: str
    """One of the recipients."""
    context: Context


@dataclass(slots=True)
class Placed:
    """A message at one recipient."""

    message: int
    """From 1."""
    recipient: str
    threshold: Threshold
    """Of the queue that it joins first."""
    left_s: float | None = None
    """When it leaves; ``None``: not with these messages."""
    together: list[int] = field(default_factory=list)
    """The messages of its aggregate, oldest first."""


def dry_run(
    text: str, samples: Sequence[Sample], recipients: Mapping[str, Attributes], *, echo: bool = False
) -> list[Placed]:
    """By message, then in the order of ``recipients``. Times begin at 0, and deadlines are kept.

    Raises ``InvalidExpression``; ``InvalidSetting`` for samples out of order or of an unknown sender.
    """
    _check(samples, recipients)
    function, names = aggregability(text), list(recipients)
    algorithm: Algorithm = Literal(function, Options(echo=echo), None)
    current = dict(recipients)
    for place, name in enumerate(names):
        algorithm.register(place, name, current[name], 0)
    found: dict[tuple[int, str], Placed] = {}
    for number, sample in enumerate(samples, start=1):
        now = round(sample.at_s * SECOND)
        _flush(algorithm, now, names, found)
        current[sample.sender] = {**current[sample.sender], **sample.context.attributes}
        for name in names:
            if echo or name != sample.sender:
                threshold = function.evaluate(sample.context.attributes, sample.context.people, current[name], name)
                found[number, name] = Placed(number, name, threshold)
        message, sender = Message(number, sample.context, now), names.index(sample.sender)
        _note(algorithm.arrive(message, now, sender, current[sample.sender]), now, names, found)
    _flush(algorithm, None, names, found)
    return list(found.values())


def _check(samples: Sequence[Sample], recipients: Mapping[str, Attributes]) -> None:
    if len(samples) > MOST_MESSAGES or len(recipients) > MOST_RECIPIENTS:
        raise InvalidSetting("messages", f"at most {MOST_MESSAGES} messages and {MOST_RECIPIENTS} recipients are tried")
    last = 0.0
    for number, sample in enumerate(samples, start=1):
        if sample.sender not in recipients:
            raise InvalidSetting("messages", f"message {number}: {sample.sender!r:.60} is none of the recipients")
        if sample.at_s < last:
            raise InvalidSetting("messages", f"message {number}: {sample.at_s:g} s is before the message above it")
        last = sample.at_s


def _flush(
    algorithm: Algorithm, before: int | None, names: Sequence[str], found: dict[tuple[int, str], Placed]
) -> None:
    """What is due before a time; ``None``: all."""
    while (timer := algorithm.next_timer()) is not None and (before is None or timer < before):
        _note(algorithm.handle_timer(timer), timer, names, found)


def _note(emissions: Sequence[Emission], now: int, names: Sequence[str], found: dict[tuple[int, str], Placed]) -> None:
    for emission in emissions:
        together = [message.number for message in emission.messages]
        for place in emission.recipients:
            for number in together:
                placed = found[number, names[place]]
                placed.left_s, placed.together = now / SECOND, together
