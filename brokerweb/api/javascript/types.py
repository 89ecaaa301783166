"""JSDoc types (as TypeScript reads them) of the schemas of the OpenAPI document. Pure."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

PLAIN = {"string": "string", "integer": "number", "number": "number", "boolean": "boolean", "null": "null"}


def type_of(schema: Mapping[str, Any], before: str = "") -> str:
    """The type of a schema; ``before`` stands before the names of others: ``Types.``."""
    found = _type(schema, before)
    return f"{found} | null" if schema.get("nullable") and "null" not in found.split(" | ") else found


def _type(schema: Mapping[str, Any], before: str) -> str:
    if "$ref" in schema:
        return before + str(schema["$ref"]).rpartition("/")[2]
    for word, joint in (("oneOf", " | "), ("anyOf", " | "), ("allOf", " & ")):
        if word in schema:
            return joint.join(dict.fromkeys(type_of(one, before) for one in schema[word]))
    if "enum" in schema:
        return " | ".join(json.dumps(one, ensure_ascii=False) for one in schema["enum"])
    if schema.get("type") == "array":
        inner = type_of(schema.get("items", {}), before)
        return f"({inner})[]" if " " in inner else f"{inner}[]"
    if schema.get("type") == "object" or "properties" in schema:
        return _object(schema, before)
    return PLAIN.get(str(schema.get("type")), "any") if schema.get("format") != "binary" else "Blob"


def _object(schema: Mapping[str, Any], before: str) -> str:
    properties = schema.get("properties")
    if not properties:
        further = schema.get("additionalProperties")
        return f"Record<string, {type_of(further, before) if isinstance(further, dict) else 'any'}>"
    required = schema.get("required", ())
    named = (f"{key}{'' if key in required else '?'}: {type_of(one, before)}" for key, one in properties.items())
    return f"{{ {', '.join(named)} }}"
