"""How gateways ping: the window of pongs follows the ping rate of the network (contract, section 5; seed, 5.4)."""

from __future__ import annotations

from collections.abc import Collection

from overlay.systems.contextnet.poa.reports import Report
from overlay.systems.contextnet.poa.settings import LEAST_WINDOW_MS, PoaSettings, rescale_of
from overlay.systems.contextnet.poa.statistics import Statistics
from overlay.systems.contextnet.records.records import PingConfig


class Pings:
    def __init__(self, settings: PoaSettings) -> None:
        self._settings = settings
        self._steps = rescale_of(settings.rescale)
        self.config = PingConfig(settings.ping_period_s, self._clamp(settings.ping_window_ms), 0)
        self._fresh: dict[str, Statistics] = {}
        """Of rounds with the present window that have not been judged."""

    def heard(self, config: PingConfig) -> None:
        """A manager has written it. The period is this manager's own."""
        if config.version > self.config.version:
            self._set(config.window_ms, config.version)

    def report(self, report: Report) -> None:
        if report.window_ms == self.config.window_ms:
            self._fresh[report.gateway] = report.statistics

    def told(self, least_version: int) -> PingConfig:
        """The configuration with a new version, to be written."""
        self._set(self.config.window_ms, max(self.config.version + 1, least_version))
        return self.config

    def rescaled(self, active: Collection[str], least_version: int) -> PingConfig | None:
        """The configuration to be written, if the reports since the last call change the window."""
        fresh, self._fresh = self._fresh, {}
        counted = [found for gateway, found in fresh.items() if gateway in active]
        pinged = sum(found.pinged for found in counted)
        if not self._settings.rescale_enabled or not pinged:
            return None
        rate = sum(found.pongs for found in counted) / pinged
        assert 0 <= rate <= 1
        factor = next(step.factor for step in self._steps if rate <= step.rate)
        window_ms = self._clamp(round(self.config.window_ms * factor))
        if window_ms == self.config.window_ms:
            return None
        self._set(window_ms, self.config.version)
        return self.told(least_version)

    def _set(self, window_ms: int, version: int) -> None:
        self.config = PingConfig(self._settings.ping_period_s, self._clamp(window_ms), version)

    def _clamp(self, window_ms: int) -> int:
        settings = self._settings
        return max(LEAST_WINDOW_MS, min(max(window_ms, settings.window_min_ms), settings.most_window_ms))
