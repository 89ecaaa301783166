"""Which servers are believed to be who they say: certificates."""

from __future__ import annotations

import ssl
from pathlib import Path

from waxwing.config import Config
from waxwing.errors import NotConfigured

UNKNOWN = (
    "its certificate is not trusted. If its authority is your own, name the authority's certificate: "
    "--ca FILE, WAXWING_CA, or Client(ca=FILE)"
)


def context(config: Config) -> ssl.SSLContext | bool:
    """Of one server. ``True``: the usual authorities. Raises ``NotConfigured`` for a file that has no certificates.

    Without TLS nothing is loaded, which takes 20 ms, and nothing is trusted.
    """
    if not config.url.startswith("https:"):
        return ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    if not config.ca:
        return True
    try:
        if Path(config.ca).is_dir():
            return ssl.create_default_context(capath=config.ca)
        return ssl.create_default_context(cafile=config.ca)
    except (OSError, ssl.SSLError) as error:
        raise NotConfigured(f"{config.ca}: no certificates can be read from it: {error}") from None


def is_distrust(error: BaseException | None) -> bool:
    """Whether a connection failed by its certificate: trying again would not help."""
    while error is not None:
        if isinstance(error, ssl.SSLCertVerificationError):
            return True
        error = error.__cause__ or error.__context__
    return False
