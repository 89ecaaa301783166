"""Runs a command: its exit codes, its errors, and Ctrl-C."""

from __future__ import annotations

import json
import os
import signal
import sys
from argparse import Namespace
from collections.abc import Callable
from contextlib import suppress

from overlay.core.errors import WaxwingError, WireError
from overlay.programs.arguments import OneLineParser

DONE, FAILED, WRONG_USAGE, UNANSWERED, STOPPED = 0, 1, 2, 3, 130
EPILOG = "Exit codes: 0 done, 1 refused or nothing found, 2 wrong usage, 3 no answer, 130 stopped by Ctrl-C."
Errors = tuple[type[Exception], ...]


def carry_out(
    parser: OneLineParser,
    arguments: list[str],
    run: Callable[[Namespace], bool],
    *,
    unanswered: Errors,
    refused: Errors,
    wrong: Errors = (),
) -> int:
    """The exit code. ``run`` returns whether anything was done or found. ``refused`` are errors that may have a
    ``code``, ``wrong`` those of a usage that nothing can come of."""
    misused: Errors = (WireError, WaxwingError, OSError, *wrong)
    parser.add_argument("--json", action="store_true", help="print JSON, one object a line")
    given = parser.parse_args(arguments)
    with suppress(ValueError):  # not in the main thread, such as in tests
        signal.signal(signal.SIGTERM, signal.default_int_handler)  # so that it leaves its server first
    try:
        return DONE if run(given) else FAILED
    except unanswered as error:
        return _fail(parser, UNANSWERED, "no_answer", error, given.json)
    except refused as error:
        code = getattr(error, "code", None)
        return _fail(parser, FAILED, "refused" if code is None else code.name.lower(), error, given.json)
    except BrokenPipeError:  # such as subscribe | head; what is still buffered goes nowhere
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return DONE
    except misused as error:
        parser.error(str(error))
    except KeyboardInterrupt:
        return STOPPED


def _fail(parser: OneLineParser, code: int, word: str, error: Exception, is_json: bool) -> int:
    if is_json:
        sys.stdout.write(json.dumps({"error": {"code": word, "sentence": str(error)}}) + "\n")
    else:
        sys.stderr.write(f"{parser.prog}: {error}\n")
    return code
