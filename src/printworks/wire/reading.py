"""Reads request bodies leniently into validated shapes.

Member names and enumeration values are accepted in any case, numbers and booleans also as text,
and unknown members are ignored. Other values are refused with a sentence that names the member.

Absent, null and empty differ:

- absent: the member's default; a member without one is required;
- null: as absent, but where the shape allows `UNSET` it means "keep what is stored";
- empty text, or nothing but blanks: None where the shape allows it ("cleared"); else as absent.
"""

import functools
import math
import re
import types
from collections.abc import Callable, Mapping
from decimal import ROUND_HALF_UP, Decimal
from enum import StrEnum
from typing import Annotated, Any, Final, NamedTuple, TypeVar, Union, get_args, get_origin
from typing import get_type_hints as get_hints

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType

from printworks.catalogue.countries import COUNTRIES
from printworks.errors import BadInput
from printworks.rules.images import MOST_COPIES
from printworks.rules.sizing import POSITION_RANGES, CropPosition, check_position

S = TypeVar("S", bound=Struct)


class Repeated(list[object]):
    """The values of a name that a form has several times: a list, or the last of them counts."""


class Reader(NamedTuple):
    """How one kind of member is read, from its name and value."""

    read: Callable[[str, object], object]


# A number in JSON; Python accepts more.
_NUMBER: Final = re.compile(r"[+-]?[0-9]{1,400}(\.[0-9]{1,40})?([eE][+-]?[0-9]{1,2})?")
_DIGITS: Final = re.compile(r"[+-]?[0-9]{1,400}")
_MD5: Final = re.compile(r"[0-9a-f]{32}")
LARGEST_AMOUNT: Final = 10**12
MOST_ATTRIBUTES: Final = 50


def _read_text(name: str, value: object, longest: int) -> str:
    # A reference or a postcode may arrive as a number.
    if isinstance(value, int | float) and not isinstance(value, bool):
        value = str(value)
    if not isinstance(value, str):
        raise BadInput(f"`{name}` must be text.")
    if len(value) > longest:
        raise BadInput(f"`{name}` must have at most {longest} characters.")
    if not value.isprintable() and any(_is_control(character) for character in value):
        raise BadInput(f"`{name}` contains a control character.")
    return value


def _is_control(character: str) -> bool:
    return (character < " " and character not in "\t\n\r") or "\x7f" <= character < "\xa0"


def text(longest: int) -> Reader:
    """Read a text of at most this many characters."""
    return Reader(functools.partial(_read_text, longest=longest))


def _read_number(name: str, value: object) -> Decimal:
    if isinstance(value, int | float) and not isinstance(value, bool):
        value = str(value)
    if not isinstance(value, str) or not _NUMBER.fullmatch(value.strip()):
        raise BadInput(f"`{name}` must be a number.")
    return Decimal(value.strip())


def _read_amount(name: str, value: object) -> int:
    number = _read_number(name, value)
    if not 0 <= number <= LARGEST_AMOUNT:
        raise BadInput(f"`{name}` must be between 0 and {LARGEST_AMOUNT}.")
    return int(number.to_integral_value(ROUND_HALF_UP))


def _read_price(name: str, value: object) -> int:
    """Read whole pence or cents: half of one is a mistake in the unit, and never rounded."""
    amount = _read_amount(name, value)
    if amount != _read_number(name, value):
        raise BadInput(
            f"`{name}` must be a whole number of pence or cents: 1250 for 12.50, for example."
        )
    return amount


def _read_country(name: str, value: object) -> str:
    given = _read_text(name, value, longest=100).strip()
    # Some letters become two in capitals.
    code = given.upper() if given.isascii() else given
    if code not in COUNTRIES:
        raise BadInput(f"`{name}` is wrong: Country with code {code} not found.")
    return code


def _read_url(name: str, value: object) -> str:
    # What address it may be is checked by the actions, which know what can be reached.
    return _read_text(name, value, longest=2000).strip()


def _read_currency(name: str, value: object) -> str:
    code = _read_text(name, value, longest=100).strip().upper()
    if not (len(code) == len("GBP") and code.isascii() and code.isalpha()):
        raise BadInput(f"`{name}` must be a currency code of three letters, such as GBP.")
    return code


def _read_copies(name: str, value: object) -> int:
    number = _read_number(name, value)
    if number != number.to_integral_value() or not 0 <= number <= MOST_COPIES:
        raise BadInput(f"`{name}` must be a whole number from 0 to {MOST_COPIES}.")
    return int(number)


def _read_md5(name: str, value: object) -> str:
    digest = _read_text(name, value, longest=100).strip().lower()
    if not _MD5.fullmatch(digest):
        raise BadInput(f"`{name}` must be an MD5 hash of 32 hexadecimal digits.")
    return digest


def _read_attributes(name: str, value: object) -> dict[str, str]:
    # PHP writes an empty object as an empty list.
    if value == []:
        return {}
    if not isinstance(value, Mapping):
        raise BadInput(f"`{name}` must be an object of names and values.")
    if len(value) > MOST_ATTRIBUTES:
        raise BadInput(f"`{name}` must have at most {MOST_ATTRIBUTES} members.")
    return {
        _read_text(name, key, longest=100): _read_text(f"{name}.{key}", text, longest=255)
        for key, text in ((key, last_of(text)) for key, text in value.items())
        if text is not None and str(text).strip()
    }


def _read_placement(name: str, value: object) -> dict[str, float] | None:
    """Read where a picture is cropped; what is left out is as in the middle."""
    # PHP writes an empty object as an empty list.
    if value == []:
        return None
    if not isinstance(value, Mapping):
        raise BadInput(f'`{name}` must be an object such as {{"x": 0.5, "y": 0, "zoom": 1}}.')
    given = {key: last_of(each) for key, each in by_lower_name(value).items()}
    members = {key: given[key] for key in POSITION_RANGES if given.get(key) not in (None, "")}
    if not members:
        return None
    position = CropPosition(**{key: _read_float(each) for key, each in members.items()})
    check_position(position)
    return position.to_members()


def _read_float(value: object) -> float:
    """Read a number; what is none is not a number that fits any range either."""
    try:
        return float(_read_number("", value))
    except BadInput:
        return math.nan


Amount = Annotated[int, Meta(ge=0, le=LARGEST_AMOUNT), Reader(_read_amount)]
Price = Annotated[int, Meta(ge=0, le=LARGEST_AMOUNT), Reader(_read_price)]
Attributes = Annotated[
    dict[str, str],
    Meta(description="Options of the product; one that has no default is required."),
    Reader(_read_attributes),
]
Copies = Annotated[int, Meta(ge=0, le=MOST_COPIES), Reader(_read_copies)]
CountryCode = Annotated[str, Meta(pattern="^[A-Za-z]{2}$"), Reader(_read_country)]
CurrencyCode = Annotated[str, Meta(pattern="^[A-Za-z]{3}$"), Reader(_read_currency)]
Md5 = Annotated[str, Meta(pattern="^[0-9A-Fa-f]{32}$"), Reader(_read_md5)]
CropPlacement = Annotated[
    dict[str, float],
    Meta(
        description="Which part of the picture is printed, where it is cropped: `x` and `y` from 0 "
        "(left, top) to 1 (right, bottom), as in CSS `object-position`, and `zoom` from 1 to 4. "
        "Null is the middle. Kept, and without effect, where the whole picture is shown.",
        extra_json_schema={
            "properties": {
                name: {"type": "number", "minimum": least, "maximum": most}
                for name, (least, most) in POSITION_RANGES.items()
            },
            "example": {"x": 0.5, "y": 0.25, "zoom": 1.5},
        },
    ),
    Reader(_read_placement),
]
Url = Annotated[
    str,
    Meta(max_length=2000, description="A public http or https address, on port 80 or 443."),
    Reader(_read_url),
]


def read_choice(choices: type[StrEnum], name: str, value: object) -> StrEnum:
    """Return the choice with this text, in any case."""
    found = None
    if isinstance(value, str):
        found = _by_lower_text(choices).get(value.strip().lower())
    if found is None:
        raise BadInput(f"`{name}` must be one of {', '.join(choices)}.")
    return found


@functools.cache
def _by_lower_text(choices: type[StrEnum]) -> Mapping[str, StrEnum]:
    return {choice.value.lower(): choice for choice in choices}


def read_parameter(name: str, value: object, *, lowest: int, highest: int) -> int:
    """Read a whole number in a query string, which is written in digits, limited to a range."""
    if isinstance(value, str) and not _DIGITS.fullmatch(value.strip()):
        raise BadInput(f"`{name}` must be a whole number.")
    return read_integer(name, value, lowest=lowest, highest=highest)


def read_integer(name: str, value: object, *, lowest: int, highest: int) -> int:
    """Read a whole number, limited to a range."""
    number = _read_number(name, value)
    if number != number.to_integral_value():
        raise BadInput(f"`{name}` must be a whole number.")
    return int(min(max(number, Decimal(lowest)), Decimal(highest)))


class _Member(NamedTuple):
    name: str
    read: Callable[[str, object], object]
    may_be_unset: bool
    may_be_cleared: bool
    is_list: bool


class _Plan(NamedTuple):
    # By name in lower case.
    members: Mapping[str, _Member]
    required: tuple[str, ...]


@functools.cache
def _plan(shape: type[Struct]) -> _Plan:
    hints = get_hints(shape, include_extras=True)
    members = {
        name.lower(): _Member(
            name=name,
            read=_reader_of(hint),
            may_be_unset=UnsetType in get_args(hint),
            may_be_cleared=types.NoneType in get_args(hint),
            is_list=_is_list(hint),
        )
        for name, hint in hints.items()
    }
    fields = msgspec.structs.fields(shape)
    return _Plan(members, tuple(field.name for field in fields if field.required))


def _is_list(hint: Any) -> bool:
    return get_origin(hint) is list or any(_is_list(part) for part in get_args(hint))


def _reader_of(hint: Any) -> Callable[[str, object], object]:
    origin = get_origin(hint)
    if origin in (Union, types.UnionType):
        only = [part for part in get_args(hint) if part not in (types.NoneType, UnsetType)]
        return _reader_of(only[0])
    if origin is Annotated:
        return next(part.read for part in get_args(hint) if isinstance(part, Reader))
    if isinstance(hint, type) and issubclass(hint, StrEnum):
        return functools.partial(read_choice, hint)
    raise TypeError(f"No reader for {hint}.")


def read(shape: type[S], sent: object) -> S:
    """Read a body into a shape; refuse a missing or wrong member."""
    if not isinstance(sent, Mapping):
        raise BadInput("The body must be an object with named members.")
    plan = _plan(shape)
    values: dict[str, object] = {}
    for sent_name, value in sent.items():
        member = plan.members.get(str(sent_name).lower())
        if member is None:
            continue
        if not member.is_list:
            value = last_of(value)
        if value is None or (isinstance(value, str) and not value.strip()):
            _note_nothing(values, member, value)
        else:
            values[member.name] = member.read(member.name, value)
    missing = [f"`{name}`" for name in plan.required if name not in values]
    if missing:
        *first, last = missing
        raise BadInput(
            f"{', '.join(first)} and {last} are required." if first else f"{last} is required."
        )
    return shape(**values)


def read_each(shape: type[S], sent: object, *, most: int) -> list[S]:
    """Read a body that is a list; refuse a wrong element."""
    if not isinstance(sent, list):
        raise BadInput("The body must be an array of objects.")
    if len(sent) > most:
        raise BadInput(f"The body must have at most {most} elements, not {len(sent)}.")
    elements = []
    for number, element in enumerate(sent, start=1):
        try:
            elements.append(read(shape, element))
        except BadInput as refusal:
            raise BadInput(f"Element {number}: {refusal.message}") from refusal
    return elements


def _note_nothing(values: dict[str, object], member: _Member, value: object) -> None:
    """Let null keep what is stored and empty text clear it, where the shape allows that."""
    values.pop(member.name, None)
    if value is None and member.may_be_unset:
        values[member.name] = UNSET
    elif value is not None and member.may_be_cleared:
        values[member.name] = None


def last_of(value: object) -> object:
    """Return a value, or the last one of a name that was repeated."""
    return value[-1] if isinstance(value, Repeated) else value


def by_lower_name(sent: Mapping[Any, object]) -> dict[str, object]:
    """Return the members by their names in lower case."""
    return {str(name).lower(): value for name, value in sent.items()}
