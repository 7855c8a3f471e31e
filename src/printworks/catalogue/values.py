"""The types of values in the files: what msgspec accepts for each, and how it is parsed.

The description of a type completes the sentence "`key` must be ..." about an invalid value.
"""

import re
from collections.abc import Callable, Sequence
from datetime import date, time
from decimal import Decimal
from functools import cache
from typing import Annotated, Any, Final, TypeVar
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError, available_timezones

from msgspec import Meta

from printworks.catalogue.countries import COUNTRIES
from printworks.catalogue.form_reading import Known, ParsedFrom, show
from printworks.catalogue.problems import Mistake, suggest
from printworks.catalogue.products import Currency, Size
from printworks.rules.mockups import COLOURS
from printworks.rules.sizing import Pixels

EVERYWHERE: Final = "everywhere"
DAYS: Final = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
LARGEST: Final = 10_000

Item = TypeVar("Item")


def _like(pattern: str, description: str, longest: int | None = None) -> Meta:
    limit = f", at most {longest}" if longest else ""
    description = f"{description}{limit}, not {{value}}"
    return Meta(pattern=f"^{pattern}$", max_length=longest, description=description)


Flag = Annotated[bool, Meta(description="true or false, not {value}")]
Text = Annotated[str, Meta(min_length=1, description="a text that is not empty")]
Listed = Annotated[
    tuple[Item, ...], Meta(min_length=1, description="a list of texts that is not empty")
]
Texts = Listed[Text]
Code = Annotated[
    str, _like("[a-z0-9]+(-[a-z0-9]+)*", "made of small letters, digits and single hyphens", 64)
]
Sku = Annotated[
    str, _like("[A-Za-z0-9][A-Za-z0-9.-]*", "made of letters, digits, hyphens and dots", 64)
]
TypeName = Annotated[
    str, _like("[A-Za-z0-9][A-Za-z0-9._-]*", "made of letters, digits, `_`, `-` and `.`", 100)
]
PictureName = Annotated[
    str,
    _like(
        "[A-Za-z0-9][A-Za-z0-9._-]*",
        "the name of a file in the folder `pictures`, made of letters, digits, `_`, `-` and `.`",
        120,
    ),
]


def _join_patterns(patterns: Sequence[str], _: Known) -> re.Pattern[str]:
    written = (re.escape(text).replace(r"\*", ".*") for text in patterns)
    return re.compile("|".join(written), re.IGNORECASE)


_SKUS: Final = Listed[Annotated[str, _like("[A-Za-z0-9.*-]+", "a sku, or one with `*` in it")]]
SkuPatterns = Annotated[re.Pattern[str], ParsedFrom(_SKUS, _join_patterns)]

Count = Annotated[int, Meta(ge=1, le=1_000_000)]
ProductionDays = Annotated[int, Meta(ge=0, le=60)]
PromisedDays = Annotated[int, Meta(ge=1, le=250)]
# In minor units, like every price.
Money = Annotated[int, Meta(ge=0, le=1_000_000)]
Price = Annotated[int, Meta(ge=1, description="a whole number of minor units from 1, not {value}")]


def _read_amount(value: Any, _: Known) -> Decimal:
    is_number = type(value) in (int, Decimal) and Decimal(value).is_finite()
    if not is_number or not 0 < value <= LARGEST:
        raise Mistake(f"`{{key}}` must be a number larger than 0, not {show(value)}.")
    return Decimal(value)


# msgspec would also accept the text "150" as a Decimal.
Amount = Annotated[Decimal, ParsedFrom(Any, _read_amount)]


def _read_percent(value: Any, _: Known) -> int:
    is_number = type(value) in (int, Decimal) and Decimal(value).is_finite()
    if not is_number or not 0 <= value <= 100 or Decimal(value) * 100 % 1:
        raise Mistake(
            f"`{{key}}` must be a percentage with at most two decimals, not {show(value)}."
        )
    return int(Decimal(value) * 100)


# In hundredths of a percent.
TaxPercent = Annotated[int, ParsedFrom(Any, _read_percent)]


def _read_day(value: Any, _: Known) -> date:
    # A datetime is a date too, in Python.
    if type(value) is not date:
        raise Mistake(f"`{{key}}` must be a date such as 2026-01-01, not {show(value)}.")
    return value


Day = Annotated[date, ParsedFrom(Any, _read_day)]


def _read_size(text: str, _: Known) -> Size:
    width, height = map(Decimal, text.split("x"))
    if not (0 < width <= LARGEST and 0 < height <= LARGEST):
        raise Mistake(
            f'`{{key}}` must be larger than 0 and at most {LARGEST} each way, not "{text}".'
        )
    return Size.of(width, height)


_LENGTH: Final = r"-?(\d+\.?\d*|\.\d+)"
_SIZE: Final = _like(f"{_LENGTH}x{_LENGTH}", 'a width and a height such as "4x6"')
PrintSize = Annotated[Size, ParsedFrom(Annotated[str, _SIZE], _read_size)]


def _read_pixels(text: str, _: Known) -> Pixels:
    return Pixels(*map(int, text.split("x")))


_PIXELS: Final = _like(r"(?!0+x)\d{1,6}x(?!0+$)\d{1,6}", 'a width and a height such as "600x900"')
PixelSize = Annotated[Pixels, ParsedFrom(Annotated[str, _PIXELS], _read_pixels)]


def _read_colour(text: str, _: Known) -> str:
    if text not in COLOURS:
        raise Mistake(f"`{{key}}` must be one of {', '.join(COLOURS)}, not {show(text)}.")
    return text


MockupColour = Annotated[str, ParsedFrom(Text, _read_colour)]


def _declared_in(table: str) -> Callable[[Any, Known], Any]:
    def check(value: Any, known: Known) -> Any:
        for word in (value,) if isinstance(value, str) else value:
            declared = known.get(table)
            if declared is not None and word not in declared:
                raise Mistake(f"`{word}` is not in `{table}`{suggest(word, declared)}")
        return value

    return check


Kind = Annotated[str, ParsedFrom(Text, _declared_in("kinds"))]
Kinds = Annotated[tuple[str, ...], ParsedFrom(Texts, _declared_in("kinds"))]
Band = Annotated[str, ParsedFrom(Text, _declared_in("bands"))]
Bands = Annotated[tuple[str, ...], ParsedFrom(Texts, _declared_in("bands"))]
LabCodes = Annotated[tuple[str, ...], ParsedFrom(Texts, _declared_in("labs"))]
KnownCurrency = Annotated[Currency, ParsedFrom(Currency, _declared_in("currencies"))]


@cache
def _read_price_name(name: str) -> tuple[Currency, str | None]:
    currency, hyphen, country = name.partition("-")
    if currency not in list(Currency):
        raise Mistake(f"`{name}` is not a currency{suggest(name, list(Currency))}")
    if hyphen and country not in COUNTRIES:
        raise Mistake(f"`{name}` names the country `{country}`, which does not exist.")
    return Currency(currency), country or None


# `EUR`, or `EUR-IE` for one country.
PriceName = Annotated[
    tuple[Currency, str | None], ParsedFrom(str, lambda name, _: _read_price_name(name))
]


def _check_country(code: str, _: Known) -> str:
    if code not in COUNTRIES:
        raise Mistake(f'`{{key}}` must be a country code such as `GB`, not "{code}".')
    return code


def _check_group(name: str, _: Known) -> str:
    if name in COUNTRIES or name == EVERYWHERE:
        raise Mistake(f"A group cannot be called `{name}`, which means something already.")
    return name


def _find_zones(names: Sequence[str], known: Known) -> dict[str, frozenset[str]]:
    groups = known["some_groups"]
    for name in names:
        if "groups" in known and name not in groups and name not in COUNTRIES:
            message = f"`{{key}}` names `{name}`, which is neither a country code nor a group"
            raise Mistake(message + suggest(name, list(groups)))
    return {name: groups.get(name, frozenset({name})) for name in names}


def _find_countries(names: Sequence[str], known: Known) -> frozenset[str]:
    return frozenset().union(*_find_zones(names, known).values())


CountryCode = Annotated[str, ParsedFrom(Text, _check_country)]
GroupName = Annotated[str, ParsedFrom(Text, _check_group)]
Countries = Annotated[frozenset[str], ParsedFrom(Texts, _find_countries)]
# The countries of each name.
Zones = Annotated[dict[str, frozenset[str]], ParsedFrom(Texts, _find_zones)]


def _check_time_zone(name: str, _: Known) -> str:
    try:
        ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        meant = suggest(name, sorted(available_timezones()))
        # There are six hundred, too many to list.
        ending = meant if "did you mean" in meant else ", such as `Europe/London`."
        raise Mistake(f"`{name}` is not the name of a time zone{ending}") from error
    return name


def _read_time(value: Any, _: Known) -> time:
    if isinstance(value, time):
        return value
    if not isinstance(value, str) or not re.fullmatch(r"([01]\d|2[0-3]):[0-5]\d", value):
        raise Mistake(f'`{{key}}` must be a time of day such as "14:00", not {show(value)}.')
    return time.fromisoformat(value)


def _read_week_days(ranges: Sequence[str], _: Known) -> frozenset[int]:
    found: set[int] = set()
    for text in ranges:
        first, last = text.partition("-")[::2]
        for day in (first, last or first):
            if day not in DAYS:
                raise Mistake(f"`{{key}}` has `{day}`, which is no day{suggest(day, DAYS)}")
        begin, end = DAYS.index(first), DAYS.index(last or first)
        if begin > end:
            raise Mistake(f"`{{key}}` has `{text}`, which runs backwards.")
        found.update(range(begin, end + 1))
    return frozenset(found)


def _find_holidays(listed: Sequence[Any], known: Known) -> frozenset[date]:
    holidays = known.get("holidays", {})
    days: set[date] = set()
    for each in listed:
        # A datetime is a date too, in Python.
        if type(each) is date:
            days.add(each)
        elif isinstance(each, str) and (each in holidays or "holidays" not in known):
            days |= holidays.get(each, frozenset())
        else:
            message = f"`{{key}}` has {show(each)}, which is neither a date nor a name"
            raise Mistake(message + suggest(str(each), list(holidays)))
    return frozenset(days)


TimeZone = Annotated[str, ParsedFrom(Text, _check_time_zone)]
TimeOfDay = Annotated[time, ParsedFrom(Any, _read_time)]
WeekDays = Annotated[frozenset[int], ParsedFrom(Texts, _read_week_days)]


def _order_days(days: Sequence[int], _: Known) -> tuple[int, int]:
    fewest, most = days
    if fewest > most:
        raise Mistake(f"`{{key}}` must have the fewest first, not {show(days)}.")
    return fewest, most


_TRANSIT: Final = Meta(
    min_length=2,
    max_length=2,
    description="the fewest and the most working days on the way, such as [2, 4], not {value}",
)
TransitDays = Annotated[
    tuple[int, int],
    ParsedFrom(Annotated[list[Annotated[int, Meta(ge=0, le=120)]], _TRANSIT], _order_days),
]
_DATES: Final = Meta(description="a list of dates such as 2026-12-25")
Holidays = Annotated[frozenset[date], ParsedFrom(Annotated[list[Any], _DATES], _find_holidays)]
