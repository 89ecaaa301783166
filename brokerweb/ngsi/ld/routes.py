"""Paths of NGSI-LD, and what answers each (clause 6)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import Any

from brokerweb.ngsi.answers import Answer
from brokerweb.ngsi.ld import batch, entities, listing, subscriptions
from brokerweb.ngsi.ld.asked import check_media
from brokerweb.ngsi.problems import Kind, Problem, unsupported
from brokerweb.ngsi.requests import Request
from brokerweb.ngsi.scopes import scopes_of
from brokerweb.ngsi.store import Store, open_store
from overlay.core.errors import shown

Handler = Callable[[Request, Store], Awaitable[Answer]]
OPERATIONS = {
    "create": batch.create,
    "upsert": batch.upsert,
    "update": batch.update,
    "merge": batch.merge,
    "delete": batch.delete,
    "query": batch.query,
}
QUERIES = frozenset({("entityOperations", "query")})


async def respond(request: Request) -> Answer:
    """Raises ``Problem``, and errors of services and of REST."""
    tenant = request.headers.get("ngsild-tenant", "")
    if tenant.lower() not in ("", "default"):
        raise Problem(Kind.TENANT, f"NGSILD-Tenant: a network has no tenants; {shown(tenant, 40)} is unknown.")
    methods = handlers(request.path)
    if methods is None:
        raise Problem(Kind.NOT_FOUND, f"There is no resource /ngsi-ld/v1/{'/'.join(request.path)}.")
    method = "GET" if request.method == "HEAD" else request.method
    handler = methods.get(method)
    if handler is None:
        raise Problem(Kind.METHOD, f"{request.method:.20} is not supported here; supported: {', '.join(methods)}.")
    check_media(request)
    is_write = method != "GET" and request.path not in QUERIES
    scopes = scopes_of(request.headers.get("fiware-servicepath", ""), is_write=is_write)
    return await handler(request, await open_store(request, scopes))


def handlers(path: tuple[str, ...]) -> Mapping[str, Handler] | None:
    """By method; ``None`` for a path that NGSI-LD does not have."""
    match path:
        case ("entities",):
            return {"GET": listing.listed, "POST": entities.create}
        case ("entities", id):
            return _about(
                GET=entities.retrieve, DELETE=entities.delete, PUT=entities.replace, PATCH=entities.merge, id=id
            )
        case ("entities", id, "attrs"):
            return _about(POST=entities.append, PATCH=entities.update, id=id)
        case ("entities", id, "attrs", name):
            methods = {
                "PATCH": entities.patch_attribute,
                "PUT": entities.put_attribute,
                "DELETE": entities.delete_attribute,
            }
            return {method: partial(handler, id=id, name=name) for method, handler in methods.items()}
        case ("entityOperations", name) if name in OPERATIONS:
            return {"POST": OPERATIONS[name]}
        case ("subscriptions",):
            return {"GET": subscriptions.listed, "POST": subscriptions.create}
        case ("subscriptions", id):
            return _about(id=id, GET=subscriptions.retrieve, PATCH=subscriptions.update, DELETE=subscriptions.delete)
        case ("types",):
            return {"GET": listing.types}
        case ("types", name):
            return {"GET": partial(listing.type_named, name=name)}
        case ("attributes",):
            return {"GET": listing.attributes}
        case ("temporal" | "csourceRegistrations" | "csourceSubscriptions" | "jsonldContexts", *_):
            return dict.fromkeys(("GET", "POST", "PUT", "PATCH", "DELETE"), not_here)
        case _:
            return None


def _about(id: str, **methods: Any) -> Mapping[str, Handler]:
    return {method: partial(handler, id=id) for method, handler in methods.items()}


async def not_here(request: Request, store: Store) -> Answer:
    """What the context of a network has no counterpart of."""
    raise unsupported(f"{request.path[0]}: is not supported.")
