"""Sends one notice: a POST that follows nothing and ends in time, or an e-mail. Raises ``NotDelivered``."""

from __future__ import annotations

import http.client
import smtplib
import socket
import ssl
import threading
from collections.abc import Mapping
from contextlib import suppress
from urllib.parse import urlsplit

from django.conf import settings
from django.core.mail import EmailMessage, get_connection

MAIL_EXAMPLE = "EMAIL_URL=smtp://user:password@host:587?tls=1&from=waxwing@example.org"
READ_BYTES = 300
"""Of an answer that is not wanted: what its writer says of why."""


class NotDelivered(Exception):
    """It did not arrive, in a sentence."""


def post(url: str, data: bytes, headers: Mapping[str, str], time_out_s: float) -> str:
    """Posts to an http or https address; what was answered, in a sentence. Redirects are not followed."""
    parts = urlsplit(url)
    kind = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
    connection = kind(parts.hostname or "", parts.port, timeout=time_out_s)
    # The time-out of a socket is of each read: whoever answers a byte every few seconds would hold the sender for ever.
    cut = threading.Event()
    end = threading.Timer(time_out_s, _cut, (connection, cut))
    end.daemon = True
    end.start()
    try:
        target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        connection.request("POST", target, body=data, headers=dict(headers))
        answer = connection.getresponse()
        said = answer.read(READ_BYTES).decode(errors="replace")
    except TimeoutError:
        raise NotDelivered(f"No answer within {time_out_s:g} s.") from None
    except ssl.SSLError as error:
        raise NotDelivered(f"Its certificate or TLS was not accepted: {error.reason or error}.") from None
    except (OSError, http.client.HTTPException, ValueError) as error:
        sentence = f"No answer within {time_out_s:g} s." if cut.is_set() else f"It could not be reached: {_why(error)}."
        raise NotDelivered(sentence) from None
    finally:
        end.cancel()
        connection.close()
    return _told(answer.status, answer.reason, said)


def _cut(connection: http.client.HTTPConnection, cut: threading.Event) -> None:
    cut.set()
    if connection.sock is not None:
        with suppress(OSError):
            connection.sock.shutdown(socket.SHUT_RDWR)


def _told(status: int, reason: str, said: str) -> str:
    answered = f"{status} {reason}".strip()
    if 200 <= status < 300:
        return f"Answered {answered}."
    if 300 <= status < 400:
        raise NotDelivered(f"Answered {answered}: redirects are not followed; give the address it leads to.")
    words = " ".join("".join(one if one.isprintable() else " " for one in said).split())[:200]
    raise NotDelivered(f"Answered {answered}{': ' + words if words else '.'}")


def _why(error: Exception) -> str:
    if isinstance(error, socket.gaierror):
        return "its name is not known"
    return (error.strerror or str(error)) if isinstance(error, OSError) else str(error) or type(error).__name__


def mail_missing() -> str:
    """What has to be set before e-mail goes out; empty where it is."""
    if settings.EMAIL_HOST or not settings.EMAIL_BACKEND.endswith("smtp.EmailBackend"):
        return ""
    return f"No mail server is set: start Waxwing with {MAIL_EXAMPLE}"


def mail(address: str, subject: str, text: str) -> str:
    """Sends an e-mail; how it went, in a sentence."""
    if missing := mail_missing():
        raise NotDelivered(f"{missing}.")
    try:
        with get_connection(timeout=settings.EMAIL_TIMEOUT) as connection:
            EmailMessage(subject, text, settings.DEFAULT_FROM_EMAIL, [address], connection=connection).send()
    except smtplib.SMTPRecipientsRefused:
        raise NotDelivered("The mail server does not take mail for this address.") from None
    except smtplib.SMTPAuthenticationError:
        raise NotDelivered("The mail server did not accept the user name and password of EMAIL_URL.") from None
    except (smtplib.SMTPException, OSError) as error:
        raise NotDelivered(f"The mail server could not be used: {_why(error)}.") from None
    return "The mail server took it."
