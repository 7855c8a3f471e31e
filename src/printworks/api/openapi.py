"""Writes the OpenAPI 3.1 document of a version from its endpoints and their shapes."""

import json
import re
from collections.abc import Callable, Mapping
from typing import Any, Final

import msgspec

from printworks import __version__
from printworks.api.endpoints import (
    USUAL_STATUS,
    ApiFamily,
    Endpoint,
    FileAnswer,
    QueryParameter,
)

_IN_PATH: Final = re.compile(r"\{(\w+)\}")
_NUMBER: Final = {"type": "integer", "minimum": 1}
_IN_PATHS: Final = {
    "id": _NUMBER,
    "orderId": _NUMBER,
    "photoId": _NUMBER,
    "imageId": _NUMBER,
    "issueId": _NUMBER,
    "countryCode": {"type": "string", "pattern": "^[A-Za-z]{2}$"},
    "number": {"type": "string", "pattern": "^([0-9]+-)?[0-9]{4}-[0-9]{6,}$"},
    "qualityLevel": {"type": "string", "enum": ["Pro", "Standard"]},
}
# The only files that are answered.
_PDF: Final = "application/pdf"
_BODY_TYPES: Final = (
    "application/json",
    "application/x-www-form-urlencoded",
    "multipart/form-data",
)
_MEANINGS: Final = {
    200: "Success; the body is the result.",
    304: "You have seen it: its `ETag` is one of those in `If-None-Match`.",
    400: "A parameter is missing or wrong, and the message names it; or the body is malformed.",
    401: "The credentials are missing or wrong.",
    402: "The payment must be authorised at the `url`; the order waits for that.",
    403: "Not possible in the current state.",
    404: "Not found, or not yours.",
    408: "The body did not arrive in time.",
    410: "This version has been switched off; the message names its successor.",
    409: "The same is being done already, by a request that has no answer yet.",
    413: "The body is too large.",
    415: "The body is in a format that is not understood here, or compressed.",
    429: "Too many requests; `Retry-After` says when to send it again.",
    431: "The headers are too large.",
    422: "This Idempotency-Key came with another request before.",
    500: "Something went wrong here; the message holds the request ID.",
    503: "Too busy at the moment; `Retry-After` says when to try again.",
    507: "There is no room for the file at the moment; try again later.",
}
_HEADERS: Final[Mapping[str, str]] = {
    "X-Request-Id": "Names this request in our logs.",
    "RateLimit-Policy": "How many requests you may send (`q`), and in how many seconds that "
    "many are granted again (`w`).",
    "RateLimit": "How many requests are left (`r`), and in how many seconds all will be (`t`).",
    "ETag": "Changes whenever the answer changes; send it in `If-None-Match`.",
    "Retry-After": "After how many seconds to try again.",
    "WWW-Authenticate": "How to show who is asking.",
    "Deprecation": "Since when another version should be used.",
    "Link": "Which one, as `successor-version`.",
    "Sunset": "When this version ends, if the operator has said so.",
}
_ON_EVERY_ANSWER: Final = ("X-Request-Id", "RateLimit-Policy", "RateLimit")
_OF_OLD_VERSIONS: Final = ("Deprecation", "Link", "Sunset")
_OF_STATUS: Final = {
    401: ("WWW-Authenticate",),
    429: ("Retry-After",),
    503: ("Retry-After",),
    507: ("Retry-After",),
}
# What an operation may answer whatever it does.
_ALWAYS: Final = (400, 401, 429, 431, 500, 503)
_WITH_BODY: Final = (408, 413, 415)
_WITH_FILE: Final = (429, 507)
_WHEN_WRITING: Final = (409, 422)
_FILE: Final = {"type": "object", "properties": {"file": {"type": "string", "format": "binary"}}}

_INTRODUCTION: Final = """\
Create an order, add images to it, check it, submit it. Success is always HTTP 200.

Member names and enumeration values are read in any case, numbers may come as text, unknown
members are ignored. Answers are JSON, or XML when `Accept` ranks it higher.
"""


def describe(family: ApiFamily, *, header_prefix: str) -> dict[str, Any]:
    """Return the document of one version."""
    shapes = _collect_shapes(family)
    references, components = msgspec.json.schema_components(
        shapes, ref_template="#/components/schemas/{name}"
    )
    schema_of = dict(zip(map(repr, shapes), references, strict=True))
    paths: dict[str, dict[str, Any]] = {}
    for endpoint in family.endpoints:
        operation = _describe_operation(family, endpoint, lambda shape: schema_of[repr(shape)])
        paths.setdefault(path_of(endpoint), {})[endpoint.method.lower()] = operation
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Printworks print order service",
            "version": f"{family.version} ({__version__})",
            "description": _INTRODUCTION,
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "servers": [{"url": f"/{family.prefix}"}],
        "security": [{"merchantId": [], "apiKey": []}],
        "paths": paths,
        "components": {
            "securitySchemes": {
                "merchantId": _header_scheme(f"{header_prefix}MerchantId"),
                "apiKey": _header_scheme(f"{header_prefix}REST-API-Key"),
            },
            "headers": {
                name: {"description": meaning, "schema": {"type": "string"}}
                for name, meaning in _HEADERS.items()
                if family.successor is not None or name not in _OF_OLD_VERSIONS
            },
            "schemas": components,
        },
    }


def path_of(endpoint: Endpoint) -> str:
    """Return the path as it is written in a URL."""
    return endpoint.path.replace(" ", "%20")


def encode(document: dict[str, Any]) -> bytes:
    """Write a document with one member per line, for readable diffs."""
    return json.dumps(document, indent=2, ensure_ascii=False).encode() + b"\n"


def _header_scheme(name: str) -> dict[str, str]:
    return {"type": "apiKey", "in": "header", "name": name}


def statuses_of(endpoint: Endpoint) -> list[int]:
    """List every status that an endpoint may answer, success first."""
    own = [endpoint.statuses.get(kind) or USUAL_STATUS[kind] for kind in endpoint.refuses]
    edge = [
        *_ALWAYS,
        *(_WITH_BODY if endpoint.has_body else ()),
        *(_WITH_FILE if endpoint.takes_file else ()),
        *(_WHEN_WRITING if endpoint.writes else ()),
        *((304,) if endpoint.method == "GET" else ()),
        # Of a key that is read-only.
        *(() if endpoint.only_reads else (403,)),
    ]
    return [200, *sorted({*own, *edge, *endpoint.also_shows})]


def _collect_shapes(family: ApiFamily) -> list[Any]:
    shapes: dict[str, Any] = {}
    for endpoint in family.endpoints:
        answers = (_answer_shape(family, endpoint, status) for status in statuses_of(endpoint))
        for shape in (endpoint.takes, *answers):
            if shape is not None:
                shapes[repr(shape)] = shape
    return list(shapes.values())


def _answer_shape(family: ApiFamily, endpoint: Endpoint, status: int) -> Any:
    if status == 200:
        return None if endpoint.shows is FileAnswer else endpoint.shows
    if status == 304:
        return None
    return endpoint.also_shows.get(status) or type(family.refuse(endpoint, status, ""))


def _describe_operation(
    family: ApiFamily, endpoint: Endpoint, schema_of: Callable[[Any], dict[str, Any]]
) -> dict[str, Any]:
    answers = {}
    for status in statuses_of(endpoint):
        shape = _answer_shape(family, endpoint, status)
        is_tagged = endpoint.method == "GET" and status in (200, 304)
        answers[str(status)] = {
            "description": _MEANINGS[status],
            "headers": _refer_to_headers(family, status, is_tagged=is_tagged),
        }
        if status == 200 and endpoint.shows is FileAnswer:
            answers[str(status)]["content"] = {_PDF: {"schema": {}}}
        if shape is not None:
            content = {"application/json": {"schema": schema_of(shape)}, "application/xml": {}}
            answers[str(status)]["content"] = content
    operation: dict[str, Any] = {
        "operationId": endpoint.handler.__name__,
        "summary": endpoint.summary,
        "tags": [endpoint.path.split("/")[1]],
        "parameters": _describe_parameters(endpoint),
        "responses": answers,
    }
    if family.successor is not None:
        operation["deprecated"] = True
    if endpoint.takes is not None:
        content = _describe_body(endpoint, schema_of(endpoint.takes))
        operation["requestBody"] = {"required": True, "content": content}
    return operation


def _describe_body(endpoint: Endpoint, schema: dict[str, Any]) -> dict[str, Any]:
    if endpoint.takes_file:
        file = _FILE if endpoint.file_is_optional else {**_FILE, "required": ["file"]}
        without = {kind: {"schema": schema} for kind in _BODY_TYPES[:-1]}
        with_file = {"multipart/form-data": {"schema": {"allOf": [schema, file]}}}
        return without | with_file if endpoint.file_is_optional else with_file
    # A list has no names, which a form needs.
    is_list = schema.get("type") == "array"
    kinds = _BODY_TYPES[:1] if is_list else _BODY_TYPES
    return {kind: {"schema": schema} for kind in kinds}


def _refer_to_headers(family: ApiFamily, status: int, *, is_tagged: bool) -> dict[str, Any]:
    names = (
        *_ON_EVERY_ANSWER,
        *(("ETag",) if is_tagged else ()),
        *_OF_STATUS.get(status, ()),
        *(() if family.successor is None else _OF_OLD_VERSIONS),
    )
    return {name: {"$ref": f"#/components/headers/{name}"} for name in names}


def _describe_query(parameter: QueryParameter) -> dict[str, Any]:
    if parameter.default is None:
        return {"type": "string"} | ({"enum": parameter.choices} if parameter.choices else {})
    number = {"type": "integer", "default": parameter.default, "minimum": 0}
    return number | ({} if parameter.highest is None else {"maximum": parameter.highest})


def _describe_parameters(endpoint: Endpoint) -> list[dict[str, Any]]:
    in_path = [
        {"name": name, "in": "path", "required": True, "schema": _IN_PATHS[name]}
        for name in _IN_PATH.findall(endpoint.path)
    ]
    in_query = [
        {
            "name": parameter.name,
            "in": "query",
            "description": parameter.meaning,
            "schema": _describe_query(parameter),
        }
        for parameter in endpoint.query
    ]
    key = {
        "name": "Idempotency-Key",
        "in": "header",
        "description": "Makes a repeated request answer as the first did, and happen once. "
        "A refused request leaves its key free for a corrected one.",
        "schema": {"type": "string", "minLength": 1, "maxLength": 255},
    }
    known = {
        "name": "If-None-Match",
        "in": "header",
        "description": "The `ETag` of the answer that you have, or several with commas between "
        "them; if it is still the same, the answer is 304 without a body.",
        "schema": {"type": "string"},
    }
    in_header = [key] if endpoint.writes else [known] if endpoint.method == "GET" else []
    return [*in_path, *in_query, *in_header]
