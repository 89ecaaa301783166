"""Algorithm 1 in parts: each shard owns recipients, gets every message, and shares nothing with the others.

The outputs are merged in the order of registration, so they equal those of one part.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from overlay.core.hashes import blake2b
from overlay.systems.radiator.aggregation.algorithm import Algorithm, Recipient
from overlay.systems.radiator.aggregation.emissions import Emission, propagations
from overlay.systems.radiator.aggregation.options import Options
from overlay.systems.radiator.aggregation.queues import Message, Queue
from overlay.systems.radiator.language.aggregability import Aggregability

Form = Callable[[Aggregability, Options, dict[int, int] | None], Algorithm]


class Sharded(Algorithm):
    """Algorithm 1 by ``shards`` of one form."""

    def __init__(self, form: Form, shards: int, function: Aggregability, options: Options) -> None:
        super().__init__(function, options)
        self._shards = [form(function, options, self._holders) for _ in range(shards)]

    def _shard(self, place: int) -> Algorithm:
        digest = blake2b(place.to_bytes(8, "big"), digest_size=4).digest()
        return self._shards[int.from_bytes(digest, "big") % len(self._shards)]

    @property
    def evaluations(self) -> int:
        return sum(shard.evaluations for shard in self._shards)

    def next_timer(self) -> int | None:
        return _earliest(shard.next_timer() for shard in self._shards)

    def queues(self, place: int) -> list[Queue]:
        return self._shard(place).queues(place)

    def held(self) -> Iterator[tuple[Sequence[int], Queue]]:
        return (one for shard in self._shards for one in shard.held())

    def sizes(self) -> Iterator[tuple[int, int]]:
        return (size for shard in self._shards for size in shard.sizes())

    def check_invariants(self) -> None:
        super().check_invariants()
        for shard in self._shards:
            shard.check_invariants()

    def _registered(self, recipient: Recipient, now: int) -> None:
        self._shard(recipient.place).register(recipient.place, recipient.id, recipient.attributes, now)

    def _removed(self, recipient: Recipient, now: int) -> list[Message]:
        return self._shard(recipient.place).remove(recipient.place, now)[1]

    def _became(self, recipient: Recipient, now: int) -> None:
        self._shard(recipient.place).change(recipient.place, recipient.attributes, now)

    def _arrive(self, message: Message, audience: list[int] | None, excluded: int | None) -> list[Emission]:
        emitted: list[Emission] = []
        for shard in self._shards:
            own = None if audience is None else [place for place in audience if self._shard(place) is shard]
            alone = excluded if excluded is not None and self._shard(excluded) is shard else None
            emitted += shard._arrive(message, own, alone)
        return propagations(emitted, is_per_recipient=self.options.is_per_recipient)

    def _flush(self, now: int) -> list[Emission]:
        emitted = [emission for shard in self._shards for emission in shard.handle_timer(now)]
        return propagations(emitted, is_per_recipient=self.options.is_per_recipient)

    def _first_deadline(self) -> int | None:
        return _earliest(shard._first_deadline() for shard in self._shards)

    def _is_changed(self, place: int) -> bool:
        return self._shard(place)._is_changed(place)


def _earliest(times: Iterable[int | None]) -> int | None:
    return min((at for at in times if at is not None), default=None)
