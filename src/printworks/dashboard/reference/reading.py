"""What an OpenAPI document says, in the words of a page: no types, no names of our own."""

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final
from urllib.parse import unquote

import msgspec

_KINDS: Final[Mapping[str, str]] = {
    "string": "text",
    "integer": "whole number",
    "number": "number",
    "boolean": "true or false",
    "object": "object",
    "null": "null",
}
# Objects within objects within lists: nobody reads further down.
_DEEPEST: Final = 3
# What is around every answer of some versions; the guide tells of it.
_ENVELOPE: Final = {"data", "statusTxt", "statusCode"}
# What is told at each operation; the meaning of any other status is the same for all of them.
_OF_ITS_OWN: Final = frozenset({"402", "403", "404", "507"})


class ReferenceRow(msgspec.Struct, frozen=True):
    """A parameter or a member: what it is called, what it can be, whether it must be there."""

    name: str
    kind: str
    is_needed: bool = False
    meaning: str = ""
    choices: tuple[str, ...] = ()


class OperationError(msgspec.Struct, frozen=True):
    """A status that an operation may refuse with, and when."""

    status: str
    meaning: str


class Operation(msgspec.Struct, frozen=True, kw_only=True):
    """One operation of the API, as the page shows it."""

    anchor: str
    method: str
    path: str
    summary: str
    parameters: tuple[ReferenceRow, ...]
    body: tuple[ReferenceRow, ...]
    body_note: str
    answer: tuple[ReferenceRow, ...]
    # The anchor and summary of an operation that answers alike.
    same_as: tuple[str, str] | None
    errors: tuple[OperationError, ...]
    # The statuses of errors that mean the same everywhere.
    usual_errors: tuple[str, ...]
    command: str
    example: str


class OperationGroup(msgspec.Struct, frozen=True):
    """Operations about the same thing."""

    name: str
    operations: tuple[Operation, ...]


class ReferenceDocument(msgspec.Struct, frozen=True):
    """A version of the API: its document, and an example of each operation."""

    version: str
    prefix: str
    is_old: bool
    document: Mapping[str, Any]
    examples: Mapping[str, Any]

    @property
    def headers(self) -> tuple[str, str]:
        """The names of the headers with credentials."""
        schemes = self.document["components"]["securitySchemes"]
        return schemes["merchantId"]["name"], schemes["apiKey"]["name"]


def read_groups(known: ReferenceDocument, base: str) -> list[OperationGroup]:
    """Return all operations by what they are about, in the order of the document."""
    reader = _Reader(known, base)
    groups: dict[str, list[Operation]] = {}
    for path, methods in known.document["paths"].items():
        for method, operation in methods.items():
            name = operation["tags"][0].capitalize()
            groups.setdefault(name, []).append(reader.read(method.upper(), path, operation))
    return [OperationGroup(name, tuple(operations)) for name, operations in groups.items()]


class _Reader:
    def __init__(self, known: ReferenceDocument, base: str) -> None:
        self._known = known
        self._base = base
        self._schemas = known.document["components"]["schemas"]
        # Which operation shows an object already, so that it is shown once.
        self._shown: dict[str, tuple[str, str]] = {}

    def read(self, method: str, path: str, operation: Mapping[str, Any]) -> Operation:
        """Read one operation."""
        anchor = re.sub(r"[^a-z0-9]+", "-", f"{method} {path}".lower()).strip("-")
        example = self._known.examples.get(f"{method} {path}", {})
        body, note = self._read_body(operation)
        schema = self._unwrap(self._find_answer(operation))
        shape = self._find_shape(schema)
        same_as = self._shown.get(shape)
        if same_as is None:
            self._shown[shape] = (anchor, operation["summary"])
        return Operation(
            anchor=anchor,
            method=method,
            path=unquote(path),
            summary=operation["summary"],
            parameters=tuple(map(_read_parameter, operation["parameters"])),
            body=body,
            body_note=note,
            answer=() if same_as else tuple(self._list_members(schema)),
            same_as=same_as,
            errors=tuple(_list_errors(operation["responses"], of_its_own=True)),
            usual_errors=tuple(
                error.status for error in _list_errors(operation["responses"], of_its_own=False)
            ),
            command=self._write_command(method, path, example, has_body=bool(body)),
            # One example of a thing is enough.
            example=_write(example["answer"]) if "answer" in example and not same_as else "",
        )

    def _find_answer(self, operation: Mapping[str, Any]) -> Mapping[str, Any]:
        content: Mapping[str, Any] = operation["responses"]["200"]["content"]
        # A file has no members.
        schema: Mapping[str, Any] = content.get("application/json", {"schema": {}})["schema"]
        return schema

    def _unwrap(self, schema: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return what an answer has in its envelope, if it has one."""
        members = self._open(schema).get("properties", {})
        is_envelope = members.keys() == _ENVELOPE
        return members["data"] if is_envelope else schema

    def _find_shape(self, schema: Mapping[str, Any]) -> str:
        """Return what tells an object from others, alone or in a list."""
        while "items" in schema:
            schema = schema["items"]
        return str(schema)

    def _read_body(self, operation: Mapping[str, Any]) -> tuple[tuple[ReferenceRow, ...], str]:
        content = operation.get("requestBody", {}).get("content", {})
        if not content:
            return (), ""
        takes_json = "application/json" in content
        kind = "application/json" if takes_json else next(iter(content))
        schema = content[kind]["schema"]
        formats = " or ".join(_FORMATS[each] for each in content)
        is_list = self._open(schema).get("type") == "array"
        what = "A list, in which each line has" if is_list else "With"
        rows = tuple(self._list_members(schema))
        return rows, f"{what} these members, as {formats}."

    def _open(self, schema: Mapping[str, Any]) -> Mapping[str, Any]:
        """Follow a reference, and leave out that something may be null."""
        if "$ref" in schema:
            return self._open(self._schemas[schema["$ref"].rpartition("/")[2]])
        choices = [each for each in schema.get("anyOf", ()) if each.get("type") != "null"]
        return self._open(choices[0]) if choices else schema

    def _list_members(
        self, schema: Mapping[str, Any], before: str = "", depth: int = 0
    ) -> Iterator[ReferenceRow]:
        opened = self._open(schema)
        if opened.get("type") == "array":
            yield from self._list_members(opened.get("items", {}), before, depth)
            return
        for part in opened.get("allOf", ()):
            yield from self._list_members(part, before, depth)
        needed = opened.get("required", ())
        for name, member in opened.get("properties", {}).items():
            row = self._read_member(f"{before}{name}", member, is_needed=name in needed)
            inner = self._open(member)
            is_list = inner.get("type") == "array"
            shown = self._shown.get(self._find_shape(inner if is_list else member))
            if shown is not None:
                yield msgspec.structs.replace(row, meaning=f"As in “{shown[1]}”.")
                continue
            yield row
            if depth < _DEEPEST:
                within = f"{before}{name}[]." if is_list else f"{before}{name}."
                yield from self._list_members(member, within, depth + 1)

    def _read_member(
        self, name: str, member: Mapping[str, Any], *, is_needed: bool
    ) -> ReferenceRow:
        opened = self._open(member)
        may_be_null = any(each.get("type") == "null" for each in member.get("anyOf", ()))
        items = self._open(opened["items"]) if "items" in opened else None
        kind = _name_kind(opened) if items is None else f"list of {_name_kind(items)}s"
        choices = (items or opened).get("enum", ())
        return ReferenceRow(
            name=name,
            kind=f"{kind} or null" if may_be_null else kind,
            is_needed=is_needed,
            choices=tuple(map(str, choices)),
        )

    def _write_command(
        self, method: str, path: str, example: Mapping[str, Any], *, has_body: bool
    ) -> str:
        merchant_id, key = self._known.headers
        lines = [
            f"curl{'' if method == 'GET' else f' -X {method}'} "
            f"'{self._base}/{self._known.prefix}{example.get('path', path)}'",
            f"-H '{merchant_id}: YOUR-ID'",
            f"-H '{key}: YOUR-KEY'",
        ]
        if example.get("body") is not None:
            lines += ["-H 'Content-Type: application/json'", f"-d '{_write(example['body'])}'"]
        elif has_body:
            lines.append("-F 'file=@picture.jpg'")
        return " \\\n  ".join(lines)


_FORMATS: Final[Mapping[str, str]] = {
    "application/json": "JSON",
    "application/x-www-form-urlencoded": "a form",
    "multipart/form-data": "multipart",
}


def _name_kind(schema: Mapping[str, Any]) -> str:
    kind = schema.get("type")
    if schema.get("format") == "binary":
        return "file"
    if "enum" in schema or isinstance(kind, list):
        return "text"
    return _KINDS.get(str(kind), "value")


def _read_parameter(parameter: Mapping[str, Any]) -> ReferenceRow:
    schema = parameter["schema"]
    default = f" The usual is {schema['default']}." if "default" in schema else ""
    return ReferenceRow(
        name=parameter["name"],
        kind=f"{_name_kind(schema)}, in the {parameter['in']}",
        is_needed=parameter.get("required", False),
        meaning=f"{parameter.get('description', '').partition('. ')[0].rstrip('.')}.{default}".strip(
            " ."
        ),
        choices=tuple(map(str, schema.get("enum", ()))),
    )


def list_usual_errors(document: Mapping[str, Any]) -> list[OperationError]:
    """Return the errors that mean the same at every operation."""
    found = {
        error.status: error
        for methods in document["paths"].values()
        for operation in methods.values()
        for error in _list_errors(operation["responses"], of_its_own=False)
    }
    return sorted(found.values(), key=lambda error: error.status)


def _list_errors(responses: Mapping[str, Any], *, of_its_own: bool) -> Iterator[OperationError]:
    for status, response in responses.items():
        if status != "200" and (status in _OF_ITS_OWN) == of_its_own:
            yield OperationError(status, response["description"])


def _write(shown: object) -> str:
    return msgspec.json.format(msgspec.json.encode(shown), indent=2).decode()
