"""The generator of the JavaScript client, on a document of one operation."""

from __future__ import annotations

from typing import Any

import pytest

from brokerweb.api import javascript
from brokerweb.api.javascript.types import type_of

PIECE: dict[str, Any] = {"type": "object", "required": ["n"], "properties": {"n": {"type": "integer"}}}
DOCUMENT: dict[str, Any] = {
    "paths": {
        "/api/a/{id}/b-c/": {
            "put": {
                "operationId": "a_b-c_update",
                "description": "Store it.\n\nMore */ words.",
                "parameters": [
                    {"in": "path", "name": "id", "schema": {"type": "string"}},
                    {"in": "query", "name": "x-y", "schema": {"type": "boolean"}},
                    {"in": "header", "name": "If-Match", "schema": {"type": "string"}},
                ],
                "requestBody": {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/Piece"}}}},
                "responses": {"200": {"content": {"application/json": {"schema": PIECE}}}, "204": {}, "400": {}},
            }
        }
    },
    "components": {"schemas": {"Piece": PIECE, "Kind": {"enum": ["a", "b"]}}},
}


def test_an_operation_becomes_a_function_with_its_types() -> None:
    made = javascript.files(DOCUMENT)
    assert made["client.js"].partition("/**\n * Store")[2].splitlines()[1:] == [
        " * @param {string | number} id",
        " * @param {Types.Piece} body",
        ' * @param {{ "x-y"?: boolean }} [query]',
        " * @param {Options} [options]",
        " * @returns {Promise<{ n: number }>}",
        " */",
        'export const aBCUpdate = (id, body, query, options) => send("PUT", `/api/a/${part(id)}/b-c/`, '
        "{ body, query, ...options });",
    ]
    assert " * @typedef {Object} Piece\n * @property {number} n\n" in made["types.js"]
    assert ' * @typedef {"a" | "b"} Kind\n' in made["types.js"]


def test_an_operation_in_xml_sends_text_and_names_its_type() -> None:
    content = {"content": {"application/xml": {"schema": {"type": "string"}}}}
    tell = {"operationId": "tell", "requestBody": content, "responses": {"202": content}}
    ask = {"operationId": "ask", "responses": {"200": content}}
    made = javascript.files({**DOCUMENT, "paths": {"/api/a/": {"post": tell, "get": ask}}})["client.js"]
    assert " * @param {string} body\n" in made
    assert made.count(" * @returns {Promise<string>}\n") == 2
    assert 'send("POST", `/api/a/`, { body, type: "application/xml", ...options });' in made
    assert 'send("GET", `/api/a/`, { type: "application/xml", ...options });' in made


@pytest.mark.parametrize(
    ("schema", "written"),
    [
        ({}, "any"),
        ({"type": "string", "nullable": True}, "string | null"),
        ({"type": "string", "format": "binary"}, "Blob"),
        ({"type": "array", "items": {"oneOf": [{"type": "string"}, {"type": "integer"}]}}, "(string | number)[]"),
        ({"allOf": [{"$ref": "#/components/schemas/A"}], "nullable": True}, "A | null"),
        ({"type": "object", "additionalProperties": {"type": "number"}}, "Record<string, number>"),
        ({"type": "object", "properties": {"a": {"enum": [1]}}}, "{ a?: 1 }"),
    ],
)
def test_types(schema: dict[str, Any], written: str) -> None:
    assert type_of(schema) == written
