"""``python -m overlay.compiled``: compile what is not current. Without a compiler it says what is missing."""

from __future__ import annotations

import sys

from overlay.compiled.build import build, is_built, obstacle

LACKING = "hot paths run as plain Python, at about half the speed"


def main() -> int:
    """Always succeeds: nothing depends on it but speed."""
    if is_built():
        return 0
    reason = obstacle()
    if not reason:
        _say("compiling the hot paths (once, and again when they change; two to five minutes)")
        try:
            build()
        except (Exception, SystemExit) as error:  # noqa: BLE001 (whatever the compilers raise)
            reason = f"{type(error).__name__}: {error}".splitlines()[0]
    if reason:
        _say(f"{LACKING}: {reason}")
    return 0


def _say(text: str) -> None:
    sys.stderr.write(f"{text}\n")
    sys.stderr.flush()


if __name__ == "__main__":
    sys.exit(main())
