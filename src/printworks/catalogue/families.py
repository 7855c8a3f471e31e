"""Reads a `[[products]]` block: what its products share, and a row for each of them."""

import re
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Any, Final, NamedTuple

from printworks.catalogue import fitting
from printworks.catalogue.problems import Mistake, Problems, suggest
from printworks.catalogue.products import Currency, Product
from printworks.catalogue.sources import Block
from printworks.catalogue.values import READERS, Prices, Vocabulary, read_price, read_price_name

# Texts in which {column} stands for what a row has in that column.
TEMPLATES: Final[tuple[str, ...]] = ("sku", "type", "description")

_PLACEHOLDER: Final = re.compile(r"\{(\w+)\}")


class Entry(NamedTuple):
    """A product, or None if something is wrong with it, and where it stands."""

    sku: str | None
    product: Product | None
    block: Block
    row: int | None

    @property
    def line(self) -> int:
        """The line of the product."""
        return self.block.line_of("sku") if self.row is None else self.block.line_of_row(self.row)


class Family:
    """One block on its way to becoming products."""

    def __init__(self, block: Block, vocabulary: Vocabulary, problems: Problems) -> None:
        self._block = block
        self._vocabulary = vocabulary
        self._problems = problems
        self._columns: Sequence[str] = ()
        self._failed: set[str] = set()
        self._shared: dict[str, Any] = {}

    def read(self) -> Iterator[Entry]:
        """Read the products; what is wrong is reported, and its product left out."""
        self._check_keys()
        self._read_shared()
        if not self._check_columns():
            return
        self._check_required()
        if "rows" not in self._block.content:
            yield from self._read_product(None, {})
            return
        for position, row in enumerate(self._block.content["rows"]):
            if len(row) == len(self._columns):
                given = zip(self._columns, row, strict=True)
                cells = {column: cell for column, cell in given if cell != ""}
                yield from self._read_product(position, cells)
            else:
                sentence = f"The row must have {len(self._columns)} cells, one for each column."
                self._report(self._block.line_of_row(position), sentence)

    def _report(self, line: int, sentence: str) -> None:
        self._problems.add(self._block.source.name, line, sentence)

    def _check_keys(self) -> None:
        known = [*READERS, "columns", "rows"]
        for key in self._block.content:
            if key not in known:
                line = self._block.line_of(key)
                self._report(line, f"`{key}` is not a key of a product{suggest(key, known)}")

    def _check_columns(self) -> bool:
        content, line = self._block.content, self._block.line_of
        columns, rows = content.get("columns"), content.get("rows")
        if columns is None and rows is None:
            return True
        if columns is None or rows is None:
            self._report(self._block.start, "`columns` and `rows` belong together.")
        elif not _is_list_of(str, columns):
            self._report(line("columns"), "`columns` must be a list of names.")
        elif not _is_list_of(list, rows):
            self._report(line("rows"), "`rows` must be a list of rows, each a list of cells.")
        elif len(set(columns)) < len(columns):
            self._report(line("columns"), "`columns` names a column twice.")
        else:
            self._columns = columns
            self._check_names(columns)
            return True
        return False

    def _check_names(self, columns: Sequence[str]) -> None:
        used = {name for text in self._list_templates() for name in _PLACEHOLDER.findall(text)}
        for column in columns:
            try:
                is_known = column in READERS or column in used or read_price_name(column)
                if not is_known:
                    message = (
                        f"The column `{column}` is neither a key, a currency nor used in a text"
                    )
                    raise Mistake(message + suggest(column, list(READERS)))
            except Mistake as mistake:
                self._report(self._block.line_of("columns"), str(mistake))

    def _list_templates(self) -> Iterator[str]:
        for key in TEMPLATES:
            text = self._block.content.get(key)
            if isinstance(text, str):
                yield text

    def _read_shared(self) -> None:
        for key, value in self._block.content.items():
            if key in READERS and key not in TEMPLATES:
                try:
                    self._shared[key] = READERS[key](value, self._vocabulary)
                except Mistake as mistake:
                    self._failed.add(key)
                    self._report(self._block.line_of(key), str(mistake))

    def _check_required(self) -> None:
        given = {*self._block.content, *self._columns}
        for key in fitting.REQUIRED:
            if key not in given:
                self._failed.add(key)
                self._report(self._block.start, f"`{key}` is missing.")
        if not given & {"image", "full"}:
            self._failed.add("image")
            self._report(self._block.start, "`image`, the printed size, is missing.")

    def _read_product(self, row: int | None, cells: Mapping[str, Any]) -> Iterator[Entry]:
        values = dict(self._shared)
        failed = set(self._failed)
        for key, read in self._read_cells(cells):
            if isinstance(read, Mistake):
                failed.add(key if key in READERS else "price")
                self._report(self._line_of(key, row, cells), str(read))
            else:
                values[key] = read
        misfits = list(fitting.find_misfits(values, failed, self._vocabulary))
        product = None if misfits or failed else fitting.build(values)
        entry = Entry(values.get("sku"), product, self._block, row)
        for sentence in misfits:
            self._report(entry.line, sentence)
        yield entry

    def _line_of(self, key: str, row: int | None, cells: Mapping[str, Any]) -> int:
        is_in_row = row is not None and key in cells
        return self._block.line_of_row(row or 0) if is_in_row else self._block.line_of(key)

    def _read_cells(self, cells: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
        texts = {key: self._block.content[key] for key in TEMPLATES if key in self._block.content}
        prices: Prices = dict(self._shared.get("price", {}))
        given: dict[str, Any] = {**texts, **cells}
        for key, value in given.items():
            try:
                if key in TEMPLATES:
                    value = self._fill(key, value, cells)
                if key == "price":
                    prices |= READERS[key](value, self._vocabulary)
                elif key in READERS:
                    yield key, READERS[key](value, self._vocabulary)
                elif price := _find_price_name(key):
                    prices[price] = read_price(key, value)
            except Mistake as mistake:
                yield key, mistake
        yield "price", prices

    def _fill(self, key: str, template: Any, cells: Mapping[str, Any]) -> Any:
        if not isinstance(template, str):
            return template
        known = {**self._block.content, **dict.fromkeys(self._columns, ""), **cells}

        def fill(found: re.Match[str]) -> str:
            value = known.get(found[1])
            if not isinstance(value, str | int | Decimal):
                message = f"`{key}` uses {{{found[1]}}}, which is neither a column nor a key."
                raise Mistake(message)
            # Skus are written in capitals.
            return str(value).upper() if key == "sku" else str(value)

        return _PLACEHOLDER.sub(fill, template)


def _is_list_of(kind: type, value: Any) -> bool:
    return isinstance(value, list) and value != [] and all(isinstance(item, kind) for item in value)


def _find_price_name(column: str) -> tuple[Currency, str | None] | None:
    try:
        return read_price_name(column)
    except Mistake:
        # Reported once, with the columns.
        return None
