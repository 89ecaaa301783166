"""Words that must not come back, checked by ``make check``: ``python -m tests.words`` names each place.

They read as translated, or name something that engineers search for by another word. History keeps its own: the
changelog, decisions and bugs.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
ALL = ("",)
CORE = ("README.md", "Makefile", "docker/", "docs/", "overlay/", "pyproject.toml", "telemetry/")
WEB = ("brokerweb/", "templates/")
STATIC = ("static/css/", "static/js/")
TESTS = ("tests/",)
INSTEAD = {
    "anew": ("again, or a verb that says it: restart, redraw", ALL),
    "as can be|for want of": ("a number, or without", ALL),
    "reckon|reckons|reckoned|reckoning": ("estimate, compute, count", ALL),
    "steward": ("reconciler", ALL),
    "in vain": ("without an answer, without effect", CORE),
    "held against": ("compared with", (*CORE, *WEB)),
    "lately": ("recent, recently", CORE),
    "rival|rivals": ("the other system, by its name", CORE),
    "somebody|everybody": ("another person, a client, a broker", (*CORE, *WEB, *STATIC, *TESTS, "benchmarks/")),
    "stands? beside": ("is next to", ALL),
    "the house": ("the installation, Waxwing, the packages", CORE),
    "whatever became": ("the outcome of", CORE),
    "beside|besides": (
        "next to, with, compared with",
        (*WEB, *STATIC, *TESTS, "benchmarks/", "docs/results/", "overlay/"),
    ),
    "anybody": ("name the role: user, operator, process", (*CORE, *WEB, *STATIC, *TESTS, "benchmarks/")),
    "nobody": ("name the role: user, operator, process", (*WEB, *STATIC, "benchmarks/", "overlay/")),  # data in tests
    "farewell": ("a graceful leave; left gracefully", (*WEB, *STATIC, *TESTS, "docs/results/", "telemetry/")),
    "alike": ("equal, the same", (*WEB, *STATIC)),
    "take it away|taken away|to take away": ("export", WEB),
    "doors? to|REST's doors?": ("endpoints, use cases", WEB),
    "asks for itself|there is nothing that|what this comes to": ("a plain sentence", WEB),
}
"""By word, what to write, and the beginnings of the paths that are free of it."""
HISTORY = ("CHANGELOG.md", "docs/decisions.md", "docs/bugs.md", "tests/setup/database_of_57a41a6.sql", "tests/words.py")


def main() -> int:
    """Print every place of such a word; 1 if there is one."""
    found = 0
    tracked = subprocess.run(["git", "-C", ROOT, "ls-files", "-z"], capture_output=True, text=True, check=True)
    for name in filter(None, tracked.stdout.split("\0")):
        path = ROOT / name
        if name in HISTORY or name.startswith("static/vendor/") or "/migrations/" in name or not path.is_file():
            continue
        try:
            lines = path.read_text().splitlines()
        except UnicodeDecodeError:  # a picture
            continue
        words = [(word, instead) for word, (instead, areas) in INSTEAD.items() if name.startswith(areas)]
        for number, line in enumerate(lines, 1):
            for word, instead in words:
                if re.search(rf"\b({word})\b", line, re.IGNORECASE):
                    found += 1
                    print(f"{name}:{number}: instead of “{word}” write {instead}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
