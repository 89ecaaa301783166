"""What a server tells its operator: its figures, its clients, and what is pending, by queue.

Only programs on the server's own host are answered: clients have sent their attributes to the server, not to each
other. Rows come in pages that fit a datagram. Counterpart: ``overlay.programs.radiator.inspection`` asks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any

from overlay.core.addresses import Address
from overlay.core.binary import canonical
from overlay.core.node import MILLISECOND
from overlay.core.strangers import MOST_TIMES, is_on_host
from overlay.systems.radiator.aggregation.algorithm import Algorithm
from overlay.systems.radiator.aggregation.queues import Queue
from overlay.systems.radiator.clients.table import Clients, Entry
from overlay.systems.radiator.server.retention import attributes_of
from overlay.systems.radiator.wire.codec import encode
from overlay.systems.radiator.wire.messages import Inspect, Inspected, Inspection, Subject

MOST_ROWS, MOST_BYTES = 100, 60_000
"""Of one answer."""
MOST_QUEUES = 20_000
"""Queues that are looked at for one answer, which take 26 ms."""
MOST_CHARACTERS = 200
"""Of a client's attributes."""
SHOWN_DIGITS = 4
"""Of an instance. Whoever knows it can call, receive and leave for a phone, through the gateway."""


def may_answer(request: Inspect, answer: Inspected, token: int) -> bool:
    """Whether the sender has proven its address by ``token``, or the answer is small."""
    return request.token == token or len(encode(answer)) <= MOST_TIMES * len(encode(request))


@dataclass(frozen=True, slots=True)
class View:
    """What is shown. ``statistics`` gives the counters by name, ``retained_of`` the retained messages of a client."""

    clients: Clients
    algorithm: Algorithm
    statistics: Callable[[], Mapping[str, int]]
    retained_of: Callable[[int], int]
    now: int

    def body(self, request: Inspect) -> bytes:
        """JSON: an object. Ages and waits are in ms."""
        return canonical(_SUBJECTS[Subject(request.subject)](self, request))

    def figures(self, _: Inspect) -> Mapping[str, Any]:
        return self.statistics()

    def client_rows(self, request: Inspect) -> Mapping[str, Any]:
        """``total``: those with the reachability asked for."""
        reachable = len(self.algorithm.places)
        total = (len(self.clients), reachable, len(self.clients) - reachable)[request.clients]
        return self._page(
            request, map(self._client, islice(self._chosen(request.clients), request.offset, None)), total
        )

    def pending_rows(self, request: Inspect) -> Mapping[str, Any]:
        """Queues with equal thresholds, messages and deadlines are one row; those that leave first come first."""
        looked_at = list(islice(self.algorithm.held(), MOST_QUEUES + 1))
        rows: dict[tuple[Any, ...], dict[str, Any]] = {}
        for places, queue in looked_at[:MOST_QUEUES]:
            first, last = queue.messages[0], queue.messages[-1]
            key = queue.threshold, first.number, last.number, len(queue.messages)
            row = rows.get(key) or rows.setdefault(key, self._queue(queue))
            row["classes"] += 1
            row["recipients"] += len(places)
        ordered = sorted(rows.values(), key=_leaves_first)
        found = self._page(request, iter(ordered[request.offset :]), len(rows))
        return {**found, "is_whole": len(looked_at) <= MOST_QUEUES, "retained": self.algorithm.retained}

    # ---- parts of the above

    def _page(self, request: Inspect, rows: Iterator[Mapping[str, Any]], total: int) -> dict[str, Any]:
        return {"total": total, "rows": list(_fitting(islice(rows, min(request.limit, MOST_ROWS))))}

    def _chosen(self, clients: int) -> Iterator[Entry]:
        return (entry for entry in self.clients if clients == 0 or entry.is_reachable is (clients == 1))

    def _client(self, entry: Entry) -> dict[str, Any]:
        text = canonical(attributes_of(entry)).decode()
        queues = self.algorithm.queues(entry.place) if entry.is_reachable else ()
        return {
            "ip": entry.key[0],
            "port": entry.address[1],
            "id": entry.key[1],
            "instance": f"{entry.instance:016x}"[:SHOWN_DIGITS] + "…",
            "is_p2p": entry.is_p2p,
            "is_reachable": entry.is_reachable,
            "silent_ms": self._since(entry.heard_at),
            "attributes": text if len(text) <= MOST_CHARACTERS else f"{text[: MOST_CHARACTERS - 1]}…",
            "pending": sum(len(queue.messages) for queue in queues),
            "own_retained": self.retained_of(entry.place),
        }

    def _queue(self, queue: Queue) -> dict[str, Any]:
        (kind, value), deadline = queue.threshold, self.algorithm.options.deadline(queue)
        return {
            "kind": kind,
            "value": value,
            "messages": len(queue.messages),
            "people": len(queue.people) if kind == "people" else None,
            "oldest_ms": self._since(queue.messages[0].received),
            "leaves_in_ms": None if deadline is None else max(0, -self._since(deadline)),
            "classes": 0,
            "recipients": 0,
        }

    def _since(self, at: int) -> int:
        return (self.now - at) // MILLISECOND


_SUBJECTS = {Subject.FIGURES: View.figures, Subject.CLIENTS: View.client_rows, Subject.PENDING: View.pending_rows}


def _leaves_first(row: Mapping[str, Any]) -> tuple[float, int]:
    leaves = row["leaves_in_ms"]
    return float("inf") if leaves is None else leaves, -row["oldest_ms"]


def _fitting(rows: Iterable[Mapping[str, Any]]) -> Iterator[Mapping[str, Any]]:
    """Rows until an answer is full. Any single one fits."""
    left = MOST_BYTES
    for row in rows:
        left -= len(canonical(row)) + 1
        if left < 0:
            return
        yield row


def inspected(request: Inspect, source: Address, own: Address, token: int, view: View) -> Inspected:
    """The answer to ``request``; ``token`` is that of ``source``."""
    if not is_on_host(source, own):
        return Inspected(request.req, Inspection.ELSEWHERE)
    if request.token == token or request.subject == Subject.FIGURES:
        answer = Inspected(request.req, Inspection.OK, body=view.body(request))
        if may_answer(request, answer, token):
            return answer
    return Inspected(request.req, Inspection.TOKEN, token)
