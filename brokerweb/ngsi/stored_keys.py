"""Where entities were stored through this process lately: they are found there before the network's feeds report them.
Pure."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Collection

from brokerweb.systems.contract import Key

MOST = 20_000
MOST_OF_ONE = 64
"""Keys of one id."""


class StoredKeys:
    """By network and id, the latest ones."""

    def __init__(self, most: int = MOST, most_of_one: int = MOST_OF_ONE) -> None:
        self._most = most
        self._most_of_one = most_of_one
        self._keys: OrderedDict[tuple[str, str], OrderedDict[Key, None]] = OrderedDict()

    def add(self, network: str, key: Key) -> None:
        place = network, key[1]
        keys = self._keys.setdefault(place, OrderedDict())
        keys[key] = None
        keys.move_to_end(key)
        if len(keys) > self._most_of_one:
            keys.popitem(last=False)
        self._keys.move_to_end(place)
        if len(self._keys) > self._most:
            self._keys.popitem(last=False)

    def discard(self, network: str, key: Key) -> None:
        keys = self._keys.get((network, key[1]))
        if keys is not None and keys.pop(key, key) is None and not keys:
            del self._keys[network, key[1]]

    def of(self, network: str, id: str) -> Collection[Key]:
        return self._keys.get((network, id), ())
