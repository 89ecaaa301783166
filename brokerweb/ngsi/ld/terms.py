"""Names, ids and ``@context`` of NGSI-LD. Pure.

Contexts of users are not fetched: a term is stored as it is written, and answers name the context that the request
names. Names in full are shortened if the core context has a term for them, or they are of its default vocabulary.
"""

from __future__ import annotations

import re

from brokerweb.ngsi.pairs import MARK, RESERVED
from brokerweb.ngsi.problems import wrong
from overlay.core.errors import shown

CORE = "https://uri.etsi.org/ngsi-ld/v1/ngsi-ld-core-context-v1.8.jsonld"
VOCABULARY = "https://uri.etsi.org/ngsi-ld/default-context/"
NAMESPACE = "https://uri.etsi.org/ngsi-ld/"
CORE_TERMS = frozenset({"location", "observationSpace", "operationSpace"})
ENTITY_MEMBERS = RESERVED | {"scope", "createdAt", "modifiedAt", "deletedAt", "expiresAt"}
"""Members of an entity that are no attributes."""
LONGEST = 256
REL = "http://www.w3.org/ns/json-ld#context"
_URI = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:[^\s<>\"{}|\\^`]+")
_URN = re.compile(r"urn:ngsi-ld:([^:]+):(.+)", re.DOTALL)
_LINK = re.compile(r"\s*<([^<>\"\s]*)>\s*((?:;[^,;]*)*)")


def is_uri(text: str) -> bool:
    return _URI.fullmatch(text) is not None


def shown_id(type: str, id: str) -> str:
    """The id of any entity: ``r1`` of a client without NGSI is ``urn:ngsi-ld:Room:r1``."""
    return id if is_uri(id) else f"urn:ngsi-ld:{type}:{id}"


def plain_id(id: str) -> tuple[str, str] | None:
    """Type and id of the entity that a client without NGSI may call so; ``None`` if there can be none."""
    found = _URN.fullmatch(id)
    return None if found is None or is_uri(found[2]) else (found[1], found[2])


def read_id(text: object) -> str:
    """Raises ``Problem``."""
    if not isinstance(text, str) or not is_uri(text):
        raise wrong(f"id: must be a URI such as urn:ngsi-ld:Room:r1, not {shown(text)}.")
    return text


def term(what: str, text: object) -> str:
    """A type or the name of an attribute, short. Raises ``Problem``."""
    if not isinstance(text, str):
        raise wrong(f"{what}: must be a text, not {shown(text)}.")
    name = text.removeprefix(VOCABULARY)
    if name.startswith(NAMESPACE) and name.removeprefix(NAMESPACE) in CORE_TERMS:
        name = name.removeprefix(NAMESPACE)
    if not 0 < len(name) <= LONGEST or not name.isprintable() or any(one in name for one in f' ;="<>\\|{MARK}'):
        raise wrong(
            f'{what}: must be 1 to {LONGEST} characters without blanks and @ ; = " < > \\ |, not {shown(text)}.'
        )
    return name


def attribute_name(text: object) -> str:
    """Raises ``Problem``."""
    name = term("attribute name", text)
    if name in ENTITY_MEMBERS:
        raise wrong(f"attribute name: {name} is reserved.")
    return name


def context_of(link: str) -> str:
    """The URL of the context that a ``Link`` header names; empty if it names none. Raises ``Problem``."""
    for found in _LINK.finditer(link):
        if REL in found[2]:
            if not is_uri(found[1]):
                raise wrong(f"Link: {shown(found[1])} is no URL of a context.")
            return found[1]
    return ""


def link_to(context: str) -> str:
    """The ``Link`` header of an answer."""
    return f'<{context or CORE}>; rel="{REL}"; type="application/ld+json"'
