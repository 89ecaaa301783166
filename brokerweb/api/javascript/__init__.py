"""The JavaScript client, generated from the OpenAPI document by templates. Pure.

``static/js/api/client.js`` has a function for each operation, ``types.js`` the types of bodies and answers as JSDoc.
Both use ``static/js/api/send.js``, which is written by hand. ``manage.py javascriptclient`` writes them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from brokerweb.api.javascript.types import type_of

XML = "application/xml"
FILES = ("client.js", "types.js")
Document = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Function:
    """One operation."""

    name: str
    """``networksContextUpdate``"""
    method: str
    path: str
    """As a template literal."""
    sentence: str
    names: tuple[str, ...]
    """Of the parameters of its path."""
    query: str
    """The type of its query; empty without one."""
    body: str
    """The type of its body; empty without one."""
    answer: str
    is_xml: bool
    """Whether its body, or its answer where it has none, is XML."""

    @property
    def arguments(self) -> str:
        named = [*self.names, *(["body"] if self.body else []), *(["query"] if self.query else []), "options"]
        return ", ".join(named)

    @property
    def sent(self) -> str:
        """The last argument of ``send``."""
        given = [name for name in ("body", "query") if getattr(self, name)]
        given += [f'type: "{XML}"'] if self.is_xml else []
        return f"{{ {', '.join([*given, '...options'])} }}" if given else "options"


def files(document: Document) -> dict[str, str]:
    """The content of each generated file, by name."""
    environment = Environment(  # noqa: S701 (no HTML)
        loader=FileSystemLoader(Path(__file__).parent), undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    context = {"functions": list(functions(document)), "schemas": dict(schemas(document))}
    return {name: environment.get_template(f"{name}.jinja").render(context) for name in FILES}


def functions(document: Document) -> Iterator[Function]:
    for path, methods in document["paths"].items():
        for method, described in methods.items():
            yield _function(method.upper(), path, described)


def schemas(document: Document) -> Iterator[tuple[str, tuple[str, list[tuple[str, str, str]]]]]:
    """By name, the type, and for objects each property with its type and its description."""
    for name, schema in sorted(document["components"]["schemas"].items()):
        if "properties" not in schema:
            yield name, (type_of(schema), [])
            continue
        required = schema.get("required", ())
        properties = [
            (key if key in required else f"[{key}]", type_of(one), _sentence(one.get("description", "")))
            for key, one in schema["properties"].items()
        ]
        yield name, ("Object", properties)


def _function(method: str, path: str, described: Mapping[str, Any]) -> Function:
    parameters = described.get("parameters", ())
    query = [f"{_key(one['name'])}?: {type_of(one['schema'], 'Types.')}" for one in parameters if one["in"] == "query"]
    return Function(
        name=_camel(described["operationId"]),
        method=method,
        path=re.sub(r"\{(\w+)\}", r"${part(\1)}", path),
        sentence=_sentence(described.get("description", "")),
        names=tuple(re.findall(r"\{(\w+)\}", path)),
        query=f"{{ {', '.join(query)} }}" if query else "",
        body=_content(described.get("requestBody", {})),
        answer=" | ".join(dict.fromkeys(filter(None, map(_content, _good(described))))) or "null",
        is_xml=any(XML in one.get("content", {}) for one in (described.get("requestBody", {}), *_good(described))),
    )


def _good(described: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The answers that are no refusals."""
    return [one for status, one in described["responses"].items() if status.startswith("2")]


def _content(holder: Mapping[str, Any]) -> str:
    content = holder.get("content", {})
    if "application/json" in content:
        return type_of(content["application/json"].get("schema", {}), "Types.")
    if not content:
        return ""
    return "string" if any(kind.startswith("text/") or "yaml" in kind or kind == XML for kind in content) else "Blob"


def _camel(name: str) -> str:
    first, *rest = name.replace("-", "_").split("_")
    return first + "".join(word[:1].upper() + word[1:] for word in rest if word)


def _key(name: str) -> str:
    return name if re.fullmatch(r"\w+", name) else f'"{name}"'


def _sentence(text: str) -> str:
    """The first one of a description, in one line."""
    return re.split(r"(?<=\.)\s", " ".join(text.replace("*/", "").split()), maxsplit=1)[0]
