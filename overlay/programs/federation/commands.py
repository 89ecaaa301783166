"""``python -m overlay federation subscribe|publish|provide|query|lookup|brokers ADDRESS``, and ``check`` without a
network."""

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
from overlay.programs.federation import checking, consuming, finding, providing
from overlay.programs.federation.arguments import add_network
from overlay.programs.federation.client import Busy, NoAnswer, Refused

DONE, FAILED, WRONG_USAGE, UNANSWERED, STOPPED = 0, 1, 2, 3, 130
EPILOG = "Exit codes: 0 done, 1 refused or nothing found, 2 wrong usage, 3 no answer, 130 stopped by Ctrl-C."


def main(name: str, arguments: list[str]) -> int:
    parser = OneLineParser(prog=f"overlay federation {name}", epilog=EPILOG)
    add, run = _COMMANDS[name]
    if name in _OF_CLIENTS:
        add_network(parser)
    add(parser)
    parser.add_argument("--json", action="store_true", help="print JSON, one object a line")
    given = parser.parse_args(arguments)
    with suppress(ValueError):  # not in the main thread, such as in tests
        signal.signal(signal.SIGTERM, signal.default_int_handler)  # else it would leave without unregistering
    try:
        return DONE if run(given) else FAILED
    except (NoAnswer, Refused) as error:
        return _fail(parser, error, given.json)
    except BrokenPipeError:  # such as subscribe | head; what is still buffered goes nowhere
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return DONE
    except (WireError, WaxwingError, Busy, OSError) as error:
        parser.error(str(error))
    except KeyboardInterrupt:
        return STOPPED


def _fail(parser: OneLineParser, error: NoAnswer | Refused, is_json: bool) -> int:
    code, word = (FAILED, error.code.name.lower()) if isinstance(error, Refused) else (UNANSWERED, "no_answer")
    if is_json:
        sys.stdout.write(json.dumps({"error": {"code": word, "sentence": str(error)}}) + "\n")
    else:
        sys.stderr.write(f"{parser.prog}: {error}\n")
    return code


_COMMANDS: dict[str, tuple[Callable[[OneLineParser], None], Callable[[Namespace], bool]]] = {
    "subscribe": (consuming.add_subscribing, consuming.subscribe),
    "publish": (providing.add_publishing, providing.publish),
    "provide": (providing.add_content, providing.provide),
    "query": (consuming.add_asking, consuming.query),
    "lookup": (consuming.add_lookup, consuming.lookup),
    "brokers": (finding.add_brokers, finding.brokers),
    "check": (checking.add_checking, checking.check),
}
"""What adds its arguments; what runs it, and returns whether anything was done or found."""
_OF_CLIENTS = frozenset(_COMMANDS) - {"brokers", "check"}
