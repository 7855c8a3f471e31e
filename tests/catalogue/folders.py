"""Catalogues for tests: a valid one, of which a test changes what matters to it."""

from pathlib import Path
from textwrap import dedent
from typing import Final

WORDS: Final = """\
currencies = ["GBP", "EUR"]
kinds = ["print", "canvas"]
bands = ["Prints", "Canvas"]

[groups]
ISLES = ["GB", "IE"]
"""

PRODUCT: Final = {
    "sku": '"PHOTO-4X6"',
    "type": '"4x6"',
    "kind": '"print"',
    "description": '"4x6 inch print"',
    "band": '"Prints"',
    "sold_to": '["ISLES"]',
    "image": '"4x6"',
    "price": "{ GBP = 20, EUR = 25 }",
}

FAMILY: Final = {
    "sku": '"PHOTO-{image}"',
    "type": '"{image}"',
    "kind": '"print"',
    "description": '"{image} inch print"',
    "band": '"Prints"',
    "sold_to": '["ISLES"]',
}


def a_product(**changed: str | None) -> str:
    """Write one product on lines of its own, the first of them the heading."""
    return _write({**PRODUCT, **changed})


def a_family(columns: str, *rows: str, **changed: str | None) -> str:
    """Write a family; its rows are its last lines but one."""
    lines = [_write({**FAMILY, **changed}), f"columns = [{columns}]\nrows = [\n"]
    return "".join([*lines, *(f"    [{row}],\n" for row in rows), "]\n"])


def a_folder(where: Path, *products: str, words: str = WORDS, **files: str) -> Path:
    """Write `words.toml`, `products.toml` and any other files into a folder."""
    folder = where / "catalogue"
    folder.mkdir()
    (folder / "words.toml").write_text(dedent(words), encoding="utf-8")
    (folder / "products.toml").write_text("".join(products), encoding="utf-8")
    for name, text in files.items():
        (folder / f"{name}.toml").write_text(dedent(text), encoding="utf-8")
    return folder


def _write(keys: dict[str, str | None]) -> str:
    lines = [f"{key} = {value}\n" for key, value in keys.items() if value is not None]
    return "".join(["[[products]]\n", *lines])
