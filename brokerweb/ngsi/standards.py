"""The two standards: where they begin, what answers their requests, and how they write problems."""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from urllib.parse import unquote_to_bytes

from rest_framework.exceptions import APIException

from brokerweb.front.requests import PARSED_HERE
from brokerweb.kit.errors import NotAnswered, NotPossible
from brokerweb.ngsi.answers import Answer
from brokerweb.ngsi.ld import errors as ld_errors
from brokerweb.ngsi.ld import routes as ld_routes
from brokerweb.ngsi.ld import subscriptions as ld_subscriptions
from brokerweb.ngsi.problems import Problem
from brokerweb.ngsi.requests import Request
from brokerweb.ngsi.subscriptions.notifier import NOTIFIER
from brokerweb.ngsi.translated import problem_of
from brokerweb.ngsi.v2 import errors as v2_errors
from brokerweb.ngsi.v2 import routes as v2_routes
from brokerweb.ngsi.v2 import subscriptions as v2_subscriptions
from overlay.core.errors import InvalidSetting

log = logging.getLogger(__name__)
BASE = re.compile(rb"(/api/networks/([A-Za-z0-9_-]{1,20})/ngsi)/(v2|ngsi-ld/v1)(?:/(.*))?", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Standard:
    """One of the two."""

    respond: Callable[[Request], Awaitable[Answer]]
    refusal: Callable[[Problem], Answer]
    refused: Callable[[int, str], Answer]
    """The answer with a status that is none of the standard, and a sentence."""
    queries: frozenset[tuple[str, ...]]
    """Paths whose POST only reads."""


STANDARDS: Mapping[bytes, Standard] = {
    b"v2": Standard(v2_routes.respond, v2_errors.refusal, v2_errors.refused, v2_routes.QUERIES),
    b"ngsi-ld/v1": Standard(ld_routes.respond, ld_errors.refusal, ld_errors.refused, ld_routes.QUERIES),
}
NOTIFIER.rule_of |= {"v2": v2_subscriptions.rule_of, "ld": ld_subscriptions.rule_of}


@dataclass(frozen=True, slots=True)
class Target:
    """What a URL names."""

    base: str
    network: str
    standard: Standard
    path: tuple[str, ...]

    def is_write(self, method: str) -> bool:
        return method not in ("GET", "HEAD") and not (method == "POST" and self.path in self.standard.queries)


def target_of(raw: bytes) -> Target | None:
    """Of a raw path, whose encoded slashes are no separators; ``None`` for others."""
    found = BASE.fullmatch(raw)
    if found is None or found[3] not in STANDARDS:
        return None
    rest = (found[4] or b"").removesuffix(b"/")
    path = tuple(unquote_to_bytes(part).decode(errors="replace") for part in rest.split(b"/")) if rest else ()
    return Target(found[1].decode(), found[2].decode(), STANDARDS[found[3]], path)


async def respond(standard: Standard, request: Request) -> Answer:
    """The answer to a permitted request; raises nothing."""
    try:
        if len(request.body) > PARSED_HERE and request.media_type.endswith("json"):
            request = replace(request, parsed=await asyncio.to_thread(request.json))
        return await standard.respond(request)
    except Problem as problem:
        return standard.refusal(problem)
    except (InvalidSetting, NotPossible, NotAnswered, APIException) as error:
        return standard.refusal(problem_of(error))
    except Exception:
        log.exception("a request of NGSI failed")
        return standard.refused(500, "Server Error (500)")
