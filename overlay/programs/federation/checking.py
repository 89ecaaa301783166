"""``check``: a dry run of an expression, without a network."""

from __future__ import annotations

import json
import sys
from argparse import Namespace
from pathlib import Path

from overlay.programs.arguments import OneLineParser
from overlay.programs.federation.arguments import defaults, expression, now_ms, warn
from overlay.programs.federation.documents import notification_of
from overlay.programs.text import lines, say
from overlay.systems.federation.language.compiler import compiled
from overlay.systems.federation.language.explaining import of_each


def add_checking(parser: OneLineParser) -> None:
    parser.add_argument("where", type=expression, metavar="TEXT", help="an expression, such as 'temperature > 25'")
    parser.add_argument(
        "file", nargs="?", default="-", metavar="FILE", help="notifications as lines of JSON (standard input)"
    )
    parser.add_argument("--scope", default="any", help="of lines that name none (any)")
    parser.add_argument("--type", default="thing", help="of lines that name none (thing)")
    parser.add_argument("--entity", default="any", metavar="ID", help="of lines that name none (any)")


def check(given: Namespace) -> bool:
    """Whether any notification satisfies it."""
    test, satisfied = compiled(given.where), 0
    warn(given.where)
    with sys.stdin.buffer if given.file == "-" else Path(given.file).open("rb") as file:
        for line in lines(file):
            one = notification_of(line, defaults(given), now_ms())
            is_satisfied = test(one)
            satisfied += is_satisfied
            found = [(each.predicate, each.holds, each.is_missing) for each in of_each(given.where, one)]
            if given.json:
                predicates = [{"predicate": text, "holds": holds, "missing": missing} for text, holds, missing in found]
                say(json.dumps({"satisfied": is_satisfied, "predicates": predicates}))
            else:
                why = "; ".join(f"{text}: {_verdict(holds, missing)}" for text, holds, missing in found)
                say(f"{'yes' if is_satisfied else 'no '}  {why}")
    return bool(satisfied)


def _verdict(holds: bool, is_missing: bool) -> str:
    return "true" if holds else "missing" if is_missing else "false"
