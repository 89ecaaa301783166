"""The mail server, from the environment. Pure, and read before Django is set up."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import parse_qs, unquote, urlsplit

SENDER = "waxwing@localhost"
TRUE = ("1", "yes", "true", "on", "starttls")


@dataclass(frozen=True, slots=True)
class MailServer:
    """An SMTP server; without a host, no e-mail is sent."""

    host: str = ""
    port: int = 25
    user: str = ""
    password: str = ""
    starttls: bool = False
    tls: bool = False
    """Implicit TLS, as on port 465."""
    sender: str = SENDER


def mail_server(environment: Mapping[str, str]) -> MailServer:
    """From ``EMAIL_URL``, or from ``EMAIL_HOST`` and related variables; an invalid URL disables e-mail."""
    if url := environment.get("EMAIL_URL", ""):
        return _of_url(url)
    host = environment.get("EMAIL_HOST", "")
    tls = environment.get("EMAIL_TLS", "").lower()
    port = environment.get("EMAIL_PORT", "")
    return MailServer(
        host=host,
        port=int(port) if port.isdigit() else 25,
        user=environment.get("EMAIL_USER", ""),
        password=environment.get("EMAIL_PASSWORD", ""),
        starttls=tls in TRUE,
        tls=tls == "ssl",
        sender=environment.get("EMAIL_FROM", "") or SENDER,
    )


def _of_url(url: str) -> MailServer:
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        return MailServer()
    if parts.scheme not in ("smtp", "smtps") or not parts.hostname:
        return MailServer()
    asked = {name: values[-1] for name, values in parse_qs(parts.query).items()}
    tls = parts.scheme == "smtps"
    return MailServer(
        host=parts.hostname,
        port=port or (465 if tls else 25),
        user=unquote(parts.username or ""),
        password=unquote(parts.password or ""),
        starttls=not tls and asked.get("tls", "").lower() in TRUE,
        tls=tls,
        sender=asked.get("from") or SENDER,
    )
