"""Reads `[[products]]` blocks: the keys that products share, and a row for each product."""

import re
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Any, Final, NamedTuple

from printworks.catalogue.fitting import build_product, find_misfits
from printworks.catalogue.form_reading import (
    INVALID,
    FormReader,
    Report,
    ValueType,
    fill,
    list_fields,
)
from printworks.catalogue.forms import FamilyForm, ProductForm
from printworks.catalogue.problems import Mistake, Place, suggest
from printworks.catalogue.products import Product
from printworks.catalogue.values import Price, PriceName

# Texts in which {column} is replaced by the cell of that column.
TEMPLATES: Final = ("sku", "type", "description")

_KEYS: Final = list_fields(ProductForm)
_PRICE: Final = ValueType.of(Price)
_PRICE_NAMES: Final = ValueType.of(PriceName)
PRICE_NAME: Final = re.compile(r"[A-Z]{3}(-[A-Z]{2})?")
PLACEHOLDER: Final = re.compile(r"\{(\w+)\}")


class ProductEntry(NamedTuple):
    """A product, or None if it is invalid, and its place."""

    sku: str | None
    product: Product | None
    place: Place


class ProductFamily:
    """A `[[products]]` block: one product, or several in rows that share its keys."""

    def __init__(self, content: Mapping[str, Any], place: Place, reader: FormReader) -> None:
        self._content = content
        self._place = place
        self._reader = reader
        # What all products share, by key. Texts are read per product, because they may use its cells.
        written = {key: content[key] for key in content if key not in TEMPLATES}
        self._shared = reader.read_given(FamilyForm, written, place)
        self._prices: Mapping[str, Any] = {}

    def read(self) -> Iterator[ProductEntry]:
        """Read the products, and report what is invalid."""
        columns, rows = self._shared.pop("columns", ()), self._shared.pop("rows", ())
        if ("columns" in self._content) != ("rows" in self._content):
            self._reader.report(self._place, "`columns` and `rows` belong together.")
        elif "rows" not in self._content:
            yield self._read_product({}, (*self._place, "sku"))
        elif columns and rows:
            self._prices = dict(self._find_prices(columns))
            for position, cells in enumerate(rows):
                place = (*self._place, "rows", position)
                if len(cells) == len(columns):
                    yield self._read_product(dict(zip(columns, cells, strict=True)), place)
                else:
                    sentence = f"The row must have {len(columns)} cells, one for each column."
                    self._reader.report(place, sentence)

    def _find_prices(self, columns: Sequence[str]) -> Iterator[tuple[str, Any]]:
        place = (*self._place, "columns")
        texts = [str(self._content.get(key)) for key in TEMPLATES]
        used = {name for text in texts for name in PLACEHOLDER.findall(text)}
        for column in columns:
            if column in _KEYS or column in used:
                continue
            if not PRICE_NAME.fullmatch(column):
                sentence = f"The column `{column}` is neither a key, a currency nor used in a text"
                self._reader.report(place, sentence + suggest(column, list(_KEYS)))
            elif (name := self._reader.read(_PRICE_NAMES, column, place)) is not INVALID:
                yield column, name

    def _read_product(self, row: Mapping[str, Any], place: Place) -> ProductEntry:
        # An empty cell keeps the value of the block.
        cells = {column: cell for column, cell in row.items() if cell != ""}
        given = self._content.keys() | cells.keys()

        def report(at: Place, sentence: str) -> None:
            key = at[len(self._place)]
            is_empty_cell = key in row and key not in given
            self._reader.report(place if key in cells or is_empty_cell else at, sentence)

        reader = FormReader(self._reader.known, report)
        written = {key: cell for key, cell in cells.items() if key in _KEYS}
        written |= self._write_texts(row, cells, report)
        values = self._shared | reader.read_given(ProductForm, written, self._place)
        values |= reader.find_defaults(ProductForm, given, self._place)
        prices = {
            name: reader.read(_PRICE, cells[column], (*self._place, column))
            for column, name in self._prices.items()
            if column in cells
        }
        if INVALID in prices.values() or "price" not in values:
            values.pop("price", None)
        else:
            values["price"] = values["price"] | prices
        if not given & {"image", "full"}:
            key = "full" if "full" in row else "image"
            report((*self._place, key), "`image`, the printed size, is missing.")
            del values["image"]
        misfits = list(find_misfits(values, reader.known))
        for keys, sentence in misfits:
            # A row has one line for all its values; a block has one for each.
            self._reader.report(place if row else (*self._place, *keys), sentence)
        form = fill(ProductForm, values)
        product = None if misfits or form is INVALID else build_product(form)
        return ProductEntry(values.get("sku"), product, place)

    def _write_texts(
        self, row: Mapping[str, Any], cells: Mapping[str, Any], report: Report
    ) -> dict[str, Any]:
        words = {**self._content, **row}
        texts = {}
        for key in TEMPLATES:
            if key in self._content or key in cells:
                try:
                    texts[key] = fill_in(key, cells.get(key, self._content.get(key)), words)
                except Mistake as mistake:
                    report((*self._place, key), str(mistake))
        return texts


def fill_in(key: str, text: Any, words: Mapping[str, Any]) -> Any:
    """Return a text of a family with the cells of a row, or other keys, in place of their names."""

    def find(placeholder: re.Match[str]) -> str:
        word = words.get(placeholder[1])
        if not isinstance(word, str | int | Decimal):
            raise Mistake(f"`{key}` uses {placeholder[0]}, which is neither a column nor a key.")
        # Skus are written in capitals.
        return str(word).upper() if key == "sku" else str(word)

    return PLACEHOLDER.sub(find, text) if isinstance(text, str) else text
