"""The scripts and styles of the pages, as text for a file that draws charts by itself: offline, from any place."""

from __future__ import annotations

import re
from base64 import b64encode
from pathlib import Path

from telemetry.errors import TelemetryError

STATIC = Path(__file__).parents[2] / "static"
STYLES = ("tokens", "waxwing", "parts", "charts")
LIBRARY = "vendor/echarts.min.js"
POLICY = "default-src 'none'; script-src 'unsafe-inline' data:; style-src 'unsafe-inline'; img-src data: blob:"
"""The content security policy of such a file: it brings its own scripts and styles and reaches nothing."""

_IMPORT = re.compile(r'from "\./([\w-]+)\.js"')


def read(name: str) -> str:
    """A static file. Raises ``TelemetryError`` where it is missing from the installation."""
    path = STATIC / name
    try:
        return path.read_text(encoding="utf-8")
    except OSError:
        raise TelemetryError(f"{path.name} is missing from the installation ({path.parent}).") from None


def styles() -> str:
    return "\n".join(read(f"css/{name}.css") for name in STYLES)


def import_map(*entries: str) -> dict[str, dict[str, str]]:
    """An import map of the modules ``entries`` in ``static/js`` and of all that they import, each as a data URL under
    its bare name: ``import "report"`` finds it.

    A module in a data URL has no place from which ``./format.js`` could be found, so imports become bare names.
    """
    found: dict[str, str] = {}
    wanted = list(entries)
    while wanted:
        name = wanted.pop()
        if name not in found:
            source = read(f"js/{name}.js")
            wanted += _IMPORT.findall(source)
            found[name] = _data_url(_IMPORT.sub(r'from "\1"', source))
    return {"imports": found}


def _data_url(script: str) -> str:
    return f"data:text/javascript;base64,{b64encode(script.encode()).decode()}"
