"""Which engine serves a log: chosen by the setting ``log_engine``, at the address in the environment."""

from __future__ import annotations

import os
from urllib.parse import urlsplit

from overlay.core.errors import WaxwingError
from overlay.log.spec import KAFKA, MEMORY, NATS, VALKEY, LogSpec
from overlay.runtime.logs.port import Engine
from overlay.runtime.redis_server import NoEngine

VARIABLE = "WAXWING_LOG_URL"
"""The environment variable with the address of the engine; several, of different engines, are separated by spaces."""
ADDRESSES = {
    VALKEY: "redis://user:password@host:port/0",
    NATS: "nats://user:password@host:port",
    KAFKA: "kafka://host:port,host:port",
}
_SCHEMES = {"redis": VALKEY, "valkey": VALKEY, "nats": NATS, "kafka": KAFKA}
LIVE = tuple(ADDRESSES)
"""The engines of live runs and networks."""


def engine_at(url: str) -> Engine:
    """Raises ``WaxwingError`` for an address that is none, and ``NoEngine`` if a library is missing."""
    kind = kind_of(url)
    if kind == VALKEY:
        from overlay.runtime.logs.valkey.engine import Valkey

        return Valkey(url)
    if kind == NATS:
        from overlay.runtime.logs.nats.engine import Nats

        return Nats(url)
    try:
        from overlay.runtime.logs.kafka.engine import Kafka
    except ImportError as error:
        raise NoEngine(f"Kafka needs the library confluent-kafka ({error}): pip install confluent-kafka") from None
    return Kafka(url)


def kind_of(url: str) -> str:
    """``valkey``, ``nats`` or ``kafka``. Raises ``WaxwingError``."""
    kind = _SCHEMES.get(urlsplit(url).scheme)
    if kind is None:
        raise WaxwingError(f"the address of the log must be as {' or '.join(ADDRESSES.values())}")
    return kind


def addresses() -> list[str]:
    """Those of the environment."""
    return os.environ.get(VARIABLE, "").split()


def url_for(spec: LogSpec) -> str:
    """The address of the engine that a log asks for. Raises ``WaxwingError``: ``NoEngine`` if there is none."""
    if spec.engine == MEMORY:
        raise NoEngine(f"the engine {MEMORY} is for simulated runs; choose one of {', '.join(LIVE)}.")
    known = [spec.servers] if spec.servers else addresses()
    for url in known:
        if kind_of(url) == spec.engine:
            return url
    has = f" ({VARIABLE} has that of {' and '.join(map(kind_of, known))} only)" if known else ""
    raise NoEngine(
        f"there is no engine {spec.engine} for the log{has}. Set {VARIABLE}={ADDRESSES[spec.engine]} and start again."
    )
