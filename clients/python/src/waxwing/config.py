"""Where the server is and who asks: arguments, then ``WAXWING_URL`` and ``WAXWING_TOKEN``, then a file.

The file is ``~/.config/waxwing/config.toml`` (``$XDG_CONFIG_HOME`` is respected; ``WAXWING_CONFIG`` names another)::

    url = "http://127.0.0.1:8000"
    token = "..."
    ca = "/etc/ssl/own-authority.pem"      # only for https with an authority of your own (WAXWING_CA)

A stored token, and a stored authority, are for the stored server only.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

from waxwing.errors import NotConfigured

DEFAULT_URL = "http://127.0.0.1:8000"


@dataclass(frozen=True, slots=True)
class Config:
    url: str
    """Without a slash at its end."""
    token: str = field(repr=False)
    """Empty without one: only the schema and ``login`` work then."""
    ca: str = ""
    """File or directory with the certificates of the authorities that are trusted; empty: the usual ones."""


def file_path(environment: Mapping[str, str]) -> Path:
    """Where ``login`` stores."""
    if named := environment.get("WAXWING_CONFIG"):
        return Path(named)
    home = Path(environment.get("XDG_CONFIG_HOME") or Path(environment.get("HOME", "~")).expanduser() / ".config")
    return home / "waxwing" / "config.toml"


def read(
    url: str | None = None,
    token: str | None = None,
    environment: Mapping[str, str] | None = None,
    *,
    ca: str | None = None,
) -> Config:
    """The configuration. Raises ``NotConfigured`` for an address or token that is none, and for a file that cannot be
    read."""
    variables = os.environ if environment is None else environment
    url, token, ca = (
        variables.get(name) if given is None else given
        for name, given in (("WAXWING_URL", url), ("WAXWING_TOKEN", token), ("WAXWING_CA", ca))
    )
    is_complete = url and token is not None and (ca is not None or url.startswith("http:"))
    stored = {} if is_complete else _stored(file_path(variables))
    chosen = _checked_url((url or stored.get("url") or DEFAULT_URL).strip().rstrip("/"))
    if chosen != stored.get("url", DEFAULT_URL).rstrip("/"):
        stored = {}
    token = stored.get("token", "") if token is None else token
    return Config(chosen, _checked_token(token.strip()), ca or stored.get("ca", ""))


def _checked_url(url: str) -> str:
    problem = f"{url!r:.200} is not the address of a server; expected, for example, {DEFAULT_URL}"
    try:
        parts = urlsplit(url)
        is_whole = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        raise NotConfigured(problem) from None
    if not is_whole or not url.isprintable() or parts.query or parts.fragment or " " in url:
        raise NotConfigured(problem)
    return url


def _checked_token(token: str) -> str:
    if not token.isascii() or not all("!" <= one <= "~" for one in token):
        raise NotConfigured("the token has characters that no token has; copy it again, or log in again")
    return token


def write(config: Config, path: Path) -> None:
    """Store it for later calls, readable by its owner only. Raises ``NotConfigured`` if that is not possible."""
    new = path.with_suffix(".new")
    named = {"url": config.url, "token": config.token, **({"ca": config.ca} if config.ca else {})}
    text = "".join(f"{name} = {json.dumps(value, ensure_ascii=False)}\n" for name, value in named.items())
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        new.unlink(missing_ok=True)
        with os.fdopen(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as file:
            file.write(text)
        new.replace(path)
    except OSError as error:
        raise NotConfigured(f"{path} cannot be written: {error.strerror}") from None


def _stored(path: Path) -> dict[str, str]:
    import tomllib

    try:
        found = tomllib.loads(path.read_text())
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise NotConfigured(f"{path} cannot be read: {error}") from None
    return {name: value for name, value in found.items() if name in ("url", "token", "ca") and isinstance(value, str)}
