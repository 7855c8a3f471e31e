"""Products of a draft: those with a block of their own, and those that are a row of a family.

A product of a family is changed in its cells, and leaves the family if that cannot say it.
"""

from collections.abc import Mapping, Sequence
from copy import deepcopy
from typing import Any, Final, NamedTuple

from printworks.catalogue.drafts.draft import Draft
from printworks.catalogue.families import PLACEHOLDER, PRICE_NAME, TEMPLATES, fill_in
from printworks.catalogue.form_reading import list_fields
from printworks.catalogue.forms import ProductForm
from printworks.catalogue.problems import Mistake

_KEYS: Final = list_fields(ProductForm)
_FAMILY_KEYS: Final = frozenset({"columns", "rows"})

Values = dict[str, Any]


class DraftProduct(NamedTuple):
    """What the files say of one product, and where."""

    sku: str
    values: Values
    position: int
    # None if it has a block of its own.
    row: int | None


def list_products(draft: Draft) -> list[DraftProduct]:
    """Return every product with all its values, as if each had a block of its own."""
    return [
        DraftProduct(str(values.get("sku", "")), values, position, row)
        for position, block in enumerate(draft.list_blocks("products"))
        for row, values in _unfold(block)
    ]


def find_product(draft: Draft, sku: str) -> DraftProduct | None:
    """Return the product with this sku, in any case."""
    wanted = sku.casefold()
    return next((one for one in list_products(draft) if one.sku.casefold() == wanted), None)


def add_product(draft: Draft, values: Mapping[str, Any]) -> None:
    """Add a product after the last one of its kind."""
    alike = [
        position
        for position, block in enumerate(draft.list_blocks("products"))
        if block.get("kind") == values.get("kind")
    ]
    draft.add_block("products", values, after=alike[-1] if alike else None)


def change_product(draft: Draft, product: DraftProduct, values: Mapping[str, Any]) -> None:
    """Give a product other values."""
    if product.row is None:
        draft.change_block("products", product.position, values)
        return
    block = draft.list_blocks("products")[product.position]
    changed = _change_cells(block, product, values)
    if changed is not None:
        draft.change_block("products", product.position, changed)
        return
    # Added first, since its family may end with it.
    draft.add_block("products", values, after=product.position)
    remove_product(draft, product)


def remove_product(draft: Draft, product: DraftProduct) -> None:
    """Remove a product, and its family with the last of its rows."""
    block = draft.list_blocks("products")[product.position]
    if product.row is None or len(block["rows"]) == 1:
        draft.remove_block("products", product.position)
        return
    rows = [row for at, row in enumerate(block["rows"]) if at != product.row]
    draft.change_block("products", product.position, {**block, "rows": rows})


def set_prices(draft: Draft, prices: Mapping[str, Mapping[str, int]]) -> None:
    """Set prices by sku, each by its name: `EUR`, or `EUR-IE` for one country."""
    blocks = draft.list_blocks("products")
    wanted = {sku.casefold(): given for sku, given in prices.items()}
    for position, block in enumerate(blocks):
        changed = deepcopy(block)
        for row, values in _unfold(block):
            given = wanted.get(str(values.get("sku", "")).casefold())
            if given is not None:
                _write_prices(changed, row, {**values.get("price", {}), **given})
        if changed != block:
            draft.change_block("products", position, changed)


def _unfold(block: Mapping[str, Any]) -> list[tuple[int | None, Values]]:
    if "rows" not in block:
        return [(None, dict(block))]
    return [(at, _unfold_row(block, row)) for at, row in enumerate(block["rows"])]


def _unfold_row(block: Mapping[str, Any], row: Sequence[Any]) -> Values:
    named = dict(zip(block["columns"], row, strict=False))
    cells = {column: cell for column, cell in named.items() if cell != ""}
    values = {key: value for key, value in block.items() if key not in _FAMILY_KEYS}
    values |= {column: cell for column, cell in cells.items() if column in _KEYS}
    words = {**block, **named}
    for key in TEMPLATES:
        if key in values:
            try:
                values[key] = fill_in(key, values[key], words)
            except Mistake:
                # The reader says what is wrong with it.
                continue
    columns = _list_price_columns(block)
    prices = {column: cell for column, cell in cells.items() if column in columns}
    if prices or "price" in values:
        values["price"] = {**values.get("price", {}), **prices}
    return values


def _list_price_columns(block: Mapping[str, Any]) -> list[str]:
    texts = [str(block.get(key)) for key in TEMPLATES]
    used = {name for text in texts for name in PLACEHOLDER.findall(text)}
    return [
        column
        for column in block["columns"]
        if column not in _KEYS and column not in used and PRICE_NAME.fullmatch(column)
    ]


def _change_cells(
    block: Mapping[str, Any], product: DraftProduct, values: Mapping[str, Any]
) -> Values | None:
    """Return a family with other cells in one row; None if they cannot say what is wanted."""
    changed: Values = deepcopy(dict(block))
    assert product.row is not None  # noqa: S101  (the caller has asked)
    cells = changed["rows"][product.row]
    for key in {*values, *product.values} - {"price"}:
        if values.get(key) == product.values.get(key):
            continue
        if key == "picture" and key not in changed["columns"]:
            # Others of the family keep theirs, or have none.
            changed["columns"].append(key)
            for row in changed["rows"]:
                row.append("")
        if key not in changed["columns"]:
            return None
        cells[changed["columns"].index(key)] = values.get(key, "")
    _write_prices(changed, product.row, values.get("price", {}))
    return changed if _unfold_row(changed, cells) == values else None


def _write_prices(block: Values, row: int | None, prices: Mapping[str, int]) -> None:
    if row is None:
        block["price"] = dict(prices)
        return
    cells = block["rows"][row]
    shared = block.get("price", {})
    for column in _list_price_columns(block):
        # An empty cell keeps the price of the block.
        price = prices.get(column, "")
        is_shared = price == shared.get(column)
        at = block["columns"].index(column)
        if not (is_shared and cells[at] == ""):
            cells[at] = price
    for name, price in prices.items():
        if name not in block["columns"] and shared.get(name) != price:
            block["columns"].append(name)
            for at, others in enumerate(block["rows"]):
                others.append(price if at == row else "")
