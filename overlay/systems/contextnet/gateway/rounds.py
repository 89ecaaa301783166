"""Something done for each of many nodes, spread over a while, in batches."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from overlay.core.node import MILLISECOND

TICK: Final = 10 * MILLISECOND
"""Least time between two batches."""


class Round:
    """Node i of n is due at ``begun`` + i/n of ``span``."""

    __slots__ = ("_act", "_done", "_nodes", "begun", "span")

    def __init__(self, nodes: Sequence[bytes], begun: int, span: int, act: Callable[[bytes], None]) -> None:
        """``span`` in ns."""
        self._nodes, self.begun, self.span, self._act = nodes, begun, span, act
        self._done = 0

    def run(self, now: int) -> int | None:
        """Do all that is due. Returns when the next batch is; ``None`` after the last one."""
        nodes, due = self._nodes, len(self._nodes)
        if now < self.begun + self.span:
            due = min(due, (now - self.begun) * len(nodes) // self.span + 1)
        while self._done < due:
            self._done += 1
            self._act(nodes[self._done - 1])
        if self._done == len(nodes):
            return None
        return max(self.begun + -(-self._done * self.span // len(nodes)), now + TICK)
