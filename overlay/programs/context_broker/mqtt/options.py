"""Where and how to connect, from flags, a file and the environment. Passwords come from the environment or a file."""

from __future__ import annotations

import ssl
import tempfile
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from hashlib import blake2b
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from overlay.core.errors import InvalidSetting, WireError, every_error, shown
from overlay.core.settings import build, check, describe, setting
from overlay.core.untrusted import Unreadable
from overlay.core.untrusted_yaml import read_yaml
from overlay.programs.bootstrap_lists import BadList, Listed, Source, parse_addresses, source_of
from overlay.systems.context_broker.mqtt.settings import BridgeSettings, problems, read_settings
from overlay.systems.context_broker.mqtt.topics import MOST_BYTES

PORTS = {"mqtt": 1883, "mqtts": 8883}
PROTOCOLS = ("5", "3.1.1")
USERNAME, PASSWORD, PASSWORD_FILE = "WAXWING_MQTT_USERNAME", "WAXWING_MQTT_PASSWORD", "WAXWING_MQTT_PASSWORD_FILE"
TLS = ("ca", "certificate", "key")
MOST_FILE_BYTES = 1_000_000
MOST_CLIENT_ID_BYTES = 200
PEM = "-----BEGIN "
"""In a certificate or key that is given itself, not as a file."""


@dataclass(frozen=True)
class Session:
    """Settings of the connection with the MQTT server."""

    protocol: str = setting(PROTOCOLS[0], choices=PROTOCOLS, help="Version of MQTT.")
    client_id: str = setting("", help="At the server, the same at every start; empty: one is made.")
    keepalive_s: int = setting(30, unit="s", low=1, high=3600, help="Longest silence between bridge and server.")
    status_topic: str = setting("", help="Topic of the retained status; empty: waxwing/bridges/CLIENT-ID.")

    def __post_init__(self) -> None:
        check(self)
        if len(self.client_id.encode()) > MOST_CLIENT_ID_BYTES:
            raise InvalidSetting("client_id", f"has more than {MOST_CLIENT_ID_BYTES} bytes")
        topic = self.status_topic
        if any(mark in topic for mark in "+#\0") or topic.startswith("$") or len(topic.encode()) > MOST_BYTES:
            raise InvalidSetting("status_topic", "is no topic to publish at")


SESSION = tuple(describe(Session))
OWN = ("mqtt", "brokers", "bootstrap", "username", "password_file", "tls", *(info.name for info in SESSION))


@dataclass(frozen=True, slots=True)
class ServerOptions:
    host: str
    port: int
    client_id: str
    protocol: str = "5"
    username: str | None = None
    password: str | None = None
    tls: ssl.SSLContext | None = None
    keepalive_s: int = 30
    status_topic: str = ""

    @property
    def url(self) -> str:
        """Without a password; safe to show."""
        return f"{'mqtts' if self.tls else 'mqtt'}://{self.host}:{self.port}"


@dataclass(frozen=True, slots=True)
class BridgeOptions:
    server: ServerOptions
    brokers: Source
    """Where the list of the network's brokers comes from."""
    settings: BridgeSettings


def read_file(path: Path) -> dict[str, Any]:
    """A document of settings, YAML or JSON. Raises ``InvalidSetting``."""
    try:
        data = path.read_bytes()[: MOST_FILE_BYTES + 1]
        document = read_yaml(data.decode()) if len(data) <= MOST_FILE_BYTES else None
    except OSError as error:
        raise InvalidSetting("config", f"{path}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise InvalidSetting("config", f"{path} is not UTF-8 text") from None
    except Unreadable as error:
        raise InvalidSetting("config", f"{path} {error}") from None
    if not isinstance(document, dict):
        raise InvalidSetting("config", f"{path} must be an object of at most {MOST_FILE_BYTES:,} bytes")
    return document


def read_options(document: Mapping[str, Any], environment: Mapping[str, str], host_name: str) -> BridgeOptions:
    """Raises ``InvalidSetting`` with the field."""
    host, port, is_secure = _url(document.get("mqtt"))
    settings = read_settings(_without(document, OWN))
    session = _session(document)
    client_id = session.client_id or _client_id(document, host_name)
    username, password = _credentials(document, environment)
    server = ServerOptions(
        host,
        port,
        client_id,
        session.protocol,
        username,
        password,
        _tls(document.get("tls"), is_secure=is_secure),
        session.keepalive_s,
        session.status_topic or f"waxwing/bridges/{client_id}",
    )
    return BridgeOptions(server, _brokers(document), settings)


def wrong_options(document: Mapping[str, Any], environment: Mapping[str, str]) -> list[InvalidSetting]:
    """Everything that is wrong, of which ``read_options`` says the first only; nothing of the list of brokers."""
    is_secure = str(document.get("mqtt", "")).startswith("mqtts:")
    return [
        *every_error(
            lambda: _url(document.get("mqtt")),
            lambda: _credentials(document, environment),
            lambda: _tls(document.get("tls"), is_secure=is_secure),
            *(partial(_session, {info.name: document[info.name]}) for info in SESSION if info.name in document),
        ),
        *problems(_without(document, OWN)),
    ]


def _without(document: Mapping[str, Any], names: Collection[str]) -> dict[str, Any]:
    return {name: value for name, value in document.items() if name not in names}


def _session(document: Mapping[str, Any]) -> Session:
    return build(Session, {info.name: document[info.name] for info in SESSION if info.name in document})


def _url(value: object) -> tuple[str, int, bool]:
    if not isinstance(value, str):
        raise InvalidSetting("mqtt", f"must be mqtt://HOST:PORT or mqtts://HOST:PORT, not {shown(value)}")
    try:
        parts = urlsplit(value)
        port = parts.port
    except ValueError as error:
        raise InvalidSetting("mqtt", f"{shown(value)}: {error}") from None
    if parts.username is not None or parts.password is not None:
        raise InvalidSetting("mqtt", f"has a user or password; set {USERNAME} and {PASSWORD} instead")
    if parts.scheme not in PORTS or not parts.hostname or parts.path.strip("/") or parts.query or parts.fragment:
        raise InvalidSetting("mqtt", f"must be mqtt://HOST:PORT or mqtts://HOST:PORT, not {shown(value)}")
    return parts.hostname, port or PORTS[parts.scheme], parts.scheme == "mqtts"


def _client_id(document: Mapping[str, Any], host_name: str) -> str:
    """The same at every start, so that the server keeps what arrives meanwhile, and another for other patterns."""
    names = [repr(document.get(name)) for name in ("in", "out", "brokers", "bootstrap")]
    return f"waxwing-{host_name[:60]}-{blake2b(' '.join(names).encode(), digest_size=4).hexdigest()}"


def _credentials(document: Mapping[str, Any], environment: Mapping[str, str]) -> tuple[str | None, str | None]:
    username = _text(document, "username") or environment.get(USERNAME)
    password = environment.get(PASSWORD)
    file = _text(document, "password_file") or environment.get(PASSWORD_FILE)
    if password is None and file:
        try:
            password = Path(file).read_text().rstrip("\r\n")
        except (OSError, UnicodeDecodeError) as error:
            raise InvalidSetting("password_file", f"{file} cannot be read: {error}") from None
    if password is not None and not username:
        raise InvalidSetting("username", "is required with a password")
    return username, password


def _tls(value: object, *, is_secure: bool) -> ssl.SSLContext | None:
    if not is_secure:
        if value:
            raise InvalidSetting("tls", "needs an address that begins with mqtts://")
        return None
    files: object = {} if value is None else value
    if not isinstance(files, Mapping) or not all(name in TLS and isinstance(file, str) for name, file in files.items()):
        raise InvalidSetting("tls", f"must be an object with the files {', '.join(TLS)}")
    if "key" in files and "certificate" not in files:
        raise InvalidSetting("tls.certificate", "is required with a key")
    context = _context("tls.ca", files.get("ca"))
    if "certificate" in files:
        with _files(files) as (certificate, key), _usable("tls.certificate"):
            context.load_cert_chain(certificate, key, password=_no_password)
    return context


def _context(field: str, ca: str | None) -> ssl.SSLContext:
    with _usable(field):
        if ca is not None and PEM in ca:
            return ssl.create_default_context(cadata=ca)
        return ssl.create_default_context(cafile=ca)


@contextmanager
def _usable(field: str) -> Iterator[None]:
    try:
        yield
    except (OSError, ValueError) as error:  # also those of ssl
        raise InvalidSetting(field, f"cannot be used: {error}") from None


@contextmanager
def _files(given: Mapping[str, str]) -> Iterator[tuple[str, str | None]]:
    """Certificate and key as files, which is how ``ssl`` takes them; texts are in a folder of our own meanwhile."""
    with tempfile.TemporaryDirectory(prefix="waxwing-tls-") as folder:
        names = {}
        for name in ("certificate", "key"):
            if (text := given.get(name)) is not None:
                names[name] = text
                if PEM in text:
                    names[name] = str(Path(folder) / name)
                    Path(names[name]).write_text(text)
        yield names["certificate"], names.get("key")


def _no_password() -> str:
    raise ssl.SSLError("the key has a password")


def _brokers(document: Mapping[str, Any]) -> Source:
    listed, file = document.get("brokers"), _text(document, "bootstrap")
    if (listed is None) == (file is None):
        raise InvalidSetting(
            "brokers", "lists HOST:PORT of brokers, or bootstrap is a file or URL that does; one of them"
        )
    if file is not None:
        try:
            return source_of(file)
        except BadList as error:
            raise InvalidSetting("bootstrap", str(error)) from None
    listed = ",".join(map(str, listed)) if isinstance(listed, list | tuple) else listed
    if not isinstance(listed, str) or not listed:
        raise InvalidSetting("brokers", "must list at least one HOST:PORT")
    try:
        return Source(listed, Listed(parse_addresses(listed)))
    except WireError as error:
        raise InvalidSetting("brokers", str(error)) from None


def _text(document: Mapping[str, Any], name: str) -> str | None:
    value = document.get(name)
    if value is not None and (not isinstance(value, str) or not value):
        raise InvalidSetting(name, f"must be a text, not {shown(value)}")
    return value
