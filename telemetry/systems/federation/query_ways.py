"""One QUERY's way: the brokers that asked each other, scope by scope, and the providers that answered. Pure.

A broker gives each QUERY that it sends a number of its own, which its step ``asks`` has. With it the steps of whom it
asked are found, and so on (``ways`` has those of notifications and subscriptions)::

    c0 ──QUERY 9──> b0 ──QUERY n──> b1 ──QUERY m──> p3        q|c0|9: asked, asks, answered, replied, of b0
       <──ANSWER 9──   <──ANSWER n──   <──ANSWER m──          q|b0|n: likewise of b1
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from overlay.systems.federation.names import query_name
from telemetry.charts.sequences import Sent
from telemetry.systems.federation.ways import Step, Way, brokers, is_broker

DATA = "ANSWER with data"
"""That goes before a QUERY: it has what the scope needs."""


class Reply(NamedTuple):
    """Of a provider."""

    about: str
    """As ``Step.about`` of the peer that asked it."""
    provider: str
    asked_us: int
    replied_us: int
    code: int
    notes: Sequence[str]


class Asked(NamedTuple):
    """What the detail of ``asks``, ``answered`` and ``timed out`` says."""

    scope: str
    number: str
    """Of the QUERY to the provider or neighbour."""
    more: str
    """Of ``asks``: how many notifications go with it; of ``answered``: the name of a code."""

    @classmethod
    def of(cls, step: Step) -> Asked:
        scope, number, more = (*step.detail.split(" "), "", "", "")[:3]
        return cls(scope, number, more)


@dataclass
class QueryWay(Way):
    about: str = ""
    """Of the QUERY of the client."""
    replies: Sequence[Reply] = ()
    ended_us: int | None = None
    """When the answer came; ``None`` without one."""

    @cached_property
    def steps(self) -> Sequence[Step]:
        return self.records.steps

    @property
    def scopes(self) -> Sequence[str]:
        """What its broker asked for, in this order: needed ones first."""
        asked = (Asked.of(one).scope for one in self.steps if one.step == "asks" and one.about == self.about)
        return list(dict.fromkeys(asked))

    @property
    def entered(self) -> str | None:
        return next((one.broker for one in self.steps if one.step == "asked"), None)

    @property
    def delivering(self) -> Sequence[str]:
        """Brokers that asked providers."""
        return brokers([one for one in self.steps if not is_broker(one.peer)], ("asks",))

    @property
    def asked(self) -> Sequence[str]:
        return brokers(self.steps, ("asked",))

    # ---- inner

    def _sent(self) -> list[Sent]:
        replies = {(one.about, one.provider): one for one in self.replies}
        entered = {(one.about, one.broker): one.arrived_us for one in reversed(self.steps) if one.step == "asked"}
        answered = {
            (query_name(one.broker, int(Asked.of(one).number)), one.peer): one.arrived_us
            for one in self.steps
            if one.step == "answered"
        }
        late = {query_name(one.broker, int(Asked.of(one).number)) for one in self.steps if one.step == "timed out"}
        found, sent_us = list[Sent](), self.records.sent_us
        for one in self.steps:
            if one.step == "asked" and one.about == self.about:
                found.append(Sent("QUERY", one.peer, one.broker, min(sent_us, one.arrived_us), one.arrived_us))
                sent_us = one.arrived_us  # what is sent again after the loss of a broker has no record of its own
            elif one.step == "asks":
                _, number, given = Asked.of(one)
                about = query_name(one.broker, int(number))
                reply = replies.get((about, one.peer))
                arrived_us = entered.get((about, one.peer)) if reply is None else reply.asked_us
                is_lost = arrived_us is None and about in late
                if given not in ("", "0"):
                    found.append(Sent(DATA, one.broker, one.peer, one.at_us, arrived_us, is_lost))
                found.append(Sent("QUERY", one.broker, one.peer, one.at_us, arrived_us, is_lost))
            elif one.step == "replied":
                if one.about == self.about:
                    arrived_us = self.ended_us if self.ended_us is not None and self.ended_us >= one.at_us else None
                else:
                    arrived_us = answered.get((one.about, one.broker))
                found.append(Sent("ANSWER", one.broker, one.peer, one.at_us, arrived_us))
        for about, provider in replies:
            reply, asker = replies[about, provider], about.split("|")[1]
            arrived_us = answered.get((about, provider))
            found.append(Sent("ANSWER", provider, asker, reply.replied_us, arrived_us))
        return found


def chain(about: str, steps_of: Callable[[Sequence[str]], Sequence[Step]]) -> list[Step]:
    """The steps about this QUERY, those that it led to, and so on, in chronological order."""
    found, front, known = list[Step](), [about], {about}
    while front:
        steps = steps_of(front)
        found += steps
        front = [name for name in sent_by(steps) if name not in known]
        known.update(front)
    return sorted(found, key=lambda one: one.at_us)


def sent_by(steps: Iterable[Step]) -> list[str]:
    """The names of the QUERYs that these steps sent."""
    sent = (query_name(one.broker, int(Asked.of(one).number)) for one in steps if one.step == "asks")
    return list(dict.fromkeys(sent))
