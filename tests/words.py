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
    "reckon|reckons|reckoned|reckoning": "estimate, compute, count",
    "steward": "reconciler",
}
"""By word, what to write."""
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
        for number, line in enumerate(lines, 1):
            for word, instead in INSTEAD.items():
                if re.search(rf"\b({word})\b", line, re.IGNORECASE):
                    found += 1
                    print(f"{name}:{number}: instead of “{word}” write {instead}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
