"""What a version has is data: members that say since when, at every depth."""

from typing import Annotated, Any

import msgspec
import pytest
from msgspec import UNSET, UnsetType

from printworks.errors import BadInput
from printworks.wire.reading import text
from printworks.wire.v2.versions import (
    V2_3,
    V2_5,
    V2_6,
    Version,
    narrow,
    only,
    read_in,
    refuse,
    shape_in,
    since,
)

Line = Annotated[str, text(10)]


class Inner(msgspec.Struct, frozen=True):
    """Something inside."""

    id: int
    newest: Annotated[bool, since(V2_6)]


class Outer(msgspec.Struct, frozen=True, kw_only=True):
    """Something outside."""

    id: int
    inners: list[Inner]
    maybe: Annotated[Inner | None, since(V2_5)]
    once: Annotated[int, only(V2_5)] = 5
    names: list[str] = msgspec.field(default_factory=list)
    errorMessage: str | None = None  # noqa: N815  (as on the wire)


class Taken(msgspec.Struct, frozen=True, kw_only=True):
    """Something that is sent."""

    name: Line | None
    later: Annotated[Line | UnsetType, since(V2_5)] = UNSET


THING = Outer(id=1, inners=[Inner(2, newest=True)], maybe=Inner(3, newest=False))


@pytest.mark.parametrize(
    ("version", "members"),
    [
        (V2_3, "id inners names errorMessage"),
        (V2_5, "id inners maybe once names errorMessage"),
        (V2_6, "id inners maybe names errorMessage"),
    ],
)
def test_a_version_shows_the_members_that_it_has(version: Version, members: str) -> None:
    shown = msgspec.to_builtins(narrow(shape_in(version, Outer), THING))

    assert list(shown) == members.split()
    assert ("newest" in shown["inners"][0]) is (version is V2_6)


def test_a_list_is_narrowed_like_its_elements() -> None:
    [shown] = narrow(shape_in(V2_3, list[Outer]), [THING])

    assert "maybe" not in msgspec.to_builtins(shown)


def test_the_schema_of_a_version_knows_only_its_members() -> None:
    _, components = msgspec.json.schema_components([shape_in(V2_3, list[Outer])])

    assert set(components["Outer"]["properties"]) == {"id", "inners", "names", "errorMessage"}
    assert set(components["Inner"]["properties"]) == {"id"}


@pytest.mark.parametrize("shape", [Outer, list[Outer]])
def test_a_refusal_has_every_member_of_what_was_expected(shape: Any) -> None:
    refusal = refuse(shape_in(V2_3, shape), "No.")

    assert msgspec.to_builtins(refusal) == {
        "id": None,
        "inners": None,
        "names": None,
        "errorMessage": "No.",
    }


def test_a_member_of_a_later_version_is_not_even_looked_at() -> None:
    sent = {"name": "x", "later": "far too long to be taken"}

    assert read_in(V2_3, Taken, sent) == Taken(name="x")
    with pytest.raises(BadInput, match="`later`"):
        read_in(V2_5, Taken, sent)
    assert read_in(V2_6, Taken, {"name": "", "LATER": "y"}) == Taken(name=None, later="y")
