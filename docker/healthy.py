"""Health check of a service: ``healthy.py web | worker | HOST:PORT``. Exit code 0 if healthy; 1 with a reason if not.

``web`` must answer. ``worker`` must have a heartbeat and a supervisor according to the web process. ``HOST:PORT`` must
accept connections. Uses the standard library only, because it runs every few seconds.
"""

from __future__ import annotations

import json
import socket
import sys
import urllib.error
import urllib.request

WEB = "http://127.0.0.1:8000"
CHECKS = ("worker", "supervisor")


def problem_of(service: str) -> str:
    """Why ``service`` is not healthy; empty if it is."""
    try:
        if service == "web":
            urllib.request.urlopen(f"{WEB}/healthz", timeout=3).close()
            return ""
        if service == "worker":
            body = ready()
            return "" if all(body["checks"][name] for name in CHECKS) else " ".join(body["missing"])
        host, _, port = service.rpartition(":")
        socket.create_connection((host, int(port)), timeout=3).close()
    except (OSError, ValueError, KeyError) as error:
        return f"{service}: {error}"
    return ""


def ready() -> dict:
    """The body of ``/readyz``, with status 200 or 503."""
    try:
        with urllib.request.urlopen(f"{WEB}/readyz", timeout=4) as answer:
            return json.load(answer)
    except urllib.error.HTTPError as error:
        return json.load(error)


if __name__ == "__main__":
    if problem := problem_of(sys.argv[1]):
        sys.exit(problem)
