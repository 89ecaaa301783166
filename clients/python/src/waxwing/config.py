"""Where the server is and who asks: arguments, then ``WAXWING_URL`` and ``WAXWING_TOKEN``, then a file.

The file is ``~/.config/waxwing/config.toml`` (``$XDG_CONFIG_HOME`` is respected; ``WAXWING_CONFIG`` names another)::

    url = "http://127.0.0.1:8000"
    token = "..."
"""

from __future__ import annotations

import json
import os
import tomllib
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
    """Empty without one: only the root's schema and ``login`` work then."""


def file_path(environment: Mapping[str, str]) -> Path:
    if named := environment.get("WAXWING_CONFIG"):
        return Path(named)
    home = Path(environment.get("XDG_CONFIG_HOME") or Path(environment.get("HOME", "~")).expanduser() / ".config")
    return home / "waxwing" / "config.toml"


def read(url: str | None = None, token: str | None = None, environment: Mapping[str, str] | None = None) -> Config:
    """The configuration. Raises ``NotConfigured`` for an address that is none, and for a file that cannot be read."""
    variables = os.environ if environment is None else environment
    url = url or variables.get("WAXWING_URL")
    token = token if token is not None else variables.get("WAXWING_TOKEN")
    stored = _stored(file_path(variables)) if url is None or token is None else {}
    chosen = (url or stored.get("url") or DEFAULT_URL).rstrip("/")
    if token is None and chosen == stored.get("url", DEFAULT_URL).rstrip("/"):  # a token is for one server only
        token = stored.get("token")
    parts = urlsplit(chosen)
    if parts.scheme not in ("http", "https") or not parts.netloc:
        raise NotConfigured(f"{chosen!r} is not the address of a server; expected, for example, {DEFAULT_URL}")
    return Config(chosen, token or "")


def write(config: Config, path: Path) -> None:
    """Store it for later calls, readable by its owner only."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    new = path.with_suffix(".new")
    new.unlink(missing_ok=True)
    text = f"url = {json.dumps(config.url)}\ntoken = {json.dumps(config.token)}\n"
    with os.fdopen(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        file.write(text)
    new.replace(path)


def _stored(path: Path) -> dict[str, str]:
    try:
        found = tomllib.loads(path.read_text())
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise NotConfigured(f"{path} cannot be read: {error}") from None
    return {name: value for name, value in found.items() if name in ("url", "token") and isinstance(value, str)}
