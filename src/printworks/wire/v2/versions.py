"""The versions of this family as data: who has a member, and what each shape is in each version.

A shape is written down once, with every member that any version has. A member that not all of
them have says so: `Annotated[bool, since(V2_6)]`.
"""

import functools
import operator
from collections.abc import Callable
from enum import StrEnum
from types import UnionType
from typing import Annotated, Any, Final, TypeVar, Union, get_args, get_origin
from typing import get_type_hints as get_hints

import msgspec
from msgspec import NODEFAULT, Struct

from printworks.conversion import look_at
from printworks.wire.reading import read

S = TypeVar("S", bound=Struct)


class Version(StrEnum):
    """A version of the family, oldest first."""

    V2_3 = "2.3"
    V2_5 = "2.5"
    V2_6 = "2.6"


V2_3: Final = Version.V2_3
V2_5: Final = Version.V2_5
V2_6: Final = Version.V2_6


class In(frozenset[Version]):
    """The versions that have something."""


def only(*versions: Version) -> In:
    """Name the versions that have something."""
    return In(versions)


def since(first: Version) -> In:
    """Name the first version that has something; later ones have it too."""
    return only(*list(Version)[list(Version).index(first) :])


ALL: Final = since(V2_3)


def shape_in(version: str, shape: Any) -> Any:
    """Return a shape as one version has it, at every depth."""
    return _change_inside(shape, functools.partial(_struct_in, version))


@functools.cache
def _struct_in(version: str, shape: type[Struct]) -> type[Struct]:
    kept = [
        _copy_field(field, shape_in(version, hint))
        for field, hint in _members(shape)
        if version in _versions_of(hint)
    ]
    return _define(shape, shape.__name__, kept)


@functools.cache
def refusal_of(shape: Any) -> type[Struct]:
    """Return the shape in which an answer of this shape is refused: all null, and the reason.

    Who expected a list is told of one item of it.
    """
    if get_origin(shape) is list:
        return refusal_of(get_args(shape)[0])
    members = [(name, None) for name in shape.__struct_fields__ if name != "errorMessage"]
    name = f"{shape.__name__.removesuffix('Out')}Refusal"
    return _define(shape, name, [*members, ("errorMessage", str)], "Why nothing came of it.")


def refuse(shape: Any, message: str) -> Struct:
    """Say that nothing came of what was asked, where an answer of this shape was expected."""
    refusal = refusal_of(shape)
    return refusal(**dict.fromkeys(refusal.__struct_fields__) | {"errorMessage": message})


def narrow(shape: Any, answer: Any) -> Any:
    """Reduce an answer to the members that the shape of a version has."""
    return msgspec.convert(answer, shape, from_attributes=True)


def read_in(version: str, shape: type[S], sent: object) -> S:
    """Read a body as one version understands it: members of later versions are unknown to it."""
    given = read(_struct_in(version, shape), sent)
    return shape(**{name: getattr(given, name) for name in given.__struct_fields__})


def _members(shape: type[Struct]) -> list[tuple[msgspec.structs.FieldInfo, Any]]:
    hints = get_hints(shape, include_extras=True)
    return [(field, hints[field.name]) for field in msgspec.structs.fields(shape)]


def _versions_of(hint: Any) -> In:
    extras = get_args(hint)[1:] if get_origin(hint) is Annotated else ()
    return next((extra for extra in extras if isinstance(extra, In)), ALL)


def _copy_field(field: msgspec.structs.FieldInfo, hint: Any) -> Any:
    if field.default is NODEFAULT and field.default_factory is NODEFAULT:
        return (field.name, hint)
    if field.default_factory is NODEFAULT:
        return (field.name, hint, field.default)
    return (field.name, hint, msgspec.field(default_factory=field.default_factory))


def _define(
    shape: type[Struct], name: str, members: list[Any], meaning: str | None = None
) -> type[Struct]:
    defined = msgspec.defstruct(
        name,
        members,
        module=shape.__module__,
        namespace={"__doc__": meaning or shape.__doc__},
        frozen=True,
        kw_only=True,
    )
    look_at(defined)
    return defined


def _change_inside(hint: Any, change: Callable[[type[Struct]], type[Struct]]) -> Any:
    """Change every struct that a type speaks of."""
    origin, parts = get_origin(hint), get_args(hint)
    if isinstance(hint, type) and issubclass(hint, Struct):
        return change(hint)
    if origin is Annotated:
        inner = _change_inside(parts[0], change)
        extras = tuple(extra for extra in parts[1:] if not isinstance(extra, In))
        return Annotated[(inner, *extras)] if extras else inner
    if origin in (Union, UnionType):
        return functools.reduce(operator.or_, [_change_inside(part, change) for part in parts])
    if origin is list:
        return list[_change_inside(parts[0], change)]  # type: ignore[misc]
    return hint
