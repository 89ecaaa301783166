"""What requests of NGSI-LD have in common: media types, the context, and where an entity may be (clause 6.3)."""

from __future__ import annotations

from typing import Any

from brokerweb.ngsi.answers import JSON, LD_JSON, Answer, answer
from brokerweb.ngsi.ld.rendering import FORMATS, SHORT, Shape
from brokerweb.ngsi.ld.terms import CORE, context_of, link_to, plain_id, term
from brokerweb.ngsi.problems import Kind, Problem, wrong
from brokerweb.ngsi.requests import Request
from brokerweb.ngsi.store import EntityReference
from overlay.core.errors import shown

MERGE_JSON = "application/merge-patch+json"


def body_of(request: Request) -> Any:
    """The body, without ``@context`` if it is an object. Raises ``Problem``."""
    found = request.json()
    items = found if isinstance(found, list) else [found]
    is_ld = request.media_type == LD_JSON
    for one in items:
        if isinstance(one, dict) and ("@context" in one) != is_ld:
            must = "must contain @context" if is_ld else "must not contain @context; send it as application/ld+json"
            raise wrong(f"A body of {request.media_type} {must}.")
    if is_ld and context_of(request.headers.get("link", "")):
        raise wrong(f"Link: a body of {LD_JSON} has its own @context.")
    without = [{k: v for k, v in one.items() if k != "@context"} if isinstance(one, dict) else one for one in items]
    return without if isinstance(found, list) else without[0]


def object_of(request: Request) -> dict[str, Any]:
    """Raises ``Problem``."""
    found = body_of(request)
    if not isinstance(found, dict):
        raise wrong(f"The body must be an object, not {shown(found)}.")
    return found


def check_media(request: Request) -> None:
    """Raises ``Problem``."""
    context_of(request.headers.get("link", ""))
    if request.method in ("POST", "PUT", "PATCH"):
        known = (JSON, LD_JSON, *((MERGE_JSON,) if request.method == "PATCH" else ()))
        if request.media_type not in known:
            raise Problem(Kind.MEDIA_TYPE, f"Content-Type: must be {' or '.join(known)}, not {request.media_type!r}.")
        if not request.body:
            raise Problem(Kind.UNREADABLE, "The body is empty.")
    wanted = _wanted(request)
    if wanted and not any(one in ("*/*", "application/*", JSON, LD_JSON) for one in wanted):
        raise Problem(Kind.NOT_ACCEPTABLE, f"Answers are {JSON} or {LD_JSON}.")


def _wanted(request: Request) -> list[str]:
    accept = request.headers.get("accept", "")
    return [one.partition(";")[0].strip().lower() for one in accept.split(",") if one.strip()]


def answered(request: Request, status: int, body: Any, headers: dict[str, str] | None = None) -> Answer:
    """With the context where the media type wants it: in a header, or in the body, where ``shape_of`` put it."""
    if wants_ld(request):
        return answer(status, body, headers, LD_JSON)
    context = context_of(request.headers.get("link", ""))
    return answer(status, body, {"Link": link_to(context), **(headers or {})})


def wants_ld(request: Request) -> bool:
    """Whether it accepts JSON-LD, and not JSON before it."""
    wanted = _wanted(request)
    return LD_JSON in wanted and not any(one in wanted[: wanted.index(LD_JSON)] for one in (JSON, "*/*"))


def shape_of(request: Request, *more: str) -> Shape:
    """From ``options``, ``format`` and ``attrs``; ``more`` are other options. Raises ``Problem``."""
    options = request.options("sysAttrs", *FORMATS, *more)
    format = request.parameters.get("format")
    if format is not None and format not in FORMATS:
        raise wrong(f"format: must be one of {', '.join(FORMATS)}, not {shown(format)}.")
    attrs = [term("attrs", one) for one in request.names("attrs")]
    is_short = format in SHORT or (format is None and any(one in options for one in SHORT))
    context = context_of(request.headers.get("link", "")) or CORE
    return Shape(is_short, frozenset(attrs) or None, "sysAttrs" in options, context if wants_ld(request) else "")


def places_of(request: Request, id: str) -> tuple[EntityReference, ...]:
    """Where the entity of a URL may be. Raises ``Problem``."""
    type = request.parameters.get("type")
    return places(id, None if type is None else term("type", type))


def places(id: str, type: str | None) -> tuple[EntityReference, ...]:
    plain = plain_id(id)
    if plain is None:
        return (EntityReference(id, type),)
    own_type, own_id = plain
    exact = EntityReference(id, type, own_type)
    return (exact, EntityReference(own_id, own_type)) if type in (None, own_type) else (exact,)
