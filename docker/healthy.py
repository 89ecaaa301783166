"""Whether a part does its work: ``healthy.py web | worker | HOST:PORT``. Exit code 0 yes, 1 no, with why.

``web`` answers; of ``worker`` the web says whether it keeps its heartbeat and its supervisor; at an address somebody
listens. The standard library only: it is run every few seconds.
"""

from __future__ import annotations

import json
import socket
import sys
import urllib.error
import urllib.request

HOUSE = "http://127.0.0.1:8000"
CHECKS = ("worker", "supervisor")


def wrong(what: str) -> str:
    """What keeps the part from its work; empty where nothing does."""
    try:
        if what == "web":
            urllib.request.urlopen(f"{HOUSE}/healthz", timeout=3).close()
            return ""
        if what == "worker":
            told = ready()
            return "" if all(told["checks"][name] for name in CHECKS) else " ".join(told["missing"])
        host, _, port = what.rpartition(":")
        socket.create_connection((host, int(port)), timeout=3).close()
    except (OSError, ValueError, KeyError) as error:
        return f"{what}: {error}"
    return ""


def ready() -> dict:
    """The body of ``/readyz``, whether it says yes or no."""
    try:
        with urllib.request.urlopen(f"{HOUSE}/readyz", timeout=4) as answer:
            return json.load(answer)
    except urllib.error.HTTPError as error:
        return json.load(error)


if __name__ == "__main__":
    if problem := wrong(sys.argv[1]):
        sys.exit(problem)
