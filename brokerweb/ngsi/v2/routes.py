"""Paths of NGSI-v2, and what answers each."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import Any

from brokerweb.ngsi.answers import JSON, TEXT, Answer, answer
from brokerweb.ngsi.problems import Kind, Problem, unsupported
from brokerweb.ngsi.requests import Request
from brokerweb.ngsi.scopes import scopes_of
from brokerweb.ngsi.store import Store, open_store
from brokerweb.ngsi.v2 import batch, entities, listing, subscriptions
from overlay.core.errors import shown

Handler = Callable[[Request, Store], Awaitable[Answer]]
READS = ("GET", "HEAD")
QUERIES = frozenset({("op", "query")})


async def respond(request: Request) -> Answer:
    """Raises ``Problem``, and errors of services and of REST."""
    tenant = request.headers.get("fiware-service", "")
    if tenant.lower() not in ("", "default"):
        raise Problem(Kind.TENANT, f"Fiware-Service: a network has no services; {shown(tenant, 40)} is unknown.")
    methods = handlers(request.path)
    if methods is None:
        raise Problem(Kind.NOT_FOUND, f"There is no resource /v2/{'/'.join(request.path)}.")
    method = "GET" if request.method == "HEAD" else request.method
    handler = methods.get(method)
    if handler is None:
        raise Problem(Kind.METHOD, f"{request.method:.20} is not supported here; supported: {', '.join(methods)}.")
    _check_media(request)
    is_write = method != "GET" and request.path not in QUERIES
    scopes = scopes_of(request.headers.get("fiware-servicepath", ""), is_write=is_write)
    return await handler(request, await open_store(request, scopes))


def handlers(path: tuple[str, ...]) -> Mapping[str, Handler] | None:
    """By method; ``None`` for a path that NGSI-v2 does not have."""
    match path:
        case ():
            return {"GET": resources}
        case ("entities",):
            return {"GET": listing.listed, "POST": entities.create}
        case ("entities", id):
            return _about(id, GET=entities.retrieve, DELETE=entities.delete)
        case ("entities", id, "attrs"):
            return _about(
                id, GET=entities.attributes, POST=entities.append, PATCH=entities.update, PUT=entities.replace
            )
        case ("entities", id, "attrs", name):
            one = {"GET": entities.attribute, "PUT": entities.put_attribute, "DELETE": entities.delete_attribute}
            return {method: partial(handler, id=id, name=name) for method, handler in one.items()}
        case ("entities", id, "attrs", name, "value"):
            both = {"GET": entities.value, "PUT": entities.put_value}
            return {method: partial(handler, id=id, name=name) for method, handler in both.items()}
        case ("subscriptions",):
            return {"GET": subscriptions.listed, "POST": subscriptions.create}
        case ("subscriptions", id):
            return _about(id=id, GET=subscriptions.retrieve, PATCH=subscriptions.update, DELETE=subscriptions.delete)
        case ("types",):
            return {"GET": listing.types}
        case ("types", type):
            return {"GET": partial(listing.type_named, type=type)}
        case ("op", "update"):
            return {"POST": batch.update}
        case ("op", "query"):
            return {"POST": batch.query}
        case ("op", "notify"):
            return {"POST": batch.notify}
        case ("registrations", *_):
            return {"GET": no_registrations, "POST": no_registrations}
        case _:
            return None


def _about(id: str, **methods: Any) -> Mapping[str, Handler]:
    return {method: partial(handler, id=id) for method, handler in methods.items()}


async def resources(request: Request, store: Store) -> Answer:
    """GET /v2."""
    names = ("entities", "types", "subscriptions", "registrations")
    return answer(200, {f"{name}_url": f"{request.base}/v2/{name}" for name in names})


async def no_registrations(request: Request, store: Store) -> Answer:
    """Providers are those of the network: they send to its brokers."""
    if request.method in READS and len(request.path) == 1:
        return answer(200, [])
    raise unsupported("Registrations are not supported: providers send their data to the network's brokers.")


def _check_media(request: Request) -> None:
    """Raises ``Problem``."""
    is_value = request.path[-1:] == ("value",)
    if request.method in ("POST", "PUT", "PATCH"):
        known = (JSON, TEXT) if is_value else (JSON,)
        if request.media_type not in known:
            raise Problem(Kind.MEDIA_TYPE, f"Content-Type: must be {' or '.join(known)}, not {request.media_type!r}.")
        if not request.body:
            raise Problem(Kind.WRONG, "The body is empty.")
    accept = request.headers.get("accept", "")
    wanted = [one.partition(";")[0].strip().lower() for one in accept.split(",") if one.strip()]
    known = ("*/*", "application/*", JSON, *(("text/*", TEXT) if is_value else ()))
    if wanted and not any(one in known for one in wanted):
        raise Problem(Kind.NOT_ACCEPTABLE, f"Answers are {JSON}{f' or {TEXT}' if is_value else ''}.")
