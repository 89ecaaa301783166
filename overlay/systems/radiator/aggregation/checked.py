"""Checked mode: the form that was chosen and the others with it. A difference raises ``AssertionError``."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TypeVar

from overlay.systems.radiator.aggregation.algorithm import Algorithm, Recipient
from overlay.systems.radiator.aggregation.emissions import Emission
from overlay.systems.radiator.aggregation.options import Options
from overlay.systems.radiator.aggregation.queues import Message, Queue
from overlay.systems.radiator.language.aggregability import Aggregability

Result = TypeVar("Result")


class Checked(Algorithm):
    """Several forms of Algorithm 1, which must agree. The first one answers, and its evaluations are counted."""

    def __init__(self, forms: Sequence[Algorithm], function: Aggregability, options: Options) -> None:
        super().__init__(function, options)
        self._owns_holders = False
        self._forms = forms

    @property
    def evaluations(self) -> int:
        return self._forms[0].evaluations

    @property
    def retained(self) -> int:
        return self._agreed(lambda form: form.retained)

    def is_retained(self, number: int) -> bool:
        return self._agreed(lambda form: form.is_retained(number))

    def next_timer(self) -> int | None:
        return self._agreed(lambda form: form.next_timer())

    def queues(self, place: int) -> list[Queue]:
        self._agreed(lambda form: form.pending(place))
        return self._forms[0].queues(place)

    def held(self) -> Iterator[tuple[Sequence[int], Queue]]:
        return self._forms[0].held()

    def sizes(self) -> Iterator[tuple[int, int]]:
        return self._forms[0].sizes()

    def check_invariants(self) -> None:
        super().check_invariants()
        for form in self._forms:
            form.check_invariants()

    def _registered(self, recipient: Recipient, now: int) -> None:
        self._agreed(lambda form: form.register(recipient.place, recipient.id, recipient.attributes, now))

    def _removed(self, recipient: Recipient, now: int) -> list[Message]:
        return self._agreed(lambda form: form.remove(recipient.place, now))[1]

    def _became(self, recipient: Recipient, now: int) -> None:
        self._agreed(lambda form: form.change(recipient.place, recipient.attributes, now))

    def _arrive(self, message: Message, audience: list[int] | None, excluded: int | None) -> list[Emission]:
        return self._agreed(lambda form: comparable(form._arrive(message, audience, excluded)))

    def _flush(self, now: int) -> list[Emission]:
        return self._agreed(lambda form: comparable(form.handle_timer(now)))

    def _first_deadline(self) -> int | None:
        return self._agreed(lambda form: form._first_deadline())

    def _is_changed(self, place: int) -> bool:
        return self._agreed(lambda form: form._is_changed(place))

    def _agreed(self, call: Callable[[Algorithm], Result]) -> Result:
        result = call(self._forms[0])
        errors = self.function.errors
        for form in self._forms[1:]:
            other = call(form)
            names = f"{type(self._forms[0]).__name__} and {type(form).__name__}"
            assert other == result, f"{names} differ: {result!r:.500} and {other!r:.500}"
        self.function.errors = errors  # those of the others are the same ones
        return result


def comparable(emissions: Iterable[Emission]) -> list[Emission]:
    """The same with recipients as tuples."""
    return [Emission(messages, tuple(recipients)) for messages, recipients in emissions]
