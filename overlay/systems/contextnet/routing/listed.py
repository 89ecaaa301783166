"""The gateways that the PoA manager lists: only they get messages."""

from __future__ import annotations

from collections.abc import Mapping

from overlay.systems.contextnet.records.records import GatewayList, Ranked


class ListedGateways:
    def __init__(self) -> None:
        self._version = -1
        self._listed: dict[str, Ranked] = {}
        self.missing_since: dict[str, int] = {}
        """Gateways that were listed and are not any more: when the first list without them was appended, Unix µs."""

    def __contains__(self, gateway: str) -> bool:
        return gateway in self._listed

    @property
    def is_known(self) -> bool:
        """Whether there has been a list."""
        return self._version >= 0

    @property
    def by_name(self) -> Mapping[str, Ranked]:
        """The best first."""
        return self._listed

    def heard(self, found: GatewayList, appended_us: int) -> frozenset[str]:
        """A list, which was appended at this Unix µs. Returns the gateways that are listed now and were not before."""
        if found.version < self._version:
            return frozenset()
        before, self._version = self._listed, found.version
        self._listed = {one.gateway: one for one in found.gateways}
        for gateway in before:
            if gateway not in self._listed:
                self.missing_since.setdefault(gateway, appended_us)
        for gateway in self._listed:
            self.missing_since.pop(gateway, None)
        return frozenset(self._listed.keys() - before.keys())
