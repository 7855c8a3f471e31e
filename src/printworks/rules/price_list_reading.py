"""What people type or import into a price list, and how a list is written as a table."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from datetime import datetime
from decimal import Decimal, InvalidOperation
from typing import Final, NamedTuple

from printworks.errors import BadInput
from printworks.rules.price_lists import EVERY_PRODUCT, WHOLE, PriceLine
from printworks.rules.spreadsheets import SheetRow

LONGEST_NAME: Final = 100
MOST_LINES: Final = 5000
MOST_COPIES: Final = 1_000_000
# Ten million in any currency: more is a mistake.
HIGHEST_PRICE: Final = 1_000_000_000
COLUMNS: Final = ("sku", "from_copies", "currency", "price", "percent_off")
# More would fill the page.
_MOST_PROBLEMS: Final = 20


class Sold(NamedTuple):
    """What a list can be about: the catalogue's spelling of a sku, and its currencies."""

    find_sku: Callable[[str], str | None]
    currencies: Collection[str]


def read_name(text: str, what: str = "name") -> str:
    """Return what a list or a group is called."""
    name = " ".join(text.split())
    if not 1 <= len(name) <= LONGEST_NAME or not name.isprintable():
        raise BadInput(f"Enter a name of 1 to {LONGEST_NAME} characters.", field=what)
    return name


def read_percent(text: str, field: str = "percent_off") -> int:
    """Return a percentage in hundredths; nothing is none."""
    number = _read_decimal(text.replace("%", ""), 2)
    if number is None or not 0 <= number <= WHOLE:
        raise BadInput(
            "Enter a percentage from 0 to 100 with at most two decimals, such as 12.5.",
            field=field,
        )
    return number


def check_validity(valid_from: datetime, valid_until: datetime | None) -> None:
    """Refuse an end that comes before the beginning."""
    if valid_until is not None and valid_until <= valid_from:
        raise BadInput("The end must be after the beginning.", field="valid_until")


def write_percent(hundredths: int) -> str:
    """Write 1250 as 12.5."""
    return f"{Decimal(hundredths).scaleb(-2).normalize():f}"


def write_lines(lines: Sequence[PriceLine]) -> Iterator[tuple[str, ...]]:
    """Write the lines of a list as rows of a table, with the names of the columns first."""
    yield COLUMNS
    for line in sorted(lines, key=lambda line: line.key):
        price = f"{Decimal(line.price).scaleb(-2):.2f}" if line.is_price else ""
        percent = "" if line.is_price else write_percent(line.percent_off)
        yield line.sku, str(line.from_copies), line.currency, price, percent


def read_lines(rows: Sequence[SheetRow], sold: Sold) -> list[PriceLine]:
    """Read the lines of a list from a table; refuse it with all that is wrong, by row."""
    names = [cell.strip().lower().replace(" ", "_") for cell in rows[0].cells] if rows else []
    missing = [name for name in COLUMNS if name not in names]
    if missing:
        raise BadInput(
            f"The first row must name the columns {', '.join(COLUMNS)}; "
            f"{', '.join(missing)} is missing.",
            field="file",
        )
    found: dict[tuple[str, int, str], PriceLine] = {}
    problems: list[str] = []
    for row in rows[1:]:
        cells = dict(zip(names, row.cells, strict=False))
        try:
            line = _read_line({name: cells.get(name, "").strip() for name in COLUMNS}, sold)
        except BadInput as problem:
            problems.append(f"Row {row.number}: {problem.message}")
            continue
        if line.key in found:
            problems.append(f"Row {row.number}: another row says the same differently.")
        found[line.key] = line
    if problems:
        more = f" And {len(problems) - _MOST_PROBLEMS} more."
        shown = " ".join(problems[:_MOST_PROBLEMS])
        raise BadInput(shown + (more if len(problems) > _MOST_PROBLEMS else ""), field="file")
    return list(found.values())


def _read_line(cells: Mapping[str, str], sold: Sold) -> PriceLine:
    sku = _read_sku(cells["sku"], sold)
    copies = _read_decimal(cells["from_copies"] or "1", 0)
    if copies is None or not 1 <= copies <= MOST_COPIES:
        raise BadInput("`from_copies` must be a whole number of 1 or more.")
    if bool(cells["price"]) is bool(cells["percent_off"]):
        raise BadInput("give either a price or a percentage off.")
    if cells["percent_off"]:
        return PriceLine(sku, copies, percent_off=read_percent(cells["percent_off"]))
    return _read_price(sku, copies, cells, sold)


def _read_sku(text: str, sold: Sold) -> str:
    if text in {EVERY_PRODUCT, "*"}:
        return EVERY_PRODUCT
    sku = sold.find_sku(text)
    if sku is None:
        raise BadInput(f"there is no product {text[:LONGEST_NAME]} in the catalogue.")
    return sku


def _read_price(sku: str, copies: int, cells: Mapping[str, str], sold: Sold) -> PriceLine:
    if sku == EVERY_PRODUCT:
        raise BadInput("a price is that of one product; name it.")
    currency = cells["currency"].upper()
    if currency not in sold.currencies:
        raise BadInput(f"`currency` must be one of {', '.join(sold.currencies)}.")
    price = _read_decimal(cells["price"], 2)
    if price is None or not 0 <= price <= HIGHEST_PRICE:
        raise BadInput("`price` must be an amount such as 12.50.")
    return PriceLine(sku, copies, currency, price)


def _read_decimal(text: str, places: int) -> int | None:
    """Return a number in units of its last place; None if it is none or has more places."""
    try:
        number = Decimal(text.strip().replace(",", ".") or "0").scaleb(places)
    except InvalidOperation:
        return None
    whole = number.is_finite() and number.adjusted() < LONGEST_NAME
    return int(number) if whole and number == number.to_integral_value() else None
