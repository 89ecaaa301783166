"""The energy of the device of one run, counted as its messages go.

A message is an HTTP exchange, with the answer that it gets: ACK, NACK, FOUND and ANSWER only add their bytes. With a
broker on the device, messages between brokers go over the radio, and those of its clients are local calls. Without, its
clients' broker counts for it: their messages go over the radio.
"""

from __future__ import annotations

from collections.abc import Container

from overlay.systems.federation.config import ServerConfig
from overlay.systems.federation.energy.constants import PACKETS, Radio
from overlay.systems.federation.energy.models import MODELS, cpu_joules
from overlay.systems.federation.energy.usage import Energy, Exchange, cpu_time_ns
from overlay.systems.federation.settings import NONE, Settings
from overlay.systems.federation.wire import messages as m

_ANSWERS = frozenset({m.Ack, m.Nack, m.Found, m.Answer})

_UJ_PER_J = 1_000_000


class DeviceMeter:
    def __init__(self, settings: Settings, servers: Container[str] = (), clients: Container[str] | None = None) -> None:
        """``servers``: names of brokers and of the registration service. ``clients``: those of the device, for a broker
        that is not on it."""
        self._settings, self._servers, self._clients = settings, servers, clients
        self._radio = MODELS[settings.energy_model](Radio.WIFI)
        self._start: int | None = None
        self.remote = self.local = 0
        """Exchanges over the radio, and local calls."""

    def count(self, peer: str, message: type[m.Message], size: int, now: int, *, is_sent: bool) -> None:
        """A message that this broker has sent to the peer, or received from it."""
        if self._clients is not None:
            if peer not in self._clients:
                return
            is_sent = not is_sent
        is_exchange = message not in _ANSWERS
        if self._clients is None and peer not in self._servers:
            self.local += is_exchange
            return
        self.remote += is_exchange
        up, down = (size, 0) if is_sent else (0, size)
        self._radio.add(Exchange(self._since(now), up, down, PACKETS if is_exchange else 0))

    def statistics(self, now: int, visits: int) -> dict[str, int]:
        """``energy``, µJ."""
        found = self.energy(now, visits)
        radio, cpu = round(found.radio_j * _UJ_PER_J), round(found.cpu_j * _UJ_PER_J)
        return {"radio_uj": radio, "cpu_uj": cpu, "energy_uj": radio + cpu}

    def energy(self, now: int, visits: int) -> Energy:
        """Since the first call. ``visits`` are those of this broker; they count if it is on the device."""
        on_device = visits if self._clients is None else 0
        cpu_ns = cpu_time_ns(self._settings, self.remote, self.local, on_device)
        return Energy(self._radio.joules(self._since(now)), cpu_joules(cpu_ns))

    def _since(self, now: int) -> int:
        if self._start is None:
            self._start = now
        return now - self._start


def device_meter(config: ServerConfig, broker: int) -> DeviceMeter | None:
    """For the broker of this index if it counts for a device: it is on it, or it is broker 0 and serves its clients."""
    settings = config.settings
    if settings.energy_model == NONE:
        return None
    if settings.device != NONE:
        return DeviceMeter(settings, config.server_names) if config.is_mobile(broker) else None
    if broker or not config.device_clients:
        return None
    return DeviceMeter(settings, clients=frozenset(config.device_clients))
