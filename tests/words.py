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
INSTEAD = {
    "anew": "again, or a verb that says it: restart, redraw",
    "as can be|for want of": "a number, or without",
    "reckon|reckons|reckoned|reckoning": "estimate, compute, count",
    "steward": "reconciler",
}
"""By word, what to write."""
INSTEAD_IN_PRODUCT = {
    "in vain": "without an answer, without effect",
    "is held against": "is compared with",
    "lately": "recent, recently",
    "rival|rivals": "the other system, by its name",
    "somebody": "another person, a client, a broker",
    "the house": "the installation, Waxwing, the packages",
    "whatever became": "the outcome of",
}
"""The same, checked in ``PRODUCT``; other folders still have these words."""
PRODUCT = ("README.md", "Makefile", "docker/", "docs/", "overlay/", "pyproject.toml", "telemetry/")
HISTORY = ("CHANGELOG.md", "docs/decisions.md", "docs/bugs.md", "tests/words.py")


def main() -> int:
    """Print every place of such a word; 1 if there is one."""
    found = 0
    tracked = subprocess.run(["git", "-C", ROOT, "ls-files", "-z"], capture_output=True, text=True, check=True)
    for name in filter(None, tracked.stdout.split("\0")):
        path = ROOT / name
        if name in HISTORY or name.startswith("static/vendor/") or not path.is_file():
            continue
        try:
            lines = path.read_text().splitlines()
        except UnicodeDecodeError:  # a picture
            continue
        words = INSTEAD | INSTEAD_IN_PRODUCT if name.startswith(PRODUCT) else INSTEAD
        for number, line in enumerate(lines, 1):
            for word, instead in words.items():
                if re.search(rf"\b({word})\b", line, re.IGNORECASE):
                    found += 1
                    print(f"{name}:{number}: instead of “{word}” write {instead}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
