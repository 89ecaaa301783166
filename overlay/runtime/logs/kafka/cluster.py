"""Where a cluster is, with which options, and the names of a deployment's topics and groups in it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import parse_qsl, unquote, urlsplit

from overlay.core.errors import WaxwingError
from overlay.runtime.logs.escaping import escaped, unescaped

PREFIX: Final = "waxwing"
_NOTHING: Final[Mapping[str, Any]] = {}


@dataclass(frozen=True, slots=True)
class Cluster:
    servers: str
    """``host:port``, several separated by commas."""
    options: tuple[tuple[str, str], ...] = ()
    """Of librdkafka, for example ``security.protocol``."""

    @classmethod
    def of(cls, url: str) -> Cluster:
        """From ``kafka://user:password@host:port,host:port?security.protocol=SASL_SSL&sasl.mechanism=PLAIN``. Raises
        ``WaxwingError``."""
        try:
            parts = urlsplit(url)
            login, _, hosts = parts.netloc.rpartition("@")
            places = [urlsplit(f"//{one}") for one in hosts.split(",")]
            if parts.scheme != "kafka" or parts.path.strip("/") or not all(one.hostname for one in places):
                raise ValueError
            servers = ",".join(f"{one.hostname}:{one.port or 9092}" for one in places)
            options = parse_qsl(parts.query, strict_parsing=True) if parts.query else []
        except ValueError:
            shape = "kafka://host:port,host:port, with options of librdkafka after ? (security.protocol=SSL&...)"
            raise WaxwingError(f"the address of the log must be as {shape}") from None
        user, _, password = login.partition(":")
        if user:
            options += [("sasl.username", unquote(user)), ("sasl.password", unquote(password))]
        return cls(servers, tuple(options))

    def config(self, more: Mapping[str, Any] = _NOTHING) -> dict[str, Any]:
        """For a client of the library."""
        return {
            "bootstrap.servers": self.servers,
            "reconnect.backoff.max.ms": 1_000,
            "log_level": 0,
            **dict(self.options),
            **more,
        }


class Names:
    def __init__(self, deployment: str) -> None:
        self.prefix = f"{PREFIX}.{escaped(deployment)}."

    def topic(self, name: str) -> str:
        return f"{self.prefix}{escaped(name)}"

    def group(self, name: str) -> str:
        return f"{self.prefix}{escaped(name)}"

    def known_as(self, topic: str) -> str:
        """The opposite of ``topic``."""
        return unescaped(topic.removeprefix(self.prefix))


def deployment_of(topic: str, name: str) -> str | None:
    """The deployment whose topic ``name`` this is; ``None``: it is another one."""
    words = topic.split(".")
    return unescaped(words[1]) if len(words) == 3 and words[0] == PREFIX and words[2] == escaped(name) else None
