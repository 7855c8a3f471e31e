"""Prices of a draft as a table that a spreadsheet opens: written, and read back line by line."""

import csv
import io
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from printworks.catalogue.countries import COUNTRIES
from printworks.catalogue.drafts.draft import Draft
from printworks.catalogue.drafts.products import list_products
from printworks.catalogue.problems import Mistake, suggest

COLUMNS: Final = ("sku", "currency", "country", "price")
_REQUIRED: Final = frozenset({"sku", "currency", "price"})
_AMOUNT: Final = re.compile(r"(\d{1,7})(?:[.,](\d{1,2}))?")
MOST_LINES: Final = 50_000


class PriceTableLine(NamedTuple):
    """A line of the table: the number it has there, and what it says."""

    number: int
    sku: str
    # `EUR`, or `EUR-IE` for one country.
    name: str
    price: int
    # None if there was none.
    before: int | None


class BadLine(NamedTuple):
    """A line that cannot be used."""

    number: int
    text: str
    sentence: str


class PriceTable(NamedTuple):
    """What a table would change, and what is wrong with it."""

    changes: Sequence[PriceTableLine]
    bad: Sequence[BadLine]
    unchanged: int

    @property
    def by_sku(self) -> Mapping[str, Mapping[str, int]]:
        """The prices to set."""
        found: dict[str, dict[str, int]] = {}
        for line in self.changes:
            found.setdefault(line.sku, {})[line.name] = line.price
        return found


def write_prices(draft: Draft) -> str:
    """Return every price of a draft, a line for each."""
    file = io.StringIO(newline="")
    writer = csv.writer(file)
    writer.writerow(COLUMNS)
    for product in list_products(draft):
        for name, price in product.values.get("price", {}).items():
            currency, _, country = name.partition("-")
            writer.writerow((product.sku, currency, country, f"{price / 100:.2f}"))
    return file.getvalue()


def read_prices(text: str, draft: Draft) -> PriceTable:
    """Read a table of prices, and compare it with a draft."""
    reader = _LineReader(draft)
    changes: list[PriceTableLine] = []
    bad: list[BadLine] = []
    unchanged = 0
    for number, cells in _list_lines(text):
        try:
            line = reader.read(number, cells)
        except Mistake as mistake:
            bad.append(BadLine(number, ", ".join(cells.values()), str(mistake)))
            continue
        if line.price == line.before:
            unchanged += 1
        else:
            changes.append(line)
    return PriceTable(changes, bad, unchanged)


def _list_lines(text: str) -> Iterator[tuple[int, dict[str, str]]]:
    """Return lines by the names of their columns, and their numbers in the file."""
    first = text.lstrip("\ufeff").partition("\n")[0]
    delimiter = max(",;\t", key=first.count)
    rows = csv.reader(io.StringIO(text.lstrip("\ufeff")), delimiter=delimiter)
    columns: Sequence[str] = ("sku", "currency", "price")
    try:
        for row in rows:
            cells = [cell.strip() for cell in row]
            if rows.line_num == 1 and {cell.casefold() for cell in cells} >= _REQUIRED:
                columns = [cell.casefold() for cell in cells]
            elif any(cells):
                named = dict(zip(columns, cells, strict=False))
                yield rows.line_num, {name: named.get(name, "") for name in COLUMNS}
            if rows.line_num > MOST_LINES:
                return
    except csv.Error:
        # A quote that is never closed, or a field without an end.
        yield rows.line_num, dict.fromkeys(COLUMNS, "")


class _LineReader:
    """Reads lines against the products of a draft."""

    def __init__(self, draft: Draft) -> None:
        self._products = {one.sku.casefold(): one for one in list_products(draft)}
        self._currencies = [str(each) for each in draft.read_value("currencies") or ()]
        self._seen: dict[tuple[str, str], int] = {}

    def read(self, number: int, cells: Mapping[str, str]) -> PriceTableLine:
        """Return what a line says, or raise a `Mistake`."""
        product = self._products.get(cells["sku"].casefold())
        if product is None:
            raise Mistake(f"There is no product `{cells['sku']}` in this draft.")
        currency, country = cells["currency"].upper(), cells["country"].upper()
        if currency not in self._currencies:
            meant = suggest(currency, self._currencies)
            raise Mistake(f"`{currency}` is not in `currencies`{meant}")
        if country and country not in COUNTRIES:
            raise Mistake(f"`{country}` is not the code of a country.")
        name = f"{currency}-{country}" if country else currency
        earlier = self._seen.setdefault((product.sku, name), number)
        if earlier != number:
            raise Mistake(f"The price of {product.sku} in {name} is on line {earlier} already.")
        before = product.values.get("price", {}).get(name)
        return PriceTableLine(number, product.sku, name, _read_amount(cells["price"]), before)


def _read_amount(text: str) -> int:
    found = _AMOUNT.fullmatch(text)
    amount = int(found[1]) * 100 + int((found[2] or "").ljust(2, "0")) if found else 0
    if not amount:
        raise Mistake(f"The price must be an amount such as 4.95, not “{text}”.")
    return amount
