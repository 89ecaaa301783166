"""The questions of operators to a server whose datagrams are not those of the channel. Pure.

Counterpart: ``questions.ping`` and ``questions.ask_figures`` of the programs that ask.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from overlay.channel import wire
from overlay.core.addresses import Address
from overlay.core.chance import Chances
from overlay.peers.answers import Answers
from overlay.peers.questions import FIGURES, loose_body, read_question


class Operators:
    def __init__(
        self,
        id: bytes,
        own: Address,
        chances: Chances,
        counters: dict[str, int],
        figures: Callable[[], Mapping[str, int]],
    ) -> None:
        """``id``: of the server. ``counters``: counts ``inspect_OUTCOME``. ``figures``: what it answers."""
        self.counters = counters
        self._id = id
        self._answers = Answers(self, id, own, chances, {FIGURES: lambda _: figures()})
        self._out: list[tuple[bytes, Address]] = []

    def receive(self, data: bytes, source: Address) -> bool:
        """Answers a question, in ``datagrams_to_send``; ``False`` for any other bytes."""
        body = loose_body(data)
        question = None if body is None else read_question(body, {FIGURES})
        if question is None:
            return False
        self._answers.answer(question, source)
        return True

    def send_bare(self, address: Address, data: bytes) -> bool:
        self._out.append((wire.loose(self._id, data), address))
        return True

    def datagrams_to_send(self) -> Sequence[tuple[bytes, Address]]:
        """Since the last call."""
        out, self._out = self._out, []
        return out
