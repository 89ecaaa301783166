"""Sends one notice, as a bounded HTTP POST without redirects or as an e-mail, and asks by GET. Raises
``NotDelivered``.

A host name is resolved once; the resulting addresses are checked and used for the connection, so that a later DNS
change has no effect (DNS rebinding).
"""

from __future__ import annotations

import http.client
import smtplib
import socket
import ssl
import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.core.mail import EmailMessage, get_connection

from overlay.core.address_policy import refusal

MAIL_EXAMPLE = "EMAIL_URL=smtp://user:password@host:587?tls=1&from=waxwing@example.org"
READ_BYTES = 300
"""Bytes read of an error response."""
MOST_WORDS = 200
"""Characters kept of an error response and of its status phrase."""
PORTS = {"http": 80, "https": 443}


class NotDelivered(Exception):
    """Delivery failed; the message gives the reason."""


def post(url: str, data: bytes, headers: Mapping[str, str], time_out_s: float) -> str:
    """POST to an HTTP or HTTPS URL; returns the result as a sentence. Redirects are not followed."""
    answer, said = _exchange("POST", url, data, headers, time_out_s, READ_BYTES)
    return _told(answer.status, answer.reason, said)


def get(url: str, headers: Mapping[str, str], time_out_s: float, most_bytes: int) -> tuple[str, bytes]:
    """The media type and body of what a GET of the URL answers, with the same checks as ``post``."""
    answer, said = _exchange("GET", url, None, headers, time_out_s, most_bytes + 1)
    _told(answer.status, answer.reason, said[:READ_BYTES])
    if len(said) > most_bytes:
        raise NotDelivered(f"The answer has more than {most_bytes:,} bytes.")
    return (answer.getheader("Content-Type") or "").partition(";")[0].strip().lower(), said


def _exchange(
    method: str, url: str, data: bytes | None, headers: Mapping[str, str], time_out_s: float, most_bytes: int
) -> tuple[http.client.HTTPResponse, bytes]:
    """The answer, and as much of its body."""
    parts = urlsplit(url)
    connection = _Connection(parts.scheme, parts.hostname or "", parts.port, time_out_s)
    # A socket's timeout applies to each read: a server that sends a byte every few seconds would block the sender.
    cut = threading.Event()
    end = threading.Timer(time_out_s, _cut, (connection, cut))
    end.daemon = True
    end.start()
    try:
        target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        connection.request(method, target, body=data, headers=dict(headers))
        answer = connection.getresponse()
        return answer, answer.read(most_bytes)
    except (OSError, http.client.HTTPException, ValueError) as error:
        is_late = cut.is_set() or isinstance(error, TimeoutError)
        raise NotDelivered(f"No answer within {time_out_s:g} s." if is_late else _why(error)) from None
    finally:
        end.cancel()
        connection.close()


class _Connection(http.client.HTTPConnection):
    """A connection with a timeout for all addresses and the handshake together."""

    def __init__(self, scheme: str, host: str, port: int | None, time_out_s: float) -> None:
        # Without a port, the library would parse one from an IPv6 address.
        super().__init__(host, port or PORTS[scheme], timeout=time_out_s)
        self.default_port = PORTS[scheme]
        self._until = time.monotonic() + time_out_s
        self._tls = ssl.create_default_context() if scheme == "https" else None

    def connect(self) -> None:
        places = _permitted(self.host, self.port)
        for tried, (family, kind, protocol, _, address) in enumerate(places, start=1):
            self.sock = socket.socket(family, kind, protocol)
            self.sock.settimeout(max(0.01, (self._until - time.monotonic()) / (len(places) - tried + 1)))
            try:
                self.sock.connect(address)
                break
            except OSError:
                self.sock.close()
                if tried == len(places):
                    raise
        self.sock.settimeout(self.timeout)
        if self._tls is not None:
            # The TLS handshake can be aborted, too: a server could send it byte by byte.
            self.sock = self._tls.wrap_socket(self.sock, server_hostname=self.host, do_handshake_on_connect=False)
            self.sock.do_handshake()


def _permitted(host: str, port: int) -> list[Any]:
    """The addresses from ``getaddrinfo`` that webhooks may reach. Raises ``NotDelivered`` if there are none."""
    places = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    refused = {str(place[4][0]): refusal(str(place[4][0]), settings.WEBHOOK_NETWORKS) for place in places}
    permitted = [place for place in places if not refused[str(place[4][0])]]
    if not permitted:
        raise NotDelivered(f"Nothing was sent: {next(iter(refused.values()))}.")
    return permitted


def check_host(host: str) -> None:
    """Refuses a numeric host, in any notation, at once. Raises ``NotDelivered``.

    Names are resolved at each delivery.
    """
    if "%" in host:
        raise NotDelivered("the address must not name a network interface: such addresses are link-local")
    with suppress(OSError, UnicodeError):
        for place in socket.getaddrinfo(host, None, type=socket.SOCK_STREAM, flags=socket.AI_NUMERICHOST):
            if why := refusal(str(place[4][0]), settings.WEBHOOK_NETWORKS):
                raise NotDelivered(why)


def _cut(connection: http.client.HTTPConnection, cut: threading.Event) -> None:
    cut.set()
    if connection.sock is not None:
        with suppress(OSError):
            connection.sock.shutdown(socket.SHUT_RDWR)


def _told(status: int, reason: str, said: bytes) -> str:
    answered = f"{status} {_plain(reason)}".strip()
    if 200 <= status < 300:
        return f"Answered {answered}."
    if 300 <= status < 400:
        raise NotDelivered(f"Answered {answered}. Redirects are not followed; use the final URL.")
    words = _plain(said.decode(errors="replace"))
    raise NotDelivered(f"Answered {answered}{': ' + words if words else '.'}")


def _plain(said: str) -> str:
    """Text of a foreign server, shortened and sanitised."""
    return " ".join("".join(one if one.isprintable() else " " for one in said).split())[:MOST_WORDS]


def _why(error: Exception) -> str:
    """The error as a sentence."""
    if isinstance(error, ssl.SSLError):
        return f"TLS or certificate error: {error.reason or error}."
    return f"Connection failed: {_in_words(error)}."


def _in_words(error: Exception) -> str:
    if isinstance(error, socket.gaierror):
        return "unknown host name"
    return (error.strerror or str(error)) if isinstance(error, OSError) else str(error) or type(error).__name__


def mail_missing() -> str:
    """An error message if no mail server is configured; otherwise empty."""
    if settings.EMAIL_HOST or not settings.EMAIL_BACKEND.endswith("smtp.EmailBackend"):
        return ""
    return f"No mail server is configured. Start Waxwing with {MAIL_EXAMPLE}"


def mail(address: str, subject: str, text: str) -> str:
    """Send an e-mail; returns the result as a sentence."""
    if missing := mail_missing():
        raise NotDelivered(f"{missing}.")
    try:
        with get_connection(timeout=settings.EMAIL_TIMEOUT) as connection:
            EmailMessage(subject, text, settings.DEFAULT_FROM_EMAIL, [address], connection=connection).send()
    except smtplib.SMTPRecipientsRefused:
        raise NotDelivered("The mail server refused this address.") from None
    except smtplib.SMTPAuthenticationError:
        raise NotDelivered("The mail server refused the user name and password of EMAIL_URL.") from None
    except (smtplib.SMTPException, OSError) as error:
        raise NotDelivered(f"Mail server error: {_in_words(error)}.") from None
    return "Accepted by the mail server."
