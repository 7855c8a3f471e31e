"""Reads TOML values into forms with msgspec, and reports every problem with its place.

msgspec stops at the first error, so each value is converted on its own. Valid values can be used even
if others in the same block are invalid.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from enum import EnumType
from functools import cache
from types import NoneType
from typing import Annotated, Any, ClassVar, Final, NamedTuple, TypeVar, cast, get_args, get_origin

import msgspec
from msgspec import Meta

from printworks.catalogue.problems import Mistake, Place, suggest
from printworks.conversion import reader_of

# What values may refer to, by the key that declares it. A key that is absent could not be read: then
# every reference is accepted, because a problem is reported where it is, not wherever it is felt.
Known = dict[Any, Any]

# Takes the place of a problem and a sentence about it.
Report = Callable[[Place, str], None]

# Returned in place of a value that was invalid and has been reported.
INVALID: Final[Any] = object()


class BlockForm(msgspec.Struct, frozen=True, kw_only=True):
    """What a TOML table may contain: a field for each key.

    If keys have to fit each other, `__post_init__` raises a `Mistake`.
    """

    # With its article, for sentences: "a lab".
    NOUN: ClassVar[str]


class ParsedFrom(NamedTuple):
    """Annotates a field whose type in the file differs: the type there, and how to parse it."""

    hint: Any
    parse: Callable[[Any, Known], Any]


class ValueType(NamedTuple):
    """A type hint, analysed once because thousands of values are read."""

    # What msgspec validates: for forms and tables only the outermost level.
    hint: Any
    # Reads a Struct with one field of this type: msgspec caches its analysis of a Struct, not of a
    # hint.
    read_wrapped: Callable[[Any], Any]
    is_tuple: bool
    form: type[BlockForm] | None
    # The types of the names and values of a table, or of the items in a list of forms.
    inner: tuple["ValueType", ...]
    parse: Callable[[Any, Known], Any] | None = None

    @classmethod
    def of(cls, hint: Any) -> "ValueType":
        args = get_args(hint)
        if NoneType in args:
            # TOML has no null: None is only the default of an optional key.
            return cls.of(next(each for each in args if each is not NoneType))
        for each in args:
            if isinstance(each, ParsedFrom):
                return cls.of(each.hint)._replace(parse=each.parse)
        bare, limits = _split(hint)
        origin, inner = get_origin(bare), get_args(bare)
        form = bare if _is_form(bare) else None
        if form or origin is dict:
            hint = Annotated[dict, limits]
        elif origin is list and _is_form(inner[0]):
            item = Annotated[dict[str, Any], Meta(description=limits.description)]
            hint = Annotated[list[item], limits]
        else:
            inner = ()
        wrapper = msgspec.defstruct("Wrapper", [("value", hint)])
        return cls(hint, reader_of(wrapper), origin is tuple, form, tuple(map(cls.of, inner)))


class FormField(NamedTuple):
    name: str
    type: ValueType
    is_required: bool
    default: Any


Form = TypeVar("Form", bound=BlockForm)


class FormReader(NamedTuple):
    """Reads values, and reports the invalid ones."""

    known: Known
    report: Report

    def read_given(
        self, form: type[BlockForm], content: Mapping[str, Any], place: Place
    ) -> dict[str, Any]:
        """Return the valid values of a block by key."""
        fields = list_fields(form)
        values = {}
        for key, written in content.items():
            if key in fields:
                values[key] = self.read(fields[key].type, written, (*place, key))
            else:
                sentence = f"`{key}` is not a key of {form.NOUN}{suggest(key, list(fields))}"
                self.report((*place, key), sentence)
        return {key: value for key, value in values.items() if value is not INVALID}

    def find_defaults(
        self, form: type[BlockForm], given: Collection[str], place: Place
    ) -> dict[str, Any]:
        """Return the defaults of absent keys, and report the required ones."""
        absent = {key: field for key, field in list_fields(form).items() if key not in given}
        for key, field in absent.items():
            if field.is_required:
                self.report((*place, key), f"`{key}` is missing.")
        return {key: field.default for key, field in absent.items() if not field.is_required}

    def read(self, type_: ValueType, written: Any, place: Place, key: str = "") -> Any:
        """Return a value or `INVALID`; problems name the given key, or the last one of the place."""
        try:
            value = convert(written, type_)
            if type_.form:
                defaults = self.find_defaults(type_.form, value, place)
                value = fill(type_.form, self.read_given(type_.form, value, place) | defaults)
            elif type_.inner:
                value = self._read_inner(type_.inner, value, place)
            if type_.parse is None or value is INVALID:
                return value
            return type_.parse(value, self.known)
        except Mistake as mistake:
            key = key or next(step for step in reversed(place) if isinstance(step, str))
            self.report((*place, *mistake.within), str(mistake).replace("{key}", key))
            return INVALID

    def _read_inner(self, inner: Sequence[ValueType], value: Any, place: Place) -> Any:
        if isinstance(value, list):
            forms = [self.read(inner[0], each, (*place, at)) for at, each in enumerate(value)]
            return INVALID if INVALID in forms else forms
        # A line of a top-level table may refer to the lines above it.
        table: dict[Any, Any] = self.known[place[0]] if len(place) == 1 else {}
        is_valid = True
        for written_name, written in value.items():
            at = (*place, written_name)
            name = self.read(inner[0], written_name, at, key=str(place[-1]))
            read = INVALID if name is INVALID else self.read(inner[1], written, at)
            if read is INVALID:
                is_valid = False
            else:
                table[name] = read
        return table if is_valid else INVALID


@cache
def list_fields(form: type[BlockForm]) -> Mapping[str, FormField]:
    found = {}
    for info in msgspec.structs.fields(form):
        has_factory = info.default_factory is not msgspec.NODEFAULT
        default = info.default_factory() if has_factory else info.default
        field = FormField(info.name, ValueType.of(info.type), info.required, default)
        found[info.encode_name] = field
    return found


def fill(form: type[Form], values: Mapping[str, Any]) -> Form:
    """Create a form from its values by key, or return `INVALID` if any is absent."""
    fields = list_fields(form)
    if len(values) < len(fields):
        return cast("Form", INVALID)
    return form(**{field.name: values[key] for key, field in fields.items()})


def convert(written: Any, type_: ValueType) -> Any:
    """Convert one value, or raise a `Mistake`.

    A single text is accepted as a list of one. Tuples must not contain duplicates.
    """
    if isinstance(written, str):
        written = [written.strip()] if type_.is_tuple else written.strip()
    elif isinstance(written, list):
        written = [each.strip() if isinstance(each, str) else each for each in written]
    try:
        value = type_.read_wrapped({"value": written}).value
    except msgspec.ValidationError as error:
        raise Mistake(_explain(written, type_.hint)) from error
    for each in value if type_.is_tuple else ():
        if value.count(each) > 1:
            raise Mistake(f"`{{key}}` lists `{each}` more than once.")
    return value


def show(written: Any) -> str:
    """Format a value roughly as it is written in the file."""
    return f'"{written}"' if isinstance(written, str) else str(written)


def _split(hint: Any) -> tuple[Any, Meta]:
    bare, limits = get_args(hint) if get_origin(hint) is Annotated else (hint, Meta())
    return bare, limits


def _is_form(hint: Any) -> bool:
    return isinstance(hint, type) and issubclass(hint, BlockForm)


def _explain(written: Any, hint: Any) -> str:
    bare, limits = _split(hint)
    if isinstance(written, list) and get_origin(bare) in (list, tuple):
        for each in written:
            # Raises if this item is the cause.
            convert(each, ValueType.of(get_args(bare)[0]))
    what = limits.description
    if isinstance(bare, EnumType):
        if isinstance(written, str) and written:
            return f"`{written}` is no value of `{{key}}`{suggest(written, list(bare))}"
        what = "a text that is not empty"
    elif what is None:
        what = f"a whole number from {limits.ge} to {limits.le}, not {{value}}"
    return f"`{{key}}` must be {what.replace('{value}', show(written))}."
