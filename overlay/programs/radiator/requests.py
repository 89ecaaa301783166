"""Requests to the HTTP gateway, read and checked. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from http import HTTPStatus
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from overlay.core.errors import WaxwingError, WireError
from overlay.systems.radiator.context import Context, TooLargeContext, check_context
from overlay.systems.radiator.wire import messages as m

LOWEST_PORT = 1_024
PORTS = {"http": 80, "https": 443}
"""Of callbacks without another one."""
MOST_URL = 2_000
REPORTS: dict[str, type[m.Failed | m.Done | m.Progress]] = {"FAILED": m.Failed, "DONE": m.Done, "PROGRESS": m.Progress}
_KINDS = {str: "a text", int: "a whole number", dict: "an object", bool: "true or false"}


class Wrong(WaxwingError):
    """A request that is answered with an error, ``retry_s`` as ``Retry-After`` and ``allow`` as ``Allow``."""

    def __init__(
        self, status: HTTPStatus, sentence: str, retry_s: int | None = None, allow: tuple[str, ...] = ()
    ) -> None:
        super().__init__(sentence)
        self.status, self.retry_s, self.allow = status, retry_s, allow


class Registration(NamedTuple):
    """How a client wants to receive: at its ``port``, at a ``callback``, or else by events."""

    id: str
    instance: int
    attributes: dict[str, Any]
    port: int | None
    callback: str | None
    is_p2p: bool


class Call(NamedTuple):
    client: str
    instance: int
    req: int
    context: Context


class Reported(NamedTuple):
    client: str
    report: m.Report


def read_registration(document: Mapping[str, Any]) -> Registration:
    """Raises ``Wrong``."""
    id, instance = _text(document, "id"), _number(document, "instance", 64)
    attributes = _of(document, "attributes", dict, {})
    port, callback = document.get("port"), document.get("callback")
    is_p2p = _of(document, "p2p", bool, False)
    if port is not None and callback is not None:
        raise _wrong("give port or callback, not both")
    if port is not None and (type(port) is not int or not LOWEST_PORT <= port <= 65_535):
        raise _wrong(f"port must be a whole number from {LOWEST_PORT} to 65535")
    if callback is not None:
        _check_url(callback)
    if is_p2p and port is None:
        raise _wrong("p2p needs a port, because other clients push to it")
    return Registration(id, instance, attributes, port, callback, is_p2p)


def read_call(document: Mapping[str, Any]) -> Call:
    """Raises ``Wrong``."""
    client, instance = _text(document, "client"), _number(document, "instance", 64)
    req, context = _number(document, "req", 32), _of(document, "context", dict)
    try:
        return Call(client, instance, req, check_context(context))
    except TooLargeContext as error:
        raise Wrong(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, str(error)) from None
    except WireError as error:
        raise _wrong(str(error)) from None


def read_report(document: Mapping[str, Any]) -> Reported:
    """Raises ``Wrong``."""
    kind = REPORTS.get(_text(document, "kind").upper())
    if kind is None:
        raise _wrong("kind must be FAILED, DONE or PROGRESS")
    numbers = [_number(document, name, 64) for name in ("epoch", "propagation")]
    numbers += [_number(document, name, 16) for name in ("chain", "attempt", "position")]
    return Reported(_text(document, "client"), kind._make((*numbers, _number(document, "instance", 64))))


def read_instance(text: str) -> int:
    """Of a query. Raises ``Wrong``."""
    if not (text.isascii() and text.isdecimal()) or len(text) > 20 or int(text) >> 64:
        raise _wrong("instance must be a whole number of 64 bits")
    return int(text)


def _check_url(url: Any) -> None:
    try:
        parts = urlsplit(url if isinstance(url, str) else "")
        is_valid, port = parts.scheme in ("http", "https") and bool(parts.hostname), parts.port
    except ValueError:
        is_valid, port = False, None
    if not is_valid or len(url) > MOST_URL or not url.isascii() or not url.isprintable() or " " in url:
        raise _wrong(f"callback must be an http or https URL of at most {MOST_URL:,} characters")
    if parts.username is not None or parts.password is not None:
        raise _wrong("callback must not contain a user name or password")
    if port is not None and port not in PORTS.values() and port < LOWEST_PORT:
        # Servers of other protocols, such as mail, take the body's lines for commands.
        raise _wrong(f"callback must have port 80, 443 or one from {LOWEST_PORT}")


def _text(document: Mapping[str, Any], name: str) -> str:
    value: str = _of(document, name, str)
    return value


def _number(document: Mapping[str, Any], name: str, bits: int) -> int:
    value: int = _of(document, name, int)
    if value < 0 or value >> bits:
        raise _wrong(f"{name} must be a whole number of {bits} bits")
    return value


def _of(document: Mapping[str, Any], name: str, kind: type, otherwise: Any = None) -> Any:
    value = document.get(name, otherwise)
    if type(value) is not kind:
        raise _wrong(f"{name} must be {_KINDS[kind]}")
    return value


def _wrong(sentence: str) -> Wrong:
    return Wrong(HTTPStatus.BAD_REQUEST, sentence)
