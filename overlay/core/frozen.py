"""Dataclasses that type checkers keep frozen, and Python does not.

A frozen dataclass assigns each field of a new object by a call of ``object.__setattr__``, which takes ten times as long
as an assignment. Where a message is made of several such objects, that is an eighth of a broker's work. A module
whose classes are hot imports ``dataclasses.dataclass`` for the type checker and this one otherwise::

    if TYPE_CHECKING:
        from dataclasses import dataclass
    else:
        from overlay.core.frozen import dataclass
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable


def dataclass(*, frozen: bool, slots: bool, weakref_slot: bool = False) -> Callable[[type], type]:
    """As ``dataclasses.dataclass``; objects are equal and hashed alike."""
    return dataclasses.dataclass(unsafe_hash=frozen, slots=slots, weakref_slot=weakref_slot)
